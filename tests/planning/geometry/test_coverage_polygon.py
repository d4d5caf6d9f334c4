"""Polygons: the angle of the sweep, cells, rows, orders, known lengths, and invalid outlines."""

from __future__ import annotations

import math
from itertools import permutations, product
from math import cos, nan, pi, sin

import numpy as np
import pytest
import shapely

from paddock.errors import InvalidValueError
from paddock.planning.geometry.field import interleaved, polished
from paddock.planning.geometry.path import Path, ends_at
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.shapes import Entry
from paddock.planning.geometry.sweep import covered_by

Points = list[tuple[float, float]]
SQUARE: Points = [(0, 0), (400, 0), (400, 400), (0, 400)]
HOLE: Points = [(150, 150), (250, 150), (250, 250), (150, 250)]
ELL: Points = [(0, 0), (400, 0), (400, 120), (120, 120), (120, 400), (0, 400)]
YOU: Points = [(0, 0), (400, 0), (400, 300), (280, 300), (280, 100), (120, 100), (120, 300), (0, 300)]


def covered_share(shape: PolygonShape, path: Path, spacing: float) -> float:
    """The share of a shape within half a spacing of the straight segments of a path along the sweep."""
    along = [s for s in path.segments if s.curvature == 0.0 and abs(math.sin(s.heading - shape.sweep.angle)) < 1e-9]
    lines = np.array([((s.x, s.y), ends_at(s)[:2]) for s in along]).reshape(-1, 2, 2)
    return float(shape.region.intersection(covered_by(lines, spacing)).area / shape.region.area)


def turned(points: Points, angle: float) -> Points:
    c, s = cos(angle), sin(angle)
    return [(c * x - s * y, s * x + c * y) for x, y in points]


@pytest.mark.parametrize("angle", [0.0, 0.3, pi / 2, 2.0, 3.0])
def test_a_rectangle_is_swept_along_its_long_side(angle: float) -> None:
    shape = PolygonShape(turned([(0, 0), (300, 0), (300, 120), (0, 120)], angle), spacing=30.0)
    assert sin(shape.sweep.angle - angle) == pytest.approx(0.0, abs=1e-9)
    assert np.hypot(*(shape.swaths[:, 1] - shape.swaths[:, 0]).T) == pytest.approx(np.full(4, 300.0))


def test_a_rectangle_with_turns_that_just_fit_is_four_swaths_and_three_semicircles() -> None:
    path = PolygonShape([(0, 0), (300, 0), (300, 120), (0, 120)], spacing=30.0, turns="outside").path(15.0, z=40.0)
    assert path.length == pytest.approx(4 * 300.0 + 3 * pi * 15.0, abs=1e-6)
    assert path.start[2] == path.end[2] == 40.0


def test_wide_turns_are_flown_in_another_order_than_narrow_ones() -> None:
    shape = PolygonShape([(0, 0), (300, 0), (300, 240), (0, 240)], spacing=30.0, angle=0.0, turns="outside")
    bulb = 30.0 * (pi + 4.0 * np.arccos(0.75))  # between neighbours 30 m apart, with turns of 30 m (analytic)
    assert shape.path(30.0).length < 8 * 300.0 + 7 * bulb - 100.0
    assert shape.path(30.0).length >= 8 * 300.0 + 7 * pi * 30.0  # no turn around is shorter than a semicircle


def test_outer_swaths_lie_half_a_spacing_inside() -> None:
    shape = PolygonShape([(0, 0), (300, 0), (300, 120), (0, 120)], spacing=30.0)
    assert sorted(shape.swaths[:, 0, 1]) == pytest.approx([15.0, 45.0, 75.0, 105.0])


@pytest.mark.parametrize(
    ("outer", "holes", "angle", "cells"),
    [
        (SQUARE, [], 0.0, 1),
        (ELL, [], 0.0, 1),
        (YOU, [], 0.0, 3),  # both arms, and their connection
        (YOU, [], pi / 2, 1),
        (SQUARE, [HOLE], 0.0, 4),
        (SQUARE, [HOLE], pi / 2, 4),
        (
            SQUARE,
            [[(50, 150), (150, 150), (150, 250), (50, 250)], [(250, 150), (350, 150), (350, 250), (250, 250)]],
            0,
            5,
        ),
    ],
)
def test_cells_end_where_the_region_splits_or_merges(
    outer: Points, holes: list[Points], angle: float, cells: int
) -> None:
    assert len(PolygonShape(outer, holes, 25.0, angle).sweep.cells) == cells


def test_rows_end_at_the_steps_of_an_outline() -> None:
    swaths = PolygonShape(ELL, spacing=30.0, angle=pi / 2).swaths
    lengths = sorted(np.hypot(*(swaths[:, 1] - swaths[:, 0]).T).round(6))
    assert lengths == [120.0] * 10 + [400.0] * 4  # 4 x 30 = 120, and none of the long ones for a strip


def test_a_margin_excludes_the_outline_and_the_holes() -> None:
    shape = PolygonShape(SQUARE, [HOLE], 20.0, 0.0, margin=30.0)
    assert shape.region.area == pytest.approx(340.0**2 - 160.0 * 160.0)
    assert shape.swaths.min() == pytest.approx(30.0)
    assert shape.swaths.max() == pytest.approx(370.0)
    assert covered_share(shape, shape.path(10.0), 20.0) > 0.9999


def test_a_margin_may_leave_several_pieces() -> None:
    waist = [(0, 0), (400, 0), (400, 100), (210, 100), (210, 120), (400, 120), (400, 220), (0, 220), (0, 120)]
    shape = PolygonShape([*waist, (190, 120), (190, 100), (0, 100)], spacing=20.0, margin=15.0)
    assert len(shape.region.geoms) == 2
    assert covered_share(shape, shape.path(10.0), 20.0) > 0.9999


@pytest.mark.parametrize(
    ("start", "corner"), [((-50, -50), (0, 15)), ((999, -9), (300, 15)), ((999, 99), (300, 105)), ((-1, 130), (0, 105))]
)
def test_the_sweep_begins_at_the_corner_nearest_to_the_start(
    start: tuple[float, float], corner: tuple[float, float]
) -> None:
    shape = PolygonShape([(0, 0), (300, 0), (300, 120), (0, 120)], spacing=30.0, angle=0.0, start=start)
    assert shape.entry[:2] == pytest.approx(corner)
    assert cos(shape.entry.heading or 0.0) == pytest.approx(1.0 if corner[0] == 0 else -1.0)


@pytest.mark.parametrize(
    "radius", [0.0, 15.0, *(pytest.param(far, marks=pytest.mark.slow) for far in (5.0, 40.0, 120.0))]
)
def test_the_entry_is_the_same_for_every_radius(radius: float) -> None:
    shape = PolygonShape(SQUARE, [HOLE], 30.0, turns="outside")
    assert Entry(*shape.path(radius).sample(1e3)[0]) == pytest.approx(shape.entry)
    assert shape.path(radius) is shape.path(radius)


def test_a_region_narrower_than_the_spacing_is_one_swath() -> None:
    shape = PolygonShape([(0, 0), (100, 0), (100, 5), (0, 5)], spacing=30.0)
    assert shape.path(80.0).length == pytest.approx(100.0)
    assert shape.swaths[0, :, 1] == pytest.approx([2.5, 2.5])


def test_a_long_strip_is_not_refused_for_the_rows_across_it() -> None:
    shape = PolygonShape([(0, 0), (20000, 0), (20000, 100), (0, 100)], spacing=10.0)
    assert len(shape.swaths) == 10


def test_more_swaths_than_can_be_ordered_are_refused() -> None:
    comb = [(0.0, 0.0), (610.0, 0.0)]
    for tooth in range(30, -1, -1):
        comb += [(20 * tooth + 10, 5), (20 * tooth + 10, 400), (20 * tooth, 400), (20 * tooth, 5)]
    with pytest.raises(InvalidValueError, match="makes more than 1000 swaths"):
        PolygonShape([*comb[:-1]], spacing=5.0, angle=0.0)


def test_equal_polygons_have_equal_paths() -> None:
    first, other = (PolygonShape(SQUARE, [HOLE], 60.0) for _ in range(2))
    assert first == other and hash(first) == hash(other)
    assert (first.path(40.0).table == other.path(40.0).table).all()


def test_the_outline_is_closed() -> None:
    assert PolygonShape(SQUARE, spacing=30.0).outline().tolist() == [[*map(float, p)] for p in [*SQUARE, SQUARE[0]]]
    assert PolygonShape([*SQUARE, SQUARE[0]], spacing=30.0) == PolygonShape(SQUARE, spacing=30.0)


def test_an_empty_region_has_an_empty_path() -> None:
    shape = PolygonShape(SQUARE, spacing=30.0, angle=0.0)
    assert covered_share(shape, shape.path(15.0).subpath(0.0, 0.0), 30.0) == 0.0
    half = shape.path(15.0).subpath(0.0, shape.path(15.0).length / 2)
    assert covered_share(shape, half, 30.0) == pytest.approx(0.5, abs=0.03)


def test_interleaved_orders_contain_every_swath_once() -> None:
    assert interleaved(6, 1) == [0, 1, 2, 3, 4, 5]
    assert interleaved(6, 3) == [0, 3, 1, 4, 2, 5]
    assert interleaved(7, 2) == [0, 2, 1, 3, 4, 6, 5]
    assert all(sorted(interleaved(n, s)) == list(range(n)) for n in range(1, 20) for s in range(1, 12))


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in range(1, 4))])
def test_a_polished_tour_is_the_shortest_of_all(seed: int) -> None:
    ends = np.random.default_rng(seed).uniform(0.0, 100.0, (5, 2, 2))
    begins, stops = ends.reshape(-1, 2), ends[:, ::-1].reshape(-1, 2)
    turns = np.hypot(*(stops[:, None] - begins[None]).transpose(2, 0, 1))
    ways = [
        [0, *(2 * k + d for k, d in zip(order, flips, strict=True))]
        for order in permutations(range(1, 5))
        for flips in product((0, 1), repeat=4)
    ]
    shortest = min(turns[way[:-1], way[1:]].sum() for way in ways)
    tour = polished(np.array([0, 2, 4, 6, 8]), turns)
    assert tour[0] == 0 and sorted(tour // 2) == [0, 1, 2, 3, 4]
    assert turns[tour[:-1], tour[1:]].sum() == pytest.approx(shortest)


@pytest.mark.parametrize(
    ("outer", "holes", "says"),
    [
        ([(0, 0), (10, 10), (10, 0), (0, 10)], [], r"the outline crosses or touches itself at \(5, 5\)"),
        ([(0, 0), (10, 0), (10, 10), (5, 0), (0, 10)], [], r"the outline crosses or touches itself at \(5, 0\)"),
        ([(0, 0), (1, 1)], [], "the outline has 2 different points; it needs at least 3"),
        ([(0, 0), (1, 1), (0, 0)], [], "the outline has 2 different points"),
        ([(0, 0), (5, 5), (9, 9)], [], "the outline .* has no area"),
        ([(0, 0), (nan, 5), (9, 9)], [], r"point 1 of the outline is \(nan, 5\); it must be finite"),
        ([(0, 0), (5, 5, 1), (9, 9)], [], r"point 1 of the outline is \(5, 5, 1\)"),
        (SQUARE, [[(500, 0), (510, 0), (510, 9)]], "hole 0 reaches outside the outline at"),
        (SQUARE, [HOLE, [(390, 10), (410, 10), (400, 20)]], "hole 1 reaches outside the outline at"),
        (SQUARE, [[(0, 10), (10, 10), (10, 20)]], r"hole 0 touches the outline at \(0, 10\)"),
        (SQUARE, [HOLE, [(200, 200), (300, 200), (300, 300)]], "holes 0 and 1 meet at"),
        (SQUARE, [[(10, 10), (20, 20), (20, 10), (10, 20)]], r"the hole 0 crosses or touches itself at \(15, 15\)"),
    ],
)
def test_invalid_outlines_are_refused_with_the_location(outer: Points, holes: list[Points], says: str) -> None:
    with pytest.raises(InvalidValueError, match=says) as caught:
        PolygonShape(outer, holes, 10.0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "spacing is nan; it must be a number above 0"),
        ({"spacing": 0.0}, "spacing is 0.0"),
        ({"spacing": 0.1}, "makes more than 1000 swaths; at least 0.4 m would be valid"),
        ({"spacing": 30.0, "angle": nan}, "angle is nan"),
        ({"spacing": 30.0, "margin": -1.0}, "margin is -1.0; it must be a number of at least 0 m"),
        ({"spacing": 30.0, "margin": 201.0}, "a margin of 201 m leaves nothing of it"),
        ({"spacing": 30.0, "start": (0.0, nan)}, "start's y is nan"),
    ],
)
def test_impossible_values_are_named(fields: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        PolygonShape(SQUARE, **fields)  # type: ignore[arg-type]


def test_an_invalid_radius_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"turn radius is -1\.0"):
        PolygonShape(SQUARE, spacing=30.0).path(-1.0)


def regular(sides: int, reach: float, turned: float) -> list[tuple[float, float]]:
    angles = turned + 2.0 * np.pi * np.arange(sides) / sides
    return [(float(x), float(y)) for x, y in reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)]


@pytest.mark.parametrize("outline", [
    *(regular(sides, 400.0, 0.1) for sides in (4, 5, 6)), [(0.0, 0.0), (1400.0, 0.0), (400.0, 900.0)],
    [(0.0, 0.0), (900.0, -200.0), (1100.0, 300.0), (300.0, 700.0)],
], ids=["square", "pentagon", "hexagon", "triangle", "quadrangle"])  # fmt: skip
@pytest.mark.parametrize("spacing", [pytest.param(90.0, marks=pytest.mark.slow), 200.0])
def test_turns_stay_inside_a_convex_field_whose_margin_is_the_turn_radius(
    outline: list[tuple[float, float]], spacing: float
) -> None:
    shape = PolygonShape(tuple(outline), spacing=spacing, margin=100.0)
    path = shape.path(100.0)
    field = shapely.Polygon(outline)
    points = shapely.points(path.sample(2.0)[:, :2])
    assert shapely.distance(field, points).max() < 0.05
    rows = [s for s in path.segments if s.curvature == 0.0]
    ends = [((s.x, s.y), (s.x + s.length * np.cos(s.heading), s.y + s.length * np.sin(s.heading))) for s in rows]
    near = shapely.union_all(shapely.linestrings(ends)).buffer(0.5 * spacing)
    inner = field.buffer(-100.0, join_style="mitre")
    assert near.intersection(inner).area > 0.93 * inner.area  # as if all rows were straight through
