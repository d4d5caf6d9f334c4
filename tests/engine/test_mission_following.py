"""Vehicles of a mission follow planned paths: cross-track errors against the analytic path."""

from __future__ import annotations

from itertools import pairwise
from math import hypot, pi
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.mission.following import FAR, FleetTracks, FollowingOptions, FollowingStyle, rows_of
from paddock.planning.geometry.dubins import dubins
from paddock.planning.geometry.path import Path, Segment, nearest_on, point_along, point_on, tangent_on
from paddock.planning.geometry.wind import dubins_in_wind
from paddock.world.columns import Floats

TOUR = [(0, 0, 0), (400, 200, pi / 2), (300, 600, pi), (0, 300, 0), (200, 300, 0), (200, -200, -pi / 2), (0, 0, pi)]


def tour(radius: float, z: float, scale: float = 1.0, wind: Any = (0.0, 0.0), speed: float = 17.5) -> Path:
    """A path of many bends, both ways round, that crosses itself."""
    poses = [(scale * x, scale * y, heading) for x, y, heading in TOUR]
    legs = [
        dubins_in_wind(a, b, radius, speed, wind) if any(wind) else dubins(a, b, radius) for a, b in pairwise(poses)
    ]
    return Path([segment._replace(z=z) for leg in legs for segment in leg.segments])


def followed(
    entry: dict[str, Any], path: Path, speed: float, rate: float, every: int, seconds: float, wind: Any = (0, 0)
) -> tuple[Floats, FleetTracks]:
    """Positions (n, 3) of a vehicle at all its decisions while it follows a path."""
    sections = {"clock": {"rate": rate}, "every": {"behaviour": every}, "world": {"wind": [*wind, 0]}}
    sim = paddock.load({**sections, "vehicles": [{"name": "one", **entry}]})
    program = sim.engine.programs["one"]
    tracks = FleetTracks(program, sim.engine.world.environment)
    loop = Path((Segment(*path.end, 2 * pi * 100, 0.01),)) if tracks.style.moves == "aircraft" else Path(())
    tracks.follow(0, 0, path, loop, path.end, speed)
    tracks.assemble(np.array([0]), np.array([0]))
    places = []
    for _ in range(int(seconds * rate / every)):
        sim.step(every)
        places.append(program.pose_block(sim.tick)[:3, 0].copy())
    return np.array(places), tracks


def beside(places: Floats, path: Path) -> Floats:
    """Distances (m) from a path, by sampling it finely: nothing of the rule is used."""
    points = path.points(0.5)[:, :2]
    gaps = [np.hypot(*(points - position[:2]).T).min() for position in places[::5]]
    return np.array(gaps)


@pytest.mark.parametrize(("preset", "radius"), [("survey", 100.0), ("mapper", 80.0)])
@pytest.mark.parametrize("wind", [(0.0, 0.0), (3.0, 4.0)])
def test_an_aircraft_stays_on_its_path(preset: str, radius: float, wind: tuple[float, float]) -> None:
    """Turns of 1.25 x its tightest: within 5 m in calm air and 10 m in 5 m/s of wind, and on time."""
    path = tour(radius, 100.0, wind=wind)
    entry = {"model": "fixed_wing", "preset": preset, "pose": [0, 0, 100, 0], "speed": 17.5}
    places, tracks = followed(entry, path, 17.5, 50, 2, path.flown / 17.5, wind)
    assert beside(places, path).max() < (10.0 if any(wind) else 5.0)
    assert np.abs(places[:, 2] - 100.0).max() < 0.5
    along, travelled = (tracks.memory[k, 0] for k in (6, 10))
    assert along == pytest.approx(path.flown, rel=0.002)
    assert travelled == pytest.approx(path.flown, rel=0.002)


def test_a_quad_stays_on_its_path() -> None:
    """Within 1.5 m at 8 m/s, and it stops at the end."""
    path = tour(25.6, 20.0, 0.25)
    places, tracks = followed({"model": "quad", "pose": [0, 0, 20, 0]}, path, 8.0, 240, 12, path.flown / 8.0 + 4.0)
    assert beside(places, path).max() < 1.5
    assert hypot(*(places[-1, :2] - np.array(path.end[:2]))) < 0.5
    assert tracks.memory[6, 0] == pytest.approx(path.flown, abs=1e-6)


def test_a_quad_slows_down_for_corners() -> None:
    """A square without any bend is flown within 1.5 m of its sides."""
    corners = [(0, 0), (50, 0), (50, 50), (0, 50)]
    path = Path([Segment(x, y, 20.0, k * pi / 2, 50.0) for k, (x, y) in enumerate(corners)])
    places, _ = followed({"model": "quad", "pose": [0, 0, 20, 0]}, path, 8.0, 240, 12, 40.0)
    assert beside(places, path).max() < 1.5
    assert hypot(*(places[-1, :2] - np.array(path.end[:2]))) < 0.5


def test_a_rover_follows_forwards_and_backwards() -> None:
    """Ahead, back into a bend, ahead again: within 0.3 m, and it ends with the heading of the path."""
    first = Segment(0, 0, 0, 0, 5.0)
    second = Segment(*point_along(first, 5.0), 3.0, 1 / 1.5, gear=-1.0)
    third = Segment(*point_along(second, 3.0), 6.0, -1 / 1.5)
    path = Path([first, second, third])
    places, tracks = followed({"model": "rover", "preset": "outdoor", "pose": [0, 0, 0]}, path, 1.2, 50, 2, 30.0)
    assert beside(places, path).max() < 0.3
    assert hypot(*(places[-1, :2] - np.array(path.end[:2]))) < 0.2
    yaw = tracks.program.fleet.state[3, 0]
    assert abs(np.angle(np.exp(1j * (yaw - path.end[3])))) < 0.2


def test_a_vehicle_waits_where_its_route_says() -> None:
    """It stands at `stop_at` until that is raised."""
    path = Path([Segment(0, 0, 20, 0, 100.0)])
    sim = paddock.load({"clock": {"rate": 50}, "vehicles": [{"name": "one", "model": "point", "pose": [0, 0, 20, 0]}]})
    tracks = FleetTracks(sim.engine.programs["one"], sim.engine.world.environment)
    tracks.follow(0, 0, path, Path(()), path.end, 5.0)
    tracks.assemble(np.array([0]), np.array([0]))
    row = np.array([0])
    tracks.write("stop_at", row, 40.0)
    sim.step(50 * 20)
    assert sim.snapshot()["one"].position[0] == pytest.approx(40.0, abs=0.3)
    assert tracks.column("along", row)[0] == 40.0
    tracks.write("stop_at", row, FAR)
    sim.step(50 * 20)
    assert sim.snapshot()["one"].position[0] == pytest.approx(100.0, abs=0.3)


@pytest.mark.parametrize(
    "segment",
    [
        Segment(3.0, -2.0, 5.0, 0.4, 60.0, 0.0, 0.1),
        Segment(3.0, -2.0, 5.0, 0.4, 60.0, 0.02),
        Segment(3.0, -2.0, 5.0, 0.4, 60.0, -0.03, gear=-1.0),
        Segment(3.0, -2.0, 5.0, 2.4, 60.0, 0.02, drift_x=0.2, drift_y=-0.1),
    ],
)
def test_places_tangents_and_nearest_points(segment: Segment) -> None:
    """The same points as the planner's, tangents as difference quotients, and a foot that is at a right angle."""
    rows = rows_of(Path([segment]), Path(()), FollowingStyle("hover", FollowingOptions()))
    for s in (0.0, 17.0, 44.0):
        assert point_on(rows, 0, s) == pytest.approx(point_along(segment, s)[:3], abs=1e-9)
        tx, ty, bend = tangent_on(rows, 0, s)
        before, after = np.array(point_on(rows, 0, s - 1e-5)), np.array(point_on(rows, 0, s + 1e-5))
        assert (after - before)[:2] / 2e-5 == pytest.approx((tx, ty), abs=1e-6)
        turned = [np.arctan2(*tangent_on(rows, 0, s + step)[1::-1]) for step in (-1e-4, 1e-4)]
        assert (turned[1] - turned[0]) / 2e-4 == pytest.approx(bend, abs=1e-6)
        x, y, _ = point_on(rows, 0, s)
        size = hypot(tx, ty)
        nearest = nearest_on(rows, 0, s - 1.0, x - 5.0 * ty / size, y + 5.0 * tx / size)
        assert nearest == pytest.approx(s, abs=1e-6)
