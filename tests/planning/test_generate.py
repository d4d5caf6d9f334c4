"""Generated missions: bounds, shares, zones that leave room, and the same bytes for the same seed."""

from math import cos, hypot, pi, sin
from typing import Any

import numpy as np
import pytest
from scipy import stats

from paddock.errors import PaddockError
from paddock.planning.random_missions import drawn_tasks, generate
from paddock.scenario import load_scenario
from paddock.scenario.mission import Generate
from paddock.scenario.tasks import TaskEntry

RADIUS = 80.0
MANY = drawn_tasks(11, Generate(tasks=4000), RADIUS)


def of(kind: str) -> list[Any]:
    return [task.shape for task in MANY if task.kind == kind]


def test_the_defaults_are_those_of_the_reference() -> None:
    scenario = generate(1)
    mission = scenario.mission
    assert mission is not None
    assert (mission.base, mission.speed, mission.turn_radius, mission.range) == ((0.0, 0.0, 0.0), 17.5, 80.0, 20000.0)
    assert len(mission.tasks) == 20 and mission.zones == () and mission.generate is None
    (uav,) = scenario.vehicles
    assert (uav.name, uav.count, uav.model) == ("uav", 4, "fixed_wing")
    assert [task.name for task in mission.tasks] == [f"task_{k}" for k in range(20)]


def test_shares_of_kinds_and_headings() -> None:
    counts = [len(of(kind)) for kind in ("point", "line", "circle", "area")]
    assert stats.chisquare(counts, np.array([0.6, 0.2, 0.1, 0.1]) * 4000).pvalue > 1e-3
    headed = sum(point.heading is not None for point in of("point"))
    assert stats.binomtest(headed, counts[0], 0.3).pvalue > 1e-3


def test_positions_are_uniform_around_the_base() -> None:
    at = np.array([task.shape.at for task in MANY])  # type: ignore[union-attr]
    assert np.abs(at).max() <= 1250.0
    for column in at.T:
        assert stats.kstest(column, stats.uniform(-1250, 2500).cdf).pvalue > 1e-3
    headings = [shape.heading for kind in ("line", "circle", "area") for shape in of(kind)]
    assert stats.kstest(headings, stats.uniform(-pi, 2 * pi).cdf).pvalue > 1e-3
    moved = drawn_tasks(11, Generate(tasks=50), RADIUS, base=(1000.0, -500.0, 2.0))
    for first, other in zip(MANY, moved, strict=False):
        assert np.subtract(other.shape.at, first.shape.at) == pytest.approx((1000.0, -500.0), abs=1e-3)  # type: ignore[union-attr]


def test_sizes() -> None:
    ranges = [
        ([line.length for line in of("line")], 50, 200),
        ([circle.radius for circle in of("circle")], RADIUS, 5 * RADIUS),
        ([area.length for area in of("area")], 150, 1000),
        ([area.spacing for area in of("area")], 2 * RADIUS, 4 * RADIUS),
    ]
    for values, low, high in ranges:
        assert low <= min(values) and max(values) <= high
        assert stats.kstest(values, stats.uniform(low, high - low).cdf).pvalue > 1e-3
    passes = np.bincount([area.passes for area in of("area")])
    assert list(passes[:2]) == [0, 0] and len(passes) == 6
    assert stats.chisquare(passes[2:]).pvalue > 1e-3
    assert stats.binomtest(sum(area.side == "left" for area in of("area")), len(of("area"))).pvalue > 1e-3


def test_a_task_does_not_depend_on_how_many_are_drawn() -> None:
    assert drawn_tasks(11, Generate(tasks=7), RADIUS) == MANY[:7]
    assert drawn_tasks(12, Generate(tasks=7), RADIUS) != MANY[:7]
    assert drawn_tasks(11, Generate(tasks=0), RADIUS) == ()


def test_names_continue_after_existing_ones() -> None:
    tasks = drawn_tasks(1, Generate(tasks=3), RADIUS, names=("gate", "task_3"))
    assert [task.name for task in tasks] == ["task_2", "task_3_", "task_4"]


def test_no_turn_is_tighter_than_the_radius() -> None:
    for radius in (80.0004, 33.3333333, 0.0):
        for task in drawn_tasks(3, Generate(tasks=300), radius):
            if task.circle:
                assert task.circle.radius >= radius
            if task.area:
                assert task.area.spacing / 2 >= radius
    with pytest.raises(PaddockError, match="a turn radius is a number of metres >= 0, not inf"):
        drawn_tasks(3, Generate(), float("inf"))


def test_same_seed_same_scenario() -> None:
    first, two = generate(5, zones=3), generate(5, zones=3)
    assert first == two and first.to_yaml() == two.to_yaml()
    assert load_scenario(first.to_yaml()) == first
    assert generate(6) != generate(5)


def inside(task: TaskEntry, spacing: float = 5.0) -> list[tuple[float, float]]:
    """Points along a task, worked out pass by pass."""
    shape: Any = task.shape
    (x, y), heading = shape.at, shape.heading or 0.0
    side = -1 if "right" in (getattr(shape, "turn", ""), getattr(shape, "side", "")) else 1
    if task.kind == "point":
        return [(x, y)]
    if task.kind == "circle":
        cx, cy = x - side * shape.radius * sin(heading), y + side * shape.radius * cos(heading)
        return [(cx + shape.radius * cos(a), cy + shape.radius * sin(a)) for a in np.arange(0, 2 * pi, 0.01)]
    rows = range(shape.passes) if task.kind == "area" else range(1)
    along = np.arange(0, shape.length, spacing)
    offsets = [side * row * getattr(shape, "spacing", 0) for row in rows]
    return [(x + a * cos(heading) - o * sin(heading), y + a * sin(heading) + o * cos(heading))
            for o in offsets for a in along]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_zones_keep_clear_of_everything(seed: int) -> None:
    mission = generate(seed, tasks=12, zones=4).mission
    assert mission is not None and len(mission.zones) == 4
    circles = [zone.circle for zone in mission.zones if zone.circle]
    for zone in circles:
        assert 80 <= zone.radius <= 240
        for point in [(0.0, y) for y in range(-90, 91, 10)] + [p for task in mission.tasks for p in inside(task)]:
            assert hypot(point[0] - zone.at[0], point[1] - zone.at[1]) > zone.radius + 140
    for k, zone in enumerate(circles):
        for other in circles[:k]:
            assert hypot(zone.at[0] - other.at[0], zone.at[1] - other.at[1]) > zone.radius + other.radius + 159


def test_fleets_of_any_size_and_bad_input() -> None:
    assert generate(1, uavs=0).vehicles == ()
    (uav,) = generate(1, uavs=1).vehicles
    assert uav.spawn is not None and uav.spawn.line is not None and uav.spawn.line.start == (0.0, 0.0, 100.0)
    (many,) = generate(1, uavs=100, tasks=3).vehicles
    assert many.count == 100 and many.spawn is not None and many.spawn.grid is not None
    assert generate(1, range=None, method="greedy", objective="makespan").mission.range is None  # type: ignore[union-attr]
    with pytest.raises(PaddockError, match=r"there is room for \d+ of 30 zones beside the tasks"):
        generate(1, zones=30)
    for fields in ({"uavs": -1}, {"tasks": -1}, {"radius": float("nan")}, {"zones": -1}, {"mix": {"hill": 1}},
                   {"headings": 2}, {"seed": -1}, {"area": (0, 5)}):  # fmt: skip
        with pytest.raises(PaddockError):
            generate(**{"seed": 1, **fields})
