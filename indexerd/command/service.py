"""`indexerd service`: has systemd or launchd run the daemon."""

from __future__ import annotations

import os
import sys

import click

from indexerd.command.options import DIFFERENT, tell


@click.group()
def service() -> None:
    """Have systemd or launchd run the daemon."""


@service.command("install")
@click.argument("root", required=False, type=click.Path())
def service_install(root: str | None) -> None:
    """Write the unit, enable it for ROOT and start it."""
    _manage("install", root)


@service.command("uninstall")
@click.argument("root", required=False, type=click.Path())
def service_uninstall(root: str | None) -> None:
    """Stop the service of ROOT and disable it; the index stays."""
    _manage("uninstall", root)


@service.command("status")
@click.argument("root", required=False, type=click.Path())
def service_status(root: str | None) -> int:
    """Show what the service manager says.

    Exits 1 when the service of ROOT does not run as it should.
    """
    return _manage("status", root)


def _manage(verb: str, root: str | None) -> int:
    from indexerd.contract.places import home_folder
    from indexerd.service.units import LaunchAgents, SystemdUser
    from indexerd.setup.registry import resolve_root, root_of_name, state_folder

    place = resolve_root(root_of_name(root, os.environ), os.environ, must_exist=verb == "install")
    manager: SystemdUser | LaunchAgents
    if sys.platform == "darwin":
        manager = LaunchAgents(home_folder(os.environ))
    else:
        manager = SystemdUser(os.environ, state_folder(os.environ))
    report = getattr(manager, verb)(place)
    for line in report.lines:
        tell(line)
    return 0 if report.healthy else DIFFERENT
