"""The YAML that is read, and the YAML that is refused: bombs, tags, depth."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.page import yaml_subset
from indexerd.core.page.yaml_subset import MAX_DEPTH, Json, YamlError, json_value, parse_yaml, text_of


def value(text: str) -> Json:
    return json_value(parse_yaml(text)[0])


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both event sources, since not every build of PyYAML has libyaml."""
    name = str(request.param)
    if not hasattr(yaml, name):
        pytest.skip("this build of PyYAML lacks libyaml")
    monkeypatch.setattr(yaml_subset, "_loader", lambda: getattr(yaml, name))
    return name


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a: 1\nb: [x, 'y', \"z\"]\n", {"a": 1, "b": ["x", "y", "z"]}),
        ("a:\n- b: 1\n  c: null\n- d\n", {"a": [{"b": 1, "c": None}, "d"]}),
        ("a: yes\nb: ~\nc: 1.5\nd: 0x1F\n", {"a": True, "b": None, "c": 1.5, "d": 31}),
        ("a: 2024-01-02\n", {"a": "2024-01-02"}),
        ("a: 2024-01-02T03:04:05Z\n", {"a": "2024-01-02T03:04:05+00:00"}),
        ("a: .inf\nb: .nan\n", {"a": ".inf", "b": ".nan"}),
        (f"a: {2**63 - 1}\nb: {2**63}\n", {"a": 2**63 - 1, "b": str(2**63)}),
        (f"a: {-(2**63)}\nb: {-(2**63) - 1}\n", {"a": -(2**63), "b": str(-(2**63) - 1)}),
        ("a: !!str 1\nb: !!int '2'\n", {"a": "1", "b": 2}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("日本: 語\n", {"日本": "語"}),
        ("[]", []),
        ("", None),
        ("# only a comment\n", None),
    ],
)
def test_a_document_is_read_as_json_values(text: str, expected: Json) -> None:
    assert value(text) == expected


def test_a_scalar_keeps_its_spelling() -> None:
    node, _ = parse_yaml("a: 1.10\nb: 0o17\nc: null\nd: ''\n")
    assert isinstance(node, dict)
    assert [text_of(node[key]) for key in "abcd"] == ["1.10", "0o17", None, ""]


BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}, *{before}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("a: 1\nb: [1, 2\nc: 3\n", None, ""),
        ("title: a: b\n", 1, "mapping values"),
        (BOMB, 2, "an alias"),
        ("a: 1\n? [x, y]\n: z\n", 2, "as key"),
        ("x: !ruby/object:Gem y\n", 1, "the tag"),
        ("a: 1\n--- \nb: 2\n", None, "a second document"),
        ("a: \x01\n", 1, "a control character"),
        ("a: 'open\n", None, ""),
        ("\ta: 1\n", 1, ""),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(text: str, line: int | None, problem: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse_yaml(text)
    assert problem in caught.value.message
    assert line is None or caught.value.line == line


def test_the_tag_of_a_list_or_mapping_makes_no_object() -> None:
    assert value("x: !!python/object/apply:os.system [ls]\n") == {"x": ["ls"]}


def test_nesting_is_read_to_the_limit_and_refused_one_past_it() -> None:
    assert value("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    for depth in (MAX_DEPTH + 1, 2_000, 30_000):
        with pytest.raises(YamlError, match="nest"):
            parse_yaml("[" * depth + "]" * depth)


@pytest.mark.parametrize("text", ["2024-99-99", "2024-01-01 10:00:00 +99:00", "!!int x"])
def test_a_date_or_number_that_cannot_be_is_kept_as_text_and_said(text: str) -> None:
    node, warnings = parse_yaml(f"a: 1\nb: {text}\n")
    assert json_value(node) == {"a": 1, "b": text.removeprefix("!!int ")}
    assert [each.line for each in warnings] == [2]


def test_a_key_that_comes_twice_is_said_and_the_last_counts() -> None:
    node, warnings = parse_yaml("a: 1\nb: 2\na: 3\n")
    assert json_value(node) == {"a": 3, "b": 2}
    assert [(each.line, "'a'" in each.message) for each in warnings] == [(3, True)]


def test_what_no_database_stores_is_replaced() -> None:
    assert value('a: "x\\0y"\n') == {"a": "x\ufffdy"}


@given(st.text(max_size=60) | st.text(st.sampled_from("ab:-[]{}&*!|>'\"#? \n\t0129.~%@`"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(YamlError):
        node, _ = parse_yaml(text)
        yaml_subset.json_text(node).encode("utf-8")
