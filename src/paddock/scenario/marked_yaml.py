"""YAML text -> a graph of nodes that know their line and column.

Built from PyYAML's event stream rather than its composer: the C composer recurses without limit and a file of 100,000
brackets ends the process.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from paddock.scenario.problems import KeyPath, Mark, Marks, ScenarioError, dotted

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


Scalar = str | int | float | bool | None

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]+)*)")
_PREFIXED = re.compile(r"[-+]?0(x[0-9a-fA-F]+|o[0-7]+|b[01]+)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FIXED: dict[str, Scalar] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_FIXED |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_AMBIGUOUS = {word for base in ("yes", "no", "on", "off") for word in (base, base.capitalize(), base.upper())}
_LONGEST_INTEGER = 400
"""Digits beyond which not even a float could hold the number."""


def plain_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar; raise ValueError, with what to write instead, for a trap."""
    if text in _FIXED:
        return _FIXED[text]
    if text in _AMBIGUOUS:
        raise ValueError(f"{text!r} is ambiguous in YAML; write true or false, or quote it")
    if _LEADING_ZERO.fullmatch(text):
        raise ValueError(f"{text!r} is ambiguous in YAML (octal?); drop the leading zero, or quote it")
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text!r} is not a finite number")
    return _number(text)


def _number(text: str) -> Scalar:
    """Return the number that the text writes, or the text."""
    if _INTEGER.fullmatch(text) or _PREFIXED.fullmatch(text):
        if len(text) > _LONGEST_INTEGER:
            raise ValueError(f"a number of {len(text)} digits is too long")
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        if not math.isfinite(value := float(text)):
            raise ValueError(f"{text!r} is not a finite number")
        return value
    return text


def reads_as_text(text: str) -> bool:
    """Say whether an unquoted scalar would be read back as this very text."""
    try:
        return isinstance(plain_scalar(text), str)
    except ValueError:
        return False


MAX_DEPTH = 64
"""Deepest nesting that is followed; a value that contains itself is deeper than any."""


def plain(value: Any, path: KeyPath = ()) -> Any:
    """Copy a value as plain data; tuples and arrays become lists. Anything else is refused with its path."""
    if len(path) > MAX_DEPTH:
        raise ScenarioError(f"{dotted(path[:3])}: nested more than {MAX_DEPTH} deep, or it contains itself")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _finite(value, path)
    if isinstance(value, Mapping):
        return {_key(key, path): plain(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, (*path, index)) for index, item in enumerate(value)]
    return _converted(value, path)


def _finite(value: float, path: KeyPath) -> float:
    if not math.isfinite(value):
        raise ScenarioError(f"{dotted(path)}: {value!r} is not a finite number")
    return float(value)


def _key(key: Any, path: KeyPath) -> str:
    if isinstance(key, str):
        return key
    raise ScenarioError(f"{dotted(path)}: the key {key!r} must be text")


def _converted(value: Any, path: KeyPath) -> Any:
    """Convert numpy arrays and scalars, paths and parts of a scenario by the methods they offer."""
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"), path)
    raise ScenarioError(f"{dotted(path)}: {type(value).__name__} is not plain data (numbers, text, lists, mappings)")


_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]
    """Quotes text that our reader would take for something else, and never writes aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out."""
        return True


def _text(dumper: Any, text: str) -> Any:
    style = None if reads_as_text(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(data: dict[str, Any]) -> str:
    """Return block style for the outer levels and one line for each innermost list or mapping."""
    options: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "allow_unicode": True, "width": 118}
    text: str = yaml.dump(data, Dumper=_Dumper, **options)
    return text
