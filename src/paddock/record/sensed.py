"""Arrays of sensors in Foxglove's schemas: scans of lidars, and detected cones as bodies."""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np
from foxglove_schemas_protobuf.LaserScan_pb2 import LaserScan
from foxglove_schemas_protobuf.PackedElementField_pb2 import PackedElementField
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.SceneEntityDeletion_pb2 import SceneEntityDeletion
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.engine.program import FleetProgram
from paddock.record.foxglove import draw_cone
from paddock.sensing.rays import Beams, beams_of
from paddock.sensing.sensor import ArraySensor
from paddock.track.track import CONE_COLOURS
from paddock.world.frames import quaternion_from_matrix
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

SENSED = 20  # vehicles up to which each sensor with arrays has a channel
POINT = [
    PackedElementField(name=name, offset=4 * k, type=PackedElementField.FLOAT32)
    for k, name in enumerate(("x", "y", "z"))
]


class SensedArray(NamedTuple):
    """An array that viewers show."""

    fleet: int
    row: int
    vehicle: str
    sensor: str  # its name on the vehicle: `lidar_2`
    reading: str  # `ranges` or `detections`
    options: Any

    @property
    def topic(self) -> str:
        """The topic of its channel."""
        return f"/sensors/{self.vehicle}/{self.sensor}"

    @property
    def schema(self) -> Any:
        """The class of its messages."""
        if self.reading == "detections":
            return SceneUpdate
        return LaserScan if self.options.rings == 1 else PointCloud


def array_load(layout: Layout, programs: Mapping[str, FleetProgram], rate: float) -> float:
    """Return how many bytes per simulated s the arrays of a layout add to a recording of `rate` samples per s, at most.

    Equal samples compress to almost nothing, measured ranges hardly: a reading counts once, with viewers twice.
    """
    shown = {(sensed.fleet, sensed.sensor, sensed.reading) for sensed in sensed_arrays(layout, programs)}
    total = 0.0
    for k, fleet in enumerate(layout.fleets):
        for array in fleet.arrays:
            sensor, _, reading = array.name.partition(".")
            sensed = programs[fleet.name].sensors.get(sensor)
            options = None if sensed is None else sensed.sensor.options(*sensed.options.tolist())
            own = float(getattr(options, "rate", rate))
            size = prod(array.shape) * np.dtype(array.dtype).itemsize
            viewed = min(fleet.n, SENSED) if (k, sensor, reading) in shown else 0
            total += size * (fleet.n + viewed) * min(own, rate)
    return total


def sensed_arrays(layout: Layout, programs: Mapping[str, FleetProgram]) -> tuple[SensedArray, ...]:
    """Return the arrays of the first vehicles of a layout that viewers show."""
    arrays: list[SensedArray] = []
    vehicles: set[str] = set()
    for k, fleet in enumerate(layout.fleets):
        shown = [array.name.partition(".")[::2] for array in fleet.arrays]
        for row in range(min(fleet.n, SENSED) if shown else 0):
            name = fleet.vehicle_name(row)
            if len(vehicles) == SENSED:
                return tuple(arrays)
            vehicles.add(name)
            for sensor, reading in shown:
                suite = programs[fleet.name].sensors.get(sensor)
                if suite is None:  # an array of the radio
                    continue
                kind = suite.sensor.name
                if isinstance(suite.sensor, ArraySensor) and (kind, reading) in SHOWN:
                    options = suite.sensor.options(*suite.options.tolist())
                    arrays.append(SensedArray(k, row, name, sensor, reading, options))
    return tuple(arrays)


SHOWN = {("lidar", "ranges"), ("lidar_3d", "ranges"), ("cones", "detections")}


def message_of(array: SensedArray, values: Any, time: int) -> Any:
    """Return a reading as a message; `time` of the sample in ns."""
    if array.reading == "detections":
        return cone_scene(array, values, time)
    beams = beams_of(array.options)
    return laser_scan(array, beams, values, time) if array.options.rings == 1 else cloud(array, beams, values, time)


def _placed(message: Any, array: SensedArray, beams: Beams, time: int) -> None:
    message.timestamp.FromNanoseconds(time)
    message.frame_id = array.vehicle
    position, turn = message.pose.position, message.pose.orientation
    position.x, position.y, position.z = beams.mount[:3].tolist()
    turn.x, turn.y, turn.z, turn.w = quaternion_from_matrix(beams.mount[3:].reshape(3, 3)).tolist()


def laser_scan(array: SensedArray, beams: Beams, ranges: Any, time: int) -> LaserScan:
    """Return a scan in a plane, in the frame of its vehicle."""
    scan = LaserScan(start_angle=beams.first, end_angle=beams.first + beams.step * (ranges.size - 1))
    _placed(scan, array, beams, time)
    scan.ranges.extend(ranges.astype(np.float64).tolist())
    return scan


def cloud(array: SensedArray, beams: Beams, ranges: Any, time: int) -> PointCloud:
    """Return the returns of a scan with rings as points, in the frame of its vehicle."""
    points = PointCloud(point_stride=12)
    _placed(points, array, beams, time)
    points.fields.extend(POINT)
    (cosine, sine), (flat, rise) = beams.directions, beams.rises
    units = np.stack(
        [flat[:, None] * cosine, flat[:, None] * sine, np.broadcast_to(rise[:, None], ranges.shape)], axis=-1
    )
    hit = np.isfinite(ranges)
    points.data = (units[hit] * ranges[hit][:, None]).astype("<f4").tobytes()
    return points


def cone_scene(array: SensedArray, detections: Any, time: int) -> SceneUpdate:
    """Return the detected cones of a frame as bodies, in the frame of their vehicle, in place of those before."""
    update = SceneUpdate()
    update.deletions.add(type=SceneEntityDeletion.ALL).timestamp.FromNanoseconds(time)
    entity = update.entities.add(frame_id=array.vehicle, id=f"{array.vehicle}/{array.sensor}")
    entity.timestamp.FromNanoseconds(time)
    for x, y, colour, confidence, *_ in detections[np.isfinite(detections[:, 0])].tolist():
        draw_cone(entity, CONE_COLOURS[int(colour)], x, y, alpha=0.4 + 0.6 * confidence)
    return update


class SensedWriter:
    """Writes each new reading of the shown arrays once."""

    def __init__(self, writer: Any, rate: float) -> None:
        """`writer` writes messages; `rate` in ticks per simulated s."""
        self._writer, self._rate = writer, rate
        self._written: dict[str, float] = {}  # topic -> tick of the last sample

    def begin(self) -> None:
        """Write the readings of a new run from its first sample on."""
        self._written.clear()

    def write(self, snapshot: Snapshot, arrays: tuple[SensedArray, ...], log_time: int, wall_time: int) -> None:
        """Write the readings that are new; times in ns."""
        layout, buffer = snapshot.layout, snapshot.buffer
        for array in arrays:
            fleet = layout.fleets[array.fleet]
            block = layout.block(buffer, array.fleet)
            tick = block[fleet.column(f"{array.sensor}.sample_tick"), array.row]
            if tick < 0 or self._written.get(array.topic) == tick:
                continue
            self._written[array.topic] = tick
            values = layout.arrays(buffer, array.fleet)[f"{array.sensor}.{array.reading}"][array.row]
            time = log_time - round((snapshot.tick - tick) * 1e9 / self._rate)
            data = message_of(array, values, time).SerializeToString()
            self._writer.write_more(array.topic, array.schema, log_time, wall_time, data)
