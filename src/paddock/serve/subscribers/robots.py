"""The roster the way renderers are told: one robot per vehicle, with its type and where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.serve.subscribers.change import NATIVE
from paddock.world.frames import conversion
from paddock.world.rotation import euler_from_quaternion
from paddock.world.snapshot import FleetSnapshot, Snapshot


def robots_tree(snapshot: Snapshot, frame: str) -> list[dict[str, Any]]:
    """All vehicles, in a frame's axes and units; `robot_type` is the kind of vehicle, yaw in rad."""
    return [robot for fleet in snapshot for robot in _fleet_robots(fleet, frame)]


def _fleet_robots(fleet: FleetSnapshot, frame: str) -> list[dict[str, Any]]:
    change = conversion(NATIVE, frame)
    place = np.nan_to_num(change.position(fleet.position))
    yaw = np.nan_to_num(euler_from_quaternion(change.quaternion(fleet.orientation))[2])
    rows = zip(fleet.ids.tolist(), *place.T.tolist(), yaw.tolist(), strict=True)
    return [{"id": id, "robot_type": fleet.kind, "x": x, "y": y, "z": z, "yaw": turn} for id, x, y, z, turn in rows]
