"""Links of a page: kinds, places, targets and what they mean from the root."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.model import Link, LinkKind, Page, ProjectionOptions
from indexerd.core.page.links import resolve_path
from indexerd.core.project import project_page
from tests.shared_data import shared_folder


def page(text: str, path: str = "notes/p.md") -> Page:
    return project_page(text.encode(), path, ProjectionOptions())


def links(text: str, path: str = "notes/p.md") -> list[Link]:
    return [link for section in page(text, path).sections for link in section.links]


def test_the_shared_cases_of_links_hold_before_they_are_resolved() -> None:
    """Which page a path or a name is, is the store's; here every target must lead to its path or name."""
    case = json.loads((shared_folder("conformance") / "links.json").read_text(encoding="utf-8"))
    pages = {path: page(text, path) for path, text in case["pages"].items()}
    of_slug = {
        "README": "README.md",
        "guide": "guide/README.md",
        "guide/install": "guide/install.md",
        "notes/b": "notes/b.md",
        "notes/with space": "notes/with space.md",
    }
    for row in case["expect"]:
        found = [
            link
            for section in pages[of_slug[row["from"]]].sections
            for link in section.links
            if link.target == row["target"] and link.kind == row.get("kind", link.kind)
        ]
        assert found, row
        assert found[0].external is row.get("external", False), row
        assert found[0].fragment == row.get("fragment", found[0].fragment), row
        if row.get("slug"):
            target = pages[of_slug[row["slug"]]]
            names = {target.path, target.path.removesuffix(".md"), row["slug"], target.title, *target.aliases}
            assert found[0].path in names | {target.path.rpartition("/")[2].removesuffix(".md")}, row
    for row in case["never"]:
        text = row.get("in_code") or row["fenced"]
        for section in pages[of_slug[row["from"]]].sections:
            assert not [link for link in section.links if link.label == "code"], text
            assert not [link for link in section.links if "`" in link.target], text
    for row in case["mentions"]:
        found_in = pages[of_slug[row["from"]]]
        assert row["path"] in [mention.path for mention in found_in.mentions]


@pytest.mark.parametrize(
    "text, kind, target, label",
    [
        ("[a *b*](c.md)", "inline", "c.md", "a b"),
        ('[a](c.md "title")', "inline", "c.md", "a"),
        ("[a](<c d.md>)", "inline", "c d.md", "a"),
        ("[a][r]\n\n[r]: c.md", "reference", "c.md", "a"),
        ("[r][]\n\n[R]: c.md", "reference", "c.md", "r"),
        ("[r]\n\n> [r]: c.md", "reference", "c.md", "r"),
        ("![a `b`](c.png)", "image", "c.png", "a b"),
        ("![r]\n\n[r]: c.png", "image", "c.png", "r"),
        ("<https://e.example/x>", "autolink", "https://e.example/x", "https://e.example/x"),
        ("<me@e.example>", "autolink", "mailto:me@e.example", "me@e.example"),
        ("[[Page]]", "wikilink", "Page", "Page"),
        ("[[Page|label *x*]]", "wikilink", "Page", "label *x*"),
        ("[[Page#Head|label]]", "wikilink", "Page#Head", "label"),
        ("![[pic.png|100]]", "embed", "pic.png", "100"),
        ("- [a](c.md)", "inline", "c.md", "a"),
        ("> 1. *[a](c.md)*", "inline", "c.md", "a"),
        ("| h |\n|---|\n| [[Page\\|label]] |", "wikilink", "Page", "label"),
        ("[a](c\\_d.md)", "inline", "c_d.md", "a"),
        ('x <a class="b" href="c.md?a=1&amp;b=2">a\n<b>b</b></a>', "html", "c.md?a=1&b=2", "a b"),
        ("<A HREF='c d.md'>a</A>", "html", "c d.md", "a"),
        ("x <a href=c.md>a", "html", "c.md", ""),
        ('<p align="center">\n  <img\n src="c.png" alt="a b">\n</p>', "html", "c.png", "a b"),
        ('> - <img alt="a" src="c.png"/>', "html", "c.png", "a"),
        ('<td><a href="{{< ref "c.md" >}}">a</a></td>', "html", '{{< ref "c.md" >}}', "a"),
        ("[a](c&amp;d.md)", "inline", "c&d.md", "a"),
        ("[a](%C3%A9.md)", "inline", "%C3%A9.md", "a"),
        ("[a](c(d).md)", "inline", "c(d).md", "a"),
        ("[a](<>)", "inline", "", "a"),
    ],
)
def test_every_kind_of_link_is_kept_as_written(text: str, kind: str, target: str, label: str) -> None:
    (link,) = links(text)
    assert (link.kind, link.target, link.label) == (LinkKind(kind), target, label)


@pytest.mark.parametrize(
    "text",
    [
        "`[a](b.md)`",
        "`` [[a]] ``",
        "```\n[a](b.md) [[a]]\n```",
        "    [a](b.md)\n    [[a]]",
        "\\[a](b.md)",
        "\\[[a]]",
        "[a]",
        "[a][b]",
        "[[]]",
        "[[|a]]",
        "[[a\nb]]",
        "<pre>\n[a](b.md)\n</pre>",
        "<!-- [a](b.md) -->",
        "[r]: b.md",
        "[a](b c.md)",
        "[a](javascript:alert(1))",
        "<a@>",
        "# `[[a]]`",
    ],
)
def test_what_is_code_or_no_link_gives_none(text: str) -> None:
    assert links(text) == []


def test_several_links_keep_their_order_and_lines() -> None:
    text = "intro [z](z.md)\n\n# [A](a.md) x\n\none `co\nde` [b\nc](b.md)\n[[d]]\n\n"
    text += "| t |\n|---|\n| x |\n| [e](e.md) |\n\n*a\n<ftp:g> ![h](i)* <b\nc>\n![[j]]\n"
    sections = page(text).sections
    assert [[(link.line, link.label) for link in section.links] for section in sections] == [
        [(1, "z")],
        [(1, "A"), (4, "b c"), (6, "d"), (11, "e"), (14, "ftp:g"), (14, "h"), (16, "j")],
    ]


@pytest.mark.parametrize(
    "text, found",
    [
        ("[[1]](u.md)", [("inline", "u.md", "[1]")]),
        ("[[1]] (u.md)", [("wikilink", "1", "1")]),
        ("[[1]](u", [("wikilink", "1", "1")]),
        ("![[a.png]](u.png)", [("image", "u.png", "[a.png]")]),
        ("![[a.png]](caption of two)", [("embed", "a.png", "a.png")]),
        ("[![i](i.png)](t.md)", [("inline", "t.md", "i"), ("image", "i.png", "i")]),
        ("[a [[b]] c](d.md)", [("wikilink", "b", "b")]),
        ("[a [b](c.md) d](e.md)", [("inline", "c.md", "b")]),
        ("*[[a]]*[b](c.md)", [("wikilink", "a", "a"), ("inline", "c.md", "b")]),
        ("x[[a]][[b]]", [("wikilink", "a", "a"), ("wikilink", "b", "b")]),
    ],
)
def test_where_two_readings_meet_commonmark_decides(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [(str(link.kind), link.target, link.label) for link in links(text)] == found


@pytest.mark.parametrize(
    "target, path, fragment",
    [
        ("b.md", "notes/b.md", None),
        ("./b.md", "notes/b.md", None),
        ("../b.md", "b.md", None),
        (".././x/../b.md", "b.md", None),
        ("../../b.md", None, None),
        ("/b.md", "b.md", None),
        ("/../b.md", None, None),
        ("sub/", "notes/sub", None),
        ("./", "notes", None),
        ("../", "", None),
        ("b.md#Part", "notes/b.md", "Part"),
        ("b.md#", "notes/b.md", None),
        ("b.md?x=1#Part", "notes/b.md", "Part"),
        ("b.md#a?b", "notes/b.md", "a?b"),
        ("#part", "notes/p.md", "part"),
        ("?x=1", "notes/p.md", None),
        ("a%20b.md#%C3%A9%23", "notes/a b.md", "é#"),
        ("a%2Fb.md", "notes/a/b.md", None),
        ("a%.md", "notes/a%.md", None),
        ("%FF%00.md", "notes/\ufffd\ufffd.md", None),
        ("a//b.md", "notes/a/b.md", None),
        ("C:b.md", "notes/C:b.md", None),
    ],
)
def test_a_markdown_target_is_a_path_from_the_root(
    target: str, path: str | None, fragment: str | None
) -> None:
    (link,) = links(f"[x]({target})")
    assert (link.path, link.fragment, link.external) == (path, fragment, False)


@pytest.mark.parametrize(
    "target", ["https://e.example/a.md#b", "mailto:a@e.example", "//e.example/a.md", "ftp:x"]
)
def test_an_address_is_external_and_means_no_path(target: str) -> None:
    (link,) = links(f"[x]({target})")
    assert (link.path, link.external) == (None, True)
    assert link.fragment == ("b" if "#" in target else None)


@pytest.mark.parametrize(
    "target, name, fragment",
    [
        ("Some page", "Some page", None),
        ("folder/Some page", "folder/Some page", None),
        ("Page#Head", "Page", "Head"),
        ("Page#A#B", "Page", "A#B"),
        ("Page#^block", "Page", "^block"),
        ("Page #Head", "Page", "Head"),
        ("#Head", "notes/p.md", "Head"),
        ("./Page", "notes/Page", None),
        ("../Page#x", "Page", "x"),
        ("../../Page", None, None),
        ("/notes/Page", "notes/Page", None),
        ("a%20b", "a%20b", None),
        ("v1.2", "v1.2", None),
        ("Page#", "Page", None),
    ],
)
def test_a_wikilink_means_a_name(target: str, name: str | None, fragment: str | None) -> None:
    (link,) = links(f"[[{target}]]")
    assert (link.path, link.fragment, link.external) == (name, fragment, False)


@given(st.text(st.sampled_from("ab./"), max_size=12), st.sampled_from(["", "a", "a/b"]))
def test_a_resolved_path_stays_below_the_root_and_is_its_own_meaning(path: str, folder: str) -> None:
    resolved = resolve_path(folder, path)
    if resolved is not None:
        assert not {"", ".", ".."} & set(resolved.split("/")) or resolved == ""
        assert resolve_path("", resolved) == resolved


@pytest.mark.parametrize(
    "text",
    [
        '<!-- <a href="c.md">a</a> -->',
        '<div>\n<!-- <a href="c.md">a</a> -->\n</div>',
        '<pre>\n<a href="c.md">a</a>\n</pre>',
        "<div><script>\n\"<a href='c.md'>a</a>\"\n</script></div>",
        '`<a href="c.md">a</a>`',
        '```\n<img src="c.png">\n```',
        '<a name="c.md">a</a> <a data-href="c.md"> <abbr href="c.md"> <a href="">',
        "<img src={picture} alt='src=x'>",
    ],
)
def test_html_without_a_target_in_words_and_html_that_is_shown_is_no_link(text: str) -> None:
    assert links(text) == []


def test_links_of_html_and_of_markdown_stand_in_the_order_of_their_lines() -> None:
    text = '[a](a.md)\n\n<p>\n<a href="b.md">b</a>\n<a href="c.md">c</a>\n</p>\n\n[d](d.md)\n'
    found = [(link.line, link.target) for link in links(text)]
    assert found == [(1, "a.md"), (4, "b.md"), (5, "c.md"), (8, "d.md")]


@pytest.mark.parametrize(
    "target, path, fragment",
    [
        ('{{< ref "b.md" >}}', "notes/b.md", None),
        ('{{% relref "/b.md#part" %}}', "b.md", "part"),
        ("{{<ref path='b.md' lang=\"en\">}}", "notes/b.md", None),
        ('{{< ref "b.md" >}}#part', "notes/b.md", "part"),
        ("{% link _posts/b.md %}", "notes/_posts/b.md", None),
        ("{{ site.baseurl }}{% link b.md %}#part", "notes/b.md", "part"),
    ],
)
def test_a_template_tag_that_names_a_page_means_its_argument(
    target: str, path: str, fragment: str | None
) -> None:
    (link,) = links(f"[x]({target})")
    assert (link.target, link.path, link.fragment, link.external) == (target, path, fragment, False)


@pytest.mark.parametrize(
    "target", ["{{ site.url }}/b", "<%= x %>", "%PUBLIC_URL%/b", "${base}/b", "{% post_url 2024-01-01-b %}"]
)
def test_a_target_that_a_program_fills_in_is_external(target: str) -> None:
    (link,) = links(f"[x]({target})")
    assert (link.target, link.path, link.external) == (target, None, True)


def test_an_address_of_dendron_right_of_the_bar_is_the_page() -> None:
    (link,) = links("[[Vaults|dendron://vault/topic.vault#part]]")
    assert (link.target, link.path, link.fragment) == ("Vaults", "topic.vault", "part")
