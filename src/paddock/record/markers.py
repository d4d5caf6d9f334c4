"""What a recording says about markers: the changes, for replaying, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import groupby
from math import inf

from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.engine.markers import MarkerBoard, MarkerChange, Placed
from paddock.record import channels, marker_pictures
from paddock.record.mcapwriter import McapWriter
from paddock.record.timeline import NANOSECONDS
from paddock.wire.messages import markers as wire
from paddock.world.markers import Marker


def present(board: MarkerBoard, now: float) -> list[MarkerChange]:
    """The changes that make an empty board what it is at a simulation time (s)."""
    placed = [_from_now(one, now) for one in board.alive(now, hidden=True)]
    hidden = [name for name, visible in board.namespaces().items() if not visible]
    changes = [MarkerChange("put", board.version, tuple(placed))] if placed else []
    return changes + [MarkerChange("visibility", board.version, (), name, False) for name in hidden]


def _from_now(placed: Placed, now: float) -> Placed:
    ttl = None if placed.until == inf else max(placed.until - now, 1e-9)
    return Placed(replace(placed.marker, ttl=ttl), now, placed.until)


def commands(change: MarkerChange) -> Iterator[wire.MarkerCommand]:
    """The change as messages."""
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


def _message(marker: Marker) -> wire.Marker:
    return wire.Marker(**{field.name: getattr(marker, field.name) for field in fields(wire.Marker)})


class MarkerScribe:
    """Writes changes of the board; remembers what is on it, so that what is shown again can be drawn again."""

    def __init__(self, writer: McapWriter) -> None:
        self.writer = writer
        self._board: dict[tuple[str, int], tuple[Marker, float]] = {}  # with the log time of its end, ns
        self._hidden: set[str] = set()
        self._tidy_at = 1000  # markers

    def write(self, change: MarkerChange, log_time: int, wall_time: int) -> None:
        """One change; times in ns."""
        for command in commands(change):
            self.writer.write(channels.MARKERS, log_time, wall_time, wire.encode_marker_command(command))
        picture = self._picture(change, log_time)
        self.writer.write(channels.MARKER_SCENE, log_time, wall_time, picture.SerializeToString())

    def _picture(self, change: MarkerChange, log_time: int) -> SceneUpdate:
        changed = [placed.marker for placed in change.placed]
        match change.kind:
            case "put":
                self._remember(changed, log_time)
                return marker_pictures.put((m for m in changed if m.namespace not in self._hidden), log_time)
            case "removed":
                for marker in changed:
                    self._board.pop((marker.namespace, marker.id), None)
                return marker_pictures.take_away(changed, log_time)
            case "cleared":
                self._board.clear()
                return marker_pictures.take_away(None, log_time)
        (self._hidden.discard if change.visible else self._hidden.add)(change.namespace)
        self._forget_ended(log_time)
        markers = [marker for marker, _ in self._board.values() if marker.namespace == change.namespace]
        return (marker_pictures.put if change.visible else marker_pictures.take_away)(markers, log_time)

    def _remember(self, markers: list[Marker], log_time: int) -> None:
        for marker in markers:
            end = inf if marker.ttl is None else log_time + marker.ttl * NANOSECONDS
            self._board[marker.namespace, marker.id] = (marker, end)
        if len(self._board) > self._tidy_at:
            self._forget_ended(log_time)
            self._tidy_at = 1000 + 2 * len(self._board)

    def _forget_ended(self, log_time: int) -> None:
        self._board = {name: (marker, end) for name, (marker, end) in self._board.items() if end > log_time}
