"""Uneven ground against formulas: tilted plane, interpolation, roughness by ISO 8608, friction."""

from re import findall
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paddock.compute.kernel import KernelSpec, Rows, kernel, shared_tuple
from paddock.compute.routine import routine
from paddock.compute.twin import rebound
from paddock.scenario.scenery import GroundSection
from paddock.world.columns import Environment
from paddock.world.ground import UNEVEN, Ground, Surface, ground_of, rough_tile, surface, surface_of, uneven_surface

VALUES = np.array(Environment(mu=0.8, ground_z=2.0))


def ground(**fields: Any) -> Ground:
    return ground_of(GroundSection.model_validate(fields))


def at(made: Ground, x: Any, y: Any) -> list[np.ndarray]:
    return [np.asarray(value) for value in made.at(np.asarray(x, float), np.asarray(y, float), VALUES)]


def test_a_plane_has_grade_along_its_heading_and_bank_to_the_left() -> None:
    made = ground(grade=0.08, bank=0.02, heading=0.5 * np.pi)  # north; left is west
    height, slope_x, slope_y, mu = at(made, [0.0, 10.0], [0.0, 100.0])
    assert_allclose(height, [2.0, 2.0 + 0.08 * 100.0 - 0.02 * 10.0], rtol=1e-14)
    assert_allclose([slope_x, slope_y], [-0.02, 0.08], atol=1e-15)
    assert_array_equal(mu, [0.8, 0.8])


def test_the_flat_ground_has_constants() -> None:
    assert surface(3.0, 4.0, Environment(mu=0.7, ground_z=5.0)) == (5.0, 0.0, 0.0, 0.7)


def test_interpolation_is_exact_for_quadratic_functions_and_continues_the_edge() -> None:
    def height(x: Any, y: Any) -> Any:
        return 0.3 * x * x - 0.2 * x * y + 0.05 * y * y + x - 2.0 * y + 4.0

    columns, rows = np.meshgrid(np.arange(12), np.arange(10))
    values = height(5.0 + 2.0 * columns, -3.0 + 2.0 * rows)
    made = ground(height_map={"values": values.tolist(), "cell": 2.0, "origin": [5.0, -3.0]})
    x, y = np.random.default_rng(1).uniform([7.0, -1.0], [25.0, 13.0], (500, 2)).T  # one cell from the edge
    z, slope_x, slope_y, _ = at(made, x, y)
    assert_allclose(z, 2.0 + height(x, y), atol=1e-11)
    assert_allclose(slope_x, 0.6 * x - 0.2 * y + 1.0, atol=1e-11)
    assert_allclose(slope_y, -0.2 * x + 0.1 * y - 2.0, atol=1e-11)
    beyond = at(made, [0.0, 1e6, 1e7], [-9.0, -9.0, 1e7])
    assert_allclose(beyond[0] - 2.0, [values[0, 0], values[0, -1], values[-1, -1]], atol=1e-12)
    assert_allclose(beyond[1:3], np.zeros((2, 3)), atol=1e-12)


def test_heights_and_slopes_are_continuous_across_cells_and_edges() -> None:
    made = ground(height_map={"values": np.random.default_rng(2).normal(size=(5, 6)).tolist(), "cell": 1.5})
    x = 1.5 * np.arange(-1.0, 8.0)
    before, after = at(made, x - 1e-9, 0 * x + 2.0), at(made, x + 1e-9, 0 * x + 2.0)
    assert_allclose(before[:3], after[:3], atol=1e-7)


def test_three_twins_of_the_surface_agree_in_every_bit() -> None:
    made = ground(
        grade=0.05,
        height_map={"values": [[0, 1, 3], [2, 2, 0]], "cell": 4.0},
        roughness="D",
        friction_map={"values": [[1, 0.5], [0.2, 0.9]], "cell": 10.0},
        patches=[
            {"polygon": [[0, 0], [5, 0], [2, 6]], "mu": 0.1, "transition": 1.0},
            {"circle": {"center": [3, 3], "radius": 2}, "mu": 2.0, "transition": 0.5},
            {"rectangle": {"center": [8, 2], "size": [4, 1], "heading": 0.3}, "mu": 0.3, "transition": 2.0},
            {"half_plane": {"point": [0, 9], "heading": 0.2}, "mu": 0.05},
        ],
    )
    x, y = np.random.default_rng(3).uniform(-5.0, 15.0, (200, 2)).T
    environment: Any = shared_tuple(UNEVEN)
    w = environment(*VALUES.tolist(), *made.tables)
    plain = [uneven_surface(a, b, w) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert_array_equal(np.array(at(made, x, y)).T, plain)
    twin = routine(uneven_surface)
    assert_array_equal([twin(a, b, w) for a, b in zip(x.tolist(), y.tolist(), strict=True)], plain)


class Place(NamedTuple):
    x: float
    y: float


def sampled(at: Place, w: Any) -> Surface:
    return surface(at.x, at.y, w)


MAP = {"values": [[0, 1, 3], [2, 2, 0]], "cell": 4.0}


@pytest.mark.parametrize(
    "fields",
    [
        {"grade": 0.05, "bank": -0.02},
        {"height_map": MAP, "roughness": "D"},
        {"patches": [{"half_plane": {"heading": -0.4}, "mu": 0.05, "transition": 3.0}]},
    ],
)
def test_kernels_know_the_parts_of_the_ground_and_agree_in_every_bit(fields: Any) -> None:
    made = ground(**fields)
    known = surface_of(made.tables)
    assert (known is uneven_surface) == ("patches" in fields)
    assert surface_of(ground(**fields).tables) is known  # one kernel for equal grounds
    places = np.random.default_rng(4).uniform(-5.0, 15.0, (2, 300))
    arguments = Rows("at", Place), UNEVEN, Rows("surface", Surface, "write")
    heights = np.zeros((4, 300))
    run = kernel(KernelSpec("sampled", rebound(sampled, {surface: known}), arguments))
    run(300, 1, places, VALUES, *made.tables, heights)
    if "height_map" in fields:  # looked up for several places at once
        text = run.assembly(300, 1, places, VALUES, *made.tables, heights)
        assert len(findall(r"\bv?mulpd\b", text)) > len(findall(r"\bv?mulsd\b", text)) // 2 > 0
    environment: Any = shared_tuple(UNEVEN)
    w = environment(*VALUES.tolist(), *made.tables)
    plain = [uneven_surface(x, y, w) for x, y in places.T.tolist()]
    assert_array_equal(heights.T, plain)
    assert_array_equal([known(x, y, w) for x, y in places.T.tolist()], plain)


@pytest.mark.parametrize(("name", "strength"), [("A", 16e-6), ("C", 256e-6), ("E", 4096e-6)])
def test_profiles_of_rough_ground_have_the_spectrum_of_their_class(name: str, strength: float) -> None:
    """Gd(n) = Gd(n0) (n / n0)^-2 by ISO 8608, n0 = 0.1 cycles/m: the mean of 32 profiles, in octaves."""
    made, length, count = ground(roughness=name), 102.4, 2048
    x, power = np.arange(count) * (length / count), np.zeros(count // 2 + 1)
    for y in np.linspace(0.0, length, 32, endpoint=False):
        profile = at(made, x, 0 * x + y)[0]
        power += 2.0 * np.abs(np.fft.rfft(profile) / count) ** 2 * length / 32
    n = np.fft.rfftfreq(count, length / count)
    for low in 0.011 * 2.0 ** np.arange(8):
        octave = (n >= low) & (n < 2.0 * low)
        ratio = np.mean(power[octave] * (n[octave] / 0.1) ** 2) / strength
        assert 0.8 < ratio < 1.25, (low, ratio)  # a class spans a factor of 4


def test_rough_tiles_repeat_without_a_seam_and_follow_their_seed() -> None:
    made = ground(roughness="C")
    assert_allclose(at(made, [3.0, 3.0 + 102.4], [7.0, 7.0 - 204.8])[0], [at(made, 3.0, 7.0)[0]] * 2, atol=1e-12)
    assert (rough_tile("C", 1) != rough_tile("C", 0)).all()
    assert_allclose(rough_tile("D", 0), 2.0 * rough_tile("C", 0), rtol=1e-12)


def test_friction_patches_and_maps() -> None:
    split = ground(patches=[{"half_plane": {"point": [0, 2]}, "mu": 0.2, "transition": 1.0}])  # north of y = 2
    assert_allclose(at(split, [0.0] * 5, [0.0, 1.5, 2.0, 2.25, 9.0])[3], [0.8, 0.8, 0.5, 0.35, 0.2], atol=1e-12)
    shapes = ground(
        patches=[
            {"circle": {"center": [0, 0], "radius": 5}, "mu": 0.5},
            {"rectangle": {"center": [20, 0], "size": [4, 2], "heading": 0.5 * np.pi}, "mu": 0.4},
            {"polygon": [[40, 0], [44, 0], [40, 4]], "mu": 0.3},
            {"circle": {"center": [4, 0], "radius": 2}, "mu": 0.1},
        ]
    )
    places = {(1, 1): 0.5, (4, 0): 0.1, (-5.1, 0): 0.8, (20.9, 1.9): 0.4, (21.9, 0.9): 0.8, (41, 1): 0.3, (43, 3): 0.8}
    assert_allclose(at(shapes, *np.array(list(places), float).T)[3], list(places.values()), atol=1e-9)
    mapped = ground(friction_map={"values": [[0.0, 1.0], [0.5, 2.0]], "cell": 10.0})
    assert_allclose(at(mapped, [5.0, 10.0, 10.0, -99.0], [0.0, 5.0, 10.0, 5.0])[3], [0.5, 1.5, 2.0, 0.25])
