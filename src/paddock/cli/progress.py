"""A progress bar on stderr, for whoever sits there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

COMPILING = "kernels are compiled; the first time this takes a minute"
LONG = 1.0
"""s that nobody minds waiting without a word."""


@contextmanager
def telling_late(message: str) -> Iterator[None]:
    """Say what is going on while the block runs, if it takes long and somebody sits there."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(message)
    timer = Timer(LONG, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def bar(what: str) -> Iterator[Callable[[float], None]]:
    """While the block runs; what it gives is told the share that is done, 0 to 1."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share: progress.update(task, completed=share)
