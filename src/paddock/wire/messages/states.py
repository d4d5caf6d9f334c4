"""Messages of streams and recordings: states, starts of runs, actions, events, and state hashes.

States are a roster with the fleets, and a block of numbers for each fleet. The blocks are those of a snapshot, from
which a client builds the same snapshot. A roster is sent when it has changed or on request; every state has the number
of its roster.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages.values import Codec, Ids, enumerated, fields_of, finite, from_ids, from_tree, to_ids, to_tree
from paddock.wire.results import ActionRecord, EventRecord

Block = NDArray[np.floating]
PRECISIONS = {"double": "<f8", "single": "<f4"}
"""The NumPy types of recorded states, by the names of the enum."""
ARRAY_TYPES = ("float32", "float64")
LITTLE = {"float32": "<f4", "float64": "<f8"}
MOST_AXES, MOST_VALUES = 3, 1 << 24  # of one array of one vehicle
REASONS = ("start", "reset", "restore")
HEX = frozenset("0123456789abcdef")


class ArrayMessage(NamedTuple):
    """An array of the vehicles of a fleet, with the fields of an ArrayColumn."""

    name: str
    shape: tuple[int, ...]  # of one vehicle
    dtype: str  # float32 or float64


class FleetMessage(NamedTuple):
    """One fleet, with the fields of a FleetLayout."""

    name: str
    kind: str
    model: str
    columns: tuple[str, ...]
    ids: Ids  # (n,)
    members: Ids  # (n,) the k of each vehicle's name fleet[k]
    single: bool  # one vehicle with the name of the fleet
    arrays: tuple[ArrayMessage, ...] = ()


class RosterMessage(NamedTuple):
    """The fleets, in the order of the blocks."""

    number: int  # changes when vehicles are added or removed
    fleets: tuple[FleetMessage, ...]


def every_topic(every: int) -> bytes:
    """Return the topic of the states of all ticks that `every` divides."""
    return b"every/%d/" % every


def period_of(topic: bytes) -> int:
    """Return the ticks between the states of a topic that `every_topic` made; 0 for another topic."""
    match = re.fullmatch(rb"every/([1-9][0-9]{0,9})/", topic)
    return int(match[1]) if match else 0


class StateUpdate(NamedTuple):
    """A published state."""

    tick: int
    sim_time: float  # s
    wall_time: float  # s since 1970
    run: int
    roster_number: int
    blocks: tuple[Block, ...]  # one per fleet; (columns, n) for sending, flat after receiving: see `arranged`
    roster: RosterMessage | None = None  # None if the receiver has it
    arrays: tuple[Block, ...] = ()  # one per array of each fleet; flat after receiving: see `arranged_arrays`


class StateMessage(NamedTuple):
    """A recorded state."""

    tick: int
    sim_time: float  # s
    run: int
    roster_number: int
    blocks: tuple[Block, ...]  # as in a StateUpdate; float32 or float64, by the precision
    precision: str = "double"  # or single
    roster: RosterMessage | None = None
    arrays: tuple[Block, ...] = ()  # as in a StateUpdate, whatever the precision


def arranged(blocks: Sequence[Block], roster: RosterMessage) -> tuple[Block, ...]:
    """Return received blocks, each as a (columns, n) view."""
    if len(blocks) != len(roster.fleets):
        raise WireError("count", f"state: {len(blocks)} blocks for {len(roster.fleets)} fleets")
    result = []
    for block, fleet in zip(blocks, roster.fleets, strict=True):
        shape = len(fleet.columns), len(fleet.ids)
        if block.size != math.prod(shape):
            raise WireError("length", f"state: {block.size} numbers for fleet {fleet.name[:40]!r} of shape {shape}")
        result.append(block.reshape(shape))
    return tuple(result)


def arranged_arrays(arrays: Sequence[Block], roster: RosterMessage) -> tuple[dict[str, Block], ...]:
    """Return received arrays by name for each fleet, each as a view (n, *shape) with its type."""
    count = sum(len(fleet.arrays) for fleet in roster.fleets)
    if len(arrays) != count:
        raise WireError("count", f"state: {len(arrays)} arrays, but the fleets have {count}")
    result, rest = [], iter(arrays)
    for fleet in roster.fleets:
        arranged: dict[str, Block] = {}
        for array in fleet.arrays:
            values: Block = np.frombuffer(next(rest), np.uint8)
            shape, kind = (len(fleet.ids), *array.shape), np.dtype(LITTLE[array.dtype])
            if values.nbytes != math.prod(shape) * kind.itemsize:
                raise WireError(
                    "length", f"state: {values.nbytes} bytes for array {array.name[:40]!r} of shape {shape}"
                )
            arranged[array.name] = values.view(kind).reshape(shape)
        result.append(arranged)
    return tuple(result)


def _array_fields(array: ArrayMessage) -> dict[str, Any]:
    if array.dtype not in ARRAY_TYPES:
        raise InvalidValueError(f"an array has the type {' or '.join(ARRAY_TYPES)}, not {array.dtype!r}")
    return {"name": array.name, "shape": list(array.shape), "type": array.dtype.upper()}


def _array(message: pb.Array) -> ArrayMessage:
    dtype = enumerated(message.type, ARRAY_TYPES, "array: type")
    shape = tuple(message.shape)
    if not 1 <= len(shape) <= MOST_AXES or min(shape) < 1 or math.prod(shape) > MOST_VALUES:
        raise WireError("value", f"array {message.name[:40]!r}: shape {shape!s:.60}")
    return ArrayMessage(message.name, shape, dtype)


def _fleet_fields(fleet: FleetMessage) -> dict[str, Any]:
    ids, members = to_ids(fleet.ids, "ids"), to_ids(fleet.members, "members")
    if len(ids) != len(members):
        raise InvalidValueError(f"fleet {fleet.name!r}: {len(ids)} ids, but {len(members)} members")
    arrays = [ARRAY.message(array) for array in fleet.arrays]
    return {**fleet._asdict(), "ids": ids, "members": members, "single": bool(fleet.single), "arrays": arrays}


def _fleet(message: pb.Fleet) -> FleetMessage:
    what = f"fleet {message.name[:40]!r}"
    ids, members = from_ids(message.ids, f"{what}: ids"), from_ids(message.members, f"{what}: members")
    columns = tuple(message.columns)
    if len(ids) != len(members):
        raise WireError("count", f"{what}: {len(ids)} ids, but {len(members)} members")
    arrays = tuple(map(ARRAY.value, message.arrays))
    names = *columns, *(array.name for array in arrays)
    if len(set(names)) != len(names) or (message.single and len(ids) > 1):
        raise WireError("value", f"{what}: columns must differ, and a single vehicle is alone")
    return FleetMessage(message.name, message.kind, message.model, columns, ids, members, message.single, arrays)


def _roster_fields(roster: RosterMessage) -> dict[str, Any]:
    return {"number": roster.number, "fleets": map(FLEET.message, roster.fleets)}


def _roster(message: pb.Roster) -> RosterMessage:
    fleets = tuple(map(FLEET.value, message.fleets))
    if len({fleet.name for fleet in fleets}) != len(fleets):
        raise WireError("value", "roster: two fleets have the same name")
    return RosterMessage(message.number, fleets)


def _update_fields(update: StateUpdate) -> dict[str, Any]:
    times = {name: finite(getattr(update, name), name) for name in ("sim_time", "wall_time")}
    packed = {"blocks": _packed(update.blocks, "<f8"), "arrays": _packed_arrays(update.arrays)}
    return {**update._asdict(), **times, "roster": _roster_beside(update), **packed}


def _update(message: pb.StateUpdate) -> StateUpdate:
    roster, blocks = _contents(message, "<f8")
    times = finite(message.sim_time, "state: sim_time"), finite(message.wall_time, "state: wall_time")
    return StateUpdate(message.tick, *times, message.run, message.roster_number, blocks, roster, _raw(message))


def _state_fields(state: StateMessage) -> dict[str, Any]:
    if state.precision not in PRECISIONS:
        raise InvalidValueError(f"precision is one of {', '.join(PRECISIONS)}, not {state.precision!r}")
    blocks = _packed(state.blocks, PRECISIONS[state.precision])
    time, precision = finite(state.sim_time, "sim_time"), state.precision.upper()
    fields = {"sim_time": time, "precision": precision, "roster": _roster_beside(state), "blocks": blocks}
    return {**state._asdict(), **fields, "arrays": _packed_arrays(state.arrays)}


def _state(message: pb.State) -> StateMessage:
    precision = enumerated(message.precision, tuple(PRECISIONS), "state: precision")
    roster, blocks = _contents(message, PRECISIONS[precision])
    time = finite(message.sim_time, "state: sim_time")
    return StateMessage(
        message.tick, time, message.run, message.roster_number, blocks, precision, roster, _raw(message)
    )


def _roster_beside(state: StateUpdate | StateMessage) -> pb.Roster | None:
    """Return the roster sent with a state, if any; their numbers must be equal."""
    roster = state.roster
    if roster is None:
        return None
    if roster.number != state.roster_number:
        raise InvalidValueError(f"a state of roster {state.roster_number} cannot be sent with roster {roster.number}")
    shapes = [(len(fleet.columns), len(fleet.ids)) for fleet in roster.fleets]
    if [np.shape(block) for block in state.blocks] != shapes:
        raise InvalidValueError(f"the blocks of this roster have the shapes {shapes[:8]}")
    return ROSTER.message(roster)


def _packed(blocks: Sequence[Block], dtype: str) -> list[bytes]:
    with np.errstate(over="ignore"):  # overflow becomes infinite
        return [np.ascontiguousarray(block, dtype).tobytes() for block in blocks]


def _packed_arrays(arrays: Sequence[Block]) -> list[bytes]:
    """Return arrays as bytes, each in its own type."""
    return [np.ascontiguousarray(array, LITTLE[array.dtype.name]).tobytes() for array in arrays]


def _raw(message: pb.StateUpdate | pb.State) -> tuple[Block, ...]:
    """Return the bytes of the arrays, whose types are those of the roster."""
    return tuple(np.frombuffer(array, np.uint8) for array in message.arrays)


def _contents(message: pb.StateUpdate | pb.State, dtype: str) -> tuple[RosterMessage | None, tuple[Block, ...]]:
    size = np.dtype(dtype).itemsize
    if wrong := [len(block) for block in message.blocks if len(block) % size]:
        raise WireError("length", f"state: {wrong[0]} bytes are not numbers of {size} bytes")
    blocks = tuple(np.frombuffer(block, dtype) for block in message.blocks)
    if not message.HasField("roster"):
        return None, blocks
    roster = ROSTER.value(message.roster)
    if roster.number != message.roster_number:
        raise WireError("value", f"state: of roster {message.roster_number}, but with roster {roster.number}")
    arranged(blocks, roster)
    arranged_arrays(_raw(message), roster)
    return roster, blocks


ARRAY = Codec(ArrayMessage, pb.Array, _array_fields, _array)
FLEET = Codec(FleetMessage, pb.Fleet, _fleet_fields, _fleet)
ROSTER = Codec(RosterMessage, pb.Roster, _roster_fields, _roster, "roster")
STATE_UPDATE = Codec(StateUpdate, pb.StateUpdate, _update_fields, _update, "state")
"""Decode a published state; with a roster, the blocks must have its sizes."""
STATE = Codec(StateMessage, pb.State, _state_fields, _state, "state")
encode_roster, decode_roster = ROSTER.encode, ROSTER.decode
encode_state_update, decode_state_update = STATE_UPDATE.encode, STATE_UPDATE.decode
encode_state, decode_state = STATE.encode, STATE.decode


class StateHash(NamedTuple):
    """The hash of the complete state at a tick."""

    tick: int
    run: int
    hash: str  # hexadecimal digits


class RunStart(NamedTuple):
    """The start of a run, or its continuation from another state."""

    run: int
    seed: int
    scenario: Any  # plain values
    versions: dict[str, Any]
    reason: str = "start"  # one of REASONS
    state: bytes = b""  # the saved state that was restored


def _action_fields(action: ActionRecord) -> dict[str, Any]:
    fields = action._asdict()
    json, arrays = to_tree(fields.pop("action"))
    return {**fields, "json": json, "arrays": arrays}


def _action(message: pb.Action) -> ActionRecord:
    action = _members(from_tree(message.json, message.arrays, "action"), "action")
    return ActionRecord(**fields_of(message, ActionRecord._fields[:-1]), action=action)


def _hash(message: pb.StateHash) -> StateHash:
    if not HEX.issuperset(message.hash):
        raise WireError("value", f"a hash is written in hexadecimal digits, not {message.hash[:40]!r}")
    return StateHash(message.tick, message.run, message.hash)


def _start_fields(start: RunStart) -> dict[str, Any]:
    if start.reason not in REASONS:
        raise InvalidValueError(f"the reason of a start is one of {', '.join(REASONS)}, not {start.reason!r}")
    texts = {"scenario_json": _plain(start.scenario), "versions_json": _plain(start.versions)}
    return {"run": start.run, "seed": start.seed, "reason": start.reason.upper(), "state": start.state, **texts}


def _start(message: pb.RunStart) -> RunStart:
    scenario = from_tree(message.scenario_json, (), "scenario")
    versions = _members(from_tree(message.versions_json, (), "versions"), "versions")
    return RunStart(scenario=scenario, versions=versions, **fields_of(message, ("run", "seed", "reason", "state")))


def _plain(value: Any) -> str:
    json, arrays = to_tree(value)
    if arrays:
        raise InvalidValueError("it holds arrays: convert them to lists")
    return json


def _members(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WireError("json", f"{what}: an object is expected")
    return value


EVENT = Codec(EventRecord, pb.Event, what="event")
ACTION = Codec(ActionRecord, pb.Action, _action_fields, _action, what="action")
STATE_HASH = Codec(StateHash, pb.StateHash, read=_hash, what="hash", check=True)
RUN_START = Codec(RunStart, pb.RunStart, _start_fields, _start, what="start of a run")
encode_event, decode_event = EVENT.encode, EVENT.decode
encode_action, decode_action = ACTION.encode, ACTION.decode
encode_state_hash, decode_state_hash = STATE_HASH.encode, STATE_HASH.decode
encode_run_start, decode_run_start = RUN_START.encode, RUN_START.decode
