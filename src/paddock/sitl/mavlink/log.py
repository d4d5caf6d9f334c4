"""The MAVLink log of one vehicle: a .tlog as ground stations write it, with simulated time.

Each packet, sent or received, follows its time in us as 8 bytes, the most significant first.
"""

from __future__ import annotations

from pathlib import Path
from struct import Struct
from typing import BinaryIO

from paddock.errors import PaddockError

STAMP = Struct(">Q")


class TelemetryLog:
    """One file."""

    def __init__(self, path: Path) -> None:
        """Begin a new file; one that cannot be written is an error in one line."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO | None = path.open("wb")
        except OSError as error:
            raise PaddockError(f"MAVLink log {path}: cannot be written: {error.strerror or error}") from error

    def write(self, time_us: int, packet: bytes) -> None:
        """One packet; nothing after `close`."""
        if self._file is not None:
            self._file.write(STAMP.pack(max(time_us, 0)) + packet)

    def close(self) -> None:
        """The file is complete."""
        if self._file is not None:
            self._file.close()
            self._file = None
