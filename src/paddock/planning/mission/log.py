"""What happened during a mission, in the order in which it happened."""

from __future__ import annotations

from typing import NamedTuple

KINDS = (
    "planned", "assigned", "started", "completed", "undone", "state",
    "task", "damage", "vehicle", "zone", "moved", "removed", "replanned", "range", "battery", "stranded",
)  # fmt: skip
"""Kinds of entries."""


class LogEntry(NamedTuple):
    """One thing that happened."""

    time: float  # s
    kind: str
    agent: str | None = None  # whom it concerns
    task: str | None = None  # which task it concerns
    detail: str = ""  # a state's name, a reason, how much changed
    travelled: float | None = None  # m that the agent had flown by then
