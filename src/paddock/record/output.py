"""The file that is written: it knows up to where it is whole, and can go back there."""

from __future__ import annotations

import os
from contextlib import suppress
from io import RawIOBase

from paddock.errors import PaddockError


def open_output(path: str | os.PathLike[str]) -> Output:
    """A new file; one that exists is overwritten, but only if it can be opened."""
    try:
        return Output(open(path, "wb", buffering=0))
    except OSError as error:
        raise PaddockError(f"cannot record to {os.fspath(path)}: {error.strerror or error}") from None


class Output:
    """What the MCAP writer writes to: unbuffered, so that a process that is killed leaves all that it has written."""

    def __init__(self, file: RawIOBase) -> None:
        self.file = file
        self.position = 0  # bytes written
        self.whole = 0  # bytes up to which the file makes sense

    def write(self, data: bytes) -> int:
        """Write everything; the operating system may take it in parts."""
        view = memoryview(data)
        while len(view):
            taken = self.file.write(view)
            self.position += taken or 0
            view = view[taken or 0 :]
        return len(data)

    def tell(self) -> int:
        """Bytes written so far."""
        return self.position

    def flush(self) -> None:
        """Nothing is held back."""

    def mark(self) -> None:
        """What has been written makes sense as it is."""
        self.whole = self.position

    def retreat(self) -> None:
        """Cut off what was not written whole; where that cannot be done, readers do it."""
        with suppress(OSError, ValueError):
            self.file.truncate(self.whole)
        self.position = self.whole

    def close(self) -> None:
        """Close the file."""
        self.file.close()
