"""Topics: how they are spelled, which ones a page carries, and what `topics.yaml` declares.

A topic that a page uses need not be declared. Nothing here knows which pages there are; the tree
of topics is put together by the store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Final

from indexerd.core.markdown.document import FoundText
from indexerd.core.model import Diagnostic, TopicDeclaration, TopicUse
from indexerd.core.page.yaml_subset import Node, Scalar, YamlError, parse_yaml, text_of, texts_of, unlinked

MAX_TOPICS_FILE: Final = 1024 * 1024  # characters of topics.yaml: some 10,000 topics with descriptions

MOST_ABOVE: Final = 64  # topics above one; each is a row of `topic_tree` for each topic below
LONGEST_TOPIC: Final = 255  # characters, as long as the name of a file may be
DEEPEST_TOPIC: Final = 32  # parts of a name like `a/b`: each is a topic

_WORDS: Final = re.compile(r"#?\[\[[^\[\]]*\]\]|[^,\s]+")  # `[[two words]]` is one
_NUMBER: Final = re.compile(r"[\d/]+")  # `#123` and `#2024/05` are no tags (Obsidian)
_FIELDS: Final = ("topics", "tags", "tag", "categories", "keywords")


def normalize_topic(text: str) -> str:
    """The slug of a topic: NFKC, case folded, blanks to `-`, no leading `#`; '' where nothing is left."""
    text = text.strip().lstrip("#")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    segments = ("-".join(segment.split()) for segment in text.lower().split("/"))
    return "/".join(segment for segment in segments if segment)


def enclosing_topics(topic: str) -> tuple[str, ...]:
    """What `a/b/c` is under by its name alone: `a/b`, `a`."""
    segments = topic.split("/")
    return tuple("/".join(segments[:count]) for count in range(len(segments) - 1, 0, -1))


def page_topics(values: Mapping[str, Node], tags: Iterable[FoundText]) -> tuple[TopicUse, ...]:
    """What a page carries: fields of its front matter, keys folded, and `#tag`s; each once an origin."""
    uses: dict[TopicUse, None] = {}
    for origin in _FIELDS:
        for text in _listed(values.get(origin)):
            topic = normalize_topic(unlinked(text.strip().lstrip("#")))
            if _is_topic(topic):
                uses[TopicUse(topic, origin)] = None
    for tag in tags:
        topic = normalize_topic(tag.text)
        if _is_topic(topic):
            uses[TopicUse(topic, "text")] = None
    return tuple(uses)


def _is_topic(topic: str) -> bool:
    return bool(topic) and not _NUMBER.fullmatch(topic) and not _is_long(topic)


def _is_long(topic: str) -> bool:
    return len(topic) > LONGEST_TOPIC or topic.count("/") >= DEEPEST_TOPIC


def unread_topics(values: Mapping[str, Node]) -> Iterator[Diagnostic]:
    """One diagnostic for each of the fields that holds something that cannot be a topic."""
    for field in _FIELDS:
        if any(True for text in texts_of(values.get(field)) if text is None):
            message = f"{field!r} holds something that is no word; write it as a list of words"
            yield Diagnostic("front_matter_invalid", message)
        if any(_is_long(normalize_topic(text)) for text in _listed(values.get(field))):
            message = f"{field!r} holds a topic of over {LONGEST_TOPIC} characters or {DEEPEST_TOPIC} parts"
            yield Diagnostic("front_matter_invalid", f"{message}; shorten it")


def parse_topics(text: str) -> tuple[TopicDeclaration, ...] | Diagnostic:
    """What `topics.yaml` declares, or why the whole file is ignored.

    Three shapes are read: a list of `slug, title, description, parents`; the same below the key
    `topics`; a mapping of slugs to the other fields.
    """
    if len(text) > MAX_TOPICS_FILE:
        return ignored_topics(1, f"it is larger than {MAX_TOPICS_FILE} characters")
    try:
        root, _ = parse_yaml(text)
        topics: dict[str, TopicDeclaration] = {}
        for slug, fields in _entries(root):
            declared = _declaration(slug, fields)
            if declared.slug in topics:
                return ignored_topics(None, f"the topic {declared.slug!r} is there twice")
            topics[declared.slug] = declared
    except YamlError as error:
        return ignored_topics(error.line, error.message)
    graph = _graph(topics)
    try:
        crowded = _find_crowded(graph, TopologicalSorter(graph).static_order())
    except CycleError as error:
        return ignored_topics(None, f"a topic is above itself: {' > '.join(error.args[1])}")
    if crowded is not None:
        return ignored_topics(None, f"the topic {crowded!r} is below more than {MOST_ABOVE} others")
    return tuple(topics.values())


def _find_crowded(graph: Mapping[str, set[str]], topics: Iterable[str]) -> str | None:
    """The first topic with too many above it; `topics`: those above before those below."""
    above: dict[str, set[str]] = {}
    for topic in topics:
        parents = graph.get(topic, set())
        above[topic] = parents.union(*(above[parent] for parent in parents))
        if len(above[topic]) > MOST_ABOVE:
            return topic
    return None


def _listed(node: Node | None) -> Iterator[str]:
    """The words of a list, or of one text cut at commas and blanks."""
    if isinstance(node, Scalar):
        yield from _WORDS.findall(text_of(node) or "")
    else:
        yield from filter(None, texts_of(node))


def _entries(root: Node) -> Iterator[tuple[str | None, Node]]:
    if isinstance(root, dict) and "topics" in root and text_of(root["topics"]) is None:
        root = root["topics"]
    if isinstance(root, dict):
        yield from root.items()
    elif isinstance(root, list):
        for entry in root:
            yield (text_of(entry.get("slug")) if isinstance(entry, dict) else text_of(entry)), entry
    elif text_of(root) is not None:
        raise YamlError(1, "neither a list nor a mapping")


def _declaration(slug: str | None, fields: Node) -> TopicDeclaration:
    topic = normalize_topic(slug or "")
    if not topic:
        raise YamlError(1, "a topic without a slug")
    if _is_long(topic):
        problem = f"a topic of over {LONGEST_TOPIC} characters or {DEEPEST_TOPIC} parts"
        raise YamlError(1, problem)
    known = fields if isinstance(fields, dict) else {}
    parents = [normalize_topic(parent) for parent in _parents(known.get("parents"))]
    if any(map(_is_long, parents)):
        raise YamlError(
            1, f"{topic!r} has a parent of over {LONGEST_TOPIC} characters or {DEEPEST_TOPIC} parts"
        )
    return TopicDeclaration(
        slug=topic,
        title=text_of(known.get("title")),
        description=text_of(known.get("description")),
        parents=tuple(dict.fromkeys(filter(None, parents))),
    )


def _parents(node: Node | None) -> Iterable[str]:
    if isinstance(node, list):
        return filter(None, map(text_of, node))
    return filter(None, [text_of(node)])


def _graph(topics: Mapping[str, TopicDeclaration]) -> dict[str, set[str]]:
    """Each topic with what is right above it, by declaration and by name."""
    graph = {slug: set(topic.parents) for slug, topic in topics.items()}
    for slug in {*graph, *(parent for above in graph.values() for parent in above)}:
        above = enclosing_topics(slug)
        for inner, outer in zip((slug, *above), above, strict=False):
            graph.setdefault(inner, set()).add(outer)
    return graph


def ignored_topics(line: int | None, problem: str) -> Diagnostic:
    """What is said of a `topics.yaml` that counts as none."""
    message = f"topics.yaml is ignored: {problem}; mend it, and the topics are read again"
    return Diagnostic("topics_invalid", message, line)
