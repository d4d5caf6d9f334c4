"""What went wrong on the bridge and what came right again: counted, kept for a while, and told to whoever listens."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

from paddock.errors import PaddockError

KEPT = 200
"""How many of the last events are kept."""

KINDS = ("unreachable", "lost", "connected", "restarted", "timeout", "recovered", "rejected", "slipped", "too_fast")


def problem(error: Exception) -> str:
    """One line about what somebody else's code raised: our own errors say it themselves, others need their name."""
    said = " ".join(str(error).split())
    if isinstance(error, PaddockError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


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
