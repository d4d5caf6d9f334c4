"""The channels of a recording: what is written where."""

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


@dataclass(frozen=True)
class ChannelSpec:
    """One channel."""

    topic: str
    schema: Any  # the class of its messages
    content: str
    when: str

    @property
    def schema_name(self) -> str:
        """The full name of its messages' type."""
        name: str = self.schema.DESCRIPTOR.full_name
        return name


CHANNELS = (
    ChannelSpec(
        RUN,
        pb.RunStart,
        "a run begins: scenario, seed, and the state that it goes on from if it was restored",
        "start, reset, restore",
    ),
    ChannelSpec(ROSTER, pb.Roster, "fleets, their columns, ids and members", "start, vehicles come or go"),
    ChannelSpec(STATE, pb.State, "every public column of every vehicle", "every sample"),
    ChannelSpec(
        ACTIONS,
        pb.Action,
        "commands, orders, spawns, removals, frames, mission verbs: all that entered the run",
        "always",
    ),
    ChannelSpec(EVENTS, pb.Event, "what happened", "always"),
    ChannelSpec(
        HASHES, pb.StateHash, "digest of the complete state, for verification", "0.1 s; 1 s beyond 1,000 vehicles"
    ),
    ChannelSpec(MARKERS, pb.MarkerCommand, "markers that are put, removed, shown or hidden", "always"),
    ChannelSpec(POSITIONS, PointCloud, "id, position and orientation of every vehicle", "up to 10 Hz"),
    ChannelSpec(
        FRAMES,
        FrameTransforms,
        "a frame for each vehicle; named frames when they are set",
        "up to 10 Hz, up to 100 vehicles",
    ),
    ChannelSpec(SCENE, SceneUpdate, "a coloured body with a name for each vehicle", "vehicles come or go, up to 100"),
    ChannelSpec(LOG, Log, "the events as lines of a log", "always"),
    ChannelSpec(MARKER_SCENE, SceneUpdate, "the markers as they are drawn", "always"),
)


Buffer = bytes | memoryview


def encode_layout(layout: Layout) -> bytes:
    """Fleets, columns, ids."""
    fleets = [
        states.FleetMessage(fleet.name, fleet.kind, fleet.model, fleet.columns, fleet.ids, fleet.members, fleet.single)
        for fleet in layout.fleets
    ]
    return states.encode_roster(states.RosterMessage(layout.roster, tuple(fleets)))


def decode_layout(data: Buffer) -> Layout:
    """The inverse."""
    roster = states.decode_roster(data)
    return Layout(tuple(FleetLayout(n=len(fleet.ids), **fleet._asdict()) for fleet in roster.fleets), roster.number)


def encode_snapshot(snapshot: Snapshot, precision: str) -> bytes:
    """All columns of all vehicles in `double` or `single` precision; who they are is said by the roster before it."""
    blocks = tuple(fleet.block for fleet in snapshot)
    state = states.State(snapshot.tick, snapshot.time, snapshot.run, snapshot.roster, blocks, precision)
    return states.encode_state(state)


def decode_snapshot(data: Buffer, layout: Layout, pool: BufferPool) -> Snapshot:
    """The inverse."""
    state = states.decode_state(data)
    if [block.size for block in state.blocks] != [fleet.nbytes // 8 for fleet in layout.fleets]:
        raise PaddockError(f"the state of tick {state.tick} does not fit its roster")
    buffer = pool.take(layout.nbytes)
    for k, block in enumerate(state.blocks):
        layout.block(buffer, k).reshape(-1)[:] = block
    return Snapshot(state.tick, state.sim_time, state.run, layout, frozen(buffer))


def encode_posted(posted: Posted) -> bytes:
    """A command, spawn, removal, ..."""
    return recordings.encode_action(recordings.Action(**posted.to_tree()))


def decode_posted(data: Buffer) -> Posted:
    """The inverse."""
    try:
        return Posted.from_tree(recordings.decode_action(data)._asdict())
    except TypeError as error:  # fields that this kind of action does not have
        raise PaddockError(f"an action that does not exist here: {error}") from None


def encode_event(event: Event) -> bytes:
    """Something that happened."""
    return recordings.encode_event(
        recordings.EventMessage(event.number, event.tick, event.kind, event.subject, event.detail)
    )


def decode_event(data: Buffer) -> Event:
    """The inverse."""
    return Event(*recordings.decode_event(data))
