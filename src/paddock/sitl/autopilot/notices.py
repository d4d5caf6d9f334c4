"""What the autopilot has to tell ground stations by itself; the MAVLink side takes them from its outbox."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """The MAV_SEVERITYs in use."""

    EMERGENCY = 0
    CRITICAL = 2
    ERROR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6


@dataclass(frozen=True)
class StatusText:
    """A line for people."""

    severity: Severity
    text: str


@dataclass(frozen=True)
class ItemReached:
    """An item of the mission is done."""

    sequence: int


@dataclass(frozen=True)
class CurrentItem:
    """The mission goes on with this item."""

    sequence: int


@dataclass(frozen=True)
class HomeChanged:
    """Home is somewhere else."""


Notice = StatusText | ItemReached | CurrentItem | HomeChanged
