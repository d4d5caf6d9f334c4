"""Obstacles: against knife edges and Deygout's construction by hand, and without jumps where a line moves."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddock.compute.routine import routine
from paddock.radio.physics.obstacles import MATERIALS, Buildings, buildings_of, line_of, round_part
from paddock.radio.physics.obstruction import obstruction_db
from paddock.radio.physics.propagation import TerrainTables, relief_peaks, terrain_db
from paddock.scenario.scenery import Obstacle
from paddock.world.ground import RELIEF_RATE, RELIEF_X, RELIEF_Y
from paddock.world.solids import obstacles_of

FREQUENCY = 2.4e9
WAVELENGTH = 299_792_458.0 / FREQUENCY
FLAT = TerrainTables(0.0, np.zeros((1, 9)), np.zeros((1, 1)), np.zeros((1, 1)))
obstructed, over_ground = routine(obstruction_db), routine(terrain_db)


def box(material: str = "concrete", **more: Any) -> Obstacle:
    return Obstacle.model_validate({"material": material, **more})


def house(x: float, y: float, *size: float, material: str = "concrete", heading: float = 0.0) -> Obstacle:
    return box(material, box={"center": [x, y], "size": size, "heading": heading})


def built(*entries: Obstacle) -> Buildings:
    return buildings_of(obstacles_of(entries, lambda x, y: np.zeros_like(x)))


def through(buildings: Buildings, a: Any, b: Any) -> float:
    ends = tuple(map(float, a)), tuple(map(float, b))
    arguments: Any = (*ends, FREQUENCY, buildings, FLAT, False, False, 0.0)
    loss = obstructed(*arguments)
    assert obstruction_db(*arguments) == loss
    return loss


def j(v: float) -> float:
    """ITU-R P.526, written again."""
    return 6.9 + 20 * math.log10(math.sqrt((v - 0.1) ** 2 + 1) + v - 0.1) if v > -0.78 else 0.0


def v(height: float, near: float, far: float) -> float:
    return height * math.sqrt(2.0 / WAVELENGTH * (1.0 / near + 1.0 / far))


def test_materials_cost_their_thickness() -> None:
    wall = (0.0, 0.0, 0.4, 400.0, 50.0)
    for material, rate in (("concrete", 15.0), ("wood", 5.0), ("vegetation", 0.5), ("glass", 2.0)):
        loss = through(built(house(*wall, material=material)), (-50.0, 0.0, 2.0), (70.0, 0.0, 2.0))
        assert loss == pytest.approx(0.4 * rate)
    pane = built(house(*wall, material="glass"))
    assert through(pane, (-50.0, 0.0, 2.0), (50.0, 100.0, 2.0)) == pytest.approx(0.4 * math.sqrt(2.0) * 2.0)
    assert through(pane, (-50.0, 0.0, 60.0), (50.0, 0.0, 60.0)) == 0.0
    assert set(MATERIALS) == set(Obstacle.model_fields["material"].annotation.__args__)  # type: ignore[union-attr]


def test_signals_go_around_what_they_cannot_pass() -> None:
    tower = built(house(0.0, 0.0, 10.0, 8.0, 30.0, material="metal"))
    side = j(v(4.0, 100.0, 100.0))  # the corner at -5 m
    assert through(tower, (-105.0, 0.0, 2.0), (95.0, 0.0, 2.0)) == pytest.approx(side, abs=0.05)
    low = built(house(0.0, 0.0, 2.0, 80.0, 5.0, material="metal"))
    assert through(low, (-100.0, 0.0, 2.0), (100.0, 0.0, 2.0)) == pytest.approx(j(v(3.0, 99.0, 101.0)), abs=0.01)


def test_inside_a_building_only_the_material_counts() -> None:
    house_table = built(house(0.0, 0.0, 20.0, 20.0, 6.0, material="wood"))
    halves = built(*(house(x, 0.0, 10.0, 20.0, 6.0, material="wood") for x in (-5.0, 5.0)))
    for buildings in (house_table, halves):
        assert through(buildings, (-4.0, 0.0, 2.0), (90.0, 0.0, 2.0)) == pytest.approx(70.0)
        assert through(buildings, (-4.0, 1.0, 2.0), (4.0, 1.0, 2.0)) == pytest.approx(40.0)


def test_every_obstacle_on_the_line_counts_once() -> None:
    walls = [house(x, 0.0, 1.0, 300.0, 50.0, material="vegetation") for x in range(-200, 201, 8)]
    posts = [
        box("vegetation", cylinder={"center": [x + 4.0, 0.0], "radius": 0.5, "height": 9.0})
        for x in range(-200, 201, 8)
    ]
    for y in (0.0, 37.0, -90.0):
        loss = through(built(*walls), (-250.0, 0.0, 2.0), (250.0, y, 2.0))
        assert loss == pytest.approx(len(walls) * 0.5 * math.hypot(1.0, y / 500.0), rel=1e-9)
    assert through(built(*walls, *posts), (-250.0, 0.0, 2.0), (250.0, 0.0, 2.0)) == pytest.approx(len(walls) * 1.0)


def test_a_building_costs_the_same_in_one_piece_and_in_parts() -> None:
    """Ends at 10 m, 400 m apart, a building 30 m high and 20 m deep."""
    expected = j(v(20.0, 190.0, 210.0))
    for parts in (1, 2, 4, 10):
        deep = 20.0 / parts
        pieces = built(*(house(-10.0 + deep * (k + 0.5), 0.0, deep, 400.0, 30.0) for k in range(parts)))
        for a, b in (((-200.0, 0.0, 10.0), (200.0, 0.0, 10.0)), ((200.0, 3.0, 10.0), (-200.0, -3.0, 10.0))):
            assert through(pieces, a, b) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("middle", [[], [[0.0, 0.0]], [[0.0, -40.0], [0.0, 0.5], [0.0, 3.0]]])
def test_a_wall_has_no_gaps_at_its_joints(middle: list[list[float]]) -> None:
    points = [[0.0, -100.0], *middle, [0.0, 100.0]]
    wall = built(box(wall={"points": points, "height": 30.0, "thickness": 5.0}))
    expected = j(v(20.0, 197.5, 202.5))
    for y in (-1.0, -0.5, 0.0, 0.5, 1.0, 3.0):
        assert through(wall, (-200.0, y, 10.0), (200.0, y, 10.0)) == pytest.approx(expected, abs=0.02)
    around = through(wall, (-200.0, 98.0, 10.0), (200.0, 98.0, 10.0))  # the end of the wall is near
    assert around == pytest.approx(j(v(2.0, 197.5, 202.5)), abs=0.02)


def test_a_wall_around_a_yard_is_crossed_where_the_line_crosses_it() -> None:
    points = [[-50.0, -50.0], [50.0, -50.0], [50.0, 50.0], [-50.0, 50.0]]
    yard = built(box("metal", wall={"points": points, "closed": True, "height": 12.0, "thickness": 0.5}))
    assert through(yard, (-40.0, 0.0, 2.0), (40.0, 0.0, 2.0)) == 0.0
    out = through(yard, (0.0, 0.0, 2.0), (150.0, 0.0, 2.0))
    assert out == pytest.approx(j(v(10.0, 49.75, 100.25)), abs=0.02)
    around = j(v(50.25, 150.0, 150.0))  # beyond the side at y = 50.25, past corners at 49.75 and 150.25 m
    assert out + 10.0 < through(yard, (-100.0, 0.0, 2.0), (200.0, 0.0, 2.0)) < around + 3.0


def deygout(edges: list[tuple[float, float]], z: float, apart: float) -> float:
    """Deygout's construction for thin walls (place, height) on a level line at z, written with lists."""

    def worst(p: tuple[float, float], q: tuple[float, float]) -> tuple[float, tuple[float, float]]:
        points = [(-9.0, p)]
        for x, top in edges:
            if p[0] + 1e-6 < x < q[0] - 1e-6:
                line = p[1] + (q[1] - p[1]) * (x - p[0]) / (q[0] - p[0])
                long = math.hypot(q[0] - p[0], q[1] - p[1]) / (q[0] - p[0])
                points.append((v(top - line, (x - p[0]) * long, (q[0] - x) * long), (x, top)))
        return max(points)

    a, b = (0.0, z), (apart, z)
    main, top = worst(a, b)
    return j(main) + (1.0 - math.exp(-j(main) / 6.0)) * (j(worst(a, top)[0]) + j(worst(top, b)[0]))


def test_several_buildings_are_one_profile_of_at_most_three_edges() -> None:
    random = np.random.default_rng(5)
    for count in (2, 3, 5):
        x = np.sort(random.uniform(100.0, 900.0, count)) + np.arange(count)
        edges = list(zip(x.tolist(), random.uniform(12.0, 40.0, count).tolist(), strict=True))
        walls = built(*(house(at, 0.0, 0.01, 900.0, top, material="metal") for at, top in edges))
        rates = walls._replace(rates=np.full(count, 1e6))  # nothing goes through
        loss = through(rates, (0.0, 0.0, 10.0), (1000.0, 0.0, 10.0))
        assert loss == pytest.approx(deygout(edges, 10.0, 1000.0), abs=0.01)
        assert through(rates, (1000.0, 0.0, 10.0), (0.0, 0.0, 10.0)) == pytest.approx(loss, abs=1e-9)


def test_trees_are_passed_and_the_building_behind_them_is_not() -> None:
    building = house(200.0, 0.0, 10.0, 400.0, 30.0)
    trees = [box("vegetation", cylinder={"center": [x, 0.0], "radius": 1.0, "height": 12.0}) for x in (5.0, 20.0)]
    alone = through(built(building), (0.0, 0.0, 2.0), (400.0, 0.0, 2.0))
    assert alone == pytest.approx(j(v(28.0, 195.0, 205.0)), abs=0.01)
    assert through(built(building, *trees), (0.0, 0.0, 2.0), (400.0, 0.0, 2.0)) == pytest.approx(alone + 2.0, abs=0.01)


def test_roofs_and_sides_cost_a_knife_edge_below_and_beside_the_line_too() -> None:
    roof = built(house(0.0, 0.0, 20.0, 400.0, 30.0))
    for z in (20.0, 29.0, 29.99, 30.01, 31.0, 31.5, 33.0):
        loss = through(roof, (-200.0, 0.0, z), (200.0, 0.0, z))
        assert loss == pytest.approx(j(v(30.0 - z, 200.0, 200.0)), abs=0.02)
    side = built(house(0.0, 50.0, 20.0, 100.0, 300.0))
    for y in (5.0, 1.0, 0.01, -0.01, -1.0, -1.5, -3.0):
        loss = through(side, (-200.0, y, 10.0), (200.0, y, 10.0))
        assert loss == pytest.approx(j(v(y, 200.0, 200.0)), abs=0.02)


TOWN = (
    house(0.0, 0.0, 20.0, 60.0, 30.0),
    house(60.0, 10.0, 15.0, 30.0, 18.0, heading=0.4),
    house(-70.0, -8.0, 12.0, 12.0, 24.0, material="wood", heading=1.0),
    box("vegetation", cylinder={"center": [30.0, -3.0], "radius": 4.0, "height": 12.0}),
    box("glass", cone={"center": [-30.0, 2.0], "radius": 5.0, "height": 14.0}),
    box("metal", wall={"points": [[100.0, -40.0], [105.0, 0.0], [100.0, 40.0]], "height": 6.0, "thickness": 0.3}),
)


@pytest.mark.parametrize(("y", "tilt"), [(0.0, 0.0), (4.0, 0.0), (-12.0, 0.0), (25.0, 0.0), (4.0, 8.0), (-12.0, 8.0)])
def test_loss_has_no_jumps_over_height(y: float, tilt: float) -> None:
    town = built(*TOWN)
    heights = np.arange(1.0, 45.0, 0.1)
    losses = [through(town, (-200.0, 0.0, z), (200.0, y, z + tilt)) for z in heights]
    assert np.abs(np.diff(losses)).max() < 0.5
    assert losses[0] > 20.0 and losses[-1] == 0.0


def test_loss_has_no_jumps_across_a_building() -> None:
    town = built(*TOWN[:1])
    for slant in (0.0, 15.0):
        at = np.arange(-60.0, 60.0, 0.05)
        losses = [through(town, (-200.0, y, 10.0), (200.0, y + slant, 14.0)) for y in at]
        assert np.abs(np.diff(losses)).max() < 0.5
        assert max(losses) > 25.0 and losses[0] == losses[-1] == 0.0


@given(st.tuples(*[st.floats(-150.0, 150.0)] * 4), st.floats(1.0, 40.0), st.floats(1.0, 40.0))
def test_obstacles_are_reciprocal(places: tuple[float, ...], height: float, other: float) -> None:
    town = built(*TOWN)
    ax, ay, bx, by = places
    a, b, rest = (ax, ay, height), (bx, by, other), (FREQUENCY, town, FLAT, False, False, 0.0)
    there, back = obstructed(a, b, *rest), obstructed(b, a, *rest)
    assert there == pytest.approx(back, abs=1e-6)
    assert 0.0 <= there < 1e4


def test_hills_and_buildings_are_one_profile() -> None:
    """A ridge of 40 m and a wall of 30 m: each alone a knife edge, together two edges of one construction."""
    spacing = 10.0
    x = np.meshgrid(np.arange(201) * spacing - 1000.0, np.arange(201) * spacing - 1000.0)[0]
    relief = np.where(np.abs(x + 300.0) < 1e-6, 40.0, -500.0)
    terrain = np.zeros((1, 9))
    terrain[0, RELIEF_X] = terrain[0, RELIEF_Y] = -1000.0
    terrain[0, RELIEF_RATE] = 1.0 / spacing
    ground = TerrainTables(0.0, terrain, relief, relief_peaks(relief))
    wall = built(house(250.0, 0.0, 0.01, 900.0, 30.0, material="metal"))._replace(rates=np.full(1, 1e6))
    line = (-500.0, 0.0, 10.0), (500.0, 0.0, 10.0), FREQUENCY
    hill = over_ground(*line, ground, False)
    assert hill == pytest.approx(j(v(30.0, 200.0, 800.0)), abs=0.01)
    more = obstructed(*line, wall, ground, True, False, hill)
    assert hill + more == pytest.approx(deygout([(200.0, 40.0), (750.0, 30.0)], 10.0, 1000.0), abs=0.01)
    assert obstructed(*line, wall, ground, False, False, 0.0) == pytest.approx(j(v(20.0, 750.0, 250.0)), abs=0.01)


def test_lines_below_a_bridge_are_free() -> None:
    deck = built(box("metal", box={"center": [0.0, 0.0, 8.0], "size": [20.0, 200.0, 1.0]}))
    assert through(deck, (-100.0, 0.0, 3.0), (100.0, 0.0, 3.0)) == 0.0
    assert through(deck, (0.0, 0.0, 3.0), (0.0, 0.0, 60.0)) > 6.0


@example((2.0, 0.0, 0.0), (2.0, 0.0, 1.0), False)  # straight up, beside it
@given(st.tuples(*[st.floats(-3.0, 3.0)] * 3), st.tuples(*[st.floats(-3.0, 3.0)] * 3), st.booleans())
def test_way_through_round_obstacles(a: tuple[float, ...], b: tuple[float, ...], is_cone: bool) -> None:
    """The length inside a cylinder or cone of radius 1 and height 2, against points along the line."""
    kind = {"cone" if is_cone else "cylinder": {"center": [0.0, 0.0], "radius": 1.0, "height": 2.0}}
    apart = math.dist(a, b)
    if apart < 0.1:
        return
    obstacles = obstacles_of((box("vegetation", **kind),), lambda x, y: np.zeros_like(x))
    enters, leaves = round_part(line_of(a, b, 1.0), obstacles.table, 0)
    t = (np.arange(20_000) + 0.5) / 20_000
    x, y, z = (p + t * (q - p) for p, q in zip(a, b, strict=True))
    radius = 1.0 - 0.5 * z if is_cone else 1.0
    inside = (z >= 0.0) & (z <= 2.0) & (x**2 + y**2 <= radius**2)
    assert max(leaves - enters, 0.0) == pytest.approx(inside.mean() * apart, abs=2e-3)
