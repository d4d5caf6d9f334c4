"""Files that a user, a scenario or a recording names: regular files up to a size.

Devices, FIFOs and sockets are refused before they are opened, also behind symbolic links: to open one may wait for
another program or act on hardware, and to read one may never end.
"""

import errno
import os
import stat
from typing import BinaryIO

Path = str | os.PathLike[str]
LARGEST_FILE = 64 << 20  # bytes, where no format has a limit of its own
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading; OSError with one line as `strerror` if it is none."""
    _refuse_special(path, os.stat(path).st_mode)
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115  closed by the caller
    try:
        _refuse_special(path, os.fstat(file.fileno()).st_mode)  # it may be another file by now
    except OSError:
        file.close()
        raise
    return file


def read_file(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the contents of a regular file of at most `most` bytes; OSError with one line as `strerror` if it is none.

    The size is checked before anything is read.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(most + 1) if size <= most else b""
    if max(size, len(data)) > most:
        raise OSError(errno.EFBIG, f"it has more than {_in_words(most)}, the most that are read", os.fspath(path))
    return data


def _refuse_special(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "a special file")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", os.fspath(path))


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting, should it be a FIFO by now."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _in_words(size: int) -> str:
    """Return a number of bytes in a unit that fits."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
