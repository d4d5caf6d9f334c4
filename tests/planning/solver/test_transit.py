"""Paths around zones: known shortest paths, impossible cases, and general properties."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, asin, atan2, cos, degrees, hypot, inf, nan, pi, remainder, sin, sqrt

import numpy as np
import pytest
from numpy import bool_, empty
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import STRAIGHT, dubins, dubins_lengths, shortest, turns_left
from paddock.planning.geometry.path import Path, ends_at, radii
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.tangent_graph import Start, ends
from paddock.planning.geometry.zone_map import ZoneMap
from paddock.planning.geometry.zones import (
    CircleZone,
    PolygonZone,
    Walls,
    Zone,
    arc_entry,
    blocked_by,
    inside,
    known_walls,
    line_entry,
    within,
)
from paddock.world.columns import Floats

Pose = tuple[float, float, float]
Goal = tuple[float, float, float | None]
TURNED = 0.3
"""rad: scenes are turned, so that nothing lies where the search looks first."""


def _all_blocked(w: Walls, starts: Floats, goals: Floats, radius: float) -> NDArray[np.bool_]:
    out = empty((len(starts), len(goals)), bool_)
    for i in parallel_range(len(starts)):
        held = within(w, starts[i, 0], starts[i, 1]) >= 0
        for j in range(len(goals)):
            out[i, j] = held or _enters(w, starts[i], goals[j], radius)
    return out


def _enters(w: Walls, start: Floats, goal: Floats, radius: float) -> bool:
    """Return whether the shortest path between two poses enters a zone."""
    x, y, heading = start[0], start[1], start[2]
    _, word, t, p, q = shortest(x, y, heading, goal[0], goal[1], goal[2], radius)
    if word == STRAIGHT:
        length = hypot(goal[0] - x, goal[1] - y)
        return length > 0.0 and line_entry(w, x, y, (goal[0] - x) / length, (goal[1] - y) / length, length)[1] >= 0
    first, last = turns_left(word, 0), turns_left(word, 2)
    middle = 0.0 if word < 4 else -first
    if _part_enters(w, x, y, heading, radius, first, t):
        return True
    x, y, heading = _after(x, y, heading, radius, first, t)
    if _part_enters(w, x, y, heading, radius, middle, p):
        return True
    x, y, heading = _after(x, y, heading, radius, middle, p)
    return _part_enters(w, x, y, heading, radius, last, q)


def _part_enters(w: Walls, x: float, y: float, heading: float, radius: float, way: float, length: float) -> bool:
    """Return whether a left turn (`way` 1), a right turn (-1) or a straight line (0) enters a zone."""
    if length <= 0.0:
        return False
    if way == 0.0:
        return line_entry(w, x, y, cos(heading), sin(heading), length)[1] >= 0
    cx, cy = x - way * radius * sin(heading), y + way * radius * cos(heading)
    return arc_entry(w, cx, cy, radius, heading - way * 0.5 * pi, way, length / radius)[1] >= 0


def _after(x: float, y: float, heading: float, radius: float, way: float, length: float) -> tuple[float, float, float]:
    """Return the pose at the end of such a part."""
    if way == 0.0:
        return x + length * cos(heading), y + length * sin(heading), heading
    end = heading + way * length / radius
    return x + way * radius * (sin(end) - sin(heading)), y - way * radius * (cos(end) - cos(heading)), end


all_blocked = parallel_routine(_all_blocked)


def around(start: Start, goal: Goal, radius: float, zones: Sequence[Zone], clearance: float = 0.0) -> Path:
    """A path around zones."""
    return ZoneMap(zones, radius, clearance).transit(start, goal)


def box(name: str, x: float, y: float, width: float, height: float) -> PolygonZone:
    return PolygonZone(name, ((x, y), (x + width, y), (x + width, y + height), (x, y + height)))


def turned(x: float, y: float) -> tuple[float, float]:
    return x * cos(TURNED) - y * sin(TURNED), x * sin(TURNED) + y * cos(TURNED)


def check(path: Path, start: Pose, goal: Goal, radius: float, zones: tuple[Zone, ...], clearance: float = 0.0) -> None:
    """It is clear, begins and ends as it should, is continuous, and turns no tighter than it may."""
    assert blocked_by(path, zones, clearance) is None
    assert path.start[:2] == pytest.approx(start[:2], abs=1e-6)
    assert path.end[:2] == pytest.approx(goal[:2], abs=1e-6)
    for before, after in zip(path.segments, path.segments[1:], strict=False):
        x, y, _, heading = ends_at(before)
        assert hypot(x - after.x, y - after.y) < 1e-6
        assert radius == 0.0 or abs(remainder(heading - after.heading, 2.0 * pi)) < 1e-8
    if radius > 0.0:
        assert remainder(path.start[3] - start[2], 2.0 * pi) == pytest.approx(0.0, abs=1e-8)
        assert goal[2] is None or remainder(path.end[3] - goal[2], 2.0 * pi) == pytest.approx(0.0, abs=1e-8)
        assert max(abs(segment.curvature) for segment in path.segments) <= (1.0 + 1e-9) / radius


def scene(seed: int, size: float) -> tuple[tuple[Zone, ...], Pose, Pose]:
    """Eight zones, some of which overlap, and two free poses."""
    draw = np.random.default_rng(seed)
    zones: list[Zone] = []
    for k in range(8):
        x, y = draw.uniform(0.15 * size, 0.85 * size, 2).tolist()
        if k % 2:
            zones.append(CircleZone(f"round {k}", x, y, draw.uniform(40.0, 0.1 * size)))
        else:
            angle = (np.arange(5) + draw.uniform(0.0, 0.8, 5)) * 2.0 * pi / 5.0
            reach = draw.uniform(60.0, 0.15 * size, 5)
            corners = zip((x + reach * np.cos(angle)).tolist(), (y + reach * np.sin(angle)).tolist(), strict=True)
            zones.append(PolygonZone(f"corners {k}", tuple(corners)))
    free = []
    while len(free) < 2:
        x, y, heading = (draw.uniform(0.0, 1.0, 3) * (size, size, 2.0 * pi)).tolist()
        if inside(x, y, zones, clearance=60.0) is None:
            free.append((x, y, heading))
    return tuple(zones), free[0], free[1]


def test_a_free_path_is_the_dubins_path() -> None:
    zones = (CircleZone("far", 0.0, 5000.0, 100.0),)
    assert around((0.0, 0.0, 0.0), (4.0, 4.0, pi / 2.0), 1.0, zones).length == pytest.approx(5.813437, abs=1e-6)
    assert around((0.0, 0.0, 0.0), (4.0, 4.0, pi / 2.0), 1.0, ()).length == pytest.approx(5.813437, abs=1e-6)


@pytest.mark.parametrize("clearance", [0.0, 25.0])
def test_around_a_circle_it_is_two_tangents_and_an_arc(clearance: float) -> None:
    border = 200.0 + clearance
    expected = 2.0 * sqrt(1000.0**2 - border**2) + border * (pi - 2.0 * acos(border / 1000.0))
    lift = asin(border / 1000.0)
    zones = (CircleZone("round", *turned(0.0, 0.0), 200.0),)
    start, goal = (*turned(-1000.0, 0.0), TURNED + lift), (*turned(1000.0, 0.0), TURNED - lift)
    for radius in (0.0, 80.0, 200.0):  # with the headings of the tangents, the turn radius costs nothing
        path = around(start, goal, radius, zones, clearance)
        assert path.length == pytest.approx(expected, abs=1e-4)
        check(path, start, goal, radius, zones, clearance)


@pytest.mark.parametrize("radius", [100.0, 250.0])
@pytest.mark.parametrize(
    "zone",
    [
        CircleZone("small", *turned(0.0, 0.0), 60.0),
        PolygonZone("sharp", (turned(0.0, 60.0), turned(-40.0, -900.0), turned(40.0, -900.0))),
    ],
    ids=["circle", "corner"],
)
def test_a_turn_around_a_tight_obstacle_touches_it_in_the_middle(zone: Zone, radius: float) -> None:
    away = hypot(1500.0, radius - 60.0)
    lift = atan2(60.0 - radius, 1500.0) + asin(radius / away)
    expected = 2.0 * sqrt(away**2 - radius**2) + 2.0 * radius * lift
    start, goal = (*turned(-1500.0, 0.0), TURNED + lift), (*turned(1500.0, 0.0), TURNED - lift)
    path = around(start, goal, radius, (zone,))
    assert path.length == pytest.approx(expected, abs=1e-4)
    check(path, start, goal, radius, (zone,))


def test_around_a_square_it_bends_at_the_nearer_corners() -> None:
    zones = (box("square", -50.0, -90.0, 100.0, 100.0),)
    path = around((-200.0, 0.0, 0.0), (300.0, 0.0, None), 0.0, zones)
    assert path.length == pytest.approx(hypot(150.0, 10.0) + 100.0 + hypot(250.0, 10.0), abs=1e-4)
    wide = around((-200.0, 0.0, 0.0), (300.0, 0.0, None), 0.0, zones, 5.0)
    turn = asin(15.0 / hypot(150.0, 10.0))  # at most
    assert path.length < wide.length < path.length + 4.0 * 5.0 * turn + 2.0


@pytest.mark.parametrize("radius", [0.0, 20.0, 60.0])
def test_between_two_zones_there_is_a_gap(radius: float) -> None:
    zones = (box("north", -20.0, 30.0, 40.0, 900.0), box("south", -20.0, -1000.0, 40.0, 950.0))
    start, goal = (-500.0, 300.0, -0.6), (500.0, -200.0, None)
    path = around(start, goal, radius, zones)
    check(path, start, goal, radius, zones)
    taut = hypot(480.0, 270.0) + hypot(40.0, 0.0) + hypot(480.0, 230.0)
    assert path.length < taut + 10.0  # the gap, not the long way around
    middle = path.sample(1.0)
    assert np.abs(middle[np.abs(middle[:, 0]) < 20.0, 1]).max() <= 50.0


def test_zones_that_overlap_are_one() -> None:
    zones = (CircleZone("a", -60.0, 0.0, 80.0), CircleZone("b", 60.0, 0.0, 80.0), box("c", -20.0, -300.0, 40.0, 600.0))
    start, goal = (-400.0, 10.0, 0.0), (400.0, 10.0, 0.0)
    path = around(start, goal, 0.0, zones)
    assert path.length == pytest.approx(2.0 * hypot(380.0, 290.0) + 40.0, abs=1e-4)
    check(around(start, goal, 50.0, zones), start, goal, 50.0, zones)


def test_a_zone_of_many_corners_is_passed_closely() -> None:
    angle = np.arange(400) * 2.0 * pi / 400.0
    ring = PolygonZone(
        "ring", tuple(zip((200.0 * np.cos(angle)).tolist(), (200.0 * np.sin(angle)).tolist(), strict=True))
    )
    lift = asin(0.2)
    start, goal = (-1000.0, 0.0, lift), (1000.0, 0.0, -lift)
    path = around(start, goal, 80.0, (ring,))
    check(path, start, goal, 80.0, (ring,))
    assert path.length < 1.005 * around(start, goal, 80.0, (CircleZone("round", 0.0, 0.0, 200.0),)).length


def test_a_start_with_little_room_turns_twice() -> None:
    # a lane 100 m wide that is closed ahead: no half turn of 40 m from its middle, but one that first swings out
    zones = (
        box("left", -400.0, 50.0, 800.0, 20.0),
        box("right", -400.0, -50.0, 800.0, 20.0),
        box("end", 300.0, -60.0, 20.0, 130.0),
    )
    start, goal = (0.0, 10.0, 0.0), (-800.0, 0.0, None)
    path = around(start, goal, 35.0, zones)
    check(path, start, goal, 35.0, zones)
    assert path.length < 800.0 + 10.0 * 35.0


CAGE = (
    box("east", 100.0, -110.0, 10.0, 220.0),
    box("north", -110.0, 100.0, 220.0, 10.0),
    box("west", -110.0, -110.0, 10.0, 220.0),
    box("south", -110.0, -110.0, 220.0, 10.0),
)


@pytest.mark.parametrize(
    ("start", "goal", "radius", "zones", "clearance", "message"),
    [
        ((0, 0, 0), (500, 0, 0), 50, (CircleZone("a", 0, 0, 9),), 0, "the start (0, 0) lies inside the zone 'a'"),
        ((500, 0, 0), (0, 0, 0), 50, (CircleZone("a", 0, 0, 9),), 0, "the goal (0, 0) lies inside the zone 'a'"),
        (
            (500, 0, 0),
            (0, 20, 0),
            50,
            (CircleZone("a", 0, 0, 9),),
            15,
            "the goal (0, 20) lies within the clearance of 15 m of the zone 'a'",
        ),
        (
            (500, 0, 0),
            (0, 20, None),
            50,
            CAGE,
            0,
            "the goal (0, 20) is enclosed by the zones 'east', 'north', 'west' and 'south'",
        ),
        (
            (0, 20, 0),
            (500, 0, None),
            0,
            CAGE,
            0,
            "the start (0, 20) is enclosed by the zones 'east', 'north', 'west' and 'south'",
        ),
        (
            (0, 0, 0),
            (-500, 0, 0),
            50,
            (box("wall", 30, -500, 10, 1000),),
            0,
            "the zone 'wall' leaves no room for a turn of 50 m after the start (0, 0) with a heading of 0 degrees: "
            "it is 30 m ahead",
        ),
        (
            (-500, 0, 0),
            (0, 0, pi),
            50,
            (box("wall", 30, -500, 10, 1000),),
            0,
            f"the zone 'wall' leaves no room for a turn of 50 m before the goal (0, 0) with a heading of "
            f"{degrees(pi):g} degrees: it is 30 m behind",
        ),
    ],
)
def test_an_impossible_path_is_reported_with_the_reason(
    start: Pose, goal: Goal, radius: float, zones: tuple[Zone, ...], clearance: float, message: str
) -> None:
    with pytest.raises(InfeasibleError) as refused:
        around(start, goal, radius, zones, clearance)
    assert str(refused.value) == message


def test_a_lane_too_narrow_to_turn_in_is_reported() -> None:
    zones = (
        box("left", -400.0, 30.0, 800.0, 20.0),
        box("right", -400.0, -50.0, 800.0, 20.0),
        box("end", 390, -50, 20, 100),
    )
    with pytest.raises(
        InfeasibleError, match=r"leaves room for turns of 60 m; the zone '(left|right|end)' is in the way"
    ):
        around((0.0, 0.0, 0.0), (-900.0, 0.0, None), 60.0, zones)


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="the start must be numbers x, y"):
        around((nan, 0.0, 0.0), (1.0, 0.0, None), 1.0, ())
    with pytest.raises(InvalidValueError, match="a turn radius must be a number of metres >= 0, not -1"):
        ZoneMap((), -1.0)
    with pytest.raises(InvalidValueError, match="a clearance must be a number of metres >= 0, not inf"):
        ZoneMap((), 1.0, inf)


@pytest.mark.parametrize("radius", [0.0, 40.0, pytest.param(80.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("clearance", [pytest.param(0.0, marks=pytest.mark.slow), 20.0])
def test_every_path_is_clear_continuous_and_no_tighter_than_the_radius(radius: float, clearance: float) -> None:
    checked = 0
    for seed in range(20):
        zones, start, fixed = scene(seed, 1800.0)
        for goal in (fixed, (*fixed[:2], None)):
            try:
                path = ZoneMap(zones, radius, clearance).transit(start, goal)
            except InfeasibleError:
                continue
            check(path, start, goal, radius, zones, clearance)
            assert path.length >= dubins(start, goal, radius).length - 1e-6
            checked += 1
    assert checked >= 36


def test_equal_poses_have_equal_paths() -> None:
    for seed in range(5):
        zones, start, goal = scene(seed, 1500.0)
        first, again = (ZoneMap(zones, 60.0).transit(start, goal).table.tobytes() for _ in range(2))
        assert first == again


def roadmap_length(zones: tuple[Zone, ...], start: Pose, goal: Pose, radius: float, count: int, seed: int) -> float:
    """The shortest way over many random poses, near borders above all, that Dubins paths join."""
    draw = np.random.default_rng(seed)
    poses = [start, goal]
    while len(poses) < count:
        ring = zones[int(draw.integers(len(zones)))].grown(1.0 + radius * draw.random() ** 3).outline()
        k = int(draw.integers(len(ring) - 1))
        (x, y), (dx, dy) = ring[k], ring[k + 1] - ring[k]
        if inside(x, y, zones) is None:
            poses.append((x, y, atan2(dy, dx) + draw.normal(0.0, 0.5) + pi * draw.integers(2)))
    table = np.array(poses)
    lengths = np.where(all_blocked(known_walls(zones), table, table, radius), inf, dubins_lengths(table, table, radius))
    i, j = np.nonzero(np.isfinite(lengths) & ~np.eye(count, dtype=bool))
    return float(dijkstra(csr_matrix((lengths[i, j], (i, j)), shape=lengths.shape), indices=0)[1])


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in range(1, 4))])
def test_a_dense_roadmap_finds_nothing_much_shorter(seed: int) -> None:
    zones, start, goal = scene(100 + seed, 1500.0)
    length = around(start, goal, 60.0, zones).length
    assert length <= 1.01 * roadmap_length(zones, start, goal, 60.0, 300, seed)


@pytest.mark.parametrize(("heading", "radius"), [(0, 50), (None, 50), (None, 0)])
def test_whole_numbers_need_no_kernels_of_their_own(heading: int | None, radius: int) -> None:
    from numba import typeof

    exact = ends((0.0, 0.0, 0.0), (0.0, 20.0, None if heading is None else 0.0), float(radius), True)
    arguments = ends((0, 0, 0), (0, 20, heading), radius, True, (0, 0))
    assert typeof(arguments) == typeof(exact)
    assert all(np.array_equal(first, two, equal_nan=True) for first, two in zip(arguments, exact, strict=True))
    assert typeof(radii(radius, 1)) == typeof(radii([50.0], 1)) == typeof(radii(50.0, 3))
