"""The channels of a recording: what is written where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.wire import messages_pb2 as pb

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
