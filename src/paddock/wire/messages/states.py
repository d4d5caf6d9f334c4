"""States: a roster with the fleets, and a block of numbers for each fleet.

The blocks are those of a snapshot, from which a client builds the same snapshot. A roster is sent when it has changed
or on request; every state has the number of its roster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages.values import Buffer, Ids, enumerated, finite, from_ids, parsed, sending, to_ids

Block = NDArray[np.floating]
PRECISIONS = {"double": "<f8", "single": "<f4"}
"""The NumPy types of recorded states, by the names of the enum."""


class FleetMessage(NamedTuple):
    """One fleet, with the fields of a FleetLayout."""

    name: str
    kind: str
    model: str
    columns: tuple[str, ...]
    ids: Ids  # (n,)
    members: Ids  # (n,) the k of each vehicle's name fleet[k]
    single: bool  # its only vehicle has the name of the fleet


class RosterMessage(NamedTuple):
    """The fleets, in the order of the blocks."""

    number: int  # changes when vehicles are added or removed
    fleets: tuple[FleetMessage, ...]


class StateUpdate(NamedTuple):
    """A published state."""

    tick: int
    sim_time: float  # s
    wall_time: float  # s since 1970
    run: int
    roster_number: int
    blocks: tuple[Block, ...]  # one per fleet; (columns, n) where it is sent, flat where it arrives: see `arranged`
    roster: RosterMessage | None = None  # None if the receiver has it


class State(NamedTuple):
    """A recorded state."""

    tick: int
    sim_time: float  # s
    run: int
    roster_number: int
    blocks: tuple[Block, ...]  # as of a StateUpdate; float32 or float64, as the precision says
    precision: str = "double"  # or single
    roster: RosterMessage | None = None


def arranged(blocks: Sequence[Block], roster: RosterMessage) -> tuple[Block, ...]:
    """Received blocks, each as (columns, n) view."""
    if len(blocks) != len(roster.fleets):
        raise WireError("count", f"state: {len(blocks)} blocks for {len(roster.fleets)} fleets")
    result = []
    for block, fleet in zip(blocks, roster.fleets, strict=True):
        shape = len(fleet.columns), len(fleet.ids)
        if block.size != math.prod(shape):
            raise WireError("length", f"state: {block.size} numbers for fleet {fleet.name[:40]!r} of shape {shape}")
        result.append(block.reshape(shape))
    return tuple(result)


def encode_roster(roster: RosterMessage) -> bytes:
    """A roster as a message."""
    with sending("roster"):
        return roster_message(roster).SerializeToString()


def decode_roster(data: Buffer) -> RosterMessage:
    """A roster as a message."""
    return roster_value(parsed(pb.Roster, data))


def roster_message(roster: RosterMessage) -> pb.Roster:
    """Encode a part of a message."""
    return pb.Roster(number=roster.number, fleets=[_fleet_message(fleet) for fleet in roster.fleets])


def _fleet_message(fleet: FleetMessage) -> pb.Fleet:
    ids, members = to_ids(fleet.ids, "ids"), to_ids(fleet.members, "members")
    if len(ids) != len(members):
        raise InvalidValueError(f"fleet {fleet.name!r}: {len(ids)} ids, but {len(members)} members")
    words = {"name": fleet.name, "kind": fleet.kind, "model": fleet.model}
    return pb.Fleet(**words, columns=fleet.columns, ids=ids, members=members, single=bool(fleet.single))


def roster_value(message: pb.Roster) -> RosterMessage:
    """Decode a part of a message."""
    fleets = tuple(map(_fleet_value, message.fleets))
    if len({fleet.name for fleet in fleets}) != len(fleets):
        raise WireError("value", "roster: two fleets have the same name")
    return RosterMessage(message.number, fleets)


def _fleet_value(message: pb.Fleet) -> FleetMessage:
    what = f"fleet {message.name[:40]!r}"
    ids, members = from_ids(message.ids, f"{what}: ids"), from_ids(message.members, f"{what}: members")
    columns = tuple(message.columns)
    if len(ids) != len(members):
        raise WireError("count", f"{what}: {len(ids)} ids, but {len(members)} members")
    if len(set(columns)) != len(columns) or (message.single and len(ids) > 1):
        raise WireError("value", f"{what}: columns must differ, and a single vehicle is alone")
    return FleetMessage(message.name, message.kind, message.model, columns, ids, members, message.single)


def encode_state_update(update: StateUpdate) -> bytes:
    """A published state."""
    with sending("state"):
        return state_update_message(update).SerializeToString()


def decode_state_update(data: Buffer) -> StateUpdate:
    """Decode a published state; with a roster, the blocks must have its sizes."""
    return state_update_value(parsed(pb.StateUpdate, data))


def state_update_message(update: StateUpdate) -> pb.StateUpdate:
    """Encode a part of a message."""
    return pb.StateUpdate(
        tick=update.tick,
        sim_time=finite(update.sim_time, "sim_time"),
        wall_time=finite(update.wall_time, "wall_time"),
        run=update.run,
        roster_number=update.roster_number,
        roster=_roster_beside(update),
        blocks=_packed(update.blocks, "<f8"),
    )


def state_update_value(message: pb.StateUpdate) -> StateUpdate:
    """Decode a part of a message."""
    roster, blocks = _contents(message, "<f8")
    times = finite(message.sim_time, "state: sim_time"), finite(message.wall_time, "state: wall_time")
    return StateUpdate(message.tick, *times, message.run, message.roster_number, blocks, roster)


def encode_state(state: State) -> bytes:
    """A recorded state, in its precision."""
    if state.precision not in PRECISIONS:
        raise InvalidValueError(f"precision is one of {', '.join(PRECISIONS)}, not {state.precision!r}")
    with sending("state"):
        return pb.State(
            tick=state.tick,
            sim_time=finite(state.sim_time, "sim_time"),
            run=state.run,
            roster_number=state.roster_number,
            roster=_roster_beside(state),
            precision=state.precision.upper(),
            blocks=_packed(state.blocks, PRECISIONS[state.precision]),
        ).SerializeToString()


def decode_state(data: Buffer) -> State:
    """Decode a recorded state; with a roster, the blocks must have its sizes."""
    message = parsed(pb.State, data)
    precision = enumerated(message.precision, tuple(PRECISIONS), "state: precision")
    roster, blocks = _contents(message, PRECISIONS[precision])
    time = finite(message.sim_time, "state: sim_time")
    return State(message.tick, time, message.run, message.roster_number, blocks, precision, roster)


def _roster_beside(state: StateUpdate | State) -> pb.Roster | None:
    """The roster sent with a state, if any; their numbers must be equal."""
    roster = state.roster
    if roster is None:
        return None
    if roster.number != state.roster_number:
        raise InvalidValueError(f"a state of roster {state.roster_number} cannot be sent with roster {roster.number}")
    shapes = [(len(fleet.columns), len(fleet.ids)) for fleet in roster.fleets]
    if [np.shape(block) for block in state.blocks] != shapes:
        raise InvalidValueError(f"the blocks of this roster have the shapes {shapes[:8]}")
    return roster_message(roster)


def _packed(blocks: Sequence[Block], dtype: str) -> list[bytes]:
    with np.errstate(over="ignore"):  # overflow becomes infinite
        return [np.ascontiguousarray(block, dtype).tobytes() for block in blocks]


def _contents(message: pb.StateUpdate | pb.State, dtype: str) -> tuple[RosterMessage | None, tuple[Block, ...]]:
    size = np.dtype(dtype).itemsize
    if wrong := [len(block) for block in message.blocks if len(block) % size]:
        raise WireError("length", f"state: {wrong[0]} bytes are not numbers of {size} bytes")
    blocks = tuple(np.frombuffer(block, dtype) for block in message.blocks)
    if not message.HasField("roster"):
        return None, blocks
    roster = roster_value(message.roster)
    if roster.number != message.roster_number:
        raise WireError("value", f"state: of roster {message.roster_number}, but with roster {roster.number}")
    arranged(blocks, roster)
    return roster, blocks
