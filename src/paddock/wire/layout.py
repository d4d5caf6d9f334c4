"""Descriptions of binary records; codecs and the byte tables of the documentation are derived from them.

POINT = Record("point", (Field("id", "<i4", "", "vehicle"), Field("at", "<f4", "m", "position, world", count=3)))
POINT.dtype, POINT.size          # packed, 16 bytes
"""

import struct
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paddock.errors import InvalidValueError

CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}
"""NumPy names of the valid types, without byte order, and the letters of the struct module."""


@dataclass(frozen=True, slots=True)
class Field:
    """A fixed-size field: an explicit little-endian NumPy type (`u1`, `<i4`, `<f8`), `count` times."""

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
        """The type in tables: `f64`, `u8[3]`."""
        element = f"{self.dtype.kind}{8 * self.dtype.itemsize}"
        return element if self.count == 1 else f"{element}[{self.count}]"


@dataclass(frozen=True, slots=True)
class TailField:
    """A part of variable length after the fixed fields, e.g. a text; `size` gives its bytes in terms of the fields."""

    name: str
    type: str
    size: str
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Record:
    """Fields in order, packed, little-endian; `tail` lists the parts of variable length that follow."""

    name: str
    fields: tuple[Field, ...]
    tail: tuple[TailField, ...] = ()

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields] + [part.name for part in self.tail]
        if len(set(names)) != len(names):
            raise InvalidValueError(f"record {self.name!r}: every field needs a different name, got {names}")
        for field in self.fields:
            if field.type.lstrip("<") not in CODES or not field.type.startswith(("<", "u1", "i1")):
                raise InvalidValueError(f"record {self.name!r}: {field.name!r} has type {field.type!r}, not like '<f4'")

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The packed structured type of the fixed fields; a field with `count` > 1 is a sub-array."""
        return np.dtype([(f.name, f.type) if f.count == 1 else (f.name, f.type, (f.count,)) for f in self.fields])

    @cached_property
    def packer(self) -> struct.Struct:
        """The fixed fields for the struct module: faster than NumPy for a single record."""
        return struct.Struct("<" + "".join(f"{f.count}{CODES[f.type.lstrip('<')]}" for f in self.fields))

    @property
    def size(self) -> int:
        """Bytes of the fixed fields."""
        return int(self.dtype.itemsize)
