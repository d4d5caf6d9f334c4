"""Actions: everything that changes a run from outside, and the only contents of mailbox, log and recordings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.world.archive import typed

Target = str | int | Sequence[str | int] | NDArray[np.int64]  # the name of a vehicle or fleet, an id, or a list of them
KINDS: dict[str, type[Any]] = {}
"""Name in saved states and recordings -> class."""


class Action:
    """Something that changes a run; `saved_as` is its name in saved states and recordings."""

    saved_as: ClassVar[str]

    def __init_subclass__(cls, saved_as: str) -> None:
        cls.saved_as = saved_as
        KINDS[saved_as] = cls


@dataclass(frozen=True)
class CommandAction(Action, saved_as="control"):
    """New values for inputs of one vehicle (floats) or of vehicles of one fleet (floats or arrays of that length)."""

    target: str | int | NDArray[np.int64]  # a name, an id, or ids of one fleet
    inputs: Mapping[str, Any]
    timeout: float | None = None  # simulated s until the failsafe; None: the timeout of the vehicle's entry


@dataclass(frozen=True)
class SpawnAction(Action, saved_as="spawn"):
    """A new fleet, given as a `vehicles` entry of a scenario, or more vehicles for an existing one."""

    entry: Mapping[str, Any]


@dataclass(frozen=True)
class RemoveAction(Action, saved_as="remove"):
    """Remove a vehicle or a fleet."""

    target: str | int


@dataclass(frozen=True)
class PlaceAction(Action, saved_as="place"):
    """Move a vehicle to a pose as if it had started there: x, y, z (m), yaw (rad), speed (m/s); a fleet to (n, 4)."""

    target: str | int
    pose: Sequence[Any] | NDArray[np.float64]
    speed: Any = 0.0


@dataclass(frozen=True)
class FrameAction(Action, saved_as="frame"):
    """Place a named frame in another one: position (m) and quaternion (x, y, z, w)."""

    name: str
    parent: str
    position: Sequence[float]
    quaternion: Sequence[float]
    moving: bool = False


@dataclass(frozen=True)
class OverrideAction(Action, saved_as="order"):
    """Replace the behaviour of vehicles."""

    target: Target
    behaviour: Any  # a name, {name: options}, `external`: take commands, or None: the behaviour of the entry


@dataclass(frozen=True)
class MissionAction(Action, saved_as="mission"):
    """A change of the mission: a verb with its arguments in plain values."""

    verb: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class RadioAction(Action, saved_as="radio"):
    """A change of the radio: a verb with its arguments in plain values."""

    verb: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class EventAction(Action, saved_as="report"):
    """An event with a cause outside the simulation, such as a missed wall-clock deadline."""

    kind: str
    subject: str
    detail: str = ""


POSTABLE = (CommandAction, SpawnAction, RemoveAction, PlaceAction, OverrideAction, MissionAction, RadioAction)
"""Actions that any thread may post."""


@dataclass(order=True, slots=True)  # not frozen, which would make each four times as slow to construct
class Posted:
    """An action with its due tick: applied at the first tick >= `tick`, in the order of posting. Never changed."""

    tick: int
    sequence: int
    action: Action = field(compare=False)
    source: str = field(default="", compare=False)  # name of the sender
    checked_at: tuple[int, ...] = field(default=(), compare=False)  # `Applier.version` at the check; (): not checked
    flown: bool = field(default=False, compare=False)  # sent by the autopilots of its vehicles

    def to_tree(self) -> dict[str, Any]:
        """Return plain values, for saving and recording."""
        return {
            "tick": self.tick,
            "sequence": self.sequence,
            "source": self.source,
            "kind": self.action.saved_as,
            "action": {name: _plain(value) for name, value in vars(self.action).items()},
        }

    @staticmethod
    def from_tree(tree: Mapping[str, Any]) -> "Posted":
        """Return the action of a tree that `to_tree` made."""
        if tree.get("kind") not in KINDS:
            raise PaddockError(f"unknown kind of action {tree.get('kind')!r}; valid: {', '.join(KINDS)}")
        action: Action = KINDS[tree["kind"]](**tree["action"])
        tick, sequence = (typed(int, tree[name], f"{name} of an action") for name in ("tick", "sequence"))
        return Posted(tick, sequence, action, typed(str, tree["source"], "source of an action"))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value
