"""What the writing thread does: it turns what happened into messages. One method for each kind of thing."""

from __future__ import annotations

from paddock.engine.actions import Posted, SetFrame
from paddock.engine.events import Event
from paddock.record import channels, codec, pictures
from paddock.record.markers import MarkerScribe
from paddock.record.mcapwriter import McapWriter
from paddock.record.timeline import NANOSECONDS
from paddock.wire.messages import states
from paddock.wire.messages.recordings import RunStart, StateHash, encode_run_start, encode_state_hash
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

EXACT = 1000
"""Vehicles up to which `precision: auto` keeps float64."""
PRECISIONS = ("auto", *states.PRECISIONS)
PICTURE_EVERY = NANOSECONDS // 10
"""ns of log time between two pictures."""


class Scribe:
    """Writes messages; all times in ns."""

    def __init__(self, writer: McapWriter, precision: str) -> None:
        self.writer = writer
        self.precision = precision
        self.markers = MarkerScribe(writer)
        self.samples = 0
        self.vehicle_samples = 0
        self._layout: Layout | None = None
        self._transforms: pictures.Transforms | None = None
        self._next_picture = 0

    def begin(self, start: RunStart, log_time: int, wall_time: int) -> None:
        """The run begins, or begins anew."""
        self._layout, self._next_picture = None, 0
        self.writer.write(channels.RUN, log_time, wall_time, encode_run_start(start))

    def sample(self, snapshot: Snapshot, log_time: int, wall_time: int) -> None:
        """All vehicles at a tick."""
        if self._layout is None or snapshot.layout != self._layout:
            self._roster(snapshot.layout, log_time, wall_time)
        automatic = "double" if len(snapshot) <= EXACT else "single"
        precision = automatic if self.precision == "auto" else self.precision
        self.writer.write(channels.STATE, log_time, wall_time, codec.encode_snapshot(snapshot, precision))
        self.samples += 1
        self.vehicle_samples += len(snapshot)
        if log_time >= self._next_picture:
            self._picture(snapshot, log_time, wall_time)

    def action(self, posted: Posted, log_time: int, wall_time: int) -> None:
        """Something entered the run from outside."""
        self.writer.write(channels.ACTIONS, log_time, wall_time, codec.encode_posted(posted))
        if isinstance(posted.action, SetFrame):
            frames = pictures.named_frame(posted.action, log_time)
            self.writer.write(channels.FRAMES, log_time, wall_time, frames.SerializeToString())

    def event(self, event: Event, log_time: int, wall_time: int) -> None:
        """Something happened."""
        self.writer.write(channels.EVENTS, log_time, wall_time, codec.encode_event(event))
        self.writer.write(channels.LOG, log_time, wall_time, pictures.log_line(event, log_time).SerializeToString())

    def digest(self, state: StateHash, log_time: int, wall_time: int) -> None:
        """The complete state at a tick."""
        self.writer.write(channels.HASHES, log_time, wall_time, encode_state_hash(state))

    def _roster(self, layout: Layout, log_time: int, wall_time: int) -> None:
        self.writer.write(channels.ROSTER, log_time, wall_time, codec.encode_layout(layout))
        self._layout, self._transforms, self._next_picture = layout, None, 0
        if layout.vehicles <= pictures.DRAWN:
            self._transforms = pictures.Transforms(layout)
            self.writer.write(channels.SCENE, log_time, wall_time, pictures.scene(layout, log_time).SerializeToString())

    def _picture(self, snapshot: Snapshot, log_time: int, wall_time: int) -> None:
        self._next_picture = max(self._next_picture + PICTURE_EVERY, log_time + PICTURE_EVERY // 2)
        cloud = pictures.point_cloud(snapshot, log_time)
        self.writer.write(channels.POSITIONS, log_time, wall_time, cloud.SerializeToString())
        if self._transforms is not None:
            frames = self._transforms.at(snapshot, log_time)
            self.writer.write(channels.FRAMES, log_time, wall_time, frames.SerializeToString())
