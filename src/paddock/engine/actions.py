"""What may change a run from outside: the only things that enter the mailbox, the queue and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError

Target = str | int | Sequence[str | int] | NDArray[np.int64]
"""A name of a vehicle or a fleet, an id, or several of them."""


@dataclass(frozen=True)
class Control:
    """New values for some inputs of a vehicle (floats) or of several of a fleet (floats or arrays of that length)."""

    target: str | int | NDArray[np.int64]  # a name, an id, or ids of one fleet
    inputs: Mapping[str, Any]
    timeout: float | None = None  # simulated s until the failsafe acts; None: as the vehicle's entry says


@dataclass(frozen=True)
class Spawn:
    """A new fleet, as a `vehicles` entry of a scenario would declare it; or more members for an existing one."""

    entry: Mapping[str, Any]


@dataclass(frozen=True)
class Remove:
    """Take a vehicle or a whole fleet out of the world."""

    target: str | int


@dataclass(frozen=True)
class Place:
    """Put a vehicle somewhere else, as if it started there: x, y, z (m) and yaw (rad), speed (m/s)."""

    target: str | int
    pose: Sequence[float]
    speed: float = 0.0


@dataclass(frozen=True)
class SetFrame:
    """Place a named frame in another one: position (m) and quaternion (x, y, z, w)."""

    name: str
    parent: str
    position: Sequence[float]
    quaternion: Sequence[float]
    moving: bool = False


@dataclass(frozen=True)
class Order:
    """Vehicles are to do something else than their entry says."""

    target: Target
    behaviour: Any  # a name, {name: options}, `external`: take commands, or None: back to what the entry says


@dataclass(frozen=True)
class MissionOrder:
    """Something that is asked of the mission: a verb with its arguments, in plain values."""

    verb: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """An event that came about outside the simulation, such as a wall-clock deadline that was missed."""

    kind: str
    subject: str
    detail: str = ""


Action = Control | Spawn | Remove | Place | SetFrame | Order | MissionOrder | Report
KINDS: dict[str, type[Any]] = {
    "control": Control,
    "spawn": Spawn,
    "remove": Remove,
    "place": Place,
    "frame": SetFrame,
    "order": Order,
    "mission": MissionOrder,
    "report": Report,
}


@dataclass(frozen=True, order=True)
class Posted:
    """An action on its way: applied at the first tick >= `tick`, in the order of posting."""

    tick: int
    sequence: int
    action: Action = field(compare=False)
    source: str = field(default="", compare=False)  # who sent it

    def to_tree(self) -> dict[str, Any]:
        """Plain values, for saving and recording."""
        kind = next(name for name, class_ in KINDS.items() if isinstance(self.action, class_))
        return {
            "tick": self.tick,
            "sequence": self.sequence,
            "source": self.source,
            "kind": kind,
            "action": {name: _plain(value) for name, value in vars(self.action).items()},
        }

    @staticmethod
    def from_tree(tree: Mapping[str, Any]) -> Posted:
        """The inverse of `to_tree`."""
        if tree.get("kind") not in KINDS:
            raise PaddockError(f"unknown kind of action {tree.get('kind')!r}; valid: {', '.join(KINDS)}")
        action: Action = KINDS[tree["kind"]](**tree["action"])
        return Posted(tree["tick"], tree["sequence"], action, tree["source"])


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value
