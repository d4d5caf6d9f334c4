"""The neighbour grid against brute force: no neighbour is missed or counted twice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paddock.compute.neighbours import NeighbourGrid, NeighbourSpec, torus_bits
from paddock.compute.threads import available_threads, limit_threads


class Source(NamedTuple):
    mass: float
    x: float
    y: float
    z: float
    unused: float


class Seen(NamedTuple):
    x: float
    y: float
    z: float
    mass: float


class Sums(NamedTuple):
    many: float = 0.0
    mass: float = 0.0
    dx: float = 0.0
    dy: float = 0.0
    dz: float = 0.0
    d2: float = 0.0


class Result(NamedTuple):
    many: float
    mass: float
    dx: float
    dy: float
    dz: float
    d2: float
    own: float


class Options(NamedTuple):
    factor: float


def visit(s: Sums, me: Seen, other: Seen, dx: float, dy: float, dz: float, d2: float, o: Options) -> Sums:
    return Sums(s.many + 1.0, s.mass + o.factor * other.mass, s.dx + dx, s.dy + dy, s.dz + dz, s.d2 + d2)


def finish(s: Sums, me: Seen, o: Options) -> Result:
    return Result(s.many, s.mass, s.dx, s.dy, s.dz, s.d2, me.mass)


SPEC = NeighbourSpec("test-sums", Source, Seen, Sums, Result, Options, visit, finish)
GRID = NeighbourGrid(SPEC)


def gathered(points: Any, radius: float, capacity: int | None = None) -> Any:
    """Results (7, n) of the grid for points (n, 3); every mass is a whole number, so its sum is exact."""
    n = len(points)
    agents = np.full((5, max(1, capacity or n)), np.nan)
    agents[0, :n] = np.arange(n)
    agents[1:4, :n] = points.T
    agents[4, :n] = 0.0
    result = np.full((7, max(1, capacity or n)), np.nan)
    GRID.run(agents, n, radius, np.array([2.0]), result)
    return result[:, :n]


def brute(points: Any, radius: float) -> Any:
    """The same by all pairs."""
    n = len(points)
    result = np.zeros((7, n))
    result[6] = np.arange(n)
    for i in range(n):
        d = points - points[i]
        d2 = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
        near = d2 < radius * radius
        near[i] = False
        result[:, i] = (near.sum(), 2.0 * np.flatnonzero(near).sum(), *d[near].sum(axis=0), d2[near].sum(), i)
    return result


def check(points: Any, radius: float) -> None:
    pairs, expected = gathered(points, radius), brute(points, radius)
    exact = [0, 1, 6]
    assert np.array_equal(pairs[exact], expected[exact])
    scale = 1e-12 * (1.0 + expected[0]) * max(radius, radius * radius)
    assert (np.abs(pairs - expected) <= scale + 1e-12 * np.abs(expected)).all()


def cloud(kind: str, n: int) -> tuple[Any, float]:
    rng = np.random.default_rng(n)
    if kind == "box":
        return rng.uniform(-40, 40, (n, 3)), 7.0
    if kind == "flat":
        return rng.uniform(-200, 200, (n, 3)) * [1, 1, 0], 10.0
    if kind == "line":
        return rng.uniform(-5000, 0, (n, 3)) * [0, 1, 0], 9.0
    if kind == "spread":
        return rng.uniform(-1e6, 1e6, (n, 3)), 3e4
    if kind == "clusters":
        centres = rng.uniform(-1e6, 1e6, (max(1, n // 40), 3))
        return centres[rng.integers(0, len(centres), n)] + rng.normal(0, 3, (n, 3)), 4.0
    if kind == "one cell":
        return rng.uniform(0, 1, (n, 3)) - 3.0, 10.0
    return np.tile([[-3.0, 7.0, 1e5]], (n, 1)), 2.0  # coincident


@pytest.mark.parametrize("kind", ["box", "flat", "line", "spread", "clusters", "one cell", "coincident"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 50, 700])
def test_the_grid_finds_what_brute_force_finds(kind: str, n: int) -> None:
    check(*cloud(kind, n))


@pytest.mark.parametrize(
    "kind", ["clusters", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("box", "spread", "flat"))]
)
def test_the_grid_finds_what_brute_force_finds_among_many(kind: str) -> None:
    check(*cloud(kind, 5000))


@given(
    points=hnp.arrays(float, st.tuples(st.integers(0, 40), st.just(3)), elements=st.floats(-30, 30)),
    radius=st.floats(0.01, 25),
)
@settings(deadline=None)
def test_any_cloud(points: Any, radius: float) -> None:
    check(points, radius)


@given(
    cells=hnp.arrays(np.int64, st.tuples(st.integers(2, 60), st.just(3)), elements=st.integers(-12, 12)),
    unit=st.sampled_from([1.0, 0.1, 0.3, 7.0, 1e-3, 1e4]),
    reach=st.integers(1, 4),
)
@settings(deadline=None)
def test_points_on_the_borders_of_cells(cells: Any, unit: float, reach: int) -> None:
    check(cells * unit, reach * unit)


@given(
    points=hnp.arrays(float, st.tuples(st.integers(1, 20), st.just(3)), elements=st.floats(-9, 9)),
    where=st.tuples(*[st.integers(-(2**20), 2**20)] * 3),
)
@settings(deadline=None)
def test_far_from_the_origin(points: Any, where: tuple[int, int, int]) -> None:
    check(points + np.array(where, float), 2.5)


def test_the_order_of_visits_does_not_depend_on_distant_vehicles() -> None:
    points, radius = cloud("box", 300)
    alone = gathered(points, radius)
    rng = np.random.default_rng(9)
    for far in (1, 40, 3000):
        crowd = np.concatenate([points, rng.uniform(1e4, 1e5, (far, 3))])
        assert np.array_equal(gathered(crowd, radius)[:, :300], alone)  # every sum, bit for bit
        mixed = np.concatenate([crowd[300:], points])  # in front of them, which shifts all indices
        again = gathered(mixed, radius)[:, far:]
        assert np.array_equal(again[[0, 2, 3, 4, 5]], alone[[0, 2, 3, 4, 5]])


def test_the_result_moves_with_the_agents_when_they_are_renumbered() -> None:
    points, radius = cloud("clusters", 500)
    order = np.random.default_rng(2).permutation(500)
    here, there = gathered(points, radius), gathered(points[order], radius)
    assert np.array_equal(there[0], here[0, order])
    assert there[2:6] == pytest.approx(here[2:6, order], rel=1e-9, abs=1e-9)


@pytest.mark.skipif(available_threads() < 2, reason="needs two cores")
@pytest.mark.parametrize("kind", ["box", "clusters", "one cell"])
def test_threads_do_not_change_a_bit(kind: str) -> None:
    points, radius = cloud(kind, 3000)
    results = []
    for count in (1, 2):
        limit_threads(count)
        results.append(gathered(points, radius))
    assert np.array_equal(results[0], results[1])


def test_columns_beyond_n_are_unchanged() -> None:
    points, radius = cloud("box", 100)
    assert np.array_equal(gathered(points, radius, capacity=256), gathered(points, radius))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_a_vehicle_at_nan_does_not_affect_the_others(bad: float) -> None:
    points, radius = cloud("box", 60)
    expected = brute(points, radius)
    lost = np.concatenate([points, [[bad, 0.0, 0.0]]])
    pairs = gathered(lost, radius)
    assert np.array_equal(pairs[0, :60], expected[0]) and pairs[0, 60] == 0.0


@given(n=st.integers(1, 10**7), extents=st.tuples(*[st.floats(0, 1e12)] * 3))
def test_the_table_has_four_cells_each_way_and_stays_small(n: int, extents: tuple[float, float, float]) -> None:
    bits = torus_bits(n, list(extents))
    assert min(bits) >= 2
    assert sum(bits) <= max(6, (4 * n - 1).bit_length())
