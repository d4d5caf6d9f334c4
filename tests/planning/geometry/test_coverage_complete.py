"""Polygons are covered completely, swaths and turns avoid holes, and the path is feasible."""

from __future__ import annotations

from itertools import pairwise
from math import cos, hypot, pi, remainder, sin, tau

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Polygon

from paddock.planning.geometry.path import Path, ends_at
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.sweep import covered_by

Points = list[tuple[float, float]]


def covered_share(shape: PolygonShape, path: Path, spacing: float) -> float:
    """The share of a shape within half a spacing of the straight segments of a path."""
    straight = [s for s in path.segments if s.curvature == 0.0]
    lines = np.array([((s.x, s.y), ends_at(s)[:2]) for s in straight]).reshape(-1, 2, 2)
    return float(shape.region.intersection(covered_by(lines, spacing)).area / shape.region.area)


def star(rng: np.random.Generator, x: float, y: float, size: float, corners: int) -> Points:
    """A random ring around a place, with no corner nearer than a third of its size."""
    angles = (np.arange(corners) + rng.uniform(0.0, 0.9, corners)) * tau / corners
    reach = rng.uniform(0.33, 1.0, corners) * size
    return [(x + r * cos(a), y + r * sin(a)) for r, a in zip(reach, angles, strict=True)]


@st.composite
def polygons(draw: st.DrawFn) -> tuple[Points, list[Points]]:
    """Simple outlines with up to three holes, somewhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x, y = rng.uniform(-5000.0, 5000.0, 2)
    outer = star(rng, x, y, 400.0, draw(st.integers(4, 25)))
    holes: list[Points] = []
    for _ in range(draw(st.integers(0, 3))):
        east, north = rng.uniform(-200.0, 200.0, 2)
        hole = star(rng, x + east, y + north, rng.uniform(10.0, 90.0), int(rng.integers(3, 12)))
        apart = not any(Polygon(hole).intersects(Polygon(other)) for other in holes)
        if Polygon(outer).contains_properly(Polygon(hole)) and apart:
            holes.append(hole)
    return outer, holes


def can_be_flown(path: Path, radius: float) -> None:
    """No gaps, no kinks, no turn tighter than the radius."""
    for first, other in pairwise(path.segments):
        x, y, z, heading = ends_at(first)
        assert hypot(other.x - x, other.y - y) < 1e-6 and z == other.z
        assert abs(remainder(other.heading - heading, tau)) < 1e-6
    assert max(abs(segment.curvature) for segment in path.segments) <= (1.0 + 1e-9) / radius


@settings(max_examples=settings.default.max_examples // 16)
@given(polygons(), st.floats(15.0, 120.0), st.sampled_from([7.5, 30.0, 80.0]))
def test_a_polygon_is_covered_by_a_path_that_can_be_flown(
    rings: tuple[Points, list[Points]], spacing: float, radius: float
) -> None:
    shape = PolygonShape(*rings, spacing, turns="outside")
    path = shape.path(radius, z=60.0)
    whole = Polygon(*rings)
    near = shapely.union_all(shapely.buffer(shapely.linestrings(shape.swaths), 0.5 * spacing, quad_segs=64))
    assert whole.intersection(near).area / whole.area >= 0.999
    # turns between holes, or in the notch of one, may leave no room for some of it
    assert covered_share(shape, path, spacing) >= (0.85 if rings[1] else 0.999)
    track = shapely.linestrings(path.sample(1.0)[:, :2])
    assert track.intersection(shapely.union_all([Polygon(hole).buffer(-0.05) for hole in rings[1]])).length == 0.0
    can_be_flown(path, radius)
    if not rings[1]:
        assert path.start == pytest.approx((*shape.entry[:2], 60.0, shape.entry.heading))


@settings(max_examples=settings.default.max_examples // 8)
@given(polygons(), st.floats(15.0, 120.0), st.one_of(st.none(), st.floats(-pi, pi)))
def test_swaths_lie_in_the_polygon_and_never_cross_a_hole(
    rings: tuple[Points, list[Points]], spacing: float, angle: float | None
) -> None:
    shape = PolygonShape(*rings, spacing, angle)
    swaths = shapely.multilinestrings(shapely.linestrings(shape.swaths))
    holes = shapely.union_all([Polygon(hole) for hole in rings[1]])
    assert swaths.intersection(holes.buffer(-1e-6)).length == 0.0
    beyond = Polygon(rings[0]).buffer(0.75 * spacing)
    assert swaths.difference(beyond).length < 1e-6
    across = (shape.swaths[:, 1] - shape.swaths[:, 0]) @ (-sin(shape.sweep.angle), cos(shape.sweep.angle))
    assert np.abs(across).max() < 1e-6


@settings(max_examples=settings.default.max_examples // 8)
@given(polygons(), st.sampled_from([10.0, 60.0]))
def test_every_swath_is_flown_once(rings: tuple[Points, list[Points]], radius: float) -> None:
    shape = PolygonShape(rings[0], (), 40.0, turns="outside")  # near holes, rows end as far from them as turns need
    straight = [s for s in shape.path(radius).segments if s.curvature == 0.0]
    flown = np.array([(*sorted([(s.x, s.y), ends_at(s)[:2]]),) for s in straight])
    swaths = np.array([sorted(map(tuple, swath)) for swath in shape.swaths.tolist()])
    apart = np.abs(swaths[:, None] - flown[None]).max(axis=(2, 3))
    assert ((apart < 1e-6).sum(axis=1) == 1).all()


def test_slivers_beside_shallow_edges_of_a_hole_are_patched() -> None:
    hole = [(100, 120), (500, 140), (480, 180), (120, 150)]
    shape = PolygonShape([(0, 0), (600, 0), (600, 300), (0, 300)], [hole], 30.0, 0.0, turns="outside")
    assert covered_share(shape, shape.path(0.0), 30.0) >= 0.9998
    assert covered_share(shape, shape.path(15.0), 30.0) >= 0.999
    rows = shape.swaths[np.array([swath.row >= 0 for swath in shape.sweep.swaths])]
    near = shapely.union_all(shapely.buffer(shapely.linestrings(rows), 15.0))
    assert shape.region.intersection(near).area / shape.region.area < 0.995  # without the patches
