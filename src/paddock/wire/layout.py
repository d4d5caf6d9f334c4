"""Binary records described once: codecs take the packed NumPy type from it, the documentation its byte tables.

POINT = Record("point", (Field("id", "<i4", "", "vehicle"), Field("at", "<f4", "m", "position, world", count=3)))
POINT.dtype, POINT.size          # packed, 16 bytes
byte_table(POINT)                # rows of offset, bytes, type, field, unit, meaning
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paddock.errors import InvalidValueError

CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}
"""The types that may travel, as NumPy names them without byte order, and the letters of the struct module."""


@dataclass(frozen=True, slots=True)
class Field:
    """One fixed-size field: a NumPy type string, little-endian and explicit (`u1`, `<i4`, `<f8`), `count` times."""

    name: str
    type: str
    unit: str = ""
    meaning: str = ""
    count: int = 1

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of one element."""
        return np.dtype(self.type)

    @property
    def label(self) -> str:
        """How tables write the type: `f64`, `u8[3]`."""
        one = f"{self.dtype.kind}{8 * self.dtype.itemsize}"
        return one if self.count == 1 else f"{one}[{self.count}]"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of variable length behind the fixed fields, e.g. a text; `size` tells its bytes in terms of the fields."""

    name: str
    type: str
    size: str
    unit: str = ""
    meaning: str = ""


class Row(NamedTuple):
    """One line of a byte table; the offset is None behind a part of variable length."""

    offset: int | None
    bytes: int | str
    type: str
    field: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Record:
    """Fields in the order of their bytes, packed, little-endian; `tail` lists what of variable length follows them."""

    name: str
    fields: tuple[Field, ...]
    tail: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields] + [part.name for part in self.tail]
        if len(set(names)) != len(names):
            raise InvalidValueError(f"record {self.name!r}: every field needs a name of its own, got {names}")
        for field in self.fields:
            if field.type.lstrip("<") not in CODES or not field.type.startswith(("<", "u1", "i1")):
                raise InvalidValueError(f"record {self.name!r}: {field.name!r} has type {field.type!r}, not like '<f4'")

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The packed structured type of the fixed fields; a field with `count` > 1 is a sub-array."""
        return np.dtype([(f.name, f.type) if f.count == 1 else (f.name, f.type, (f.count,)) for f in self.fields])

    @cached_property
    def packer(self) -> struct.Struct:
        """The same fixed fields for the struct module: quicker than NumPy for a single record."""
        return struct.Struct("<" + "".join(f"{f.count}{CODES[f.type.lstrip('<')]}" for f in self.fields))

    @property
    def size(self) -> int:
        """Bytes of the fixed fields."""
        return int(self.dtype.itemsize)


def byte_table(record: Record) -> tuple[Row, ...]:
    """The rows that document a record: where each field lies, in bytes from the start of the record."""
    rows, offset = [], 0
    for field in record.fields:
        size = field.dtype.itemsize * field.count
        rows.append(Row(offset, size, field.label, field.name, field.unit, field.meaning))
        offset += size
    for index, part in enumerate(record.tail):
        rows.append(Row(None if index else offset, part.size, part.type, part.name, part.unit, part.meaning))
    return tuple(rows)
