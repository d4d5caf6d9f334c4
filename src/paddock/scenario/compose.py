"""YAML text -> a graph of nodes that know their line and column.

Built from PyYAML's event stream rather than its composer: the C composer recurses without limit and a file of 100,000
brackets ends the process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from paddock.scenario.marks import Mark, ScenarioError

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_DEPTH = 64
"""Deepest nesting of lists and mappings that is read."""


@dataclass(slots=True)
class ScalarNode:
    """One scalar: its text, whether it stood unquoted, and its explicit tag."""

    mark: Mark
    text: str
    plain: bool
    tag: str | None


@dataclass(slots=True)
class ListNode:
    """A sequence."""

    mark: Mark
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class MapNode:
    """A mapping; its keys as they were written, duplicates included."""

    mark: Mark
    pairs: list[tuple[Node, Node]] = field(default_factory=list)


Node = ScalarNode | ListNode | MapNode


def compose(text: str, source: str) -> tuple[Node, int]:
    """Return the root of the only document in the text, and how many nodes were written."""
    composer = _Composer(text, source)
    try:
        return composer.document(), composer.count
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _mark(mark) if mark else (1, 1)
        reason = " ".join(filter(None, (error.problem, f"({error.context})" if error.context else "")))
        raise composer.error(place, f"not valid YAML: {' '.join(reason.split())}") from None
    except yaml.reader.ReaderError as error:
        raise composer.error(_position(text, error), f"not valid YAML: {error.reason}") from None
    except yaml.YAMLError as error:
        raise composer.error((1, 1), f"not valid YAML: {' '.join(str(error).split())}") from None


class _Composer:
    """Reads events until the document is a node graph."""

    def __init__(self, text: str, source: str) -> None:
        self.source, self.count = source, 0
        self.loader = LOADER(text)
        self.anchors: dict[str, Node | None] = {}  # None while the anchored collection is still open

    def error(self, mark: Mark, message: str) -> ScenarioError:
        return ScenarioError(f"{self.source}:{mark[0]}:{mark[1]}: {message}")

    def document(self) -> Node:
        self.loader.get_event()  # the stream's start
        if self.loader.check_event(yaml.StreamEndEvent):
            raise self.error((1, 1), "there is nothing here; a scenario is a mapping with the key 'vehicles'")
        self.loader.get_event()  # the document's start
        root = self.node(self.loader.get_event(), 0)
        self.loader.get_event()  # the document's end
        if not self.loader.check_event(yaml.StreamEndEvent):
            mark = _mark(self.loader.get_event().start_mark)
            raise self.error(mark, "a second document starts here; one file holds one document")
        return root

    def node(self, event: Any, depth: int) -> Node:
        mark, self.count = _mark(event.start_mark), self.count + 1
        if isinstance(event, yaml.AliasEvent):
            return self.alias(str(event.anchor), mark)
        if depth > MAX_DEPTH:
            raise self.error(mark, f"nested more than {MAX_DEPTH} deep")
        if event.anchor:
            self.anchors[event.anchor] = None
        node = self.content(event, mark, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def alias(self, name: str, mark: Mark) -> Node:
        if name not in self.anchors:
            raise self.error(mark, f"alias '*{name}' has no anchor '&{name}' before it")
        if (node := self.anchors[name]) is None:
            raise self.error(mark, f"alias '*{name}' contains itself")
        return node

    def content(self, event: Any, mark: Mark, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return ScalarNode(mark, event.value, bool(event.implicit[0]), event.tag)
        self.check_tag(event, mark)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(ListNode(mark), depth)
        return self.mapping(MapNode(mark), depth)

    def check_tag(self, event: Any, mark: Mark) -> None:
        kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
        if event.tag not in (None, "!", f"tag:yaml.org,2002:{kind}"):
            raise self.error(mark, f"tag {event.tag!r} is not allowed here")

    def sequence(self, node: ListNode, depth: int) -> Node:
        while not isinstance(event := self.loader.get_event(), yaml.SequenceEndEvent):
            node.items.append(self.node(event, depth + 1))
        return node

    def mapping(self, node: MapNode, depth: int) -> Node:
        while not isinstance(event := self.loader.get_event(), yaml.MappingEndEvent):
            key = self.node(event, depth + 1)
            node.pairs.append((key, self.node(self.loader.get_event(), depth + 1)))
        return node


def _mark(mark: Any) -> Mark:
    return cast(int, mark.line) + 1, cast(int, mark.column) + 1


def _position(text: str, error: Any) -> Mark:
    """Line and column of a character that YAML does not allow; the C reader counts UTF-8 bytes."""
    offset = max(0, int(error.position))
    before = text[:offset] if text.isascii() else text.encode()[:offset].decode(errors="ignore")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
