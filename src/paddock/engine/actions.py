"""Actions, the mailbox through which they enter a run, and the log of those that were applied.

Everything that changes a run from outside is an action: mailbox, log and recordings have no other contents.
"""

import heapq
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError, printable
from paddock.radio.settings import MOST_BITS, MOST_RETRIES
from paddock.world.parts import LONGEST_TEXT, NEVER_LARGER, part, plain

if TYPE_CHECKING:
    from paddock.engine.run_state import Run

Target = str | int | Sequence[str | int] | NDArray[np.int64]  # the name of a vehicle or fleet, an id, or a list of them
KINDS: dict[str, type[Any]] = {}
"""Name in saved states and recordings -> class."""
MOST_WAITING = 100_000  # limit of queued actions
NEXT_TICK = 0  # due tick of an action that is applied at the next tick
BYTES_KEPT = 256 * 2**20  # size limit of the log in memory. A longer run needs a recording to be replayed
ENTRY_BYTES = 1024  # estimated size of a log entry without its arrays
LONGEST_TIMEOUT = 1e6  # of a command, s of simulated time
LONGEST_NAME = 1000  # of inputs, verbs and kinds, in characters
RADIO_VERBS = ("jammer", "spoofer", "send", "allocate")


class Valid(NamedTuple):
    """What a field of an action holds, e.g. `Annotated[str, Valid("a name", is_name)]`."""

    what: str  # a refused value "is not ..."
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and (isinstance(value, float) or abs(value) <= NEVER_LARGER)


def _is_finite(value: Any) -> bool:
    return _is_number(value) and isfinite(value)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _is_id(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _is_label(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= LONGEST_NAME


def _is_fields(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _is_inputs(value: Any) -> bool:
    if not _is_fields(value) or not all(map(_is_label, value)):
        return False
    return all(
        _is_number(number) or _is_array(number) or (isinstance(number, list) and all(map(_is_number, number)))
        for number in value.values()
    )


def _is_pose(value: Any) -> bool:
    if not isinstance(value, list | tuple):
        return _is_array(value)
    return all(map(_is_number, value)) or all(
        isinstance(row, list | tuple) and all(map(_is_number, row)) for row in value
    )


def _whole(most: int) -> Valid:
    return Valid(f"a whole number from 0 to {most}", lambda value: type(value) is int and 0 <= value <= most)


def _numbers(count: int) -> Valid:
    return Valid(
        f"{count} finite numbers",
        lambda value: isinstance(value, list | tuple) and len(value) == count and all(map(_is_finite, value)),
    )


FIELDS = Valid("a mapping of names", _is_fields)
NAME = Valid("a name", _is_name)
LABEL = Valid(f"printable text of 1 to {LONGEST_NAME} characters", _is_label)
TEXT = Valid("text", _is_name)
NAME_OR_ID = Valid("a name or an id", lambda value: _is_name(value) or _is_id(value))
VEHICLES = Valid(
    "a name, an id or an array of ids",
    lambda value: NAME_OR_ID.holds(value) or (_is_array(value) and value.dtype.kind in "iu"),
)
LISTED = Valid(
    "a name, an id, or names and ids",
    lambda value: VEHICLES.holds(value) or (isinstance(value, list | tuple) and all(map(NAME_OR_ID.holds, value))),
)
TIMEOUT = Valid(
    f"a number > 0 and <= {LONGEST_TIMEOUT:g}, or none",
    lambda value: value is None or (_is_number(value) and 0 < value <= LONGEST_TIMEOUT),
)
POSTED = {
    "tick": _whole(NEVER_LARGER),
    "sequence": _whole(NEVER_LARGER),
    "source": TEXT,
    "action": FIELDS,
}
"""What the members of a saved action hold, beside its kind."""


class Action:
    """Something that changes a run; `saved_as` is its name in saved states and recordings."""

    saved_as: ClassVar[str]

    def __init_subclass__(cls, saved_as: str) -> None:
        cls.saved_as = saved_as
        KINDS[saved_as] = cls


@dataclass(frozen=True)
class CommandAction(Action, saved_as="control"):
    """New values for inputs of one vehicle (floats) or of vehicles of one fleet (floats or arrays of that length)."""

    target: Annotated[str | int | NDArray[np.int64], VEHICLES]  # a name, an id, or ids of one fleet
    inputs: Annotated[Mapping[str, Any], Valid("a mapping of names to numbers or arrays", _is_inputs)]
    timeout: Annotated[float | None, TIMEOUT] = None  # simulated s until the failsafe; None: that of the entry


@dataclass(frozen=True)
class SpawnAction(Action, saved_as="spawn"):
    """A new fleet, given as a `vehicles` entry of a scenario, or more vehicles for an existing one."""

    entry: Annotated[Mapping[str, Any], FIELDS]


@dataclass(frozen=True)
class RemoveAction(Action, saved_as="remove"):
    """Remove a vehicle or a fleet."""

    target: Annotated[str | int, NAME_OR_ID]


@dataclass(frozen=True)
class PlaceAction(Action, saved_as="place"):
    """Move a vehicle to a pose as if it had started there: x, y, z (m), yaw (rad), speed (m/s); a fleet to (n, 4)."""

    target: Annotated[str | int, NAME_OR_ID]
    pose: Annotated[Sequence[Any] | NDArray[np.float64], Valid("a list or array of numbers", _is_pose)]
    speed: Annotated[Any, Valid("a number or an array", lambda value: _is_number(value) or _is_pose(value))] = 0.0


@dataclass(frozen=True)
class FrameAction(Action, saved_as="frame"):
    """Place a named frame in another one: position (m) and quaternion (x, y, z, w)."""

    name: Annotated[str, NAME]
    parent: Annotated[str, NAME]
    position: Annotated[Sequence[float], _numbers(3)]
    quaternion: Annotated[Sequence[float], _numbers(4)]
    moving: Annotated[bool, Valid("a flag", lambda value: isinstance(value, bool))] = False


@dataclass(frozen=True)
class OverrideAction(Action, saved_as="order"):
    """Replace the behaviour of vehicles."""

    target: Annotated[Target, LISTED]
    behaviour: Annotated[
        Any, Valid("a name or a mapping", lambda value: value is None or _is_name(value) or _is_fields(value))
    ]  # a name, {name: options}, `external`: take commands, or None: the behaviour of the entry


@dataclass(frozen=True)
class MissionAction(Action, saved_as="mission"):
    """A change of the mission: a verb with its arguments in plain values."""

    verb: Annotated[str, LABEL]
    arguments: Annotated[Mapping[str, Any], FIELDS]
    section: Any = field(default=None, init=False, repr=False, compare=False)  # validated arguments; None: unchecked

    def validated(self, arguments: Mapping[str, Any], section: Any) -> "MissionAction":
        """Return the action with plain arguments and the section into which they were validated; it is not saved."""
        action = MissionAction(self.verb, arguments)
        object.__setattr__(action, "section", section)
        return action


@dataclass(frozen=True)
class RadioAction(Action, saved_as="radio"):
    """A change of the radio: a verb with its arguments in plain values."""

    verb: Annotated[
        str, Valid(f"one of {', '.join(RADIO_VERBS)}", lambda value: isinstance(value, str) and value in RADIO_VERBS)
    ]
    arguments: Annotated[Mapping[str, Any], FIELDS]


@dataclass(frozen=True)
class PacketAction(Action, saved_as="packet"):
    """A packet of a program, such as MAVLink, that goes over the radio with its size; its bytes are not logged."""

    source: Annotated[str, NAME]  # vehicle or station
    to: Annotated[str, NAME]
    bits: Annotated[int, _whole(MOST_BITS)]  # its size
    header_bits: Annotated[int, _whole(MOST_BITS)]  # added to each packet on the air
    retries: Annotated[int, _whole(MOST_RETRIES)]  # repetitions at each hop
    queue: Annotated[int, _whole(1024)]  # packets of programs that wait at the radio of the source, at most

    def __post_init__(self) -> None:
        check_fields(self, "packet: ")
        if self.source == self.to:
            raise InvalidValueError("packet: source and to are names of a vehicle and a station")


@dataclass(frozen=True)
class EventAction(Action, saved_as="report"):
    """An event with a cause outside the simulation, such as a missed wall-clock deadline."""

    kind: Annotated[str, LABEL]
    subject: Annotated[str, TEXT]
    detail: Annotated[str, TEXT] = ""


def check_fields(action: Action, place: str = "") -> None:
    """Raise InvalidValueError with the name of the first field, after `place`, that does not hold what it declares."""
    kind: type = type(action)
    for name, valid in declared(kind).items():
        _check(valid, getattr(action, name), f"{place}{name}")


@cache
def declared(kind: type) -> dict[str, Valid]:
    """Return what each field of a class of actions holds."""
    hints = get_type_hints(kind, include_extras=True)
    return {entry.name: hints[entry.name].__metadata__[0] for entry in fields(kind) if entry.init}


@cache
def _optional(kind: type) -> frozenset[str]:
    return frozenset(entry.name for entry in fields(kind) if entry.default is not MISSING)


def _check(valid: Valid, value: Any, place: str) -> None:
    if not valid.holds(value):
        raise InvalidValueError(f"{place}: is not {valid.what}")


def _check_members(members: Mapping[str, Valid], tree: Mapping[str, Any], place: str, optional: frozenset[str]) -> None:
    """Refuse a tree without a member, or with a member that does not hold what is declared; name its path."""
    for name, valid in members.items():
        if name in tree:
            _check(valid, tree[name], f"{place}{name}")
        elif name not in optional:
            raise InvalidValueError(f"{place}{name}: is missing")


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
            "action": {f.name: _plain(getattr(self.action, f.name)) for f in fields(self.action) if f.init},  # type: ignore[arg-type]
        }

    @staticmethod
    def from_tree(tree: Mapping[str, Any], path: str = "") -> "Posted":
        """Return the action of a tree that `to_tree` made; PaddockError with the path of what is not valid."""
        if not isinstance(tree, Mapping):
            raise InvalidValueError(f"{path}: is not an action".removeprefix(": "))
        name = tree.get("kind")
        kind: type | None = KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            text = f"unknown kind of action {name!r:.60}; valid: {', '.join(KINDS)}"
            raise PaddockError(f"{path}: {text}".removeprefix(": "))
        inside = f"{path}." if path else ""
        _check_members(POSTED, tree, inside, frozenset())
        given, members = tree["action"], declared(kind)
        for name in given:
            if name not in members:
                raise InvalidValueError(
                    f"{inside}action.{printable(name[:60])}: is unknown; valid: {', '.join(members)}"
                )
        _check_members(members, given, f"{inside}action.", _optional(kind))
        return Posted(tree["tick"], tree["sequence"], kind(**given), tree["source"])


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value


def queue_tree(queue: list[Posted]) -> list[dict[str, Any]]:
    """Return the queued actions in plain values, renumbered from 1: only their order matters."""
    return [replace(posted, sequence=k).to_tree() for k, posted in enumerate(sorted(queue), start=1)]


def read_queue(trees: Any) -> list[Posted]:
    """Return the queued actions of a saved state."""
    if not isinstance(trees, list):
        raise InvalidValueError("is not a list of actions")
    queue = [Posted.from_tree(tree, f"[{k}]") for k, tree in enumerate(trees)]
    heapq.heapify(queue)
    return queue


@part
class MailboxState:
    """The numbered actions, a heap."""

    queue: list[Posted] = plain(list, queue_tree, read_queue)
    sequence: int = 0  # the last number

    def continue_numbers(self) -> None:
        """Number further actions after those of a loaded queue."""
        self.sequence = max((posted.sequence for posted in self.queue), default=0)


class Mailbox:
    """Queue of actions that wait for their tick. Any thread may post; the ticking thread takes the due ones.

    The queue belongs to the state: a reset or restore discards what was posted before it, and an action that is posted
    later waits in the new state, to be checked again at its tick.
    """

    def __init__(self, run: "Run") -> None:
        self._run = run
        self.lock = threading.Lock()  # held for some microseconds, also while the state of the run is replaced

    def post(
        self,
        action: Action,
        tick: int = NEXT_TICK,
        source: str = "",
        checked_at: tuple[int, ...] = (),
        flown: bool = False,
    ) -> None:
        """Queue an action for the first tick >= `tick`, but not in the past. Safe from any thread."""
        with self.lock:
            state = self._run.state
            mailbox, now = state.mailbox, state.clock.tick
            mailbox.sequence = number = mailbox.sequence + 1
            posted = Posted(tick if tick > now else now, number, action, source, checked_at, flown)
            heapq.heappush(mailbox.queue, posted)

    @property
    def waiting(self) -> int:
        """Number of queued actions."""
        return len(self._run.state.mailbox.queue)

    def refuse_if_full(self) -> None:
        """Raise PaddockError when the limit of queued actions is reached."""
        if self.waiting >= MOST_WAITING:
            raise PaddockError(f"mailbox full: {self.waiting:,} actions are queued; step first")

    def next_tick(self, now: int) -> int | None:
        """Return the tick of the next due action; None if the mailbox is empty."""
        queue = self._run.state.mailbox.queue
        return max(now, queue[0].tick) if queue else None

    def due(self, now: int) -> list[Posted]:
        """Take the actions that are due at this tick, in order."""
        due: list[Posted] = []  # `list[Posted]()` takes as long as all else here
        with self.lock:
            queue = self._run.state.mailbox.queue
            while queue and queue[0].tick <= now:
                due.append(heapq.heappop(queue))
        return due

    def clear(self) -> None:
        """Discard all actions."""
        with self.lock:
            self._run.state.mailbox.queue.clear()


class ActionLog:
    """Every action applied or refused (a refusal leaves an event), with its tick: with the scenario, the whole run."""

    def __init__(self) -> None:
        self.entries: list[Posted] = []
        self.most_bytes = BYTES_KEPT  # 0: keep nothing; listeners are still notified
        self.kept_bytes = 0
        self.lost = 0  # number of entries that did not fit
        self.restored_at: int | None = None  # tick of the restored state with which the log begins
        self.listeners: list[Callable[[Posted], None]] = []

    def append(self, posted: Posted) -> None:
        """Log an action and notify the listeners."""
        if self.listeners:
            for listener in tuple(self.listeners):
                listener(posted)
        size = _size(posted)
        if self.lost or self.kept_bytes + size > self.most_bytes:
            self.lost += 1
            return
        self.kept_bytes += size
        self.entries.append(posted)

    def restart(self, tick: int | None = None) -> None:
        """Start the log of a new run, or of one that continues from a state restored at a tick."""
        self.entries, self.kept_bytes, self.lost, self.restored_at = [], 0, 0, tick

    def complete(self) -> list[Posted]:
        """Return all entries since tick 0; PaddockError if the log does not have them."""
        if self.restored_at is not None:
            raise PaddockError(f"the log begins with the state restored at tick {self.restored_at}, not with tick 0")
        if self.lost:
            raise PaddockError(
                f"the log has lost {self.lost} actions beyond {self.most_bytes >> 20} MiB; record the run instead"
            )
        return list(self.entries)


def _size(posted: Posted) -> int:
    action = posted.action
    if isinstance(action, CommandAction) and isinstance(action.target, str):
        size = ENTRY_BYTES
        for value in action.inputs.values():
            if isinstance(value, np.ndarray):
                size += value.nbytes
        return size
    inputs: Any = action.inputs.values() if isinstance(action, CommandAction) else (getattr(action, "pose", None),)
    target: Any = action.target if isinstance(action, CommandAction | OverrideAction) else ()
    listed = 64 * len(target) if isinstance(target, list) else 0
    return ENTRY_BYTES + listed + sum([value.nbytes for value in (*inputs, target) if isinstance(value, np.ndarray)])
