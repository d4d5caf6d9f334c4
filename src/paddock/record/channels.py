"""The channels of a recording. `wire.messages` alone makes and reads the bytes of their messages."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.wire import messages_pb2 as pb

RUN, ROSTER, STATE = "/paddock/run", "/paddock/roster", "/paddock/state"
ACTIONS, EVENTS, HASHES = "/paddock/actions", "/paddock/events", "/paddock/hashes"
MARKERS = "/paddock/markers"
POSITIONS, FRAMES, SCENE, LOG, MARKER_SCENE = "/positions", "/tf", "/scene", "/events", "/markers"


class LogTime(NamedTuple):
    """The time of a message: on the recording's time line, and on the wall clock, ns since 1970."""

    log: int
    wall: int


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
            "up to 10 Hz; of more than 100 vehicles, without cones, those with `/sensors`",
        ),
        (
            SCENE,
            SceneUpdate,
            "a coloured body with a name for each vehicle",
            "vehicles added or removed; up to 100, without cones",
        ),
        (LOG, Log, "the events as lines of a log", "always"),
        (MARKER_SCENE, SceneUpdate, "the markers as drawn", "always"),
    )
)
