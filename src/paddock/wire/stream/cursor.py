"""Reading records of variable length: every length is compared with the bytes that are there before it is used."""

from __future__ import annotations

from typing import Any

from paddock.wire.error import WireError
from paddock.wire.layout import Record
from paddock.wire.stream.frames import COUNT, Buffer, read_count


class Cursor:
    """A place in a payload that only moves forward; `what` names the message in errors."""

    def __init__(self, payload: Buffer, what: str) -> None:
        self.payload = memoryview(payload)
        self.what = what
        self.at = 0

    @property
    def left(self) -> int:
        """Bytes that were not read yet."""
        return len(self.payload) - self.at

    def count(self, smallest: int) -> int:
        """The number of records, each of `smallest` bytes or more, that the payload claims and has room for."""
        count = read_count(self.payload, self.what)
        self.at += COUNT.size
        if count * smallest > self.left:
            raise WireError("count", f"{self.what}: {count} records do not fit into {self.left} bytes")
        return count

    def skip(self, size: int) -> int:
        """Move over `size` bytes that have to be there; returns where they begin."""
        if size > self.left:
            raise WireError("length", f"{self.what}: {size} bytes expected at byte {self.at}, {self.left} are there")
        start = self.at
        self.at += size
        return start

    def fields(self, record: Record) -> tuple[Any, ...]:
        """The numbers of the fixed fields of one record."""
        return record.packer.unpack_from(self.payload, self.skip(record.size))

    def text(self, size: int) -> str:
        """`size` bytes of UTF-8."""
        start = self.skip(size)
        try:
            return str(self.payload[start : self.at], "utf-8")
        except UnicodeDecodeError as error:
            raise WireError("utf8", f"{self.what}: the text at byte {start} is not UTF-8") from error

    def finish(self) -> None:
        """Nothing may be left over."""
        if self.left:
            raise WireError("length", f"{self.what}: {self.left} bytes too many")
