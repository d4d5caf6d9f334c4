"""How each kind of vehicle follows a path: what the rule is told about it, and the speeds that bends allow."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from paddock.engine.mission.following import Options
from paddock.engine.program import FleetProgram
from paddock.world.columns import Floats, column_index
from paddock.world.pose import Environment

CORNER = 0.1
"""rad: a smaller change of course between two segments is none that one slows down for."""


@dataclass(frozen=True)
class FollowingStyle:
    """Of a fleet."""

    moves: str  # aircraft, hover or ground
    options: Options
    lateral: float = inf  # m/s2 across at most, in bends
    turn: float = inf  # rad/s at most
    crawl: float = inf  # m/s at which corners are passed, and places where the gear changes

    @property
    def values(self) -> Floats:
        """The options as an array."""
        return np.array(self.options, dtype=np.float64)

    def limit(self, curvature: float) -> float:
        """The speed (m/s) that a bend (1/m) allows."""
        bend = abs(curvature)
        return inf if bend < 1e-9 else min(sqrt(self.lateral / bend), self.turn / bend)


def style_of(program: FleetProgram, environment: Floats) -> FollowingStyle:
    """How a fleet follows paths in this wind."""
    rows = column_index(program.model.parameters)
    p = {name: float(program.parameter_values[row]) for name, row in rows.items()}
    e = Environment(*environment.tolist())
    air = {"wind_x": e.wind_x, "wind_y": e.wind_y, "ground": e.ground_z}
    kind = program.model.kind
    if kind == "aircraft":
        told = Options(preview=p["roll_time"], lookahead_time=3.5, capture=p["turn_radius"], **air)
        return FollowingStyle("aircraft", told)
    if kind in ("quad", "agent"):
        told = Options(
            hovers=1.0,
            gain=1.2,
            height_gain=1.2,
            preview=0.15 if kind == "quad" else 0.0,
            brake=2.5,
            capture=10.0,
            arrived=0.25,
            **air,
        )
        return FollowingStyle("hover", told, lateral=4.0, crawl=2.0)
    if kind == "rover":
        lag = 0.3 * min(1.0, p["turn_rate_max"] / p["turn_acceleration_max"])
        told = Options(
            lookahead=0.4,
            lookahead_time=0.5,
            preview=lag,
            brake=0.4 * p["acceleration_max"],
            align=1.0,
            capture=3.0,
            arrived=0.05,
        )
        return FollowingStyle("ground", told, turn=0.9 * p["turn_rate_max"], crawl=min(0.1, 0.2 * p["speed_max"]))
    told = Options(lookahead=4.0, lookahead_time=0.8, preview=0.1, brake=1.5, capture=10.0, arrived=0.2)
    return FollowingStyle("ground", told, lateral=4.0, crawl=0.5)
