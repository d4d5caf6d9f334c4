"""What happened how often, by name and labels; the metrics endpoint shows it."""

from __future__ import annotations

import logging
from collections import Counter
from time import monotonic

Label = tuple[str, tuple[tuple[str, str], ...]]


class Counters:
    """Counts of things dropped, refused, late or done. Labels are few: an endpoint, a reason, never a client's name."""

    def __init__(self) -> None:
        self.values: Counter[Label] = Counter()

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Count something."""
        self.values[name, tuple(sorted(labels.items()))] += amount  # type: ignore[assignment]

    def get(self, name: str, **labels: str) -> float:
        """One count; 0 if it never happened."""
        return self.values[name, tuple(sorted(labels.items()))]


INTERVAL = 10.0
"""s between two lines of the same reason."""


class LimitedLog:
    """Warnings of a logger, each with a reason; there are few reasons, never a client's own words."""

    def __init__(self, name: str, interval: float = INTERVAL) -> None:
        """Of the logger of this name; `interval` in s."""
        self._logger = logging.getLogger(name)
        self._interval = interval
        self._next: dict[str, float] = {}  # reason -> when it may be told again, monotonic s
        self._held: dict[str, int] = {}  # reason -> how often it was not told since

    def warn(self, reason: str, message: str) -> None:
        """Tell it, or count it and say so with the next one."""
        now = monotonic()
        if now < self._next.get(reason, now):
            self._held[reason] = self._held.get(reason, 0) + 1
            return
        self._next[reason] = now + self._interval
        held = self._held.pop(reason, 0)
        self._logger.warning("%s%s", message, f" ({held} more like this since the last line)" if held else "")
