"""Puts a daemon together from a wiki and an environment, and runs it until it is stopped."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, MutableMapping
from typing import Any

import anyio

from indexerd.contract.places import STATE_NAME, make_private_folders
from indexerd.core.page.names import CONFIG_FILE
from indexerd.daemon.barrier_server import socket_path
from indexerd.daemon.environment import Surroundings
from indexerd.daemon.loop import Daemon
from indexerd.daemon.resources import Resources
from indexerd.service.notify import ServiceManager
from indexerd.service.status_file import StateFile, refuse_foreign
from indexerd.setup.compose import Wiki
from indexerd.setup.config import user_file
from indexerd.setup.registry import resolve_root
from indexerd.tree.watcher import Notifier, open_notifier


def run_daemon(
    load: Callable[[], Wiki],
    environ: MutableMapping[str, str],
    log: Any,
    *,
    notifier: Callable[[list[str]], Notifier] = open_notifier,
) -> None:
    """Follows the wiki that `load` gives until SIGTERM. Raises IndexerdError for what a user can mend.

    A root that is missing is waited for, when there is an index of it; else it is a RootError.
    """
    wiki = load()
    if not os.path.isdir(wiki.root) and not wiki.index.exists():
        resolve_root(wiki.root, environ)  # which says what is wrong with it
    folder = os.path.dirname(wiki.index)
    state = os.path.join(folder, STATE_NAME)
    refuse_foreign(state)
    service = ServiceManager.from_environment(environ)
    own = user_file(environ)
    files = (*(() if own is None else (own,)), os.path.join(wiki.root, CONFIG_FILE))
    resources = Resources(load, files, log)
    try:
        access = os.stat(wiki.index)  # the state may be read by whom the index may be read
        around = Surroundings(
            state=StateFile(state, mode=stat.S_IMODE(access.st_mode), group=access.st_gid),
            control=_make_socket_folder(socket_path(str(wiki.index), environ), log),
            service=service,
            open_notifier=notifier,
        )
        _run(Daemon(resources, around, log))
    finally:
        resources.close()
    log.info("daemon.stopped")


def _run(daemon: Daemon) -> None:
    try:
        anyio.run(daemon.run)
    except BaseExceptionGroup as group:
        raise _only_error(group) from group


def _only_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error inside, which its kind is asked for; the group where there are several."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        if len(error.exceptions) > 1:
            return group
        error = error.exceptions[0]
    return error


def _make_socket_folder(path: str | None, log: Any) -> str | None:
    """The place of the socket once its folder is there; None, with a word about it, where it cannot be."""
    problem = "every place for it has too long a path"
    if path is not None:
        try:
            make_private_folders(os.path.dirname(path))
            return path
        except OSError as error:
            problem = f"{error.strerror}: {os.path.dirname(path)}"
    log.warning("control.unavailable", reason=problem, remedy="set XDG_RUNTIME_DIR to a folder of yours")
    return None
