"""What is shipped: the contents of the wheel and of the source distribution, and what installing gives.

Built once, from a copy of what git tracks, without a network: the build backend is in the lock file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path, PurePosixPath
from typing import Final

import pytest

from indexerd.contract.version import VERSION
from tests.imports import REPOSITORY
from tests.web.served import serving
from tests.wikiq.built_wiki import build_wiki

pytestmark = pytest.mark.slow

NAME: Final = f"indexerd-{VERSION}"
SDIST_TOP: Final = {
    "CHANGELOG.md", "LICENSE", "Makefile", "PKG-INFO", "README.md", "cli", "docs", "indexerd",
    "pyproject.toml", "requirements-run.lock", "requirements.lock", "systemd", "tests", ".gitignore",
}  # fmt: skip


def copy_of_the_source(folder: Path) -> Path:
    """Every tracked or new, not ignored file of the working tree, below `folder`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout: what belongs to the source cannot be told")
    names = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, names):
        origin = REPOSITORY / name.decode()
        if origin.is_file():
            target = folder / name.decode()
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(origin, target)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    source = copy_of_the_source(tmp_path_factory.mktemp("source"))
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"{NAME}-py3-none-any.whl"


@pytest.fixture(scope="module")
def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def sdist_names(built: Path) -> set[str]:
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        members = [PurePosixPath(member.name) for member in archive.getmembers()]
    assert {member.parts[0] for member in members} == {NAME}
    return {str(member.relative_to(NAME)) for member in members}


def test_the_wheel_holds_the_two_packages_and_nothing_else(wheel_names: set[str]) -> None:
    top = {name.partition("/")[0] for name in wheel_names}
    assert top == {"indexerd", "wikiq", f"{NAME}.dist-info", f"{NAME}.data"}


def test_the_wheel_holds_every_module_of_the_working_tree(wheel_names: set[str]) -> None:
    for package, folder in (("indexerd", REPOSITORY / "indexerd"), ("wikiq", REPOSITORY / "cli/wikiq")):
        modules = {f"{package}/{path.relative_to(folder)}" for path in folder.rglob("*.py")}
        assert modules <= wheel_names


def test_the_wheel_holds_what_the_viewer_shows_pages_with(wheel_names: set[str]) -> None:
    web = REPOSITORY / "cli/wikiq/web"
    files = {path.relative_to(web) for name in ("templates", "static") for path in (web / name).iterdir()}
    assert len(files) >= 16
    assert {f"wikiq/web/{path}" for path in files} <= wheel_names


def test_both_packages_are_marked_as_typed(wheel_names: set[str]) -> None:
    assert {"indexerd/py.typed", "wikiq/py.typed"} <= wheel_names


def test_the_service_units_and_the_manual_page_are_shared_data(wheel_names: set[str]) -> None:
    below = f"{NAME}.data/data/share/"
    shipped = {name.removeprefix(below) for name in wheel_names if name.startswith(f"{NAME}.data/")}
    systemd = REPOSITORY / "systemd"
    units = {path.relative_to(systemd).as_posix() for path in systemd.rglob("*") if path.is_file()}
    assert shipped == {"man/man1/wikiq.1", *(f"indexerd/systemd/{name}" for name in units)}


def test_the_wheel_gives_the_two_commands_and_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        scripts = archive.read(f"{NAME}.dist-info/entry_points.txt").decode()
        metadata = archive.read(f"{NAME}.dist-info/METADATA").decode()
    assert set(re.findall(r"^(\w+) = ", scripts, re.MULTILINE)) == {"indexerd", "wikiq"}
    assert "License-Expression: MIT" in metadata
    assert "License-File: LICENSE" in metadata


def test_the_source_distribution_holds_what_was_listed(sdist_names: set[str]) -> None:
    assert {name.partition("/")[0] for name in sdist_names} == SDIST_TOP
    assert "tests/test_packaging.py" in sdist_names
    assert not [name for name in sdist_names if "__pycache__" in name or name.endswith(".pyc")]


LOCKS: Final = {"requirements.lock": ("dev", "editable"), "requirements-run.lock": ("editable",)}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_names_hashes_but_no_place_to_fetch_from(name: str) -> None:
    lock = (REPOSITORY / name).read_text("utf-8")
    assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links", lock)
    pins = re.findall(r"^([a-z0-9-]+)==\S+.*\\$\n    --hash=sha256:", lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^\S+==", lock, re.MULTILINE)) > 0


@pytest.mark.parametrize("name, extras", LOCKS.items())
def test_a_lock_file_covers_every_dependency_in_the_project_file(name: str, extras: tuple[str, ...]) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(each for key in extras for each in project["optional-dependencies"][key]),
    ]
    names = {re.split(r"[^A-Za-z0-9-]", each)[0].lower() for each in wanted} - {"indexerd"}
    assert names <= pins_of(name).keys()


def test_what_runs_is_what_was_tested() -> None:
    assert pins_of("requirements-run.lock").items() < pins_of("requirements.lock").items()


def pins_of(lock: str) -> dict[str, str]:
    """Name -> version of everything that a lock file pins."""
    text = (REPOSITORY / lock).read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", text, re.MULTILINE))


def test_installed_into_a_new_environment_both_commands_start(wheel: Path, tmp_path: Path) -> None:
    # The dependencies come from the environment that runs this test: no network is needed.
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin/python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(str(Path(pytest.__file__).parents[1]), "utf-8")
    for command in ("indexerd", "wikiq"):
        run = [str(environment / "bin" / command), "--version"]
        done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert VERSION in done.stdout
    assert (environment / "share/indexerd/systemd/README.md").is_file()
    wiki = build_wiki(tmp_path / "served", {"page.md": "# Page\n\ntext\n"})
    with serving(wiki, program=(str(environment / "bin/wikiq"),)) as server:
        shown = server.get("/p/page").text
        assert "<p>text</p>" in shown
        for address in re.findall(r'"(/static/[^"]+)"', shown):
            assert server.get(address).status == 200
    where = [str(environment / "bin/python"), "-c", "import wikiq; print(wikiq.__file__)"]
    found = subprocess.run(where, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert Path(found.strip()).is_relative_to(environment)
