"""Write a recording: an MCAP file that is readable at any moment up to its last chunk."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from io import RawIOBase
from itertools import groupby
from math import inf
from time import monotonic, time_ns
from typing import Any, Self

from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from mcap.writer import CompressionType, Writer
from mcap_protobuf.schema import build_file_descriptor_set

from paddock.engine.actions import FrameAction, Posted
from paddock.engine.events import Event
from paddock.engine.markers import MarkerBoard, MarkerChange
from paddock.errors import file_errors
from paddock.record import channels, foxglove
from paddock.record.channels import LogTime
from paddock.record.foxglove import TOPIC as TRACK_SCENE
from paddock.record.foxglove import SensedArray, SensedWriter, stamped
from paddock.record.radio import TRAFFIC_TOPIC as RADIO_SCENE
from paddock.record.radio import radio_scene
from paddock.wire.messages import markers as wire
from paddock.wire.messages import states
from paddock.wire.radio_results import RadioTree
from paddock.wire.results import ActionRecord, EventRecord
from paddock.world.layout import Layout
from paddock.world.markers import Marker, PlacedMarker
from paddock.world.snapshot import Snapshot

NANOSECONDS = 1_000_000_000
CHUNK = 2 * 2**20  # bytes of a chunk before it is compressed and written
FLUSH_EVERY = 1.0  # s of wall time after which an unfinished chunk is written
EXACT = 1000  # vehicles up to which `precision: auto` keeps float64
PRECISIONS = ("auto", *states.PRECISIONS)
VIEW_EVERY = NANOSECONDS // 10  # ns of log time between two messages for viewers


class Timeline:
    """Converts ticks to log times in ns: simulation time that never goes back, even over resets and restores.

    The first recorded tick has the wall time of the start of the recording (ns since 1970), so that viewers show the
    right day. A reset or restore continues one tick later.
    """

    def __init__(self, rate: float, started: int) -> None:
        """`rate` in Hz, `started` in ns since 1970."""
        self.rate = rate
        self.offset = 0  # log time of tick 0
        self._next = started  # the earliest log time of a new section

    def begin(self, tick: int) -> LogTime:
        """Start a section at this tick; return its time."""
        self.offset = self._next - self._since_start(tick)
        return self.at(tick)

    def at(self, tick: int) -> LogTime:
        """Return the log time of a tick, and the wall time."""
        log_time = self.offset + self._since_start(tick)
        self._next = max(self._next, log_time + max(1, self._since_start(1)))
        return LogTime(log_time, time_ns())

    def _since_start(self, tick: int) -> int:
        return round(tick * NANOSECONDS / self.rate)


class RecordingFile:
    """The file of an MCAP writer: unbuffered, so that a killed process leaves everything that it has written.

    Not a `RawIOBase`, which the writer would buffer.
    """

    def __init__(self, file: RawIOBase) -> None:
        self.file = file
        self.position = 0  # bytes written
        self.valid = 0  # bytes up to which the file is readable

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Create the file; an existing one is overwritten."""
        with file_errors(f"cannot record to {os.fspath(path)}"):
            return cls(open(path, "wb", buffering=0))

    def write(self, data: bytes) -> int:
        """Write everything; the operating system may accept it in parts."""
        view = memoryview(data)
        while len(view):
            count = self.file.write(view)
            self.position += count or 0
            view = view[count or 0 :]
        return len(data)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.position

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def mark(self) -> None:
        """Mark everything written so far as readable."""
        self.valid = self.position

    def truncate(self) -> None:
        """Cut off what was not written completely; where that fails, readers ignore it."""
        with suppress(OSError, ValueError):
            self.file.truncate(self.valid)
        self.position = self.valid

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class McapWriter:
    """Writes messages to the channels of a recording; those that all have are registered in the first chunk."""

    def __init__(self, output: RecordingFile, metadata: Mapping[str, str], scenario: str, started: int) -> None:
        """`scenario` as YAML, `started` in ns since 1970."""
        self.output = output
        stream: Any = output
        self._writer: Any = Writer(stream, chunk_size=CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(library=f"paddock {metadata['paddock']}")
        self._writer.add_metadata("paddock", dict(metadata))
        self._writer.add_attachment(started, started, "scenario.yaml", "application/yaml", scenario.encode())
        output.mark()
        self._ids = {channel.topic: self._register(channel.topic, channel.schema) for channel in channels.CHANNELS}
        self._pending = False
        self._latest = 0  # log time
        self._due = monotonic() + FLUSH_EVERY

    def _register(self, topic: str, message: Any) -> int:
        schema = build_file_descriptor_set(message).SerializeToString()
        number = self._writer.register_schema(message.DESCRIPTOR.full_name, "protobuf", schema)
        return int(self._writer.register_channel(topic, "protobuf", number))

    def write(self, topic: str, at: LogTime, message: Any) -> None:
        """Add a message, encoded or of a class of protobuf. Log times never decrease: a late one takes the latest.

        The first message of another topic, such as that of one sensor, registers its channel.
        """
        if topic not in self._ids:
            self._ids[topic] = self._register(topic, type(message))
        before, self._latest = self.output.position, max(at.log, self._latest)
        data = message if isinstance(message, bytes) else message.SerializeToString()
        self._writer.add_message(self._ids[topic], self._latest, data, at.wall)
        self._pending = self.output.position == before
        if not self._pending:
            self._written()

    def flush_if_due(self) -> None:
        """Write an unfinished chunk that has waited long enough."""
        if self._pending and monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write the unfinished chunk."""
        self._writer.flush()
        self._pending = False
        self._written()

    def finish(self) -> None:
        """Write the rest, the indexes and the summary."""
        self._writer.finish()
        self.output.mark()

    def _written(self) -> None:
        self.output.mark()
        self._due = monotonic() + FLUSH_EVERY


class RecordingWriter:
    """Converts snapshots, actions, events, hashes and markers to messages."""

    def __init__(self, writer: McapWriter, precision: str, rate: float = 1.0, track: SceneUpdate | None = None) -> None:
        """`rate` in ticks per simulated s; `track` is the scene of the track."""
        self.writer, self._track = writer, track
        self.precision = precision
        self.sensed = SensedWriter(writer, rate)
        self.markers = MarkerWriter(writer)
        self.samples = 0
        self.vehicle_samples = 0
        self._layout: Layout | None = None
        self._next_view = 0
        self._radio_written = -1  # log time of the last links

    def begin(self, start: states.RunStart, at: LogTime) -> None:
        """Write the start of a run, a reset or a restore."""
        self._layout, self._next_view = None, 0
        self.sensed.begin()
        self.writer.write(channels.RUN, at, states.encode_run_start(start))
        if self._track is not None:
            self.writer.write(TRACK_SCENE, at, stamped(self._track, at.log))

    def sample(
        self, snapshot: Snapshot, at: LogTime, sensed: tuple[SensedArray, ...] = (), radio: RadioTree | None = None
    ) -> None:
        """Write all vehicles at a tick; `sensed` are the arrays that viewers show, `radio` stations and jammers."""
        if self._layout is None or snapshot.layout != self._layout:
            self._roster(snapshot.layout, at)
        automatic = "double" if len(snapshot) <= EXACT else "single"
        precision = automatic if self.precision == "auto" else self.precision
        blocks = tuple(fleet.block for fleet in snapshot)
        arrays = tuple(array for fleet in snapshot for array in fleet.blocks.values())
        about = snapshot.tick, snapshot.time, snapshot.run, snapshot.roster
        state = states.StateMessage(*about, blocks, precision, arrays=arrays)
        self.writer.write(channels.STATE, at, states.encode_state(state))
        self.samples += 1
        self.vehicle_samples += len(snapshot)
        if at.log >= self._next_view:
            self._view(snapshot, sensed, at)
            if radio is not None:
                self.radio(snapshot, radio, at)
        self.sensed.write(snapshot, sensed, at)

    def radio(self, snapshot: Snapshot, radio: RadioTree, at: LogTime) -> None:
        """Write links, stations, jammers and counts of packets at a tick, once."""
        if at.log > self._radio_written:
            self.writer.write(RADIO_SCENE, at, radio_scene(snapshot, radio, at.log))
            self._radio_written = at.log

    def action(self, posted: Posted, at: LogTime) -> None:
        """Write an action applied to the run."""
        action = ActionRecord(**posted.to_tree())
        self.writer.write(channels.ACTIONS, at, states.encode_action(action))
        if isinstance(posted.action, FrameAction):
            self.writer.write(channels.FRAMES, at, foxglove.named_frame(posted.action, at.log))

    def event(self, event: Event, at: LogTime) -> None:
        """Write an event."""
        message = EventRecord(**asdict(event))
        self.writer.write(channels.EVENTS, at, states.encode_event(message))
        self.writer.write(channels.LOG, at, foxglove.log_line(event, at.log))

    def digest(self, state: states.StateHash, at: LogTime) -> None:
        """Write the hash of the complete state at a tick."""
        self.writer.write(channels.HASHES, at, states.encode_state_hash(state))

    def _roster(self, layout: Layout, at: LogTime) -> None:
        names = states.FleetMessage._fields
        fleets = tuple(states.FleetMessage(*(getattr(fleet, name) for name in names)) for fleet in layout.fleets)
        roster = states.encode_roster(states.RosterMessage(layout.roster, fleets))
        self.writer.write(channels.ROSTER, at, roster)
        self._layout, self._next_view = layout, 0
        if foxglove.all_drawn(layout):
            self.writer.write(channels.SCENE, at, foxglove.scene(layout, at.log))

    def _view(self, snapshot: Snapshot, sensed: tuple[SensedArray, ...], at: LogTime) -> None:
        self._next_view = max(self._next_view + VIEW_EVERY, at.log + VIEW_EVERY // 2)
        self.writer.write(channels.POSITIONS, at, foxglove.point_cloud(snapshot, at.log))
        frames = foxglove.vehicle_frames(snapshot, ((array.fleet, array.row) for array in sensed), at.log)
        if frames.transforms:
            self.writer.write(channels.FRAMES, at, frames)


class MarkerWriter:
    """Writes marker changes for replay and for viewers."""

    def __init__(self, writer: McapWriter) -> None:
        self.writer = writer
        self._hidden: set[str] = set()

    def write(self, change: MarkerChange, at: LogTime) -> None:
        """Write one change."""
        for command in _commands(change):
            self.writer.write(channels.MARKERS, at, wire.encode_marker_command(command))
        self.writer.write(channels.MARKER_SCENE, at, self._scene(change, at.log))

    def _scene(self, change: MarkerChange, log_time: int) -> SceneUpdate:
        changed = [placed.marker for placed in change.placed]
        match change.kind:
            case "put":
                return foxglove.put_markers((m for m in changed if m.namespace not in self._hidden), log_time)
            case "removed":
                return foxglove.remove_markers(changed, log_time)
            case "cleared":
                return foxglove.remove_markers(None, log_time)
        (self._hidden.discard if change.visible else self._hidden.add)(change.namespace)
        return (foxglove.put_markers if change.visible else foxglove.remove_markers)(changed, log_time)


def present_markers(board: MarkerBoard, now: float) -> list[MarkerChange]:
    """Return the changes that turn an empty board into this one at a simulation time (s)."""
    placed = []
    for alive in board.alive(now, hidden=True):
        ttl = None if alive.until == inf else max(alive.until - now, 1e-9)
        placed.append(PlacedMarker(replace(alive.marker, ttl=ttl), now, alive.until))
    changes = [MarkerChange("put", board.version, tuple(placed))] if placed else []
    for name in [name for name, visible in board.namespaces().items() if not visible]:
        members = tuple(alive for alive in placed if alive.marker.namespace == name)
        changes.append(MarkerChange("visibility", board.version, members, name, False))
    return changes


def _commands(change: MarkerChange) -> Iterator[wire.MarkerCommand]:
    """Yield a change as messages."""
    if change.kind == "put":
        yield wire.PutMarkers(tuple(_message(placed.marker) for placed in change.placed))
    elif change.kind == "cleared":
        yield wire.ClearMarkers()
    elif change.kind == "visibility":
        yield wire.ShowMarkers(change.namespace, change.visible)
    else:
        names = sorted((placed.marker.namespace, placed.marker.id) for placed in change.placed)
        for namespace, group in groupby(names, key=lambda name: name[0]):
            yield wire.DeleteMarkers(namespace, tuple(id for _, id in group))


def _message(marker: Marker) -> wire.MarkerMessage:
    return wire.MarkerMessage(**{field.name: getattr(marker, field.name) for field in fields(wire.MarkerMessage)})
