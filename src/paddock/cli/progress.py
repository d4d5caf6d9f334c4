"""Progress and notices on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

COMPILING = "compiling kernels; the first run takes up to a minute"
LONG = 1.0  # wall-clock s before a status message appears


@contextmanager
def late_status(message: str) -> Iterator[None]:
    """Show a status message on a terminal if the block takes longer than a second."""
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
def compiling(notice: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Call `notice` once if this process compiles something in the block, rather than load it from the cache.

    Yields the function to call if another process compiles.
    """
    from numba.core.event import Event, Listener, install_listener

    first = [notice]

    def once() -> None:
        if first:
            first.pop()()

    class Compilations(Listener):
        """Gets the events of the compiler."""

        def on_start(self, event: Event) -> None:
            once()

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Compilations()):
        yield once


@contextmanager
def bar(what: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar while the block runs; call the yielded function with the share done, 0 to 1."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share: progress.update(task, completed=share)


KEPT = 100  # maximum number of lines kept


class Notices:
    """Lines for stderr, printed immediately or after the live view. `add` may be called from any thread."""

    def __init__(self) -> None:
        self._held: list[str] | None = None

    def add(self, line: str) -> None:
        """Print a line to stderr, now or after the live view."""
        if self._held is None:
            print(f"paddock: {line}", file=sys.stderr, flush=True)
        elif len(self._held) < KEPT:
            self._held.append(line)

    @contextmanager
    def holding(self, hold: bool) -> Iterator[None]:
        """Hold lines back while the block runs, then print them."""
        self._held = [] if hold else None
        try:
            yield
        finally:
            lines, self._held = self._held or [], None
            for line in lines:
                self.add(line)
