"""The quadrotor against mechanics, closed forms and the flight controller's requirements."""

from __future__ import annotations

from math import cosh, log, pi, radians, sqrt, tan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from paddock.compute.kernel import kernel
from paddock.compute.twin import vectorised
from paddock.scenario import load_preset, preset_names
from paddock.vehicles.model import Placement, find_model
from paddock.vehicles.parts.quad import (
    ACRO,
    ALTITUDE,
    ANGLE,
    GOTO,
    HORIZON,
    MOTORS,
    POSITION,
    VELOCITY,
    Command,
    Motors,
    Parameters,
    State,
    body,
)
from paddock.vehicles.parts.quad_control import actual_rate
from paddock.world.columns import Environment, columns_of

MODEL = find_model("quad")
PRESETS = preset_names("quad")
GRAVITY = 9.80665
every_preset = pytest.mark.parametrize("preset", PRESETS)
both_rates = pytest.mark.parametrize("rate", [240.0, 1000.0])


class Quad:
    """One quadrotor, hovering at first, flown tick by tick by the compiled kernel."""

    def __init__(
        self,
        preset: str = "race",
        rate: float = 240.0,
        z: float = 100.0,
        world: Environment | None = None,
        **changes: Any,
    ) -> None:
        self.p = Parameters(**(load_preset("quad", preset) | changes))
        self.w = world or Environment()
        self.dt = 1.0 / rate
        start = MODEL.place(Placement(0.0, 0.0, z, 0.0, 0.0), self.p, self.w)
        self.array = np.array(start, dtype=float).reshape(-1, 1)

    @property
    def s(self) -> State:
        return State(*(float(v) for v in self.array[:, 0]))

    def put(self, **values: float) -> Quad:
        self.array[:, 0] = self.s._replace(**values)
        return self

    def fly(self, seconds: float, every: int = 1, **command: float) -> State:
        """The state after each `every` ticks, as a State of arrays; sticks and setpoints stay as given."""
        step, count = kernel(MODEL.step_spec()), round(seconds / self.dt / every)
        history = np.empty((len(State._fields), count))
        u = np.array(Command(**command), dtype=float).reshape(-1, 1)
        for k in range(count):
            step(1, every, self.array, u, np.array(self.p), np.array(self.w), self.dt)
            history[:, k] = self.array[:, 0]
        return State(*history)

    def off(self) -> Quad:
        """With its motors stopped at once."""
        return self.put(motor_1=0.0, motor_2=0.0, motor_3=0.0, motor_4=0.0)

    @property
    def thrust(self) -> float:
        return float(self.p.thrust_max * np.sum(self.array[13:17] ** 2))

    @property
    def hover_throttle(self) -> float:
        return self.p.mass * GRAVITY / (4.0 * self.p.thrust_max)

    def rate_for(self, stick: float) -> float:
        return actual_rate(stick, self.p.rate_center, self.p.rate_max, self.p.rate_expo)


def tilt(h: State) -> Any:
    """Angle between the body's up axis and the vertical, rad."""
    return np.arccos(np.clip(1.0 - 2.0 * (h.qx * h.qx + h.qy * h.qy), -1.0, 1.0))


def momentum(quad: Quad) -> np.ndarray:
    """Angular momentum in world axes, kg m2/s."""
    s, p = quad.s, quad.p
    spin = np.array([p.inertia_x * s.wx, p.inertia_y * s.wy, p.inertia_z * s.wz])
    return Rotation.from_quat([s.qx, s.qy, s.qz, s.qw]).apply(spin)


# Mechanics


@every_preset
def test_hovering_takes_a_thrust_equal_to_the_weight(preset: str) -> None:
    quad = Quad(preset)
    quad.fly(5.0, every=60)
    assert quad.thrust == pytest.approx(quad.p.mass * GRAVITY, rel=1e-6)
    assert abs(quad.s.z - 100.0) < 1e-3


def test_without_motors_and_air_it_falls_by_half_g_t_squared() -> None:
    quad = Quad(rate=1000.0, drag=0.0).off()
    h = quad.fly(2.0, armed=0.0)
    t = np.arange(1, 2001) * quad.dt
    # semi-implicit Euler falls exactly g t dt / 2 further than the parabola
    np.testing.assert_allclose(100.0 - h.z, 0.5 * GRAVITY * t * (t + quad.dt), atol=1e-9)


@every_preset
def test_air_drag_slows_the_fall_as_the_closed_form_says(preset: str) -> None:
    quad = Quad(preset, rate=1000.0).off()
    quad.fly(3.0, every=1000, armed=0.0)
    k = quad.p.drag / quad.p.mass
    assert 100.0 - quad.s.z == pytest.approx(log(cosh(3.0 * sqrt(GRAVITY * k))) / k, rel=1e-3)


@every_preset
def test_disarming_in_the_air_lets_it_fall(preset: str) -> None:
    quad = Quad(preset)
    quad.fly(1.0, armed=0.0)
    assert quad.thrust < 1e-6 * quad.p.mass * GRAVITY
    assert 4.0 < 100.0 - quad.s.z < 0.5 * GRAVITY * (1.0 + quad.dt)


@every_preset
def test_level_top_speed_balances_drag_and_tilt(preset: str) -> None:
    quad = Quad(preset)
    quad.fly(15.0, every=240, mode=ALTITUDE, pitch=1.0, throttle=0.5)
    assert quad.s.vx == pytest.approx(sqrt(quad.p.mass * GRAVITY * tan(quad.p.angle_max) / quad.p.drag), rel=0.01)
    assert abs(quad.s.vy) < 0.01
    assert abs(quad.s.vz) < 0.05


@pytest.mark.parametrize(("rate", "drift_most"), [(1000.0, 0.01), (2000.0, 0.005), (4000.0, 0.0025)])
def test_a_free_tumble_keeps_its_angular_momentum_to_first_order(rate: float, drift_most: float) -> None:
    space = Environment(gravity=0.0)
    quad = Quad(rate=rate, world=space, drag=0.0, inertia_x=0.003, inertia_y=0.004, inertia_z=0.006).off()
    quad.put(wx=5.0, wy=3.0, wz=8.0)
    before, energy = momentum(quad), MODEL.energy(quad.s, quad.p, space)
    quad.fly(2.0, armed=0.0)
    assert abs(quad.s.wx - 5.0) + abs(quad.s.wy - 3.0) > 0.5  # it does tumble
    assert np.linalg.norm(momentum(quad) - before) < drift_most * np.linalg.norm(before)
    assert MODEL.energy(quad.s, quad.p, space) == pytest.approx(energy, rel=2.0 * drift_most)


@every_preset
def test_a_long_free_tumble_gains_no_energy(preset: str) -> None:
    space = Environment(gravity=0.0)
    quad = Quad(preset, world=space, drag=0.0).off().put(wx=10.0, wy=3.0, wz=5.0)
    before = MODEL.energy(quad.s, quad.p, space)
    h = quad.fly(30.0, armed=0.0)
    np.testing.assert_allclose(vectorised(MODEL.energy)(h, quad.p, space), before, rtol=0.05)


def test_dropped_from_a_metre_it_comes_to_rest_level_on_the_ground() -> None:
    quad = Quad(z=1.0).off().put(qx=0.15, qw=sqrt(1.0 - 0.15**2), vx=2.0)
    fall = quad.fly(0.6, armed=0.0)
    assert fall.vz.min() == pytest.approx(-sqrt(2.0 * GRAVITY * (1.0 - quad.p.leg_travel)), rel=0.02)
    rest = quad.fly(3.0, armed=0.0)
    assert abs(rest.z[-1]) < 1e-4
    assert max(map(abs, (quad.s.vx, quad.s.vy, quad.s.vz, quad.s.wx, quad.s.wy, quad.s.wz))) < 1e-12
    assert tilt(rest)[-1] < 1e-6
    assert rest.x[-1] == rest.x[-240]


def test_it_takes_off_from_the_ground() -> None:
    quad = Quad(z=0.0)
    assert quad.s.motor_1 == 0.0
    quad.fly(10.0, mode=GOTO, z=3.0)
    assert quad.s.z == pytest.approx(3.0, abs=0.05)


def test_integrators_do_not_wind_up_on_the_ground() -> None:
    quad = Quad(z=1.0)
    quad.fly(20.0, every=240, mode=VELOCITY, vz=-0.7)
    assert 0.0 <= quad.s.z < quad.p.leg_travel  # the motors carry a part of the weight, the legs the rest
    h = quad.fly(2.0, mode=VELOCITY, vz=0.5)
    assert float(np.argmax(h.z > quad.p.leg_travel)) * quad.dt < 0.5
    assert h.z[-1] > 0.6


@pytest.mark.parametrize(
    ("faster", "axis", "direction"),
    [
        ((1, 2), "wz", -1.0),  # front right and rear left turn counter-clockwise: the nose goes right
        ((3, 4), "wz", 1.0),
        ((2, 3), "wx", 1.0),  # the left side lifts: it rolls right
        ((2, 4), "wy", 1.0),  # the rear lifts: the nose goes down
    ],
)
def test_faster_motors_turn_the_body(faster: tuple[int, int], axis: str, direction: float) -> None:
    quad = Quad(rate=1000.0)
    speeds = [0.45 if motor in faster else 0.35 for motor in (1, 2, 3, 4)]
    after = body(quad.s, quad.p, quad.w, Motors(*speeds, charge=1.0, voltage=25.0), quad.dt)
    difference = 2.0 * quad.p.thrust_max * (0.45**2 - 0.35**2)
    lever = {"wz": quad.p.torque_ratio}.get(axis, quad.p.arm / sqrt(2.0))
    inertia = {"wx": quad.p.inertia_x, "wy": quad.p.inertia_y, "wz": quad.p.inertia_z}[axis]
    assert getattr(after, axis) == pytest.approx(direction * difference * lever / inertia * quad.dt, rel=1e-9)
    for other in {"wx", "wy", "wz"} - {axis}:
        assert abs(getattr(after, other)) < 1e-12


def test_ground_effect_adds_lift_near_the_ground_only() -> None:
    # Cheeseman and Bennett: thrust grows by 1 / (1 - (R / 4z)^2)
    near, far = Quad(z=0.064, ground_effect=1.0), Quad(z=10.0, ground_effect=1.0)
    lifts = []
    for quad in (near, far):
        speed = quad.s.motor_1
        lifts.append(body(quad.s, quad.p, quad.w, Motors(speed, speed, speed, speed, 1.0, 25.0), quad.dt).vz / quad.dt)
    assert lifts[0] == pytest.approx(GRAVITY * (1.0 / (1.0 - 1.0 / 16.0) - 1.0), rel=1e-6)
    assert abs(lifts[1]) < 1e-3


# Rate loop


def settled(rates: Any, wanted: float, dt: float) -> tuple[float, float]:
    """Time, s, after which the rate stays within 5 % of the wanted one, and the overshoot as a share of it."""
    outside = np.flatnonzero(np.abs(rates - wanted) > 0.05 * abs(wanted))
    return (outside[-1] + 1) * dt if outside.size else 0.0, float((rates / wanted).max() - 1.0)


@every_preset
@both_rates
@pytest.mark.parametrize(("axis", "stick"), [("roll", 0.5), ("pitch", 0.5), ("pitch", -0.5), ("yaw", 0.25)])
def test_a_rate_step_settles_in_100_ms(preset: str, rate: float, axis: str, stick: float) -> None:
    quad = Quad(preset, rate)
    h = quad.fly(0.3, mode=ACRO, throttle=quad.hover_throttle, **{axis: stick})
    rates = {"roll": h.wx, "pitch": h.wy, "yaw": h.wz}[axis]
    time, overshoot = settled(rates, quad.rate_for(stick), quad.dt)
    assert time < 0.1
    assert overshoot < 0.15


def gyroscopic_error(rate_i: float) -> tuple[float, float]:
    """Roll rate left over, rad/s, while it pitches and yaws, and the roll acceleration that coupling causes."""
    quad = Quad(z=5000.0, rate_i=rate_i)
    h = quad.fly(12.0, mode=ACRO, throttle=quad.hover_throttle, pitch=0.5, yaw=0.25)
    p = quad.p
    return h.wx[-1], (p.inertia_y - p.inertia_z) / p.inertia_x * h.wy[-1] * h.wz[-1]


def test_the_i_term_removes_a_lasting_disturbance() -> None:
    error, disturbance = gyroscopic_error(rate_i=0.0)
    assert abs(disturbance) > 1.0
    assert error == pytest.approx(disturbance / Parameters().rate_p, rel=0.05)  # P alone: the error that balances it
    left, _ = gyroscopic_error(rate_i=Parameters().rate_i)
    assert abs(left) < 0.05 * abs(error)


def roll_step(**changes: float) -> tuple[float, float]:
    """Time to 90 % of the wanted rate, s, and overshoot of a roll step."""
    quad = Quad(rate=1000.0, **changes)
    h = quad.fly(0.3, mode=ACRO, throttle=quad.hover_throttle, roll=0.5)
    wanted = quad.rate_for(0.5)
    return float(np.argmax(h.wx > 0.9 * wanted)) * quad.dt, settled(h.wx, wanted, quad.dt)[1]


def test_feed_forward_makes_the_rise_faster() -> None:
    assert roll_step(rate_f=0.0)[0] > 1.2 * roll_step()[0]


def test_the_d_term_damps_the_overshoot() -> None:
    assert roll_step(rate_d=0.0)[1] > roll_step()[1] + 0.05


# Flight modes


@every_preset
@both_rates
@pytest.mark.parametrize("axis", ["roll", "pitch"])
def test_angle_mode_settles_in_half_a_second(preset: str, rate: float, axis: str) -> None:
    quad = Quad(preset, rate)
    h = quad.fly(1.5, mode=ANGLE, throttle=quad.hover_throttle, **{axis: 0.5})
    wanted = 0.5 * quad.p.angle_max
    time, overshoot = settled(tilt(h), wanted, quad.dt)
    assert time < 0.5
    assert overshoot < 0.15
    assert tilt(h)[-1] == pytest.approx(wanted, rel=0.01)


@every_preset
def test_horizon_flips_at_full_stick_and_levels_at_centre(preset: str) -> None:
    quad = Quad(preset, z=1000.0)
    flip = quad.fly(1.5, mode=HORIZON, throttle=quad.hover_throttle, roll=1.0)
    assert flip.wx[-1] == pytest.approx(quad.p.rate_max, rel=0.05)
    assert tilt(flip).max() > 0.95 * pi
    level = quad.fly(2.0, mode=HORIZON, throttle=quad.hover_throttle)
    assert tilt(level)[-1] < radians(1.0)


@every_preset
@pytest.mark.parametrize("mode", [POSITION, GOTO])
def test_hover_holds_five_centimetres_in_wind(preset: str, mode: float) -> None:
    quad = Quad(preset, world=Environment(wind_x=4.0, wind_y=-3.0))
    quad.fly(20.0, every=240, mode=mode, throttle=0.5, z=100.0)
    h = quad.fly(10.0, mode=mode, throttle=0.5, z=100.0)
    assert np.max(np.hypot(h.x, h.y)) < 0.05
    assert np.max(np.abs(h.z - 100.0)) < 0.05


@every_preset
def test_goto_does_not_overshoot(preset: str) -> None:
    quad = Quad(preset)
    h = quad.fly(20.0, mode=GOTO, x=60.0, z=100.0, heading=1.0)
    assert h.x.max() < 60.2
    assert h.x[-1] == pytest.approx(60.0, abs=0.05)
    assert np.max(np.abs(h.z - 100.0)) < 1.0
    assert 2.0 * np.arctan2(h.qz[-1], h.qw[-1]) == pytest.approx(1.0, abs=0.01)


@every_preset
def test_releasing_the_stick_in_position_mode_stops_and_holds(preset: str) -> None:
    quad = Quad(preset)
    quad.fly(4.0, mode=POSITION, pitch=0.4, throttle=0.5)
    assert quad.s.vx == pytest.approx(0.4 * quad.p.speed_max, rel=0.25)
    quad.fly(12.0, mode=POSITION, throttle=0.5)
    h = quad.fly(5.0, mode=POSITION, throttle=0.5)
    assert np.max(np.hypot(h.vx, h.vy)) < 0.05
    assert np.ptp(h.x) < 0.05
    assert np.max(np.abs(h.z - 100.0)) < 0.1


@every_preset
def test_altitude_mode_holds_the_height_while_it_pitches(preset: str) -> None:
    quad = Quad(preset)
    h = quad.fly(5.0, mode=ALTITUDE, throttle=0.5, pitch=radians(20.0) / quad.p.angle_max)
    assert tilt(h)[-1] == pytest.approx(radians(20.0), rel=0.02)
    assert np.max(np.abs(h.z - 100.0)) < 0.05


def test_velocity_mode_reaches_the_velocity_in_wind() -> None:
    quad = Quad(world=Environment(wind_y=5.0))
    quad.fly(10.0, every=240, mode=VELOCITY, vx=8.0, vy=-2.0, vz=1.0)
    assert (quad.s.vx, quad.s.vy, quad.s.vz) == pytest.approx((8.0, -2.0, 1.0), abs=0.1)


# Battery in flight


def test_hovering_drains_the_battery_as_its_power_says() -> None:
    quad = Quad()
    p = quad.p
    power = p.power_ratio * p.thrust_max * 4.0 * (p.mass * GRAVITY / (4.0 * p.thrust_max)) ** 1.5
    h = quad.fly(60.0, every=1)
    current = power / h.voltage
    assert 1.0 - h.charge[-1] == pytest.approx(float(np.sum(current)) * quad.dt / (3.6 * p.capacity), rel=1e-3)
    # on a whole charge: 1.3 Ah at the 3.83 V that a LiPo cell gives on average
    quad.put(charge=1.0)
    ended = quad.fly(1800.0, every=240)
    assert float(np.argmax(ended.charge <= 0.0)) == pytest.approx(1.3 * 3600.0 * 6.0 * 3.83 / power, rel=0.03)


def test_with_an_empty_battery_it_comes_down() -> None:
    quad = Quad(capacity=20.0, z=20.0)
    h = quad.fly(40.0)
    empty = int(np.argmax(h.charge <= 0.0))
    assert 10.0 < empty * quad.dt < 30.0
    assert abs(h.z[empty] - 20.0) < 1.0
    assert abs(h.z[-1]) < 1e-4
    assert h.charge[-1] >= -0.02


# One source, two ways to run it


def commands(rng: np.random.Generator, n: int) -> np.ndarray:
    """Random commands over the whole range of every input, all modes among them; columns x n."""
    rows = []
    for column in columns_of(Command):
        low, high = max(column.low, -20.0), min(column.high, 20.0)
        rows.append(rng.uniform(low, high, n))
    rows[0], rows[1] = np.where(rng.random(n) < 0.9, 1.0, 0.0), rng.integers(0, 7, n).astype(float)
    return np.array(rows)


@every_preset
def test_compiled_and_python_give_the_same_bits(preset: str) -> None:
    rng = np.random.default_rng(3)
    n, ticks, dt = 14, 120, 1.0 / 240.0
    p, w = Parameters(**load_preset("quad", preset)), Environment(wind_x=3.0, wind_z=-1.0)
    plain = [MODEL.place(Placement(float(i), 0.0, 0.3 * i, 0.5 * i, 0.2 * i), p, w) for i in range(n)]
    array, u = np.array(plain).T.copy(), commands(rng, n)
    for tick in range(ticks):
        if tick % 10 == 0:
            u = commands(rng, n)
        kernel(MODEL.step_spec())(n, 1, array, u, np.array(p), np.array(w), dt)
        plain = [MODEL.step(s, Command(*map(float, u[:, i])), p, w, dt) for i, s in enumerate(plain)]
    np.testing.assert_array_equal(array, np.array(plain).T)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), preset=st.sampled_from(PRESETS))
def test_the_attitude_stays_a_unit_quaternion_and_everything_finite(seed: int, preset: str) -> None:
    rng = np.random.default_rng(seed)
    p, w, n = Parameters(**load_preset("quad", preset)), Environment(wind_x=3.0), 32
    start = MODEL.place(Placement(0.0, 0.0, 30.0, 0.0, 0.0), p, w)
    array = np.repeat(np.array(start).reshape(-1, 1), n, axis=1)
    for _ in range(100):
        kernel(MODEL.step_spec())(n, 100, array, commands(rng, n), np.array(p), np.array(w), 1.0 / 240.0)
        assert np.max(np.abs(np.linalg.norm(array[6:10], axis=0) - 1.0)) < 1e-12
    assert np.all(np.isfinite(array))
    assert np.all(array[2] >= -0.03)  # the travel of its legs


# --- motors commanded one by one -------------------------------------------------------------------------------------


def each_motor(*shares: float) -> dict[str, float]:
    return {"mode": MOTORS, **{f"motor_{k}": share for k, share in enumerate(shares, 1)}}


@every_preset
def test_equal_motors_hover_where_their_thrust_is_the_weight(preset: str) -> None:
    quad = Quad(preset, drag=0.0)
    share = quad.p.mass * GRAVITY / (4.0 * quad.p.thrust_max)
    flown = quad.fly(0.5, **each_motor(share, share, share, share))
    assert np.abs(flown.vz).max() < 1e-9 and np.allclose(flown.motor_1, sqrt(share), rtol=1e-12)


@pytest.mark.parametrize(
    ("shares", "roll", "pitch", "yaw"),
    [
        ((0.5, 0.3, 0.3, 0.5), -1, 0, 0),  # the right side lifts: rolls left, negative about the forward axis
        ((0.5, 0.3, 0.5, 0.3), 0, -1, 0),  # the front lifts: nose up, negative about the left axis
        ((0.5, 0.5, 0.3, 0.3), 0, 0, -1),  # the counter-clockwise propellers: the nose turns right
    ],
)
def test_single_motors_turn_the_airframe(shares: tuple[float, ...], roll: int, pitch: int, yaw: int) -> None:
    quad = Quad("iris")
    quad.put(**{f"motor_{k}": sqrt(share) for k, share in enumerate(shares, 1)})  # no lag left
    quad.fly(0.02, **each_motor(*shares))
    lever, extra = quad.p.arm / sqrt(2.0), 2 * 0.2 * quad.p.thrust_max
    expected = [
        roll * extra * lever / quad.p.inertia_x,
        pitch * extra * lever / quad.p.inertia_y,
        yaw * extra * quad.p.torque_ratio / quad.p.inertia_z,
    ]
    ticks = round(0.02 / quad.dt)
    got = np.array([quad.s.wx, quad.s.wy, quad.s.wz]) / (ticks * quad.dt)
    assert np.allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_a_commanded_motor_stops_without_idling_and_when_disarmed() -> None:
    quad = Quad("iris")
    stopped = quad.fly(2.0, **each_motor(0.0, 0.4, 0.4, 0.4))
    assert stopped.motor_1[-1] < 1e-12 < 0.5 < stopped.motor_2[-1]
    assert Quad("iris").fly(2.0, armed=0.0, **each_motor(0.4, 0.4, 0.4, 0.4)).motor_2[-1] < 1e-12
    idling = Quad("iris").fly(2.0, mode=ANGLE, throttle=0.0)
    assert idling.motor_1[-1] == pytest.approx(Quad("iris").p.motor_idle, rel=1e-9)


def test_the_controllers_memory_rests_while_motors_are_commanded() -> None:
    quad = Quad("iris").put(integral_x=3.0, trim_z=1.0)
    after = quad.fly(0.1, x=500.0, **each_motor(0.9, 0.9, 0.2, 0.2))
    for name in ("integral_x", "integral_y", "integral_z", "trim_x", "trim_y", "trim_z"):
        assert (getattr(after, name) == 0.0).all(), name
