"""The camera trigger: single pictures, by distance (CAM_TRIGG_DIST) and by interval.

There are no images: each trigger is a notice for ground stations (CAMERA_FEEDBACK, CAMERA_IMAGE_CAPTURED) with the
estimated place and attitude, and an event of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import dist, isnan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.ack import denied, require
from paddock.sitl.autopilot.estimate import Point
from paddock.sitl.autopilot.telemetry import PictureTaken

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

MAX_DISTANCE = 1000.0  # m, the maximum of CAM_TRIGG_DIST
MAX_INTERVAL = 3600.0  # s
EARLIEST = -(10**9)  # us: before the first picture


@dataclass
class Camera:
    """The trigger of one vehicle's camera."""

    autopilot: BuiltInAutopilot
    taken: int = 0  # pictures since boot
    distance: float = 0.0  # m between pictures; 0: off
    least_us: int = 0  # between two pictures by distance (CAM_MIN_INTERVAL)
    place: Point | None = None  # where the distance is measured from
    taken_us: int = EARLIEST  # time of the last picture
    interval_us: int = 0  # between pictures by interval; 0: off
    left: int = 0  # pictures by interval still to take; -1: no limit
    next_us: int = 0

    def read_parameters(self) -> None:
        """Use CAM_TRIGG_DIST; a new distance counts from the vehicle's position."""
        value = self.autopilot.parameters.value
        self.least_us = round(value("CAM_MIN_INTERVAL") * 1e3)
        if value("CAM_TRIGG_DIST") != self.distance:
            self.distance, self.place = value("CAM_TRIGG_DIST"), None

    def update(self) -> None:
        """Take a picture if one is due; by distance only with a valid position."""
        now, estimate = self.autopilot.now_us, self.autopilot.estimate
        if self.left and now >= self.next_us:
            self.next_us += self.interval_us
            self.left -= self.left > 0
            self.trigger()
        if self.distance > 0.0 and estimate.position_ok:
            here = estimate.north, estimate.east
            if self.place is None:
                self.place = here
            elif dist(self.place, here) >= self.distance and now - self.taken_us >= self.least_us:
                self.trigger()

    def trigger(self) -> None:
        """Take a picture."""
        autopilot, estimate = self.autopilot, self.autopilot.estimate
        self.taken += 1
        self.taken_us, self.place = autopilot.now_us, (estimate.north, estimate.east)
        telemetry = autopilot.telemetry
        picture = PictureTaken(
            autopilot.now_us,
            self.taken,
            telemetry.place,
            telemetry.relative_altitude,
            (estimate.roll, estimate.pitch, estimate.yaw),
            (estimate.qw, estimate.qx, estimate.qy, estimate.qz),
        )
        autopilot.outbox.append(picture)
        if autopilot.log is not None:
            autopilot.log.picture(picture)
        latitude, longitude, _ = picture.place
        where = "no position" if isnan(latitude) else f"{latitude:.7f}, {longitude:.7f}, {picture.height:.1f} m"
        autopilot.report_event("picture", f"{self.taken} at {where}")


def control_camera(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_DIGICAM_CONTROL: p5 1 takes a picture; zoom, focus and sessions are not simulated."""
    require(p[4] >= 1.0, denied("Camera: only shooting (p5 = 1) is supported, not zoom or focus"))
    autopilot.camera.trigger()


def set_distance(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_CAM_TRIGG_DIST: p1 m between pictures, 0 off; p3 1 also takes one now."""
    require(0.0 <= p[0] <= MAX_DISTANCE, denied(f"Camera: distance {p[0]:g} m is not in 0 to {MAX_DISTANCE:g}"))
    autopilot.parameters.show("CAM_TRIGG_DIST", p[0])
    if p[2] == 1.0:
        autopilot.camera.trigger()


def start_capture(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """IMAGE_START_CAPTURE: p2 s between pictures, p3 their number, 0 without limit."""
    count, interval = (0.0 if isnan(value) else value for value in (p[2], p[1]))
    require(count >= 0.0, denied(f"Camera: {count:g} pictures"))
    several = count != 1.0
    require(not several or 0.0 < interval <= MAX_INTERVAL, denied(f"Camera: interval {interval:g} s is invalid"))
    camera = autopilot.camera
    camera.left = int(count) if count else -1
    camera.interval_us, camera.next_us = max(round(interval * 1e6), 1), autopilot.now_us
    camera.update()


def stop_capture(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """IMAGE_STOP_CAPTURE: no more pictures by interval."""
    autopilot.camera.left = 0
