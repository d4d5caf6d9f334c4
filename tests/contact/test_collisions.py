"""Two-body collisions against textbook results, and conservation laws."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from paddock.contact import solver
from paddock.contact.bodies import ROW
from paddock.contact.touches import GROUND
from paddock.vehicles.model import BOX, CAPSULE, CYLINDER, SPHERE

Make = Callable[..., Any]
DT, WAKE = 0.005, 0.05
PAIR = np.array([[0], [1]])
BALL = {"half": (0.5, 0.5, 0.5)}
CUBE = {"half": (0.5, 0.5, 0.5), "shape": BOX, "inertia": (1 / 6, 1 / 6, 1 / 6)}


def resolve(table: Any, pairs: Any, dt: float, wake: float) -> Any:
    """Return bumps and contacts of a tick that starts without the impulses of an earlier one."""
    before = solver.Impulses(np.zeros(0, np.int64), np.zeros((0, 4, 3)), np.zeros((0, 4)), np.zeros((0, 4)))
    return solver.resolve(table, np.arange(table.shape[1]), pairs, dt, wake, before)[:2]


def after(table: Any, bump: Any) -> tuple[Any, Any]:
    """Return velocity and angular velocity after the tick."""
    return table[7:10] + bump[3:6], table[10:13] + bump[6:9]


def momenta(table: Any, v: Any, w: Any) -> tuple[Any, Any]:
    """Return the momentum and the angular momentum about the origin of bodies with a mass."""
    mass = 1.0 / table[ROW.lightness]
    inertia = np.where(
        table[ROW.turning : ROW.turning + 3] > 0, 1.0 / np.maximum(table[ROW.turning : ROW.turning + 3], 1e-300), 0.0
    )
    spin = np.zeros((3, table.shape[1]))
    for k in range(table.shape[1]):
        turned = Rotation.from_quat(table[3:7, k])
        spin[:, k] = turned.apply(inertia[:, k] * turned.apply(w[:, k], inverse=True))
    return (mass * v).sum(axis=1), (np.cross(table[:3].T, (mass * v).T).T + spin).sum(axis=1)


def energy(table: Any, v: Any, w: Any) -> float:
    mass = 1.0 / table[ROW.lightness]
    total = 0.5 * (mass * (v * v).sum(axis=0)).sum()
    for k in range(table.shape[1]):
        body = Rotation.from_quat(table[3:7, k]).apply(w[:, k], inverse=True)
        turning = table[ROW.turning : ROW.turning + 3, k]
        total += 0.5 * sum(body[j] ** 2 / turning[j] for j in range(3) if turning[j] > 0)
    return float(total)


@pytest.mark.parametrize("bounce", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("m1", "m2"), [(1.0, 1.0), (1500.0, 900.0), (0.5, 2000.0)])
def test_head_on_collisions_follow_newtons_law_of_restitution(bodies: Make, bounce: Any, m1: Any, m2: Any) -> None:
    """Speeds after a head-on collision: Newton's experimental law with conservation of momentum."""
    u1, u2 = 12.0, -7.0
    table = bodies(
        {**BALL, "p": (0.02, 0, 0), "v": (u1, 0, 0), "mass": m1, "bounce": bounce},
        {**BALL, "p": (0.97, 0, 0), "v": (u2, 0, 0), "mass": m2, "bounce": bounce},
    )
    bump, report = resolve(table, PAIR, DT, WAKE)
    v1, v2 = after(table, bump)[0][0]
    together = (m1 * u1 + m2 * u2) / (m1 + m2)
    assert v1 == pytest.approx(together - bounce * m2 * (u1 - u2) / (m1 + m2), rel=1e-9)
    assert v2 == pytest.approx(together + bounce * m1 * (u1 - u2) / (m1 + m2), rel=1e-9)
    impulse = m1 * m2 / (m1 + m2) * (1 + bounce) * (u1 - u2)
    assert report[0, 8] == pytest.approx(impulse, rel=1e-9)
    assert report[0, 9] == pytest.approx(u1 - u2)


def test_the_bodies_end_where_they_were_after_touching_in_mid_tick(bodies: Make) -> None:
    """Each flies at its old velocity until the touch and at its new one for the rest of the tick."""
    table = bodies(
        {**BALL, "p": (0.0, 0, 0), "v": (10, 0, 0), "bounce": 1.0}, {**BALL, "p": (0.98, 0, 0), "bounce": 1.0}
    )
    bump, report = resolve(table, PAIR, DT, WAKE)
    assert report[0, 11] == pytest.approx(0.03 / 0.05)  # the gap of 3 cm closes at 10 m/s within the 5 ms
    assert table[0] + bump[0] == pytest.approx([-0.02, 0.98 + 0.02])
    assert bump[3] == pytest.approx([-10.0, 10.0])


def test_an_oblique_collision_of_billiard_balls_separates_at_a_right_angle(bodies: Make) -> None:
    """Equal elastic balls without friction leave at 90 degrees: the textbook result of billiards."""
    table = bodies(
        {**BALL, "p": (0, 0, 0), "v": (10, 0, 0), "bounce": 1.0}, {**BALL, "p": (0.8, 0.59, 0), "bounce": 1.0}
    )
    v, _ = after(table, resolve(table, PAIR, DT, WAKE)[0])
    assert v[:, 0] @ v[:, 1] == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(v, axis=0).min() > 1.0


@pytest.mark.parametrize("friction", [0.05, 0.1, 2.0])
def test_a_ball_thrown_obliquely_at_a_wall_slides_or_rolls(bodies: Make, friction: Any) -> None:
    """A solid ball (I = 2/5 m r2) loses mu times the normal impulse, or grips and keeps 5/7 of its speed."""
    r, u, w = 0.5, 6.0, 8.0
    table = bodies(
        {**BALL, "p": (r - 0.02, 0, 0), "v": (-w, u, 0), "inertia": 0.4 * r * r, "friction": friction, "bounce": 0.3},
        {"half": (1, 50, 50), "p": (-1, 0, 0), "mass": 0, "shape": BOX, "friction": friction},
    )
    v, spin = after(table, resolve(table, PAIR, DT, WAKE)[0])
    normal = 1.3 * w
    sliding = friction * normal < 2.0 / 7.0 * u
    assert v[0, 0] == pytest.approx(0.3 * w, rel=1e-9)
    assert v[1, 0] == pytest.approx(u - friction * normal if sliding else 5.0 / 7.0 * u, rel=1e-6)
    assert spin[2, 0] == pytest.approx(2.5 / r * (u - v[1, 0]), rel=1e-6)


def test_a_bar_hit_at_its_end_turns_about_its_centre_of_percussion(bodies: Make) -> None:
    """An elastic hit at the end of a free bar: impulse from the effective mass 1 / (1/m + r2/I)."""
    mass, length = 2.0, 3.0
    inertia = mass * length**2 / 12
    table = bodies(
        {"half": (length / 2, 0.05, 0.05), "shape": BOX, "p": (0, 0, 0), "mass": mass,
         "inertia": (1.0, inertia, inertia), "bounce": 1.0},
        {"half": (0.1, 0.1, 0.1), "p": (1.4, 0.14, 0), "v": (0, -4, 0), "mass": 0.5, "bounce": 1.0},
    )  # fmt: skip
    bump, report = resolve(table, PAIR, DT, WAKE)
    effective = 1.0 / (1 / mass + 1.4**2 / inertia + 1 / 0.5)
    assert report[0, 8] == pytest.approx(2 * effective * 4.0, rel=1e-3)
    assert bump[8, 0] == pytest.approx(-1.4 * report[0, 8] / inertia, rel=1e-3)
    v, w = after(table, bump)
    assert energy(table, v, w) == pytest.approx(energy(table, table[7:10], table[10:13]), rel=1e-6)


numbers = st.floats(-1.0, 1.0)
triples = st.tuples(numbers, numbers, numbers)


@given(
    shapes=st.tuples(*[st.sampled_from([SPHERE, CAPSULE, BOX])] * 2),
    spins=st.tuples(triples, triples),
    speeds=st.tuples(triples, triples),
    turns=st.tuples(triples, triples),
    towards=triples.filter(lambda t: np.linalg.norm(t) > 0.2),
    masses=st.tuples(st.floats(0.1, 10.0), st.floats(0.1, 10.0)),
    bounce=st.floats(0.0, 1.0),
)
def test_momentum_is_conserved_and_energy_never_grows(
    bodies: Make, shapes: Any, spins: Any, speeds: Any, turns: Any, towards: Any, masses: Any, bounce: Any
) -> None:
    """Pairs of any shapes without friction: momentum to 1e-9; angular momentum about the place of the touch as well."""
    way = np.array(towards) / np.linalg.norm(towards)
    half = (0.6, 0.3, 0.2)
    cases = [
        {
            "p": side * 0.3 * way, "half": half, "shape": shape, "mass": mass, "bounce": bounce,
            "inertia": mass * np.array([0.05, 0.15, 0.15]), "w": 3 * np.array(turn),
            "v": 5 * np.array(speed) - side * 4 * way, "q": Rotation.from_rotvec(3 * np.array(spin)).as_quat(),
        }
        for side, shape, spin, speed, turn, mass in zip((-1, 1), shapes, spins, speeds, turns, masses, strict=True)
    ]  # fmt: skip
    table = bodies(*cases)
    bump, report = resolve(table, PAIR, DT, WAKE)
    v, w = after(table, bump)
    before, later = momenta(table, table[7:10], table[10:13])[0], momenta(table, v, w)[0]
    scale = 1.0 + np.abs(1.0 / table[ROW.lightness] * table[7:10]).sum()
    assert np.abs(later - before).max() < 1e-9 * scale
    assert energy(table, v, w) <= energy(table, table[7:10], table[10:13]) * (1 + 1e-9) + 1e-12
    mass = 1.0 / table[ROW.lightness]
    assert np.abs((mass * bump[:3]).sum(axis=1)).max() < 1e-9 * scale  # the common centre of mass stays in place
    if len(report):
        at_touch = table.copy()
        at_touch[:3] -= (1.0 - report[0, 11]) * DT * table[7:10]
        turned = momenta(at_touch, v, w)[1] - momenta(at_touch, table[7:10], table[10:13])[1]
        assert np.abs(turned).max() < 1e-8 * scale


def test_nothing_tunnels_at_100_m_s(bodies: Make) -> None:
    """Every shape against a thin wall, a post and each other, from every phase of a 5 ms tick at 100 m/s."""
    wall = {"half": (0.05, 5, 5), "shape": BOX, "mass": 0}
    post = {"half": (0.1, 0.1, 2), "shape": CYLINDER, "mass": 0}
    small = {"half": (0.1, 0.1, 0.1), "mass": 0, "shape": BOX}
    shapes = [
        {"half": (0.15,) * 3, "shape": SPHERE},
        {"half": (0.05, 0.6, 0.05), "shape": CAPSULE, "inertia": 0.1},
        {"half": (0.3, 0.2, 0.1), "shape": BOX, "inertia": 0.1, "q": Rotation.from_euler("z", 0.3).as_quat()},
    ]
    for mover in shapes:
        for target in (wall, post, small, *({**s, "p": (0, 0, 0)} for s in shapes)):
            for phase in np.linspace(0.0, 1.0, 11):
                x = -1.0 + 0.5 * phase
                stopped = False
                for _ in range(6):
                    x += 100.0 * DT
                    table = bodies({**mover, "p": (x, 0.02, 0.01), "v": (100.0, 0, 0)}, {**target, "p": (0, 0, 0)})
                    bump, _ = resolve(table, PAIR, DT, WAKE)
                    stopped |= bump[3, 0] < 0.0
                assert stopped, (mover, target, phase)


def test_the_order_of_bodies_does_not_matter(bodies: Make) -> None:
    """A row of touching balls hit at one end, and the same row numbered the other way round: the same to 1e-8 m/s."""
    row = [{**BALL, "p": (k * 0.999, 0, 0), "bounce": 1.0, "mass": 2.0} for k in range(5)]
    row[0] = {**row[0], "v": (3.0, 0, 0)}
    pairs = np.ascontiguousarray(np.array(list(combinations(range(5), 2))).T)
    bumps, _ = resolve(bodies(*row), pairs, DT, WAKE)
    two, _ = resolve(bodies(*row[::-1]), pairs, DT, WAKE)
    assert bumps[3].sum() == pytest.approx(0.0, abs=1e-12)
    assert np.abs(bumps - two[:, ::-1]).max() < 1e-8
    assert bumps[3, -1] > 0.5  # the last one leaves


def test_a_shape_rests_on_the_ground_without_being_pushed(bodies: Make) -> None:
    """One tick of gravity is taken up exactly: velocity and position return to rest."""
    for half, shape in (((0.3, 0.3, 0.3), BOX), ((0.3, 0.3, 0.3), SPHERE)):
        fall = 9.81 * DT
        table = bodies(
            {"p": (0, 0, 0.2995 - fall * DT), "v": (0, 0, -fall), "half": half, "shape": shape, "inertia": 0.1}
        )
        table[ROW.ground : ROW.ground + 5, 0] = 0.0, 0.0, 0.0, 1.0, 1.0
        bump, report = resolve(table, np.zeros((2, 0), np.int64), DT, WAKE)
        assert report[0, 1] == GROUND
        assert bump[5, 0] == pytest.approx(9.81 * DT, rel=1e-9)
        assert table[2, 0] + bump[2, 0] == pytest.approx(0.2995, abs=1e-12)
        assert np.abs(bump[[0, 1, 3, 4, 6, 7, 8], 0]).max() < 1e-12
