"""The channels of a recording, and the conversion of the engine's objects to their messages and back.

`wire.messages` alone makes and reads the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.engine.actions import Posted
from paddock.engine.events import Event
from paddock.errors import PaddockError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages import recordings, states
from paddock.world.layout import FleetLayout, Layout
from paddock.world.pool import BufferPool, frozen
from paddock.world.snapshot import Snapshot

RUN, ROSTER, STATE = "/paddock/run", "/paddock/roster", "/paddock/state"
ACTIONS, EVENTS, HASHES = "/paddock/actions", "/paddock/events", "/paddock/hashes"
MARKERS = "/paddock/markers"
POSITIONS, FRAMES, SCENE, LOG, MARKER_SCENE = "/positions", "/tf", "/scene", "/events", "/markers"
Buffer = bytes | memoryview


@dataclass(frozen=True)
class ChannelSpec:
    """One channel."""

    topic: str
    schema: Any  # the class of its messages
    content: str
    when: str

    @property
    def schema_name(self) -> str:
        """The full name of the type of its messages."""
        name: str = self.schema.DESCRIPTOR.full_name
        return name


CHANNELS = tuple(
    ChannelSpec(*spec)
    for spec in (
        (RUN, pb.RunStart, "start of a run: scenario, seed, and the state after a restore", "start, reset, restore"),
        (ROSTER, pb.Roster, "fleets, their columns, ids and members", "start, vehicles added or removed"),
        (STATE, pb.State, "every public column of every vehicle", "every sample"),
        (
            ACTIONS,
            pb.Action,
            "all inputs of the run: commands, overrides, spawns, removals, frames, mission changes",
            "always",
        ),
        (EVENTS, pb.Event, "events", "always"),
        (HASHES, pb.StateHash, "digest of the complete state, for verification", "0.1 s; 1 s beyond 1,000 vehicles"),
        (MARKERS, pb.MarkerCommand, "markers put, removed, shown or hidden", "always"),
        (POSITIONS, PointCloud, "id, position and orientation of every vehicle", "up to 10 Hz"),
        (
            FRAMES,
            FrameTransforms,
            "a frame for each vehicle; named frames when they are set",
            "up to 10 Hz, up to 100 vehicles",
        ),
        (SCENE, SceneUpdate, "a coloured body with a name for each vehicle", "vehicles added or removed, up to 100"),
        (LOG, Log, "the events as lines of a log", "always"),
        (MARKER_SCENE, SceneUpdate, "the markers as drawn", "always"),
    )
)


def encode_layout(layout: Layout) -> bytes:
    """Encode fleets, columns and ids."""
    fleets = [
        states.FleetMessage(fleet.name, fleet.kind, fleet.model, fleet.columns, fleet.ids, fleet.members, fleet.single)
        for fleet in layout.fleets
    ]
    return states.encode_roster(states.RosterMessage(layout.roster, tuple(fleets)))


def decode_layout(data: Buffer) -> Layout:
    """Decode fleets, columns and ids."""
    roster = states.decode_roster(data)
    return Layout(tuple(FleetLayout(n=len(fleet.ids), **fleet._asdict()) for fleet in roster.fleets), roster.number)


def encode_snapshot(snapshot: Snapshot, precision: str) -> bytes:
    """Encode all columns of all vehicles in `double` or `single` precision; the roster before it names them."""
    blocks = tuple(fleet.block for fleet in snapshot)
    state = states.State(snapshot.tick, snapshot.time, snapshot.run, snapshot.roster, blocks, precision)
    return states.encode_state(state)


def decode_snapshot(data: Buffer, layout: Layout, pool: BufferPool) -> Snapshot:
    """Decode a snapshot into a buffer of the pool."""
    state = states.decode_state(data)
    if [block.size for block in state.blocks] != [fleet.nbytes // 8 for fleet in layout.fleets]:
        raise PaddockError(f"the state of tick {state.tick} does not match its roster")
    buffer = pool.take(layout.nbytes)
    for k, block in enumerate(state.blocks):
        layout.block(buffer, k).reshape(-1)[:] = block
    return Snapshot(state.tick, state.sim_time, state.run, layout, frozen(buffer))


def encode_posted(posted: Posted) -> bytes:
    """Encode an applied action."""
    return recordings.encode_action(recordings.Action(**posted.to_tree()))


def decode_posted(data: Buffer) -> Posted:
    """Decode an applied action."""
    try:
        return Posted.from_tree(recordings.decode_action(data)._asdict())
    except TypeError as error:  # fields that this kind of action does not have
        raise PaddockError(f"unknown action: {error}") from None


def encode_event(event: Event) -> bytes:
    """Encode an event."""
    return recordings.encode_event(
        recordings.EventMessage(event.number, event.tick, event.kind, event.subject, event.detail)
    )


def decode_event(data: Buffer) -> Event:
    """Decode an event."""
    return Event(*recordings.decode_event(data))
