"""What went wrong on the bridge and what came right again: counted, kept for a while, and told to whoever listens."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

KEPT = 200
"""How many of the last events are kept."""

KINDS = ("unreachable", "lost", "connected", "restarted", "timeout", "recovered", "rejected", "slipped")


class Event(NamedTuple):
    """One of KINDS, whom it concerns, and one line about it."""

    kind: str
    subject: str
    detail: str


class Events:
    """The bridge's log."""

    def __init__(self, report: Callable[[str, str, str], None] | None) -> None:
        self.report = report
        self.counts: Counter[str] = Counter()
        self.last: deque[Event] = deque(maxlen=KEPT)

    def add(self, kind: str, subject: str, detail: str) -> None:
        """Something has happened."""
        self.counts[kind] += 1
        self.last.append(Event(kind, subject, detail))
        if self.report is not None:
            self.report(kind, subject, detail)
