"""Lines told while something runs: at once, or after the live view, which they would write over."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

KEPT = 100
"""Lines that are kept at most."""


class Notices:
    """`tell` may be called from any thread."""

    def __init__(self) -> None:
        self._held: list[str] | None = None

    def tell(self, line: str) -> None:
        """Print a line to stderr, now or later."""
        if self._held is None:
            print(f"paddock: {line}", file=sys.stderr, flush=True)
        elif len(self._held) < KEPT:
            self._held.append(line)

    @contextmanager
    def holding(self, hold: bool) -> Iterator[None]:
        """Keep lines back while the block runs, then print them."""
        self._held = [] if hold else None
        try:
            yield
        finally:
            lines, self._held = self._held or [], None
            for line in lines:
                self.tell(line)
