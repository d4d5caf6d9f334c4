"""The fixed-wing aircraft: envelope, turns, wind and guidance."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paddock.compute.kernel import kernel
from paddock.compute.math import wrap_angle
from paddock.compute.quaternion import rotate
from paddock.vehicles.model import Desire, Placement
from paddock.vehicles.models.fixed_wing import (
    LOITER_BANK,
    MODEL,
    Command,
    Parameters,
    State,
    energy,
    guide,
    lag,
    place,
    pose,
    step,
)
from paddock.world.columns import Environment, Pose, columns_of

P, W = Parameters(), Environment()
G = W.gravity


def start(speed: float = 0.0, yaw: float = 0.0, z: float = 100.0, w: Environment = W) -> State:
    return place(Placement(0.0, 0.0, z, yaw, speed), P, w)


def fly(state: State, command: Command, seconds: float, dt: float = 0.02, w: Environment = W) -> State:
    for _ in range(round(seconds / dt)):
        state = step(state, command, P, w, dt)
    return state


def guided(state: State, desire: Desire, seconds: float, w: Environment = W, dt: float = 0.02) -> State:
    for _ in range(round(seconds / dt)):
        state = step(state, guide(state, Command(), P, desire), P, w, dt)
    return state


def test_placed_at_cruise_or_inside_the_envelope() -> None:
    assert start(0.0).airspeed == P.speed == 17.5
    assert start(20.0).airspeed == 20.0
    assert start(3.0).airspeed == P.speed_min
    assert start(99.0).airspeed == P.speed_max
    assert start(z=-5.0).z == 0.0


def test_default_command_flies_straight_and_level() -> None:
    state = fly(start(), Command(), 4.0)
    assert state.x == pytest.approx(70.0, abs=1e-9)
    assert (state.y, state.z, state.yaw, state.airspeed) == (0.0, 100.0, 0.0, 17.5)


@pytest.mark.parametrize("bank", [0.2, -0.3])
def test_coordinated_turn_has_the_textbook_rate_and_radius(bank: float) -> None:
    settled = fly(start(), Command(bank=bank), 6.0)
    rate = -G * math.tan(bank) / 17.5  # right wing down turns right: clockwise
    assert settled.turn_rate == pytest.approx(rate, rel=1e-5)
    turned = fly(settled, Command(bank=bank), 1.0)
    assert wrap_angle(turned.yaw - settled.yaw) == pytest.approx(rate, rel=1e-5)
    chord = math.hypot(turned.x - settled.x, turned.y - settled.y)
    assert chord == pytest.approx(2.0 * 17.5 / abs(rate) * math.sin(0.5 * abs(rate)), rel=1e-5)


@pytest.mark.parametrize("speed", [12.0, 17.5, 25.0])
def test_radius_never_below_the_smallest(speed: float) -> None:
    state = fly(start(speed), Command(speed=speed, bank=1.5), 10.0)
    assert state.bank == pytest.approx(P.bank_max)
    radius = speed / abs(state.turn_rate)
    assert radius == pytest.approx(max(P.turn_radius, speed**2 / (G * math.tan(P.bank_max))), rel=1e-9)


def test_envelope_holds_under_random_commands_in_wind() -> None:
    random, n, dt = np.random.default_rng(2), 64, 0.05
    at = Placement(*np.zeros((3, n)), random.uniform(-3.0, 3.0, n), np.zeros(n))
    windy = Environment(wind_x=9.0, wind_y=-4.0, wind_z=-1.0, ground_z=-2.0)
    state = np.array([place(Placement(*row), P, windy) for row in np.array(at).T]).T.copy()
    for _ in range(400):
        ranges = [(c.low, c.high) for c in columns_of(Command)]
        command = np.array([random.uniform(low, high, n) for low, high in ranges])
        kernel(replace(MODEL, name="fixed_wing").step_spec())(n, 1, state, command, np.array(P), np.array(windy), dt)
        s = State(*state)
        assert s.airspeed.min() >= P.speed_min and s.airspeed.max() <= P.speed_max
        assert s.z.min() >= -2.0
        assert np.abs(s.climb).max() <= P.climb_max and np.abs(s.bank).max() <= P.bank_max
        level = np.hypot(s.vx - 9.0, s.vy + 4.0)
        assert (np.abs(s.turn_rate) * P.turn_radius <= level * (1.0 + 1e-9)).all()


def test_lag_is_exact_in_one_tick_or_many() -> None:
    once = fly(start(), Command(speed=22.0, climb=3.0), 1.0, dt=1.0)
    often = fly(start(), Command(speed=22.0, climb=3.0), 1.0, dt=0.01)
    left = math.exp(-1.0 / P.speed_time)
    assert once.airspeed == pytest.approx(22.0 - 4.5 * left, abs=1e-12)
    assert often.airspeed == pytest.approx(once.airspeed, abs=1e-12)
    assert often.z == pytest.approx(once.z, abs=1e-11)
    assert once.z == pytest.approx(100.0 + 3.0 - 3.0 * P.speed_time * (1.0 - left), abs=1e-12)
    assert lag(2.0, 2.0, 1.0, 0.1) == (2.0, 2.0)


def test_wind_drifts_the_aircraft() -> None:
    windy = Environment(wind_x=3.0, wind_y=-5.0, wind_z=0.5)
    calm, carried = fly(start(), Command(bank=0.3), 3.0), fly(start(w=windy), Command(bank=0.3), 3.0, w=windy)
    assert carried.x - calm.x == pytest.approx(9.0, abs=1e-9)
    assert carried.y - calm.y == pytest.approx(-15.0, abs=1e-9)
    assert carried.z - calm.z == pytest.approx(1.5, abs=1e-9)
    assert carried.vx - calm.vx == pytest.approx(3.0)
    assert carried.vz == pytest.approx(0.5)
    assert pose(carried, P).vy - pose(calm, P).vy == pytest.approx(-5.0)


def test_lands_on_the_ground_without_sinking() -> None:
    state = fly(start(z=3.0), Command(climb=-4.0), 5.0)
    assert state.z == 0.0
    assert state.vz == 0.0
    assert fly(state, Command(climb=4.0), 4.0).z > 5.0


def test_pose_banks_right_wing_down_and_raises_the_nose() -> None:
    state = fly(start(), Command(bank=0.4, climb=4.0), 8.0)
    q = pose(state, P)[3:7]
    left_wing, nose = rotate(*q, 0.0, 1.0, 0.0), rotate(*q, 1.0, 0.0, 0.0)
    assert left_wing[2] > 0.3
    assert nose[2] == pytest.approx(state.climb / state.airspeed, abs=1e-9)
    assert math.atan2(nose[1], nose[0]) == pytest.approx(wrap_angle(state.yaw), abs=1e-9)


def turned_by(a: Pose, b: Pose) -> np.ndarray:
    """The small rotation, about body axes, from one pose's attitude to the other's, rad."""
    qa, qb = np.array(a[3:7]), np.array(b[3:7])
    vector = qa[3] * qb[:3] - qb[3] * qa[:3] - np.cross(qa[:3], qb[:3])  # of conjugate(a) * b
    return np.asarray(2.0 * vector * np.sign(qa @ qb))


MANOEUVRES = {
    "roll": Command(bank=0.4),
    "climb": Command(climb=4.0),
    "acceleration": Command(speed=25.0),
    "climbing turn": Command(speed=24.0, bank=-0.35, climb=4.0),
    "diving turn": Command(speed=12.0, bank=0.7, climb=-4.0),
}


@pytest.mark.parametrize("command", MANOEUVRES.values(), ids=MANOEUVRES)
@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_body_rates_are_the_rates_of_the_attitude(command: Command, dt: float) -> None:
    state = fly(fly(start(), Command(speed=14.0, climb=-2.0, bank=-0.2), 3.0), command, 0.3)
    after = step(state, command, P, W, dt)
    a, b = pose(state, P), pose(after, P)
    np.testing.assert_allclose(turned_by(a, b) / dt, a[10:13], atol=3.0 * dt)  # rates change by up to 6 rad/s2
    assert np.linalg.norm(a[10:13]) > 0.02


def test_steep_climbs_turn_the_body_as_the_path_bends() -> None:
    steep = P._replace(climb_max=100.0)  # the airspeed, which grows, limits the climb
    state, command, dt = start(12.0), Command(speed=25.0, climb=100.0, bank=0.3), 1e-4
    for _ in range(40):
        state = step(state, command, steep, W, 0.02)
    a, b = pose(state, steep), pose(step(state, command, steep, W, dt), steep)
    np.testing.assert_allclose(turned_by(a, b) / dt, a[10:13], atol=5e-4)
    assert a.wy < -0.1  # nose up, about the left wing


def test_integrated_gyro_rates_equal_the_attitude() -> None:
    """A pilot's random commands for ten seconds: the rates of every tick lead to where the nose points."""
    random, dt = np.random.default_rng(4), 0.004
    state, pitch, deviations = start(), 0.0, []
    for tick in range(2500):
        if tick % 250 == 0:
            command = Command(random.uniform(12.0, 25.0), 0.0, random.uniform(-4.0, 4.0))
        state = step(state, command, P, W, dt)
        pitch -= pose(state, P).wy * dt  # wings level: the pitch is the sum of its rate
        deviations.append(pitch - math.asin(state.climb / state.airspeed))
    assert np.abs(deviations).max() < 0.005


def test_velocity_is_the_rate_of_position() -> None:
    state = fly(start(yaw=1.0), Command(speed=20.0, bank=-0.3, climb=2.0), 2.0)
    after = step(state, Command(speed=20.0, bank=-0.3, climb=2.0), P, W, 1e-4)
    moved = (np.array(after[:3]) - np.array(state[:3])) / 1e-4
    np.testing.assert_allclose(moved, state[3:6], atol=1e-3)


def test_guide_brings_the_ground_track_to_the_wanted_course_in_crosswind() -> None:
    windy = Environment(wind_x=0.0, wind_y=8.0)
    state = guided(start(yaw=2.0, w=windy), Desire(15.0, 0.0, 0.0, 100.0), 40.0, windy)
    assert math.atan2(state.vy, state.vx) == pytest.approx(0.0, abs=1e-3)
    assert state.vx == pytest.approx(15.0, abs=0.05)
    assert state.yaw == pytest.approx(-math.asin(8.0 / state.airspeed), abs=1e-3)


@pytest.mark.parametrize("course", [0.0, 1.5, 3.1, -2.0])
def test_guide_holds_a_course_and_climbs(course: float) -> None:
    desire = Desire(17.5 * math.cos(course), 17.5 * math.sin(course), 2.0, 100.0)
    state = guided(start(), desire, 40.0)
    assert wrap_angle(state.yaw - course) == pytest.approx(0.0, abs=1e-3)
    assert state.vz == pytest.approx(2.0, abs=1e-6)
    assert abs(state.bank) < 1e-3


def test_guide_loiters_instead_of_stopping() -> None:
    command = guide(start(), Command(), P, Desire(0.0, 0.0, 0.0, 0.0))
    assert command == (P.speed, LOITER_BANK, 0.0)
    state = guided(start(), Desire(0.0, 0.0, 0.0, 0.0), 120.0)
    assert math.hypot(state.x, state.y) < 300.0
    assert state.airspeed == pytest.approx(17.5)


def test_failsafe_is_a_level_circle_at_the_last_speed() -> None:
    failsafe = {c.name: c.failsafe for c in columns_of(Command)}
    assert failsafe == {"speed": None, "bank": 0.35, "climb": 0.0}


def test_energy_counts_speed_and_height() -> None:
    assert energy(start(20.0, z=10.0), P, W) == pytest.approx(200.0 + 10.0 * G)
