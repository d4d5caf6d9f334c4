"""What happened how often, by name and labels; the metrics endpoint shows it."""

from __future__ import annotations

from collections import Counter

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
