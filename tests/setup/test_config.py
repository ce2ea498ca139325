"""What is in force and from where: the order of the sources, and one clear line for every mistake."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import fields
from pathlib import Path

import pytest

from indexerd.contract.toml import WIKI_SETTINGS_BYTES
from indexerd.errors import ConfigurationError, NotPermittedError
from indexerd.setup.config import SETTINGS, Settings, load_configuration, setting_values, user_file
from indexerd.tree.ignore import MOST_PATTERNS


def environment(home: Path, **variables: str) -> dict[str, str]:
    return {"HOME": str(home), **variables}


def write_user_file(home: Path, text: str) -> Path:
    path = Path(user_file(environment(home)) or "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_field_is_one_setting_and_every_setting_has_its_own_flag_and_variable() -> None:
    assert sorted(setting.field for setting in SETTINGS) == sorted(field.name for field in fields(Settings))
    assert len({setting.flag for setting in SETTINGS}) == len(SETTINGS)
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    found = load_configuration(str(tmp_path), {}, environment(tmp_path))
    assert found.settings == Settings()
    assert set(found.origins.values()) == {"default"}
    assert [setting.key for setting, _ in setting_values(found.settings)] == list(found.origins)


def test_flag_beats_environment_beats_the_wikis_file_beats_the_users_file(tmp_path: Path) -> None:
    own = write_user_file(tmp_path, '[wiki]\nignore = ["u"]\ngitignore = false\nwatch = "scan"\n')
    wiki = tmp_path / ".wikiq.toml"
    wiki.write_text('[wiki]\nignore = ["w"]\nextensions = [".MD"]\n[identity]\nnames = ["Acme"]\n')
    environ = environment(tmp_path, INDEXERD_EXTENSIONS="md, txt", INDEXERD_IGNORE="e")
    found = load_configuration(str(tmp_path), {"ignore": "f,g"}, environ)
    assert found.settings == Settings(
        extensions=("md", "txt"), ignore=("f", "g"), gitignore=False, watch="scan", names=("Acme",)
    )
    assert found.origins["wiki.ignore"] == "--ignore"
    assert found.origins["wiki.extensions"] == "INDEXERD_EXTENSIONS"
    assert found.origins["identity.names"] == str(wiki)
    assert found.origins["wiki.watch"] == str(own)
    assert found.origins["wiki.max_page_bytes"] == "default"


def test_the_users_file_lies_in_the_xdg_folder_unless_that_is_relative(tmp_path: Path) -> None:
    assert user_file({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}) == "/x/indexerd/config.toml"
    assert user_file({"HOME": "/h", "XDG_CONFIG_HOME": "x"}) == "/h/.config/indexerd/config.toml"


@pytest.mark.parametrize(
    "text, message",
    [
        ("[wiki]\nextension = ['md']\n", "wiki.extension is no setting; did you mean wiki.extensions?"),
        ("[identity]\nname = ['x']\n", "did you mean identity.names?"),
        ("ignore = ['x/']\n", r"ignore cannot stand here; write it below \[wiki\]"),
        ("name = 'x'\n", "name cannot stand here; use --name or INDEXERD_NAME"),
        ("[wikis]\n", r"\[wikis\] is no setting; did you mean \[wiki\]?"),
        ("wiki = 1\n", "wiki is a value; write it as a table"),
        ("[wiki]\nignore = 'x'\n", "wiki.ignore cannot be 'x'; write a list"),
        ("[wiki]\nignore = [1]\n", "write a list"),
        ("[wiki]\nextensions = []\n", "name at least one"),
        ("[wiki]\nextensions = ['a/b']\n", "write extensions like"),
        ("[wiki]\ngitignore = 'no'\n", "write true or false"),
        ("[wiki]\nmax_page_bytes = 0\n", "a number of bytes above 0"),
        ("[wiki]\nmax_page_bytes = true\n", "a number of bytes above 0"),
        ("[wiki]\nscan_interval = 0\n", "write seconds, 0.1 to 900"),
        ("[wiki]\nscan_interval = 901.0\n", "write seconds, 0.1 to 900"),
        ("[wiki]\nscan_interval = nan\n", "write seconds, 0.1 to 900"),
        ("[wiki]\nscan_interval = '1'\n", "write seconds, 0.1 to 900"),
        ("[wiki]\nscan_interval = true\n", "write seconds, 0.1 to 900"),
        ("[wiki]\nwatch = 'inotify'\n", "write one of auto, scan"),
        ("[wiki]\nshare_group = ''\n", "write one word"),
        ("[wiki]\n\nignore = [\n", r"is not valid TOML: .*(line 4|end of document)"),
        ("[wiki]\nignore = ['a'\nx = 1\n", r"line 3"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_that_names_the_file_and_the_remedy(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write_user_file(tmp_path, text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        load_configuration(None, {}, environment(tmp_path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", ["follow_symlinks = true", "share_group = 'users'", "max_page_bytes = 9"])
def test_a_wikis_own_file_may_not_set_what_concerns_the_machine(tmp_path: Path, line: str) -> None:
    (tmp_path / ".wikiq.toml").write_text(f"[wiki]\n{line}\n")
    found = load_configuration(str(tmp_path), {}, environment(tmp_path))
    assert found.settings == Settings()
    assert "may not be set here; set it in your own" in str(found.refused)


@pytest.mark.parametrize(
    "variable, text, message",
    [
        ("INDEXERD_EXTENSION", "md", "INDEXERD_EXTENSION is no setting; did you mean INDEXERD_EXTENSIONS"),
        ("INDEXERD_GITIGNORE", "maybe", "INDEXERD_GITIGNORE: wiki.gitignore cannot be 'maybe'"),
        ("INDEXERD_MAX_PAGE_BYTES", "-1", "cannot be '-1'"),
        ("INDEXERD_SCAN_INTERVAL", "soon", "cannot be 'soon'; write seconds"),
        ("INDEXERD_DB", "", "db cannot be ''"),
        ("INDEXERD_NAME", os.fsdecode(b"caf\xe9"), "name cannot be"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    tmp_path: Path, variable: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        load_configuration(None, {}, environment(tmp_path, **{variable: text}))


def test_words_in_variables_are_read_as_what_the_setting_is(tmp_path: Path) -> None:
    environ = environment(
        tmp_path,
        INDEXERD_GITIGNORE="No",
        INDEXERD_MAX_PAGE_BYTES="10",
        INDEXERD_IGNORE="",
        INDEXERD_SCAN_INTERVAL="60",
        INDEXERD_DB="/x.db",
    )
    settings = load_configuration(None, {"follow_symlinks": True}, environ).settings
    assert settings == Settings(
        gitignore=False, max_page_bytes=10, db="/x.db", follow_symlinks=True, scan_interval=60.0
    )


def test_a_mistake_in_the_wikis_file_leaves_all_of_it_out_and_never_what_is_the_users(tmp_path: Path) -> None:
    """It comes with a `git pull`, and must not keep a daemon from starting."""
    write_user_file(tmp_path, '[wiki]\nwatch = "scan"\n')
    (tmp_path / ".wikiq.toml").write_text('[wiki]\nextensions = ["txt"]\nextension = ["md"]\n')
    found = load_configuration(str(tmp_path), {"ignore": "f"}, environment(tmp_path))
    assert found.settings == Settings(watch="scan", ignore=("f",))
    assert str(found.refused).startswith(str(tmp_path / ".wikiq.toml"))
    assert found.origins["wiki.extensions"] == "default"


@pytest.mark.parametrize(
    "text, said",
    [
        ("a." * 16_000 + "b = 1", "a key of more than 32 parts"),
        ("[wiki]\nignore = [" + "'x'," * WIKI_SETTINGS_BYTES, "bytes; make it shorter"),
        ("[wiki]\nignore = ['a.md', '[b']", "wiki.ignore: the pattern '[b' is left out"),
        (f"[wiki]\nignore = {['x'] * (MOST_PATTERNS + 1)}", "are left out, since 1000 patterns hold here"),
        ("a = " + "[" * 2000, "nested deeper than 32 levels"),
        ("a = " + "1" * 5000, "a number with too many digits"),
    ],
    ids=["dotted key", "long", "bad pattern", "many patterns", "nested", "number"],
)
def test_a_hostile_file_of_the_wiki_costs_next_to_nothing_and_is_left_out(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / ".wikiq.toml").write_text(text)
    tracemalloc.start()
    found = load_configuration(str(tmp_path), {}, environment(tmp_path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert said in str(found.refused)
    assert found.settings == Settings()
    assert most < 32 << 20


def test_the_most_that_a_file_of_the_wiki_may_hold_is_read_in_little_memory(tmp_path: Path) -> None:
    """Each key as deep as it may be: what tomllib makes of one is some hundred times its length."""
    keys = [".".join(f"{nth}{letter}" for letter in "abcdefghijklmnopqrstuvwxyzabcde") for nth in range(700)]
    text = "\n".join(f"{key} = 1" for key in keys)
    (tmp_path / ".wikiq.toml").write_text(text[:WIKI_SETTINGS_BYTES].rpartition("\n")[0])
    tracemalloc.start()
    found = load_configuration(str(tmp_path), {}, environment(tmp_path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "is no setting" in str(found.refused)
    assert most < 64 << 20


def test_a_user_without_a_home_has_no_settings_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # of a user whom the system does not list
    assert user_file({}) is None
    assert user_file({"HOME": "relative"}) is None
    assert load_configuration(None, {}, {}).settings == Settings()


def test_a_file_of_the_wiki_that_is_a_link_or_no_file_is_refused(tmp_path: Path) -> None:
    wiki, other = tmp_path / "wiki", tmp_path / "secret"
    wiki.mkdir()
    other.write_text("password\n")
    (wiki / ".wikiq.toml").symlink_to(other)
    assert "is a symbolic link" in str(load_configuration(str(wiki), {}, environment(tmp_path)).refused)
    (wiki / ".wikiq.toml").unlink()
    (wiki / ".wikiq.toml").mkdir()
    assert "is not a file" in str(load_configuration(str(wiki), {}, environment(tmp_path)).refused)


def test_a_user_may_link_their_own_file(tmp_path: Path) -> None:
    path = write_user_file(tmp_path, "")
    path.unlink()
    (tmp_path / "dotfiles.toml").write_text('[wiki]\nwatch = "scan"\n')
    path.symlink_to(tmp_path / "dotfiles.toml")
    assert load_configuration(None, {}, environment(tmp_path)).settings.watch == "scan"


def test_a_file_that_is_not_utf_8_or_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_user_file(tmp_path, "")
    path.write_bytes(b"[wiki]\nwatch = '\xff'\n")
    with pytest.raises(ConfigurationError, match="is not UTF-8"):
        load_configuration(None, {}, environment(tmp_path))

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(NotPermittedError, match="Permission denied"):
        load_configuration(None, {}, environment(tmp_path))


def test_what_a_wiki_says_to_its_readers_is_no_setting(tmp_path: Path) -> None:
    (tmp_path / ".wikiq.toml").write_text(
        '[check]\nignore = [{ kind = "orphan" }]\n[wiki]\ngitignore = false\n'
    )
    assert load_configuration(str(tmp_path), {}, environment(tmp_path)).settings.gitignore is False
