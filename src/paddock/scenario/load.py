"""YAML text -> plain Python values and their marks."""

from __future__ import annotations

import os
from typing import Any

from paddock.scenario.compose import ListNode, MapNode, Node, ScalarNode, compose
from paddock.scenario.marks import KeyPath, Marks, ScenarioError
from paddock.scenario.scalars import Scalar, plain_scalar

MERGE = "<<"
MAX_EXPANSION = 1_000_000
"""How many values aliases may add to those that were written; stops a small file from filling the memory."""

_TAG = "tag:yaml.org,2002:"


def load_yaml(text: str, source: str) -> tuple[dict[str, Any], Marks]:
    """Return the mapping that the text holds, and where each value stands; `source` is the name used in errors."""
    root, written = compose(text, source)
    reader = _Reader(Marks(source), written + MAX_EXPANSION)
    if not isinstance(root, MapNode):
        kind = "a list" if isinstance(root, ListNode) else "a single value"
        raise reader.error(root, f"the top level must be a mapping of keys to values, not {kind}")
    return reader.mapping(root, ()), reader.marks


def read_text(path: os.PathLike[str]) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(errors="replace")
        mark = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise ScenarioError(f"{Marks(os.fspath(path)).place(mark)}: not UTF-8 text") from None


class _Reader:
    """Turns nodes into values and notes their marks."""

    def __init__(self, marks: Marks, budget: int) -> None:
        self.marks, self.budget = marks, budget

    def error(self, node: Node, message: str) -> ScenarioError:
        return ScenarioError(f"{self.marks.place(node.mark)}: {message}")

    def spend(self, node: Node) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise self.error(node, f"aliases add more than {MAX_EXPANSION} values")

    def value(self, node: Node, path: KeyPath) -> Any:
        self.spend(node)
        self.marks.values[path] = node.mark
        if isinstance(node, ScalarNode):
            return self.scalar(node)
        if isinstance(node, ListNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.items)]
        return self.mapping(node, path)

    def scalar(self, node: ScalarNode) -> Scalar:
        tag = node.tag.removeprefix(_TAG) if node.tag else None
        if tag in ("str", "!") or (tag is None and not node.plain):
            return node.text
        if tag not in (None, "int", "float", "bool", "null"):
            raise self.error(node, f"tag {node.tag!r} is not allowed here")
        try:
            return plain_scalar(node.text)
        except ValueError as error:
            raise self.error(node, str(error)) from None

    def mapping(self, node: MapNode, path: KeyPath) -> dict[str, Any]:
        self.marks.values[path] = node.mark
        pairs = self.pairs(node)
        for name, (key, _) in pairs.items():
            self.marks.keys[(*path, name)] = key.mark
        return {name: self.value(value, (*path, name)) for name, (_, value) in pairs.items()}

    def pairs(self, node: MapNode) -> dict[str, tuple[Node, Node]]:
        """Return the mapping's own pairs first, then what `<<` merges in; own keys win."""
        own: dict[str, tuple[Node, Node]] = {}
        merges: list[Node] = []
        for key, value in node.pairs:
            if isinstance(key, ScalarNode) and key.plain and key.text == MERGE:
                merges.append(value)
                continue
            name = self.key(key)
            if name in own:
                first = self.marks.place(own[name][0].mark)
                raise self.error(key, f"duplicate key {name!r}; first at {first}")
            own[name] = (key, value)
        for merged in merges:
            own = self.merged(merged) | own
        return own

    def merged(self, node: Node) -> dict[str, tuple[Node, Node]]:
        """Return the pairs of a mapping or of a list of mappings, earlier ones winning."""
        self.spend(node)
        if isinstance(node, MapNode):
            return self.pairs(node)
        if isinstance(node, ListNode) and all(isinstance(item, MapNode) for item in node.items):
            found: dict[str, tuple[Node, Node]] = {}
            for item in node.items:
                found = self.merged(item) | found
            return found
        raise self.error(node, "'<<' merges a mapping or a list of mappings")

    def key(self, node: Node) -> str:
        """Return a key as its text: `on` and `1` are keys like any other."""
        if isinstance(node, ScalarNode):
            return node.text
        raise self.error(node, "a key must be plain text, not a list or a mapping")
