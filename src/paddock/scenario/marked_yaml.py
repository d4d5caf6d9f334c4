"""YAML with marks: text to plain values with the line and column of each, and back to text.

Reads the event stream of PyYAML's C parser. Its composer recurses without limit (100,000 brackets crash Python) and
its resolver follows YAML 1.1, which reads `017` as 15, `1:30` as 90, `no` as false and `1e3` as text. Here numbers are
Python's, only `true` and `false` are booleans, and ambiguous scalars are errors. ruamel.yaml keeps marks only in its
pure Python loader.
"""

import math
import os
import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

from paddock.files import LARGEST_FILE, read_file
from paddock.scenario.problems import KeyPath, Mark, Marks, ScenarioError, dotted

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
MERGE = "<<"
MAX_DEPTH = 64  # deepest nesting of lists and mappings
MAX_EXPANSION = 200_000  # values that aliases may add at most, so that a small file cannot exhaust the memory
ON = "on"
_TAG = "tag:yaml.org,2002:"

Scalar = str | int | float | bool | None


def load_yaml(text: str, source: str) -> tuple[dict[str, Any], Marks]:
    """Return the mapping in the text and the marks of its values; `source` is the file name used in errors."""
    reader = _YamlReader(text, source)
    root = reader.compose()
    if not isinstance(root, yaml.MappingNode):
        kind = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
        raise reader.error(root.start_mark, f"the top level must be a mapping of keys to values, not {kind}")
    return reader.mapping(root, ()), reader.marks


def read_text(path: os.PathLike[str], most: int = LARGEST_FILE) -> str:
    """Return the text of a UTF-8 file of at most `most` bytes, with or without a byte order mark."""
    try:
        data = read_file(path, most)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        mark = _position(data[: error.start].decode(errors="replace"))
        raise ScenarioError(f"{Marks(os.fspath(path)).location(mark)}: not UTF-8 text") from None


Node = Any  # of PyYAML, with a Mark as its `start_mark`; an unquoted scalar has no style, and tags are explicit ones


class _YamlReader:
    """Builds the nodes of the only document of a text, converts them to values and collects their marks."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.marks, self.budget = text, Marks(source), MAX_EXPANSION
        self.anchors: dict[str, Node | None] = {}  # None while the anchored collection is open

    def error(self, mark: Any, message: str) -> ScenarioError:
        return ScenarioError(f"{self.marks.location(mark)}: {message}")

    def compose(self) -> Node:
        try:
            self.loader = LOADER(self.text)
            return self.document()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            reason = " ".join(filter(None, (error.problem, f"({error.context})" if error.context else "")))
            at = _mark(mark) if mark else (1, 1)
        except yaml.reader.ReaderError as error:
            reason, offset = str(error.reason), max(0, int(error.position))
            # the C reader counts UTF-8 bytes
            ascii_only = self.text.isascii()
            at = _position(self.text[:offset] if ascii_only else self.text.encode()[:offset].decode(errors="ignore"))
        except yaml.YAMLError as error:
            reason, at = str(error), (1, 1)
        raise self.error(at, f"not valid YAML: {' '.join(reason.split())}") from None

    def document(self) -> Node:
        self.loader.get_event()  # stream start
        if self.loader.check_event(yaml.StreamEndEvent):
            raise self.error((1, 1), "the file is empty; a scenario is a mapping with the key 'vehicles'")
        self.loader.get_event()  # document start
        root = self.node(self.loader.get_event(), 0)
        self.loader.get_event()  # document end
        if not self.loader.check_event(yaml.StreamEndEvent):
            mark = _mark(self.loader.get_event().start_mark)
            raise self.error(mark, "a second document starts here; a file holds one document")
        return root

    def node(self, event: Any, depth: int) -> Node:
        mark, self.budget = _mark(event.start_mark), self.budget + 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise self.error(mark, f"alias '*{event.anchor}' has no anchor '&{event.anchor}' before it")
            if (node := self.anchors[event.anchor]) is None:
                raise self.error(mark, f"alias '*{event.anchor}' contains itself")
            return node
        if depth > MAX_DEPTH:
            raise self.error(mark, f"nested more than {MAX_DEPTH} deep")
        if event.anchor:
            self.anchors[event.anchor] = None
        node = self.content(event, mark, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def content(self, event: Any, mark: Any, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return yaml.ScalarNode(event.tag or "", event.value, mark, style=None if event.implicit[0] else "'")
        is_list = isinstance(event, yaml.SequenceStartEvent)
        if event.tag not in (None, "!", f"{_TAG}{'seq' if is_list else 'map'}"):
            raise self.error(mark, f"tag {event.tag!r} is not allowed here")
        items: list[Any] = []
        if is_list:
            while not isinstance(event := self.loader.get_event(), yaml.SequenceEndEvent):
                items.append(self.node(event, depth + 1))
            return yaml.SequenceNode("", items, mark)
        while not isinstance(event := self.loader.get_event(), yaml.MappingEndEvent):
            key = self.node(event, depth + 1)
            items.append((key, self.node(self.loader.get_event(), depth + 1)))
        return yaml.MappingNode("", items, mark)

    def spend(self, node: Node) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise self.error(node.start_mark, f"aliases add more than {MAX_EXPANSION} values")

    def value(self, node: Node, path: KeyPath) -> Any:
        self.spend(node)
        self.marks.values[path] = node.start_mark
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self.mapping(node, path)

    def scalar(self, node: Node) -> Scalar:
        tag = node.tag.removeprefix(_TAG) if node.tag else None
        if tag in ("str", "!") or (tag is None and node.style is not None):
            return str(node.value)
        if tag not in (None, "int", "float", "bool", "null"):
            raise self.error(node.start_mark, f"tag {node.tag!r} is not allowed here")
        try:
            return plain_scalar(node.value)
        except ValueError as error:
            raise self.error(node.start_mark, str(error)) from None

    def mapping(self, node: Node, path: KeyPath) -> dict[str, Any]:
        self.marks.values[path] = node.start_mark
        pairs = self.pairs(node)
        for name, (key, _) in pairs.items():
            self.marks.keys[(*path, name)] = key.start_mark
        return {name: self.value(value, (*path, name)) for name, (_, value) in pairs.items()}

    def pairs(self, node: Node) -> dict[str, tuple[Node, Node]]:
        """Return the mapping's own pairs and those that `<<` merges in; own keys win."""
        own: dict[str, tuple[Node, Node]] = {}
        merges: list[Node] = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key.start_mark, "a key must be plain text, not a list or a mapping")
            if key.style is None and key.value == MERGE:
                merges.append(value)
                continue
            name = key.value  # `on` and `1` are keys like any other
            if name in own:
                first = self.marks.location(own[name][0].start_mark)
                raise self.error(key.start_mark, f"duplicate key {name!r}; first at {first}")
            own[name] = (key, value)
        for merged in merges:
            own = self.merged(merged) | own
        return own

    def merged(self, node: Node) -> dict[str, tuple[Node, Node]]:
        """Return the pairs of a mapping or of a list of mappings; earlier ones win."""
        self.spend(node)
        if isinstance(node, yaml.MappingNode):
            return self.pairs(node)
        if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.MappingNode) for item in node.value):
            pairs: dict[str, tuple[Node, Node]] = {}
            for item in node.value:
                pairs = self.merged(item) | pairs
            return pairs
        raise self.error(node.start_mark, "'<<' merges a mapping or a list of mappings")


def _mark(mark: Any) -> Mark:
    return cast(int, mark.line) + 1, cast(int, mark.column) + 1


def _position(before: str) -> Mark:
    """Return the mark of the character that follows a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]+)*)|[-+]?0(x[0-9a-fA-F]+|o[0-7]+|b[01]+)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FIXED: dict[str, Scalar] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_FIXED |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_AMBIGUOUS = {word for base in ("yes", "no", "on", "off") for word in (base, base.capitalize(), base.upper())}
_LONGEST_INTEGER = 400  # digits beyond which a number exceeds every float


def plain_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar; raise ValueError for an ambiguous one, with a suggestion."""
    if text in _FIXED:
        return _FIXED[text]
    if text in _AMBIGUOUS:
        raise ValueError(f"{text!r} is ambiguous in YAML; write true or false, or quote it")
    if _LEADING_ZERO.fullmatch(text):
        raise ValueError(f"{text!r} is ambiguous in YAML (octal?); drop the leading zero, or quote it")
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text!r} is not a finite number")
    if _INTEGER.fullmatch(text):
        if len(text) > _LONGEST_INTEGER:
            raise ValueError(f"a number of {len(text)} digits is too long")
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        if not math.isfinite(value := float(text)):
            raise ValueError(f"{text!r} is not a finite number")
        return value
    return text


def reads_as_text(text: str) -> bool:
    """Return whether an unquoted scalar reads back as this text."""
    try:
        return isinstance(plain_scalar(text), str)
    except ValueError:
        return False


def plain(value: Any, path: KeyPath = ()) -> Any:
    """Copy a Python value as plain YAML data: finite numbers, text, lists and mappings; anything else is an error."""
    if len(path) > MAX_DEPTH:
        raise ScenarioError(f"{dotted(path[:3])}: nested more than {MAX_DEPTH} deep, or it contains itself")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ScenarioError(f"{dotted(path)}: {value!r} is not a finite number")
        return float(value)
    if isinstance(value, Mapping):
        return {key: plain(item, (*path, key)) for key, item in _named(value, path).items()}
    if isinstance(value, list | tuple):
        return [plain(item, (*path, index)) for index, item in enumerate(value)]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return plain(value.tolist(), path)
    if hasattr(value, "model_dump"):  # sections of a scenario
        return plain(value.model_dump(mode="json"), path)
    raise ScenarioError(f"{dotted(path)}: {type(value).__name__} is not plain data (numbers, text, lists, mappings)")


def _named(value: Mapping[Any, Any], path: KeyPath) -> dict[str, Any]:
    """Return a mapping whose keys are texts; a key True is `on`, which readers of YAML 1.1 take for a boolean."""
    values: dict[str, Any] = {}
    for key, item in value.items():
        name = ON if key is True else key
        if not isinstance(name, str):
            raise ScenarioError(f"{dotted(path)}: the key {key!r} must be text")
        if name in values:
            raise ScenarioError(f"{dotted(path)}: {name} is given twice, also as the key True")
        values[name] = item
    return values


class _Dumper(DUMPER):  # type: ignore[misc]
    """Writes YAML without aliases; quotes text that would otherwise be read as another value."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: write every value in full, without aliases."""
        return True

    def represent_text(self, text: str) -> Any:
        """Quote text where needed."""
        return self.represent_scalar(f"{_TAG}str", text, style=None if reads_as_text(text) else "'")


_Dumper.add_representer(str, _Dumper.represent_text)


def dump_yaml(data: dict[str, Any]) -> str:
    """Return YAML that reads back equal: block style outside, one line for each innermost list or mapping."""
    options: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "allow_unicode": True, "width": 118}
    text: str = yaml.dump(data, Dumper=_Dumper, **options)
    return text
