"""Vehicles put somewhere else at once, as if they had been spawned there."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.engine.actions import Place
from paddock.engine.build import FASTEST, placed_states
from paddock.engine.program import VARYING, FleetProgram
from paddock.errors import InvalidValueError, PaddockError
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.pose import FARTHEST


def checked_place(program: FleetProgram, rows: Ints, place: Place) -> Place:
    """The same in plain floats; refused where it is not one vehicle, or where a vehicle cannot start."""
    if len(rows) != 1:
        raise PaddockError(f"{place.target!r} is a fleet of {len(rows)}: place one member, e.g. {place.target}[0]")
    if program.carried:
        raise PaddockError(f"{place.target!r} is moved by its mission: it cannot be placed")
    pose, (speed,) = _floats(place.pose, 4, "a pose is x, y, z (m) and yaw (rad)"), _floats([place.speed], 1, "a speed")
    if max(map(abs, pose[:3])) > FARTHEST:
        raise InvalidValueError(f"vehicles are placed within {FARTHEST:g} m of the origin, not at {pose[:3]}")
    if abs(speed) > FASTEST:
        raise InvalidValueError(f"the speed is at most {FASTEST:g} m/s, not {speed:g}")
    return Place(place.target, pose, speed)


def put(program: FleetProgram, rows: Ints, place: Place, environment: Floats) -> None:
    """Give it the state of a vehicle that starts there; its commands, sensors and parameters stay its own."""
    fleet = program.fleet
    varied = {name: fleet.tables[VARYING][k, rows] for k, name in enumerate(program.varying)}
    fleet.state[:, rows] = placed_states(program, np.array([place.pose]), place.speed, environment, varied)
    program.forget_poses()


def _floats(values: Any, count: int, what: str) -> list[float]:
    try:
        plain = [float(value) for value in values]
    except (TypeError, ValueError):
        plain = []
    if len(plain) != count or not np.isfinite(plain).all():
        raise InvalidValueError(f"{what}, finite numbers, not {values!r}")
    return plain
