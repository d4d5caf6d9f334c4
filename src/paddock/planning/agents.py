"""The vehicles of a scenario as the planner sees them: how fast, how tightly, how steeply, how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, tan

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.paths.segment import Pose
from paddock.planning.problem import Agent, Moves
from paddock.scenario import Scenario, VehicleEntry, load_preset, spawn_poses
from paddock.scenario.mission import Mission
from paddock.vehicles.model import find_model
from paddock.world.columns import Floats, column_index, defaults_of
from paddock.world.fleet import draw_uniforms, stream_ids

SPAWN_PURPOSE = 1  # as in the engine: both draw the same places
MARGIN = 1.25
"""Planned turns are this much wider than the tightest, so that something is left for corrections."""
LATERAL = 2.5
"""m/s2: of turns of vehicles that hover, drive fast, or are points."""
SHARE = 0.6
"""Of the top speed at which vehicles without a cruise speed travel."""


class PlacedError(InvalidValueError):
    """A mistake that says itself where it was written."""


@dataclass(frozen=True)
class Ability:
    """What a model with its parameters can do."""

    moves: Moves
    speed: float  # m/s, cruise
    fastest: float  # m/s
    tightest: float  # m, at that cruise speed
    slope: float
    reverse: bool = False


def ability(model: str, kind: str, p: Mapping[str, float], speed: float | None = None) -> Ability:
    """What vehicles of a kind can do at a speed (m/s), or at the one they like best."""
    if kind == "aircraft":
        cruise = speed or p["speed"]
        return Ability("aircraft", cruise, p["speed_max"], p["turn_radius"], p["climb_max"] / cruise)
    if kind == "rover":
        cruise = speed or SHARE * p["speed_max"]
        return Ability("ground", cruise, p["speed_max"], cruise / p["turn_rate_max"], inf, reverse=True)
    if kind == "car":
        cruise = speed or 8.0
        geometric = (p["cg_to_front"] + p["cg_to_rear"]) / tan(p["steer_max"])
        return Ability("ground", cruise, 80.0, max(geometric, cruise**2 / LATERAL), inf, reverse=True)
    if kind in ("quad", "agent"):
        cruise = speed or SHARE * p["speed_max"]
        climb = p.get("climb_max", p["speed_max"])
        return Ability("hover", cruise, p["speed_max"], cruise**2 / (LATERAL * MARGIN), climb / cruise)
    raise InvalidValueError(f"vehicles of model {model!r} cannot take part in missions: nothing is known of their kind")


def agents_of(scenario: Scenario, mission: Mission, entry: VehicleEntry) -> list[Agent]:
    """The agents of a `vehicles` entry, in its order."""
    model = find_model(entry.model)
    can = ability(entry.model, model.kind, _parameters(entry), mission.speed)
    if can.speed > can.fastest * (1.0 + 1e-9):
        raise PlacedError(
            f"{scenario.at('mission', 'speed')}: {entry.name!r} is at most {can.fastest:g} m/s fast, not {can.speed:g}"
        )
    radius = MARGIN * can.tightest if mission.turn_radius is None else mission.turn_radius
    if can.moves == "aircraft" and radius < can.tightest * (1.0 - 1e-9):
        raise PlacedError(
            f"{scenario.at('mission', 'turn_radius')}: {entry.name!r} cannot turn more tightly than "
            f"{can.tightest:g} m, not {radius:g} m"
        )
    range_ = inf if mission.range is None else mission.range - mission.reserve
    ground = scenario.world.ground_z
    home = home_pose(mission, can.moves, ground)
    height = ground if can.moves == "ground" else mission.altitude
    names = [entry.name] if entry.count == 1 else [f"{entry.name}[{k}]" for k in range(entry.count)]
    poses = _poses(scenario, entry).tolist()
    return [
        Agent(
            name=name,
            pose=(x, y, z, yaw),
            home=home,
            speed=can.speed,
            radius=radius,
            range=range_,
            slope=can.slope,
            moves=can.moves,
            reverse=can.reverse,
            height=height,
            tightest=min(can.tightest, radius),
            aloft=can.moves == "aircraft" and mission.execute == "dynamics",
        )
        for name, (x, y, z, yaw) in zip(names, poses, strict=True)
    ]


def home_pose(mission: Mission, moves: Moves, ground: float) -> Pose:
    """Where vehicles return to."""
    x, y, heading = mission.base[0], mission.base[1], mission.base[-1]
    if len(mission.base) == 4:
        return x, y, mission.base[2], heading
    return x, y, ground if moves == "ground" else mission.altitude, heading


def _parameters(entry: VehicleEntry) -> dict[str, float]:
    model = find_model(entry.model)
    values = dict(zip(column_index(model.parameters), defaults_of(model.parameters).tolist(), strict=True))
    return values | load_preset(entry.model, entry.preset) | entry.parameters


def _poses(scenario: Scenario, entry: VehicleEntry) -> Floats:
    streams = stream_ids(entry.name, np.arange(entry.count))
    return spawn_poses(
        entry, lambda _, columns: draw_uniforms(scenario.seed, streams, SPAWN_PURPOSE, columns), scenario.world.ground_z
    )
