"""Standard manoeuvres of a car: each drives a fleet, and returns figures and curves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from paddock.compute import arrays
from paddock.record.validation.proving_ground import (
    AIR_DENSITY,
    DECIDE,
    GRAVITY,
    RATE,
    Inputs,
    Sample,
    TestCar,
    bundled_manoeuvre,
    drive,
    driver_options,
    lateral_grip,
    linear_bicycle,
    speed_pedals,
)
from paddock.world.columns import Floats

KMH = 1.0 / 3.6
PERIOD = DECIDE / RATE  # s between samples
Curve = tuple[Floats, Floats]
NOT_REACHED = "-"


@dataclass(frozen=True)
class Figure:
    """A measured number: its label and unit in reports."""

    label: str
    unit: str
    digits: int = 2

    def shown(self, value: float | None) -> str:
        """Return a value as reports show it."""
        return NOT_REACHED if value is None else f"{round(value, self.digits) + 0.0:.{self.digits}f}"  # 0, never -0


@dataclass
class ManoeuvreResult:
    """Figures by key (None: not reached), curves by plot, and checks against formulas, of one car in one manoeuvre."""

    figures: dict[str, float | None] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)
    checks: list["Check"] = field(default_factory=list)
    skipped: str = ""  # the reason
    remark: str = ""  # what a figure means, or why there is none


@dataclass(frozen=True)
class Check:
    """A measured number and what a formula gives."""

    what: str
    level: str
    measured: float
    expected: float
    tolerance: float  # relative
    formula: str

    @property
    def ok(self) -> bool:
        """Whether the relative difference is within the tolerance."""
        return bool(abs(self.measured - self.expected) <= self.tolerance * abs(self.expected))

    @property
    def difference(self) -> str:
        """The relative difference as reports show it."""
        return f"{100.0 * (self.measured / self.expected - 1.0):+.2f} %" if self.expected else ""


STEP = driver_options("iso_7401")
STEP_SPEED, STEP_LATERAL = STEP["speed"], 4.0  # m/s and m/s2
STEP_START, STEP_RISE, STEP_END = STEP["start"], STEP["rise"], 5.0  # s


def step_steer(car: TestCar) -> ManoeuvreResult:
    """ISO 7401: at 80 km/h, a step of the road wheels within 0.1 s to a lateral acceleration of 4 m/s2."""
    speed = standard_speed(car, STEP_SPEED)
    about = linear_bicycle(car, speed).steer_for(STEP_LATERAL, speed)
    for _ in range(2):  # the second fleet is close around the angle of the first
        angles = about * np.linspace(0.8, 1.25, 10)
        traces = drive(car, np.full(10, speed), STEP_END, _step_driver(car, angles, speed))
        lateral = traces.lateral[-100:].mean(axis=0)
        about = float(np.interp(STEP_LATERAL, lateral, angles))
    k = int(np.argmin(np.abs(lateral - STEP_LATERAL)))
    time, rate = traces.time - STEP_START - 0.5 * STEP_RISE, traces["yaw_rate"][:, k]
    response = step_response(time, rate)
    slip = np.degrees(traces.body_slip[:, k])
    figures: dict[str, float | None] = {
        "step_overshoot": 100.0 * response.overshoot,
        "step_rise": response.rise,
        "step_peak": response.peak if response.overshoot > 0.005 else None,
        "step_settling": response.settling,
        "step_slip": float(np.abs(slip).max()),
    }
    return ManoeuvreResult(figures, {"step_yaw_rate": (time, np.degrees(rate)), "step_slip": (time, slip)})


def _step_driver(car: TestCar, angles: Floats, speed: float) -> Callable[[Sample], Inputs]:
    def decide(now: Sample) -> Inputs:
        share = min(max((now.time + PERIOD - STEP_START) / STEP_RISE, 0.0), 1.0)
        return {"steer": share * angles, **speed_pedals(car, speed, now.speed, bend_drag(car, now))}

    return decide


def bend_drag(car: TestCar, now: Sample) -> Floats:
    """Return the force (N) along the car of the turned front wheels' side force."""
    p = car.values
    front = p.mass * p.cg_to_rear / (p.cg_to_front + p.cg_to_rear)
    return np.asarray(np.abs(front * now.speed * now.yaw_rate * now.steer))


@dataclass(frozen=True)
class StepResponse:
    """The response to a step at time 0, by ISO 7401."""

    overshoot: float  # (peak - steady) / steady
    rise: float  # s to 90 % of the steady value
    peak: float  # s to the peak
    settling: float  # s after which it stays within 5 % of the steady value
    steady: float


def step_response(time: Floats, value: Floats) -> StepResponse:
    """Return the response from samples; the steady value is the mean of the last second."""
    steady = float(value[time >= time[-1] - 1.0].mean())
    share = value / steady
    after = time >= 0.0
    top = int(np.argmax(np.where(after, share, -np.inf)))
    outside = np.flatnonzero(np.abs(share - 1.0) > 0.05)
    last = min(int(outside[-1]) + 1, len(time) - 1) if len(outside) else 0
    return StepResponse(
        overshoot=max(float(share[top]) - 1.0, 0.0),
        rise=_crossing(time, share, 0.9),
        peak=float(time[top]),
        settling=max(float(time[last]), 0.0),
        steady=steady,
    )


def _crossing(x: Floats, y: Floats, level: float) -> float:
    """Return where y first reaches a level, between samples; NaN if never."""
    above = np.flatnonzero(y >= level)
    if not len(above):
        return float("nan")
    k = int(above[0])
    if k == 0:
        return float(x[0])
    return float(x[k - 1] + (level - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1]))


CARS, HOLD = 48, 6.0  # cars and seconds of a steady turn
RAMP = 2.0  # s
TURN_SPEED = driver_options("iso_4138")["speed"]  # m/s
LINEAR = (0.5, 2.5)  # m/s2: lateral accelerations of the understeer gradient


def steady_turns(car: TestCar) -> ManoeuvreResult:
    """ISO 4138, constant speed: 48 cars hold 80 km/h with different steering angles until they turn steadily."""
    speed = standard_speed(car, TURN_SPEED)
    linear = linear_bicycle(car, speed)
    p = car.values
    largest = min(p.steer_max, 4.0 * linear.steer_for(lateral_grip(car, speed), speed))
    angles = largest * np.linspace(0.0, 1.0, CARS + 1)[1:] ** 2

    def decide(now: Sample) -> Inputs:
        share = min((now.time + PERIOD) / RAMP, 1.0)
        return {"steer": share * angles, **speed_pedals(car, speed, now.speed, bend_drag(car, now))}

    traces = drive(car, np.full(CARS, speed), HOLD, decide)
    lateral = traces.lateral[-50:].mean(axis=0)
    wobble = np.ptp(traces["yaw_rate"][-100:], axis=0)
    steady = (np.abs(traces["speed"][-1] - speed) < 0.02 * speed) & (wobble < 0.02 * speed / linear.base * 0.1)
    steady &= np.abs(traces.body_slip[-1]) < 0.5
    if steady.sum() < 4:
        return ManoeuvreResult(skipped="no steady turns at this speed")
    selected = np.flatnonzero(steady)
    selected = selected[: np.argmax(lateral[selected]) + 1]
    lateral, angles, slip = lateral[selected], angles[selected], traces.body_slip[-1][selected]
    speeds, rates = (traces[name][-50:].mean(axis=0)[selected] for name in ("speed", "yaw_rate"))
    within = (lateral > LINEAR[0]) & (lateral < LINEAR[1])
    within = within if within.sum() >= 3 else np.arange(len(lateral)) < 4
    excess = angles - arrays.arctan2(linear.base * rates, speeds)  # without slip the car needs the Ackermann angle
    gradient = float(np.polyfit(lateral[within], excess[within], 1)[0])
    most = float(lateral.max())
    tangents = np.gradient(excess, lateral)[lateral < 0.9 * most]
    rising = np.gradient(lateral, angles)
    figures: dict[str, float | None] = {
        "understeer": float(np.degrees(gradient) * GRAVITY),
        "understeer_least": float(np.degrees(tangents.min()) * GRAVITY) if len(tangents) else None,
        "lateral_max": most if rising[-1] < 0.2 * rising[0] else None,  # else more steering would turn it faster
        "slip_gradient": float(np.degrees(np.polyfit(lateral[within], slip[within], 1)[0]) * GRAVITY),
    }
    curves = {"understeer": (lateral, np.degrees(angles)), "understeer_slip": (lateral, np.degrees(slip))}
    return ManoeuvreResult(figures, curves)


def acceleration(car: TestCar) -> ManoeuvreResult:
    """Full acceleration from rest; the best of 16 constant pedals counts, as too much spins the driven wheels."""
    pedals, goal = np.linspace(0.25, 1.0, 16), 100.0 * KMH
    reached = np.zeros(16, bool)

    def done(now: Sample) -> bool:
        reached[:] |= now.x >= 402.0
        return bool(reached.any()) and now.time > 1.0

    traces = drive(car, np.zeros(16), 40.0, lambda now: {"throttle": pedals}, until=done)
    hundred = [_crossing(traces.time, traces["speed"][:, k], goal) for k in range(16)]
    distance = [_crossing(traces.time, traces["x"][:, k], 400.0) for k in range(16)]
    best = int(np.nanargmin(distance)) if not np.isnan(distance).all() else 15
    ended = float(np.interp(distance[best], traces.time, traces["speed"][:, best]))
    quick = not np.isnan(hundred).all()
    figures = {
        "zero_to_100": float(np.nanmin(hundred)) if quick else None,
        "time_400": float(distance[best]) if not np.isnan(distance[best]) else None,
        "speed_400": ended / KMH if not np.isnan(ended) else None,
    }
    return ManoeuvreResult(figures, {"acceleration": (traces.time, traces["speed"][:, best] / KMH)})


def braking(car: TestCar) -> ManoeuvreResult:
    """Stop from 100 km/h (or 0.8 of the top speed) with 16 constant pedals, up to the full pedal."""
    speed, pedals = min(100.0 * KMH, 0.8 * top_speed(car)), np.linspace(0.1, 1.0, 16)

    def driver(now: Sample) -> Inputs:
        return {"brake": pedals, "gear": 0.0}

    traces = drive(car, np.full(16, speed), 20.0, driver, until=lambda now: bool((now.speed < 0.01).all()))
    stopped = traces["speed"][-1] < 0.05
    distances = np.where(stopped, traces["x"][-1], np.nan)
    figures: dict[str, float | None] = {
        "braking_full": float(distances[-1]) if stopped[-1] else None,
        "braking_best": float(np.nanmin(distances)),
        "deceleration": float(speed**2 / 2.0 / np.nanmin(distances)),
    }
    return ManoeuvreResult(figures, {"braking": (traces["x"][:, -1], traces["speed"][:, -1] / KMH)})


PLAIN = (
    *("rolling_resistance", "drag_coefficient", "lift_front", "lift_rear", "engine_brake"),
    *("diff_preload", "diff_locking", "centre_preload", "steer_dead_time"),
)
"""Parameters that the formulas of a steady turn and of load transfer leave out: zero in these checks."""


def formulas(car: TestCar) -> ManoeuvreResult:
    """Compare a gentle turn and braking with formulas, without resistance and with open differentials."""
    plain = replace(car, parameters={**car.parameters, **dict.fromkeys(PLAIN, 0.0)})
    speed = min(STEP_SPEED, 0.6 * top_speed(car))
    linear = linear_bicycle(plain, speed)
    angle = linear.steer_for(0.5, speed)
    turns = drive(plain, [speed], 4.0, lambda now: {"steer": angle, "gear": 0.0})
    rate, now = float(turns["yaw_rate"][-50:].mean()), float(turns["speed"][-50:].mean())
    expected = linear.steady_yaw_rate(now, angle)
    outcome = ManoeuvreResult(
        checks=[Check("steady yaw rate", car.level, rate, expected, 0.01, "v delta / (L + K v^2)")]
    )
    if np.isnan(turns["front_load"]).any():  # a level without loads
        return outcome
    p = plain.values
    pedal = min(1.0, 2.5 * p.mass * p.wheel_radius / (2.0 * max(p.brake_torque, 1e-9)))
    stops = drive(plain, [speed], 1.5, lambda now: {"brake": pedal, "gear": 0.0})
    base = p.cg_to_front + p.cg_to_rear
    moved = float(stops["front_load"][-20:].mean()) - p.mass * GRAVITY * p.cg_to_rear / base
    transfer = -p.mass * float(stops["ax"][-20:].mean()) * p.cg_height / base
    # a car on springs pitches, and its weight moves forward: a few per cent more
    outcome.checks.append(Check("load transfer", car.level, moved, transfer, 0.08, "m a h / L"))
    return outcome


def coast_down(car: TestCar) -> ManoeuvreResult:
    """Roll in neutral from 100 km/h (or 0.8 of the top speed) for 30 s; compare with the solution of the equation."""
    p, speed = car.values, min(100.0 * KMH, 0.8 * top_speed(car))
    traces = drive(car, [speed], 30.0, lambda now: {"gear": 0.0}, every=0.1)
    spinning = 4.0 * p.wheel_inertia / p.wheel_radius**2 if car.level in ("double_track", "full") else 0.0
    drag = p.drag_coefficient + p.rolling_resistance * (p.lift_front + p.lift_rear)
    k = 0.5 * AIR_DENSITY * drag * p.frontal_area / (p.mass + spinning)
    rolling = p.rolling_resistance * p.mass * GRAVITY / (p.mass + spinning)
    expected = np.array([coasting_speed(speed, k, rolling, t) for t in traces.time])
    at = int(np.flatnonzero(expected > 0.3 * speed)[-1])
    check = Check("coast-down", car.level, float(traces["speed"][at, 0]), expected[at], 0.01, "dv/dt = -(r + k v^2)")
    figures: dict[str, float | None] = {"coast_speed": float(traces["speed"][-1, 0]) / KMH}
    figures["coast_distance"] = float(traces["x"][-1, 0])
    return ManoeuvreResult(figures, {"coast_down": (traces.time, traces["speed"][:, 0] / KMH)}, [check])


def coasting_speed(speed: float, k: float, rolling: float, time: float) -> float:
    """Return the speed (m/s) after a time under the deceleration rolling + k v^2; v0 / (1 + v0 k t) without rolling."""
    if rolling <= 0.0:
        return speed / (1.0 + speed * k * time)
    if k <= 0.0:
        return max(speed - rolling * time, 0.0)
    ratio = np.sqrt(rolling / k)
    angle = np.arctan(speed / ratio) - np.sqrt(rolling * k) * time
    return float(ratio * np.tan(angle)) if angle > 0.0 else 0.0


def split_friction(car: TestCar) -> ManoeuvreResult:
    """Brake from 80 km/h with the left wheels on a friction of 0.3, hands on a straight wheel and with a correction."""
    if car.level in ("kinematic", "bicycle"):
        return ManoeuvreResult(skipped="not applicable: one wheel on each axle, on the centre line")
    defined = bundled_manoeuvre("split_mu")
    speed = min(defined.vehicles[0].speed, 0.8 * top_speed(car))
    corrects = np.array([0.0, 1.0])

    def decide(now: Sample) -> Inputs:
        steer = -corrects * (1.5 * now.heading_y + 0.3 * now.yaw_rate + 0.05 * now.y)
        return {"steer": np.clip(steer, -0.5, 0.5), "brake": 1.0, "gear": 0.0}

    def done(now: Sample) -> bool:
        return bool((now.course_x**2 + now.course_y**2 < 0.01).all())

    traces = drive(
        car, np.full(2, speed), 25.0, decide, world=defined.to_dict()["world"], spacing=(400.0, 0.0), until=done
    )
    yaw = np.degrees(np.unwrap(np.arctan2(traces["heading_y"], traces["heading_x"]), axis=0))
    second = min(int(1.0 / PERIOD), len(traces.time) - 1)
    figures: dict[str, float | None] = {
        "split_distance": float(traces["x"][-1, 1]),
        "split_yaw": float(np.abs(traces["yaw_rate"][: second + 1, 0]).max() * 180.0 / np.pi),
        "split_off": float(np.abs(traces["y"][:, 1]).max()),
    }
    return ManoeuvreResult(
        figures, {"split_mu": (traces.time, yaw[:, 0]), "split_mu_corrected": (traces.time, yaw[:, 1])}
    )


def standard_speed(car: TestCar, speed: float) -> float:
    """Return the speed (m/s) of a standard, or 0.7 of the top speed of a car that is hardly faster."""
    top = top_speed(car)
    return speed if top > 1.1 * speed else 0.7 * top


def top_speed(car: TestCar) -> float:
    """Return about the largest speed (m/s): power against air drag and rolling resistance, and the rev limit."""
    p = car.values
    speeds = np.linspace(1.0, 120.0, 1191)
    push = np.minimum(p.engine_torque * p.final_drive / p.wheel_radius, p.power_max / speeds)
    pull = 0.5 * AIR_DENSITY * p.drag_coefficient * p.frontal_area * speeds**2 + p.rolling_resistance * p.mass * GRAVITY
    enough = speeds[push > pull]
    fastest = float(enough[-1]) if len(enough) else 1.0
    if p.engine_speed_max > 0.0:
        ratio = min(gear for gear in (p.gear_1, p.gear_2, p.gear_3, p.gear_4, p.gear_5, p.gear_6) if gear > 0.0)
        fastest = min(fastest, p.engine_speed_max / (p.final_drive * ratio) * p.wheel_radius)
    return fastest


FIGURES: Mapping[str, Figure] = {
    "step_overshoot": Figure("ISO 7401: overshoot of the yaw rate", "%", 1),
    "step_rise": Figure("ISO 7401: time to 90 % of the yaw rate", "s", 3),
    "step_peak": Figure("ISO 7401: time to the peak", "s", 3),
    "step_settling": Figure("ISO 7401: settling time (5 %)", "s", 3),
    "step_slip": Figure("ISO 7401: largest body slip", "deg", 2),
    "understeer": Figure("ISO 4138: understeer gradient", "deg/g", 2),
    "understeer_least": Figure("ISO 4138: smallest gradient below 0.9 of the largest lateral acceleration", "deg/g", 2),
    "slip_gradient": Figure("ISO 4138: body slip gradient", "deg/g", 2),
    "lateral_max": Figure("ISO 4138: largest lateral acceleration", "m/s2", 2),
    "lane_change_speed": Figure("ISO 3888-2: highest entry speed without a cone hit", "km/h", 1),
    "lane_change_cones": Figure("ISO 3888-2: cones hit 5 km/h above it, best driver", "", 0),
    "skidpad": Figure("Skidpad: largest lateral acceleration", "m/s2", 2),
    "zero_to_100": Figure("Acceleration: 0 to 100 km/h", "s", 2),
    "time_400": Figure("Acceleration: 400 m from rest", "s", 2),
    "speed_400": Figure("Acceleration: speed at 400 m", "km/h", 1),
    "braking_full": Figure("Braking from 100 km/h: full pedal", "m", 2),
    "braking_best": Figure("Braking from 100 km/h: best constant pedal", "m", 2),
    "deceleration": Figure("Braking: mean deceleration, best pedal", "m/s2", 2),
    "split_distance": Figure("Split friction: stopping distance from 80 km/h", "m", 2),
    "split_yaw": Figure("Split friction: largest yaw rate in the first second, wheel straight", "deg/s", 1),
    "split_off": Figure("Split friction: largest deviation with correction", "m", 2),
    "coast_speed": Figure("Coast-down from 100 km/h: speed after 30 s", "km/h", 1),
    "coast_distance": Figure("Coast-down from 100 km/h: distance in 30 s", "m", 1),
}
