"""Writes the page's types from Python's declarations: `python web/generate.py [--check]`.

Frame types and record layouts come from `paddock.wire.stream`, methods with their parameters and answers from the table
of operations (`paddock.wire.operations`). With --check nothing is written, and the exit status is 1 if the file is out
of date.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from paddock.radio.links.table import RadioStatus
from paddock.radio.physics.signal import NO_POWER
from paddock.wire import mission_results, radio_results, results
from paddock.wire.layout import Record
from paddock.wire.operations import METHODS, Operation
from paddock.wire.operations.arguments import BY_ID, MEMBERS, Argument, Axes, ColumnList, Kind, plain
from paddock.wire.radio_results import NULL
from paddock.wire.results import ArrayInJson, Moment, Notifications, Point, Quaternion, Range, WantedColumns
from paddock.wire.stream.columns import COLUMNS, COLUMNS_BLOCK, COMMANDS
from paddock.wire.stream.drawing import MARKER, MarkerFlag, MarkerKind
from paddock.wire.stream.frames import EVENT, FRAME_HEADER, TICK, FrameType
from paddock.wire.stream.positions import POSES
from paddock.world.columns import columns_of

TARGET = Path(__file__).parent / "src" / "wire" / "schema.ts"
LONGEST = 120
RECORDS = {
    "HEADER": FRAME_HEADER,
    "TICK": TICK,
    "POSES": POSES,
    "COLUMNS": COLUMNS,
    "COLUMNS_BLOCK": COLUMNS_BLOCK,
    "MARKER": MARKER,
    "EVENT": EVENT,
    "COMMANDS": COMMANDS,
}
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", Any: "unknown", type(None): "null"}
ALIASES: dict[str, Any] = {
    "Range": Range,
    "Point": Point,
    "Quaternion": Quaternion,
    "FrameName": Axes,
    "Kind": Kind,
}
NAMED = {**PLAIN, **{kind: name for name, kind in ALIASES.items()}, ColumnList: "WantedColumns"}
EMPTY = "Readonly<Record<string, never>>"


# types ---------------------------------------------------------------------------------------------------------------


def written(annotation: Any) -> str:
    """Return a Python annotation in TypeScript."""
    for note in get_args(annotation):
        if isinstance(note, ArrayInJson):
            return written(note.annotation)
    if NULL in get_args(annotation):
        return f"{written(plain(annotation))} | null"
    annotation = plain(annotation)
    if annotation in NAMED:
        return NAMED[annotation]
    if is_class(annotation):
        return str(annotation.__name__)
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is list:
        return f"readonly {_grouped(written(inner[0]))}[]"
    if origin is tuple:
        return f"readonly [{', '.join(map(written, inner))}]"
    if origin is dict:
        return f"Readonly<Record<string, {written(inner[1])}>>"
    if origin in (types.UnionType, Union):
        return " | ".join(dict.fromkeys(map(written, inner)))
    if origin is Literal:
        return " | ".join(f'"{word}"' for word in inner)
    raise TypeError(f"there is no TypeScript for {annotation}")


def _grouped(text: str) -> str:
    return f"({text})" if " | " in text or text.startswith("readonly") else text


def is_class(kind: Any) -> bool:
    """Whether a type is one of results: a TypedDict, or a named tuple."""
    return is_typeddict(kind) or hasattr(kind, "_fields")


def classes_in(annotation: Any) -> set[Any]:
    """The classes of results that a type consists of, with the types of their fields and what they inherit from."""
    kind = plain(annotation)
    if not is_class(kind):
        return set().union(*map(classes_in, get_args(kind)))
    parts = [*get_type_hints(kind).values(), *getattr(kind, "__orig_bases__", ())]
    return {kind}.union(*(classes_in(part) for part in parts))


def interface(kind: Any) -> str:
    """Return a class of results as an interface, with inherited fields."""
    members = get_type_hints(kind, include_extras=hasattr(kind, "_fields"))
    if not members:
        return f"{_comment(kind)}\nexport type {kind.__name__} = {EMPTY};\n"
    optional = getattr(kind, "__optional_keys__", ())
    lines = [f"  {name}{'?' if name in optional else ''}: {written(one)};" for name, one in members.items()]
    return "\n".join([_comment(kind), f"export interface {kind.__name__} {{", *lines, "}", ""])


def _comment(documented: Any) -> str:
    return f"/** {' '.join((documented.__doc__ or '').split())} */"


# methods -------------------------------------------------------------------------------------------------------------


def method(one: Operation) -> str:
    """Return the parameters and the result of a method."""
    fields = [field for argument in one.parameters for field in fields_of(argument)]
    fields.sort(key=lambda field: field.startswith("["))
    params = f"{{ {'; '.join(fields)} }}" if fields else "Empty"
    result = written(Moment if one.result is type(None) else one.result)
    if one.entry.answer:
        result = f"{{ {one.entry.answer}: {result} }}"
    name = one.entry.rpc
    line = f"  {name}: {{ params: {params}; result: {result} }};"
    if len(line) > LONGEST:
        if len(params) + 13 > LONGEST:
            params = "{" + "".join(f"\n      {field};" for field in fields) + "\n    }"
        line = f"  {name}: {{\n    params: {params};\n    result: {result};\n  }};"
    return f"  /** {one.summary} */\n{line}"


def fields_of(argument: Argument) -> Iterator[str]:
    """`name?: type` of every field that an argument has in JSON-RPC."""
    if argument.marked(MEMBERS):
        yield "[input: string]: number | string | readonly number[] | null | undefined"
    elif argument.marked(BY_ID):
        yield from ("vehicle_id?: number", "vehicle?: string | number")
    else:
        kind = _objects(argument) if argument.members and not _named(argument) else written(argument.annotation)
        yield f"{argument.name}{'' if argument.required else '?'}: {kind}"


def _named(argument: Argument) -> bool:
    return plain(get_args(plain(argument.annotation))[0]) in NAMED


def _objects(argument: Argument) -> str:
    lines = "".join(f"\n        {field};" for member in argument.members for field in fields_of(member))
    return f"readonly {{{lines}\n      }}[]"


# records -------------------------------------------------------------------------------------------------------------


def record(name: str, one: Record) -> str:
    """Return the offsets of a record's fields, in bytes."""
    offsets = ", ".join(f"{field.name}: {one.dtype.fields[field.name][1]}" for field in one.fields)  # type: ignore[index]
    kinds = ", ".join(f"{field.name} {field.label}" for field in one.fields)
    line = f"export const {name} = {{ size: {one.size}, {offsets} }} as const;"
    if len(line) > LONGEST:
        body = "".join(f"\n  {part}," for part in (f"size: {one.size}", *offsets.split(", ")))
        line = f"export const {name} = {{{body}\n}} as const;"
    return f"{_wrapped(f'{kinds}; little-endian')}\n{line}\n"


def _wrapped(text: str) -> str:
    lines, line = [], "//"
    for word in text.split():
        if len(line) + 1 + len(word) > LONGEST:
            lines.append(line)
            line = "//"
        line += f" {word}"
    return "\n".join([*lines, line])


def enum(kind: Any) -> str:
    """An enumeration as an object, and the type of its values."""
    lines = [f"  {one.name}: 0x{one.value:02x}," for one in kind]
    name = kind.__name__
    head = [_comment(kind), f"export const {name} = {{", *lines, "} as const;"]
    return "\n".join([*head, f"export type {name} = (typeof {name})[keyof typeof {name}];", ""])


# the file ------------------------------------------------------------------------------------------------------------


def schema() -> str:
    """The whole file."""
    used = set().union(*map(classes_in, (Notifications, WantedColumns, Moment, *(m.result for m in METHODS.values()))))
    modules = (results, mission_results, radio_results)
    trees = [kind for module in modules for kind in vars(module).values() if is_class(kind) and kind in used]
    aliases = [f"export type {name} ={_aliased(kind)};" for name, kind in ALIASES.items()]
    slow = "".join(f'  "{name}",\n' for name, one in sorted(METHODS.items()) if one.entry.slow)
    status = [one for one in columns_of(RadioStatus) if one.none is not None]
    absent = "".join(f'  "radio.{one.name}": {one.none:g},\n' for one in status)
    methods = "\n".join(method(one) for _, one in sorted(METHODS.items()))
    return "\n".join(
        [
            "// Data between page and server. Generated by web/generate.py from Python: do not edit.",
            "",
            *(enum(kind) for kind in (FrameType, MarkerKind, MarkerFlag)),
            *(record(name, one) for name, one in RECORDS.items()),
            "/** Columns with a number in place of no value. */",
            f"export const NO_VALUE: Readonly<Record<string, number>> = {{\n{absent}}};",
            "",
            "/** dBm: no power at all. */",
            f"export const NO_POWER = {NO_POWER:g};",
            "",
            *aliases,
            "",
            *map(interface, trees),
            "/** Every method, with its parameters and result. */",
            f"export interface Methods {{\n{methods}\n}}",
            "",
            "/** Methods that may take arbitrarily long: they wait, plan or compile. */",
            f"export const SLOW_METHODS: ReadonlySet<string> = new Set([\n{slow}]);",
            "",
        ]
    )


def _aliased(kind: Any) -> str:
    """Return the type of an alias, over several lines if it does not fit into one."""
    inner = get_args(kind)
    if get_origin(kind) is tuple:
        return f" readonly [{', '.join(map(written, inner))}]"
    words = [f'"{word}"' for word in inner]
    line = " | ".join(words)
    return f" {line}" if len(line) < 80 else "".join(f"\n  | {word}" for word in words)


def main() -> int:
    """Write the file, or compare it."""
    text = schema()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    print("web/src/wire/schema.ts is stale: run python web/generate.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
