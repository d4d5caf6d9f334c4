"""Counters for the metrics endpoint, and log lines that outside events cannot flood."""

from __future__ import annotations

import logging
from collections import Counter
from time import monotonic

Label = tuple[str, tuple[tuple[str, str], ...]]


class HubCounters:
    """Counters by name and labels. Labels are few: an endpoint, a reason, never a client's name."""

    def __init__(self) -> None:
        self.values: Counter[Label] = Counter()

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        self.values[name, tuple(sorted(labels.items()))] += amount  # type: ignore[assignment]

    def get(self, name: str, **labels: str) -> float:
        """The value of a counter; 0 if it was never added to."""
        return self.values[name, tuple(sorted(labels.items()))]


INTERVAL = 10.0  # s between two log lines with the same reason


class LimitedLog:
    """Warnings, at most one per reason and interval. Reasons are few, never text of a client."""

    def __init__(self, name: str, interval: float = INTERVAL) -> None:
        """Log to the logger of this name; `interval` in s."""
        self._logger = logging.getLogger(name)
        self._interval = interval
        self._next: dict[str, float] = {}  # reason -> time of the next line, monotonic s
        self._held: dict[str, int] = {}  # reason -> lines suppressed since

    def warn(self, reason: str, message: str) -> None:
        """Log a warning, or count it and report the count with the next one."""
        now = monotonic()
        if now < self._next.get(reason, now):
            self._held[reason] = self._held.get(reason, 0) + 1
            return
        self._next[reason] = now + self._interval
        held = self._held.pop(reason, 0)
        self._logger.warning("%s%s", message, f" ({held} more like this since the last line)" if held else "")
