"""The fixed wing with aerodynamics against flight mechanics: trim, stall, modes, glide, climb, and the ground."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve

import paddock
from paddock.compute.kernel import kernel
from paddock.compute.quaternion import euler_quaternion, heading
from paddock.scenario.loading import load_preset
from paddock.vehicles.model import Desire, Placement, find_model
from paddock.vehicles.models.plane import energy, guide, place, step, trim
from paddock.vehicles.parts.plane import Command, Parameters, State, air_flow, attitude
from paddock.vehicles.parts.rigid_body import rigid_pose
from paddock.world.columns import Environment

W = Environment()
G, RHO = W.gravity, W.air_density
MAPPER = Parameters()
STEP = kernel(find_model("plane").step_spec())
DT = 0.01


def aerosonde() -> Parameters:
    return Parameters(**load_preset("plane", "aerosonde"))


def start(p: Parameters = MAPPER, speed: float = 0.0, z: float = 200.0, w: Environment = W) -> State:
    return place(Placement(0.0, 0.0, z, 0.0, speed), p, w)


def run(s: State, u: Command, seconds: float, p: Parameters = MAPPER, w: Environment = W, dt: float = DT) -> State:
    """The compiled model, for some seconds of constant inputs."""
    state, command = np.array(s)[:, None].copy(), np.array(u)[:, None].copy()
    STEP(1, max(1, round(seconds / dt)), state, command, np.array(p), np.array(w), dt)
    return State(*state[:, 0].tolist())


def fly(
    s: State, seconds: float, desire: Desire, p: Parameters = MAPPER, w: Environment = W, **fixed: float
) -> tuple[State, list[State]]:
    """Guided flight, some inputs replaced by fixed ones; the states at every 0.05 s."""
    states = []
    for _ in range(round(seconds / 0.05)):
        s = run(s, guide(s, Command(), p, desire)._replace(**fixed), 0.05, p, w)
        states.append(s)
    return s, states


def lift_coefficient(alpha: float, p: Parameters) -> float:
    """Beard and McLain, equations 4.9 and 4.10."""
    m, edge = p.stall_rate, p.stall_angle
    a, b = math.exp(-m * (alpha - edge)), math.exp(m * (alpha + edge))
    sigma = (1.0 + a + b) / ((1.0 + a) * (1.0 + b))
    plate = 2.0 * math.copysign(1.0, alpha) * math.sin(alpha) ** 2 * math.cos(alpha)
    return (1.0 - sigma) * (p.cl_0 + p.cl_alpha * alpha) + sigma * plate


def thrust_at(turns: float, speed: float, p: Parameters) -> float:
    j = speed / (turns * p.prop_diameter)
    return RHO * turns**2 * p.prop_diameter**4 * (p.ct_0 + p.ct_1 * j + p.ct_2 * j * j)


def polar(p: Parameters) -> float:
    """k of the drag polar cd_0 + k cl^2."""
    return p.area / (math.pi * p.oswald * p.span**2)


@pytest.mark.parametrize("make", [Parameters, aerosonde], ids=["mapper", "aerosonde"])
def test_level_flight_settles_at_the_trim_of_the_equations(make: Callable[[], Parameters]) -> None:
    p = make()
    speed = p.speed
    s, states = fly(start(p), 60.0, Desire(speed, 0.0, 0.0, 100.0), p)

    def balance(x: Any) -> list[float]:
        alpha, elevator, turns = x
        q = 0.5 * RHO * s.vx**2 * p.area
        cl = p.cl_0 + p.cl_alpha * alpha + p.cl_elevator * elevator
        cd = p.cd_0 + polar(p) * (p.cl_0 + p.cl_alpha * alpha) ** 2 + p.cd_elevator * abs(elevator)
        t = thrust_at(turns, s.vx, p)
        forces = t * math.cos(alpha) - q * cd, t * math.sin(alpha) + q * cl - p.mass * G
        return [*forces, p.cm_0 + p.cm_alpha * alpha + p.cm_elevator * elevator]

    alpha, elevator, turns = fsolve(balance, [0.05, -0.05, 0.6 * p.prop_speed])
    assert s.airspeed == pytest.approx(speed, abs=0.3)
    assert air_flow(s, W).alpha == pytest.approx(alpha, abs=0.002)
    assert s.elevator == pytest.approx(elevator, abs=0.005)
    assert s.rotor == pytest.approx(turns, rel=0.01)
    assert abs(s.vz) < 0.1
    assert abs(states[-1].z - states[-200].z) < 1.0


@pytest.mark.parametrize("make", [Parameters, aerosonde], ids=["mapper", "aerosonde"])
def test_stall_speed_follows_from_the_largest_lift(make: Callable[[], Parameters]) -> None:
    p = make()
    grid = np.linspace(0.0, 0.8, 1601)
    largest = max(lift_coefficient(a, p) for a in grid)
    stall = math.sqrt(2.0 * p.mass * G / (RHO * p.area * largest))

    def carries(speed: float) -> bool:
        """Whether some angle of attack carries the weight, in the model itself, without elevator and motor."""
        gains = []
        for alpha in grid[::4]:
            at = start(p)._replace(vx=speed, vy=0.0, vz=0.0, elevator=0.0, rotor=0.0, wy=0.0)
            half = -0.5 * float(alpha)
            at = at._replace(qx=0.0, qy=math.sin(half), qz=0.0, qw=math.cos(half))
            gains.append(step(at, Command(), p, W, 1e-4).vz)
        return max(gains) > 0.0

    assert carries(1.005 * stall) and not carries(0.995 * stall)
    if p == MAPPER:
        assert stall == pytest.approx(9.44, abs=0.05)  # 3 kg on 0.45 m2, largest lift 1.2


def test_it_stalls_when_it_is_held_up_and_recovers() -> None:
    s, sink, slowest = start(speed=14.0, z=300.0), [], 99.0
    for k in range(400):  # motor off, nose held up for 20 s
        u = guide(s, Command(), MAPPER, Desire(12.0, 0.0, 0.0, 100.0))._replace(throttle=0.0, elevator=1.0)
        s = run(s, u, 0.05)
        if k > 20:
            sink.append(-s.vz)
            slowest = min(slowest, air_flow(s, W).speed)
    assert slowest < 1.1 * 9.0  # at the stall
    assert max(sink) > 4.0  # it mushes down: 12 m/s at its best glide ratio would sink by 1 m/s
    s, _ = fly(s, 12.0, Desire(17.5, 0.0, 0.0, 100.0))
    assert s.airspeed == pytest.approx(17.5, abs=1.0) and abs(s.vz) < 0.5
    assert s.z > 100.0


def modes(p: Parameters) -> tuple[np.ndarray, State]:
    """Eigenvalues (1/s) of the model around level flight with fixed sticks, from differences of its steps."""
    s, _ = fly(start(p), 60.0, Desire(p.speed, 0.0, 0.0, 100.0), p)
    u = guide(s, Command(), p, Desire(p.speed, 0.0, 0.0, 100.0))
    names = ("vx", "vy", "vz", "qx", "qy", "qz", "wx", "wy", "wz")
    rows = [State._fields.index(name) for name in names]
    dt, eps = 1e-3, 1e-5
    columns = []
    for row in rows:
        ends = []
        for side in (eps, -eps):
            values = list(s)
            values[row] += side
            ends.append(np.array(step(State(*values), u, p, W, dt))[rows])
        columns.append((ends[0] - ends[1]) / (2.0 * eps))
    values = np.linalg.eigvals(np.array(columns).T)
    return np.log(values.astype(complex)) / dt, s


def test_its_modes_are_those_of_the_approximations() -> None:
    """Etkin: short period and roll mode by their approximations; the phugoid's period by Lanchester."""
    p = aerosonde()
    measured, s = modes(p)
    v, q = s.airspeed, 0.5 * RHO * s.airspeed**2 * p.area
    z_alpha = q * (p.cl_alpha + p.cd_0) / p.mass  # m/s2 per rad
    m_q = q * p.chord * p.cm_q * p.chord / (2.0 * v) / p.inertia_y
    m_alpha = q * p.chord * p.cm_alpha / p.inertia_y
    short = math.sqrt(-m_alpha - z_alpha * m_q / v)
    pairs = sorted((value for value in measured if value.imag > 1e-3), key=abs)
    slow, fast = pairs[0], min(pairs, key=lambda value: abs(abs(value) - short))
    assert abs(fast) == pytest.approx(short, rel=0.1)
    assert -fast.real / abs(fast) == pytest.approx(-(m_q - z_alpha / v) / (2.0 * short), rel=0.1)
    assert 2.0 * math.pi / abs(slow) == pytest.approx(math.pi * math.sqrt(2.0) * v / G, rel=0.08)  # undamped
    assert slow.real < 0.0 and fast.real < 0.0
    roll = -q * p.span**2 / (2.0 * v) * p.cr_p / p.inertia_x
    assert -min(value.real for value in measured) == pytest.approx(roll, rel=0.15)
    assert max(value.real for value in measured) < 0.1  # a spiral, if unstable, is slow


@pytest.mark.parametrize("make", [Parameters, aerosonde], ids=["mapper", "aerosonde"])
def test_the_best_glide_is_the_largest_lift_over_drag(make: Callable[[], Parameters]) -> None:
    p = make()._replace(cd_elevator=0.0, cl_elevator=0.0, stall_angle=0.5)  # of the wing alone
    k = polar(p)
    best = math.sqrt(p.cd_0 / k)  # lift coefficient
    speed = math.sqrt(2.0 * p.mass * G / (RHO * p.area * best))
    _, elevator = trim(speed, p.mass * G, p, RHO)
    stick = (p.elevator_trim - elevator) / p.elevator_max
    s, states = fly(start(p, speed, z=3000.0), 200.0, Desire(speed, 0.0, 0.0, 1.0), p, elevator=stick, throttle=0.0)
    ratio = (states[-1].x - states[-1200].x) / (states[-1200].z - states[-1].z)
    assert ratio == pytest.approx(0.5 / math.sqrt(k * p.cd_0), rel=0.01)
    assert s.charge > 0.99


def test_climb_rate_is_excess_power_over_weight() -> None:
    p = MAPPER._replace(climb_max=20.0)
    speed = 15.0
    _, elevator = trim(speed, p.mass * G, p, RHO)
    stick = (p.elevator_trim - elevator) / p.elevator_max
    s, states = fly(start(p, speed), 60.0, Desire(speed, 0.0, 5.0, 1.0), p, elevator=stick, throttle=1.0)
    climb = (states[-1].z - states[-401].z) / 20.0
    v = air_flow(s, W).speed
    q = 0.5 * RHO * v**2 * p.area
    path = math.asin(s.vz / v)
    thrust = thrust_at(s.rotor, s.airspeed, p)
    cl = (p.mass * G * math.cos(path) - thrust * math.sin(air_flow(s, W).alpha)) / q
    drag = q * (p.cd_0 + polar(p) * cl * cl)
    assert climb == pytest.approx((thrust - drag) * v / (p.mass * G), rel=0.03)
    assert climb > 5.0


def test_sticks_have_the_signs_of_the_motion() -> None:
    s = start()
    level = guide(s, Command(), MAPPER, Desire(17.5, 0.0, 0.0, 100.0))
    assert attitude(run(s, level._replace(aileron=0.5), 0.5))[0] > 0.2  # right wing down
    assert attitude(run(s, level._replace(elevator=0.5), 0.5))[1] > attitude(s)[1] + 0.1  # nose up
    yawed = run(s, level._replace(rudder=1.0), 0.5)
    assert heading(yawed.qx, yawed.qy, yawed.qz, yawed.qw) < -0.02  # nose right
    # steady roll of full aileron: cr_aileron da = -cr_p p b / 2V
    pure = MAPPER._replace(cr_beta=0.0, cr_r=0.0)
    rolling = run(s, level._replace(aileron=1.0), 0.4, pure).wx
    assert rolling == pytest.approx(0.17 * 0.35 / 0.51 * 2.0 * 17.5 / 1.88, rel=0.02)


def test_it_stands_in_the_wind_without_moving() -> None:
    windy = Environment(wind_x=-2.0, wind_y=4.0)
    after = run(start(z=0.0, w=windy), Command(), 20.0, w=windy)
    assert (after.x, after.y, after.vx, after.vy, after.wz) == (0.0, 0.0, 0.0, 0.0, 0.0)
    assert after.airspeed == pytest.approx(2.0, abs=0.1)
    # on its struts the wind lifts it by force / stiffness, and leans it by moment / stiffness of the main wheels
    a = air_flow(after, windy)
    lift = a.pressure * MAPPER.area * lift_coefficient(a.alpha, MAPPER)
    stiffness = MAPPER.mass * G / MAPPER.gear_sag
    assert after.z == pytest.approx(lift / stiffness, rel=0.1)
    roll = a.pressure * MAPPER.area * MAPPER.span * MAPPER.cr_beta * math.sin(a.beta)
    share = 1.0 - MAPPER.gear_arm / MAPPER.wheel_base
    assert attitude(after)[0] == pytest.approx(roll / (share * stiffness * (0.5 * MAPPER.gear_track) ** 2), rel=0.1)


@pytest.mark.parametrize("make", [Parameters, aerosonde], ids=["mapper", "aerosonde"])
def test_it_stands_with_the_compression_that_its_struts_are_laid_out_for(make: Callable[[], Parameters]) -> None:
    p = make()
    standing = run(start(p, z=0.0), Command(), 10.0, p)
    assert abs(standing.z) < 1e-9
    assert attitude(standing) == pytest.approx((0.0, p.ground_pitch), abs=1e-9)
    heavier = run(start(p, z=0.0), Command(), 20.0, p, Environment(gravity=1.5 * G))
    assert heavier.z == pytest.approx(-0.5 * p.gear_sag, rel=1e-6)  # static deflection: weight over stiffness


def bounce(p: Parameters, height: float, seconds: float, dt: float = 1e-3) -> tuple[list[State], list[float]]:
    """Dropped on its wheels from a height, without air: the states, and their energy with that of the struts."""
    still = Environment(air_density=0.0)
    s = place(Placement(0.0, 0.0, 0.0, 0.0, 0.0), p, still)._replace(z=height)
    states, energies = [], []
    for _ in range(round(seconds / dt)):
        s = run(s, Command(), dt, p, still, dt)
        states.append(s)
        deep = max(p.gear_sag - s.z, 0.0)
        energies.append(energy(s, p, still) + 0.5 * p.mass * G / p.gear_sag * deep * deep)
    return states, energies


@pytest.mark.parametrize("damping", [0.1, 0.5])
def test_it_bounces_as_a_mass_on_a_spring_and_damper(damping: float) -> None:
    p = MAPPER._replace(gear_damping=damping)
    states, _ = bounce(p, 0.005, 2.0, 2e-4)  # the wheels stay on the ground
    z, natural = np.array([s.z for s in states]), math.sqrt(G / p.gear_sag)
    t = 2e-4 * np.arange(1, len(z) + 1)
    damped = natural * math.sqrt(1.0 - damping**2)
    ratio = damping / math.sqrt(1.0 - damping**2)
    exact = 0.005 * np.exp(-damping * natural * t) * (np.cos(damped * t) + ratio * np.sin(damped * t))
    assert np.abs(z - exact).max() < 7.5e-5  # 1.5 % of the drop; the error of a step of 0.2 ms


def test_energy_never_grows_on_the_ground() -> None:
    for height, damping in ((0.3, 0.5), (0.3, 0.0), (0.05, 0.0)):
        states, energies = bounce(MAPPER._replace(gear_damping=damping), height, 3.0)
        highest = np.maximum.accumulate(energies[::-1])[::-1]
        assert highest[0] < 1.002 * (energies[0] + 1e-9)
        assert (np.array(energies) > 0.998 * highest).all()  # but for the rounding of a step: 0.2 %
        assert max(s.z for s in states[500:]) < 1.001 * height
    # thrown on its side, upside down and backwards: it comes to rest, and no energy appears on the way
    for roll, pitch, speed in ((1.5, 0.0, 8.0), (math.pi, 0.0, 10.0), (0.4, -0.5, 12.0), (0.0, 0.5, -5.0)):
        q = euler_quaternion(roll, -pitch, 0.0)
        s = start(speed=10.0, z=1.0)._replace(vx=speed, qx=q[0], qy=q[1], qz=q[2], qw=q[3], rotor=0.0)
        most = energy(s, MAPPER, W)
        for _ in range(100):
            s = run(s, Command(), 0.1, dt=2e-3)
            now = energy(s, MAPPER, W)
            assert now < most + 0.05
            most = min(most, now) + 0.02 * MAPPER.mass * G * MAPPER.span  # stored in springs
        assert math.hypot(s.vx, s.vy, s.vz) < 1e-3 and s.z < 0.5


def test_a_touchdown_is_no_impulse() -> None:
    s = start(speed=12.5, z=0.3)._replace(vz=-0.6)
    accelerations, gaps = [], []
    for _ in range(3000):
        after = run(s, Command(elevator=0.1), 1e-3, dt=1e-3)
        accelerations.append((after.vz - s.vz) / 1e-3)
        gaps.append(after.z - s.z)
        s = after
    # a sink of 0.6 m/s that ends within one tick of 1 ms would be 600 m/s2; the clip of common sensors is 157
    assert max(map(abs, accelerations)) < 60.0
    assert max(np.abs(np.diff(accelerations))) < 25.0
    assert s.vx < 6.0  # and the brakes slow it down


def test_it_rolls_out_by_rolling_friction_and_drag() -> None:
    p = MAPPER._replace(rolling=0.1, brake=0.0, cd_0=1e-3, oswald=1.5)
    thin = Environment(air_density=1e-3)
    s = run(start(p, speed=6.0, z=0.0, w=thin), Command(), 20.0, p, thin)
    assert s.vx == 0.0 and s.x == pytest.approx(36.0 / (2.0 * 0.1 * G), rel=0.005)  # v^2 / (2 mu g)
    braked = p._replace(brake=0.3)
    s = run(start(p, speed=6.0, z=0.0, w=thin), Command(), 20.0, braked, thin)
    assert s.vx == 0.0 and s.x == pytest.approx(36.0 / (2.0 * 0.4 * G), rel=0.01)
    ice = thin._replace(mu=0.25)
    s = run(start(p, speed=6.0, z=0.0, w=ice), Command(), 60.0, braked, ice)
    assert s.x == pytest.approx(36.0 / (2.0 * 0.25 * 0.4 * G), rel=0.01)
    powered = run(start(speed=6.0, z=0.0), Command(throttle=0.3), 1.0)
    assert powered.vx > 5.0  # the brakes are off


def test_the_rudder_steers_on_the_ground_and_it_takes_off() -> None:
    turning = run(start(speed=3.0, z=0.0), Command(rudder=0.5, throttle=0.4), 1.0)
    assert turning.wz == pytest.approx(-math.hypot(turning.vx, turning.vy) * math.tan(0.175) / 0.4, rel=0.05)
    assert turning.y < 0.0  # to the right
    s, t = start(z=0.0), 0.0
    while s.z < 1.0 and t < 20.0:
        s, t = run(s, Command(throttle=1.0, elevator=0.25), 0.05), t + 0.05
    assert 3.0 < s.x < 60.0 and 9.0 < s.airspeed < 19.0  # it cannot fly below its stall speed
    _, states = fly(start(z=0.0), 20.0, Desire(17.5, 0.0, 2.0, 100.0))  # guided, from standing
    assert states[-1].z > 20.0 and states[-1].airspeed == pytest.approx(17.5, abs=1.5)
    assert abs(states[-1].y) < 10.0


def test_guidance_follows_a_course_in_wind() -> None:
    windy = Environment(wind_x=0.0, wind_y=6.0)
    s, states = fly(start(w=windy), 40.0, Desire(15.0, 0.0, 1.0, 100.0), w=windy)
    assert math.atan2(s.vy, s.vx) == pytest.approx(0.0, abs=0.03)
    assert s.vz == pytest.approx(1.0, abs=0.15)
    assert rigid_pose(s, MAPPER).z > 225.0
    assert all(abs(attitude(each)[0]) < 0.8 for each in states)
    hold, circle = fly(start(), 90.0, Desire(0.0, 0.0, 0.0, 0.0))
    assert math.hypot(hold.x, hold.y) < 300.0 and abs(hold.z - 200.0) < 15.0
    assert attitude(circle[-1])[0] == pytest.approx(0.35, abs=0.05)


def test_the_battery_pays_for_the_flight() -> None:
    s, _ = fly(start(), 60.0, Desire(17.5, 0.0, 0.0, 100.0))
    torque = RHO * s.rotor**2 * MAPPER.prop_diameter**5
    j = s.airspeed / (s.rotor * MAPPER.prop_diameter)
    shaft = 2.0 * math.pi * s.rotor * torque * (MAPPER.cq_0 + MAPPER.cq_1 * j + MAPPER.cq_2 * j * j)
    drawn = (5.0 + shaft / 0.75) / s.voltage * 60.0 / 3.6  # mAh in a minute
    assert (1.0 - s.charge) * 5000.0 == pytest.approx(drawn, rel=0.08)


def test_a_dive_into_the_ground_is_a_crash_and_a_gentle_landing_is_none() -> None:
    falling = {"name": "a", "model": "plane", "pose": [0, 0, 40, 0], "commands": {"elevator": -0.6}}
    gliding = {"name": "b", "model": "plane", "pose": [0, 50, 1.5, 0], "speed": 13.0, "commands": {"elevator": 0.3}}
    with paddock.load({"clock": {"rate": 100}, "vehicles": [falling, gliding]}) as sim:
        sim.run(until=10.0, pace=0)
        crashes = [(event.subject, event.detail) for event in sim.events.since() if event.kind == "crashed"]
        landed = sim.snapshot()["b"]
    assert [name for name, _ in crashes] == ["a"]
    speed = float(crashes[0][1].removeprefix("hit the ground at ").removesuffix(" m/s"))
    assert 15.0 < speed < math.sqrt(17.5**2 + 2.0 * G * 40.0)  # less than a fall without drag
    assert abs(landed.position[2]) < 1e-6
