"""Blocks of free UDP ports, each reserved for one process by a lock on a file: several may test at the same time."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from itertools import cycle
from pathlib import Path

SIZE = 100  # ports of a block
LOWEST, HIGHEST = 10_000, 32_000  # below those that the system gives to sockets which do not ask for one
BLOCKS = 16  # of a process; then it uses the first one again

_reserved: dict[int, int] = {}  # base -> descriptor of the file with the lock
_search = cycle(range(LOWEST, HIGHEST, SIZE))
for _ in range(os.getpid() * 7 % (HIGHEST - LOWEST) // SIZE):
    next(_search)


def free_ports(count: int) -> int:
    """Return the first of `count` consecutive free UDP ports; more than a block are in new ones."""
    for _ in range(4 * (HIGHEST - LOWEST) // SIZE):
        if len(_reserved) < BLOCKS or count > SIZE:
            base = next(_search)
            blocks = range(base, base + count, SIZE)
            if not all((block in _reserved and count <= SIZE) or _reserve(block) for block in blocks):
                continue
        else:
            base = next(iter(_reserved))
            _reserved[base] = _reserved.pop(base)  # the least recently used first
        if all(_is_free(port) for port in range(base, base + count)):
            return base
    raise AssertionError(f"no {count} consecutive free UDP ports")


def _reserve(base: int) -> bool:
    """Reserve a block; return whether it is new and no other process has it."""
    if base in _reserved:
        return False
    path = Path(tempfile.gettempdir()) / f"paddock-test-ports-{os.getuid()}-{base}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    _reserved[base] = descriptor
    return True


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
