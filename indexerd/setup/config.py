"""Settings: flag, else environment, else the wiki's own file, else the user's file, else the default.

One table says which settings there are; everything else is read from it. An unknown key is an error
that names what was probably meant. What can be measured is no setting.
"""

from __future__ import annotations

import contextlib
import errno
import os
import reprlib
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from indexerd.contract.places import NoHomeError, config_home
from indexerd.contract.suggestions import did_you_mean, nearest
from indexerd.contract.toml import WIKI_SETTINGS_BYTES, parse_toml
from indexerd.core.page.names import CONFIG_FILE, is_text
from indexerd.core.sync.intervals import LONGEST_INTERVAL_S, SHORTEST_INTERVAL_S
from indexerd.errors import ConfigurationError, IndexerdError, NotPermittedError
from indexerd.tree.ignore import parse_ignore_file
from indexerd.tree.openat import FILE_FLAGS, read_up_to

ENVIRONMENT_PREFIX: Final = "INDEXERD_"
CONFIG_FILE_BYTES: Final = 1 << 20
READERS_SECTION: Final = "check"  # of a wiki's own file: what `wikiq check` passes over

WATCH_CHOICES: Final = ("auto", "scan")
LEAST_INTERVAL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, with its default. None: not set, decided where it is used.

    `ignore`: gitignore patterns. `max_page_bytes`: larger files are listed, not read. `watch`:
    `scan` scans periodically instead of waiting for events. `scan_interval`: minimum seconds between
    two such scans; more where a scan is expensive. `share_group`: may read the index.
    `names`: names that are never structure (spec 1.7). `db`: the index file. `name`: for `--wiki`.
    """

    extensions: tuple[str, ...] = ("md", "markdown")
    ignore: tuple[str, ...] = ()
    gitignore: bool = True
    follow_symlinks: bool = False
    max_page_bytes: int = 16 << 20
    watch: str = "auto"
    scan_interval: float = SHORTEST_INTERVAL_S
    share_group: str | None = None
    names: tuple[str, ...] = ()
    db: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """Where one field of Settings is written. `in_wiki`: a cloned repository may set it (spec 3.8)."""

    field: str
    section: str | None
    flag: str
    variable: str
    help: str
    in_wiki: bool = False

    @property
    def key(self) -> str:
        """How errors and `indexerd config` name it."""
        return f"{self.section}.{self.field}" if self.section else self.field


def _wiki(field: str, text: str, *, in_wiki: bool = False) -> Setting:
    return Setting(field, "wiki", f"--{field.replace('_', '-')}", field.upper(), text, in_wiki)


SETTINGS: Final = (
    _wiki("extensions", "What the names of pages end in, separated by commas.", in_wiki=True),
    _wiki("ignore", "Patterns in gitignore syntax, separated by commas.", in_wiki=True),
    _wiki("gitignore", "Leave out what .gitignore files exclude.", in_wiki=True),
    _wiki("follow_symlinks", "Follow symbolic links that stay inside the root."),
    _wiki("max_page_bytes", "Larger files are listed but not read."),
    _wiki("watch", "auto: wait for events where the file system gives them; scan: scan periodically."),
    _wiki("scan_interval", "Minimum seconds between periodic scans; more on a large tree."),
    _wiki("share_group", "A group of this machine that may read the index."),
    Setting(
        "names",
        "identity",
        "--identity-names",
        "IDENTITY_NAMES",
        "Names of customers, products, people: never structure.",
        in_wiki=True,
    ),
    Setting("db", None, "--db", "DB", "The index file, instead of the default place."),
    Setting("name", None, "--name", "NAME", "What `wikiq --wiki` calls it; the folder's name by default."),
)

_DEFAULTS: Final = Settings()
_EMPTYABLE: Final = frozenset({"ignore", "names"})


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, and for each key of SETTINGS where its value comes from.

    `refused`: why the wiki's own file, which comes with a clone, is ignored; None where it is in force.
    """

    settings: Settings
    origins: Mapping[str, str]
    refused: IndexerdError | None = None


def user_file(environ: Mapping[str, str]) -> str | None:
    """The user's own settings; None for a user without a home, as in many containers."""
    try:
        return os.path.join(config_home(environ), "indexerd", "config.toml")
    except NoHomeError:
        return None


def load_configuration(
    root: str | None, flags: Mapping[str, str | bool], environ: Mapping[str, str]
) -> Configuration:
    """Gather what is in force for the wiki at `root`; `flags` are by field, only those given.

    Raises ConfigurationError for the user's own settings, naming file and line, key or variable. The wiki's
    file is nobody's here: one that cannot be used is left out as a whole, and told.
    """
    values: dict[str, Any] = {}
    origins = {setting.key: "default" for setting in SETTINGS}
    refused: IndexerdError | None = None

    def take(path: str, found: list[tuple[Setting, object]]) -> None:
        values.update({setting.field: value for setting, value in found})
        origins.update({setting.key: path for setting, _ in found})

    if (own := user_file(environ)) is not None:
        take(own, list(_read_file(own, in_wiki=False)))
    if root is not None:
        theirs = os.path.join(root, CONFIG_FILE)
        try:
            take(theirs, list(_read_file(theirs, in_wiki=True)))
        except (ConfigurationError, NotPermittedError) as error:
            refused = error
    for setting, text in _read_environment(environ):
        values[setting.field] = parse_text(setting, text, f"{ENVIRONMENT_PREFIX}{setting.variable}")
        origins[setting.key] = f"{ENVIRONMENT_PREFIX}{setting.variable}"
    by_field = {setting.field: setting for setting in SETTINGS}
    for field, given in flags.items():
        setting = by_field[field]
        values[field] = given if isinstance(given, bool) else parse_text(setting, given, setting.flag)
        origins[setting.key] = setting.flag
    return Configuration(Settings(**values), origins, refused)


def parse_text(setting: Setting, text: str, where: str) -> object:
    """Parse the text of a flag or a variable."""
    default = getattr(_DEFAULTS, setting.field)
    value: object = text
    if isinstance(default, bool):
        word = text.strip().lower()
        value = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
            word, text
        )
    elif isinstance(default, float):
        with contextlib.suppress(ValueError):
            value = float(text)
    elif isinstance(default, int):
        value = int(text) if text.strip().isdecimal() else text
    elif isinstance(default, tuple):
        value = [part.strip() for part in text.split(",") if part.strip()]
    return _checked(setting, value, where)


def _checked(setting: Setting, value: object, where: str) -> object:
    """The value in the shape of its field, or a ConfigurationError that says what it must be."""
    default = getattr(_DEFAULTS, setting.field)
    problem = f"{setting.key} cannot be {reprlib.repr(value)}"
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise ConfigurationError(where, problem, "write true or false")
    if isinstance(default, int):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        raise ConfigurationError(where, problem, "write a number of bytes above 0")
    if isinstance(default, float):
        least, most = LEAST_INTERVAL_S, LONGEST_INTERVAL_S
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        remedy = f"write seconds, {least:g} to {most:g}"
        raise ConfigurationError(where, problem, remedy)
    if isinstance(default, tuple):
        return _checked_list(setting, value, where, problem)
    if not isinstance(value, str) or not value or "\0" in value or not is_text(value):
        raise ConfigurationError(where, problem, "write one word")
    if setting.field == "watch" and value not in WATCH_CHOICES:
        raise ConfigurationError(where, problem, f"write one of {', '.join(WATCH_CHOICES)}")
    return value


def _checked_list(setting: Setting, value: object, where: str, problem: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ConfigurationError(where, problem, 'write a list of strings, ["like", "this"]')
    if not value and setting.field not in _EMPTYABLE:
        raise ConfigurationError(where, problem, "name at least one")
    if setting.field == "ignore":
        _, problems = parse_ignore_file("\n".join(value), setting.key)
        if problems:
            said, _, remedy = problems[0].message.rpartition("; ")
            raise ConfigurationError(where, f"{setting.key}: {said}", f"{remedy} (gitignore(5))")
    if setting.field != "extensions":
        return tuple(value)
    names = tuple(item.removeprefix(".").lower() for item in value)
    if not all(names) or any("/" in name for name in names):
        raise ConfigurationError(where, problem, "write extensions like md or markdown")
    return names


def _read_environment(environ: Mapping[str, str]) -> Iterator[tuple[Setting, str]]:
    by_variable = {setting.variable: setting for setting in SETTINGS}
    for name in sorted(environ):
        if name.startswith(ENVIRONMENT_PREFIX):
            setting = by_variable.get(name.removeprefix(ENVIRONMENT_PREFIX))
            if setting is None:
                known = [f"{ENVIRONMENT_PREFIX}{variable}" for variable in by_variable]
                raise _unknown("the environment", name, known)
            yield setting, environ[name]


def _read_file(path: str, *, in_wiki: bool) -> Iterator[tuple[Setting, object]]:
    """The settings of a TOML file, checked; nothing where there is no file."""
    for section, table in _read_toml(path, in_wiki=in_wiki).items():
        if in_wiki and section == READERS_SECTION:
            continue
        sections = {setting.section or "" for setting in SETTINGS} - {""}
        if section not in sections and (setting := _setting_named(section)) is not None:
            elsewhere = f"use {setting.flag} or {ENVIRONMENT_PREFIX}{setting.variable}"
            remedy = f"write it below [{setting.section}]" if setting.section else elsewhere
            raise ConfigurationError(path, f"{section} cannot stand here", remedy)
        if section not in sections:
            raise _unknown(path, f"[{section}]", [f"[{known}]" for known in sections])
        if not isinstance(table, dict):
            raise ConfigurationError(path, f"{section} is a value", f"write it as a table, [{section}]")
        known = {setting.field: setting for setting in SETTINGS if setting.section == section}
        for key, value in table.items():
            setting = known.get(key)
            if setting is None:
                raise _unknown(path, f"{section}.{key}", [s.key for s in SETTINGS if s.section])
            if in_wiki and not setting.in_wiki:
                remedy = "set it in your own config.toml; this file comes with the wiki"
                raise ConfigurationError(path, f"{setting.key} may not be set here", remedy)
            yield setting, _checked(setting, value, path)


def _setting_named(field: str) -> Setting | None:
    return next((setting for setting in SETTINGS if setting.field == field), None)


def _read_toml(path: str, *, in_wiki: bool) -> dict[str, Any]:
    """The file's tables. People keep links to their own settings; a wiki's file must be one itself."""
    try:
        descriptor = os.open(path, FILE_FLAGS if in_wiki else FILE_FLAGS & ~os.O_NOFOLLOW)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR}:
            return {}
        if error.errno == errno.ELOOP:
            raise ConfigurationError(path, "is a symbolic link", "put the file itself there") from error
        remedy = "let the user who runs this read it and its folder"
        raise NotPermittedError(path, f"cannot be read ({error.strerror})", remedy) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ConfigurationError(path, "is not a file", "put a file there or remove it")
        limit = WIKI_SETTINGS_BYTES if in_wiki else CONFIG_FILE_BYTES
        data = read_up_to(descriptor, limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise ConfigurationError(path, f"is over {limit} bytes", "make it shorter")
    try:
        return parse_toml(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(path, "is not UTF-8", "save it as UTF-8") from error
    except ValueError as error:
        raise ConfigurationError(path, f"is not valid TOML: {error}", "correct that line") from error


def _unknown(where: str, name: str, known: list[str]) -> ConfigurationError:
    remedy = did_you_mean(nearest(name, known), f"use {', '.join(sorted(known))}")
    return ConfigurationError(where, f"{name} is no setting", remedy)


def setting_values(settings: Settings) -> Iterator[tuple[Setting, object]]:
    """Each setting with its value, in the order of the table."""
    for setting in SETTINGS:
        yield setting, getattr(settings, setting.field)
