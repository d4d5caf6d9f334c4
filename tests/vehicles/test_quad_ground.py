"""A quadrotor on the ground: touchdown, standing in wind, sliding, levelling and tipping over."""

from math import asin, cos, degrees, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest

from paddock.compute.kernel import kernel
from paddock.compute.quaternion import rotate
from paddock.scenario.loading import load_preset
from paddock.vehicles.model import Placement, find_model
from paddock.vehicles.parts.quad import MOTORS, Command, Parameters, State
from paddock.world.columns import Environment

MODEL = find_model("quad")
G = 9.80665
P = Parameters(**load_preset("quad", "iris"))
PRESETS = ("race", "freestyle", "micro", "long_range", "crazyflie", "iris")
HOVER = P.mass * G / (4.0 * P.thrust_max)  # share of full thrust


class Grounded:
    """A quadrotor with commanded motors; after `run`, rows of the state at every tick, and the specific force."""

    def __init__(self, rate: float = 250.0, world: Any = None, p: Parameters = P, **fields: float) -> None:
        self.dt, self.w, self.p = 1.0 / rate, Environment(**(world or {})), p
        placed = MODEL.place(Placement(0.0, 0.0, 0.0, 0.0, 0.0), p, self.w)._replace(**fields)
        self.rows = np.array(placed, dtype=float).reshape(-1, 1)

    def run(self, seconds: float, *shares: float) -> "Grounded":
        """Run with motors at these shares of full thrust, or all at one."""
        motors = shares if len(shares) == 4 else shares * 4
        command = np.array(Command(1.0, MOTORS)._replace(**{f"motor_{k + 1}": m for k, m in enumerate(motors)}))
        step, command = kernel(MODEL.step_spec()), command.reshape(-1, 1)
        history = [self.rows[:, 0].copy()]
        for _ in range(round(seconds / self.dt)):
            step(1, 1, self.rows, command, np.array(self.p), np.array(self.w), self.dt)
            history.append(self.rows[:, 0].copy())
        self.all: Any = State(*np.array(history).T)
        v = np.array([self.all.vx, self.all.vy, self.all.vz])
        self.force = np.diff(v, axis=1).T / self.dt + (0.0, 0.0, G)  # m/s2, world axes
        return self

    @property
    def s(self) -> Any:
        return State(*self.rows[:, 0].tolist())

    @property
    def tilt(self) -> float:
        """Degrees between its up axis and the world's."""
        return degrees(2.0 * asin(min(1.0, sqrt(self.s.qx**2 + self.s.qy**2))))


def tilted(angle: float) -> dict[str, float]:
    return {"qx": sin(radians(angle) / 2.0), "qw": cos(radians(angle) / 2.0)}


def vibration(force: Any, rate: float) -> Any:
    """The vibration level of ArduPilot: 5 Hz high-pass, squared, 2 Hz low-pass, root."""
    high, low = (1.0 / (1.0 + rate / (2.0 * np.pi * hertz)) for hertz in (5.0, 2.0))
    floor, level, levels = force[0].copy(), np.zeros(3), []
    for sample in force:
        floor += high * (sample - floor)
        level += low * ((sample - floor) ** 2 - level)
        levels.append(np.sqrt(level))
    return np.array(levels)


@pytest.mark.parametrize("rate", [250.0, 1200.0])
def test_a_touchdown_spreads_over_several_samples(rate: float) -> None:
    quad = Grounded(rate, z=P.leg_travel + 0.01, vz=-0.5, **{f"motor_{k}": sqrt(0.9 * HOVER) for k in (1, 2, 3, 4)})
    quad.run(1.0, 0.9 * HOVER)
    load = quad.force[:, 2] / G
    assert 1.2 < load.max() < 1.45  # g; 1 in flight and at rest
    slowing = np.count_nonzero(load > 1.1) / rate  # s
    assert slowing > 0.15  # forty samples of 4 ms
    assert np.abs(np.diff(load)).max() < 15.0 / rate  # g from one sample to the next: a smooth push
    assert vibration(quad.force, rate).max() < 1.0  # m/s2; with a touchdown at full hover thrust, see below
    assert quad.all.vz.max() < 0.15  # it does not bounce
    quad.run(1.5, 0.1)
    assert abs(quad.s.vz) < 1e-4


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("rate", [240.0, 1000.0])
def test_every_preset_lands_softly_and_stands(preset: str, rate: float) -> None:
    p = Parameters(**load_preset("quad", preset))
    hover = p.mass * G / (4.0 * p.thrust_max)
    quad = Grounded(rate, p=p, z=p.leg_travel + 0.02, vz=-0.5, **{f"motor_{k}": sqrt(hover) for k in (1, 2, 3, 4)})
    load = quad.run(0.5, hover).force[:, 2] / G
    least = 0.5**2 / (2.0 * p.leg_travel)  # m/s2: a constant push that stops it within the travel
    assert least < (load.max() - 1.0) * G < max(1.9 * least, 0.35 * G)  # long legs: mostly their springs
    assert vibration(quad.force, rate).max() < 0.07 / p.leg_travel  # m/s2: 0.7 for the 10 cm of the iris
    assert load.max() < 2.0 and quad.all.z.min() > -0.5 * p.leg_travel
    quad.run(2.0, 0.0)
    assert abs(quad.s.z) < 1e-4 and quad.s.vz == 0.0 and quad.tilt < 1e-9
    still = quad.run(1.0, 0.0).force - (0.0, 0.0, G)
    assert np.abs(still).max() < 1e-9


def test_a_hard_landing_stays_hard() -> None:
    soft, hard = (Grounded(1000.0, z=0.12, vz=-v).run(1.0, 0.0) for v in (0.3, 2.4))
    assert soft.force[:, 2].max() < 2.5 * G < 4.0 * G < hard.force[:, 2].max()
    assert hard.all.z.min() >= -0.5 * P.leg_travel and abs(hard.s.vz) < 1e-9


def test_standing_in_wind_with_idle_motors_is_perfectly_still() -> None:
    rate, wind = 250.0, {"wind_x": 12.0, "wind_y": -3.0}
    quad = Grounded(rate, wind).run(5.0, 0.04)
    x, y = quad.s.x, quad.s.y
    quad.run(55.0, 0.04)
    assert (quad.s.x, quad.s.y) == (x, y)
    assert np.abs([quad.all.vx, quad.all.vy, quad.all.vz]).max() < 1e-9
    assert np.abs(quad.force - (0.0, 0.0, G)).max() < 1e-6
    assert quad.tilt < 1e-6 and vibration(quad.force, rate).max() < 1e-3


def test_a_leaning_touchdown_in_wind_settles_without_chatter() -> None:
    rate = 1200.0
    quad = Grounded(rate, {"wind_x": 12.0}, z=0.02, vz=-0.4, **tilted(12.0))
    quad.run(1.5, 0.3 * HOVER)
    assert quad.tilt < 0.01
    assert vibration(quad.force, rate)[-1].max() < 0.1
    assert np.abs(quad.force[round(rate) :] - (0.0, 0.0, G)).max() < 0.01


def test_the_gyro_sees_how_the_legs_level_it() -> None:
    quad = Grounded(1000.0, z=0.005, **tilted(10.0)).run(1.0, 0.0)
    assert quad.tilt < 0.01
    turned = float(np.sum(quad.all.wx[1:])) * quad.dt
    assert degrees(turned) == pytest.approx(-10.0, abs=0.05)
    assert np.abs(np.diff(quad.all.wx)).max() < 0.3  # rad/s in 1 ms


def test_friction_stops_a_slide_in_v_squared_over_two_mu_g() -> None:
    for mu in (1.0, 0.3):
        quad = Grounded(1000.0, {"mu": mu}, vx=1.5).run(2.0, 0.0)
        assert quad.s.vx == 0.0
        assert quad.s.x == pytest.approx(1.5**2 / (2.0 * mu * G), rel=0.02)  # and a little air drag


def test_wind_beyond_friction_moves_it() -> None:
    pushed = P.drag * 12.0**2 / P.mass  # 3.4 m/s2
    assert Grounded(250.0, {"wind_x": 12.0, "mu": 1.05 * pushed / G}).run(3.0, 0.0).s.x == 0.0
    assert Grounded(250.0, {"wind_x": 12.0, "mu": 0.8 * pushed / G}).run(3.0, 0.0).s.x > 0.5


def test_it_levels_from_moderate_tilts_and_lies_where_it_has_tipped_over() -> None:
    assert Grounded(250.0, **tilted(40.0)).run(3.0, 0.0).tilt < 0.1
    for angle in (70.0, 120.0, 180.0):
        quad = Grounded(250.0, **tilted(angle)).run(3.0, 0.0)
        assert quad.tilt == pytest.approx(angle, abs=1.0)
        assert abs(quad.s.wx) < 1e-6


def test_the_foot_resists_a_torque_up_to_load_times_radius() -> None:
    # two motors of one side: thrust T of both at 0.707 arm, against (m g - T) at 0.7 arm
    thrust = 4.0 * P.thrust_max * np.array([0.20, 0.40]) / 2.0
    lever = sqrt(0.5) * P.arm
    assert thrust[0] * lever < 0.7 * P.arm * (P.mass * G - thrust[0])
    assert thrust[1] * lever > 0.7 * P.arm * (P.mass * G - thrust[1])
    assert Grounded().run(1.0, 0.0, 0.20, 0.20, 0.0).tilt < 1e-6
    tipped = Grounded().run(1.0, 0.0, 0.40, 0.40, 0.0).all
    assert 2.0 * degrees(asin(np.hypot(tipped.qx, tipped.qy).max())) > 90.0


def test_a_fall_at_any_attitude_gains_no_energy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(6):
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        rates = dict(zip(("wx", "wy", "wz"), rng.uniform(-3.0, 3.0, 3), strict=True))
        quad = Grounded(
            240.0,
            z=0.4,
            vx=float(rng.uniform(-2.0, 2.0)),
            **dict(zip(("qx", "qy", "qz", "qw"), q, strict=True)),
            **rates,
        )
        energy = np.array([MODEL.energy(State(*row), P, quad.w) for row in np.array(quad.run(2.0, 0.0).all).T])
        assert energy.max() < 1.01 * energy[0]
        touching = energy[np.argmax(quad.all.z < 0.0) :]
        assert np.diff(touching).max() < 0.01 * energy[0]  # the foot turns it upright
        up = rotate(quad.s.qx, quad.s.qy, quad.s.qz, quad.s.qw, 0.0, 0.0, 1.0)
        assert np.isfinite(up).all() and abs(quad.s.vz) < 1e-9
