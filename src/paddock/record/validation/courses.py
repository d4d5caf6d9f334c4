"""Courses that a driver model drives: the double lane change of ISO 3888-2 (obstacle avoidance), and the skidpad.

The limit on the skidpad, a circle at rising speeds, must agree with that of steady turns.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from paddock.behaviour.paths import LANE_SECTIONS, LaneChangeCourse
from paddock.behaviour.rules.preview import FORESIGHT, preview_curvature
from paddock.record.validation.manoeuvres import (
    KMH,
    TURN_SPEED,
    Check,
    ManoeuvreResult,
    bend_drag,
    standard_speed,
    top_speed,
)
from paddock.record.validation.proving_ground import (
    Inputs,
    Sample,
    TestCar,
    Traces,
    drive,
    driver_options,
    lateral_grip,
    linear_bicycle,
    speed_pedals,
)
from paddock.world.columns import Floats

RUN_UP = driver_options("iso_3888_2")["path"]["lane_change"]["run_up"]  # m
ABOVE = 5.0  # km/h above the pass speed at which hit cones are counted
TOP = 160.0  # km/h, the fastest entry that is tried
SLOWEST = 40.0  # km/h
SPEEDS = 10  # entry speeds of one fleet
HELD = 1.0  # km/h: a run counts if the car enters this close to the entry speed
DRIVERS = tuple(product((0.2, 0.3, 0.4, 0.5, 0.6), (1.0, 1.7, 2.5), (0.0, 1.5), (0.1, 0.3)))
"""Drivers: preview (s), gain, begin of a change before the end of a lane (m), cut of the side lane (m)."""
LANE_CHANGE_TOLERANCE = 0.2  # of the pass speeds of two levels


def lane_change(car: TestCar) -> ManoeuvreResult:
    """Find the highest entry speed at which one of the drivers hits no cone; the throttle is closed from the entry."""
    course = LaneChangeCourse(2.0 * car.outline()[1])
    top = min(TOP, 0.95 * top_speed(car) / KMH)
    low, high, passed = min(SLOWEST, 0.5 * top), top, 0.0
    shown: tuple[Floats, Floats] | None = None
    for _ in range(2):
        speeds = np.linspace(low, high, SPEEDS)
        hits, traces = cone_hits(car, course, speeds)
        clean = np.flatnonzero(hits.min(axis=1) == 0)
        if not len(clean):
            break
        k = int(clean[-1])
        passed, driver = float(speeds[k]), int(hits[k].argmin()) + k * len(DRIVERS)
        shown = traces["x"][:, driver] - RUN_UP, traces["y"][:, driver]
        if k == SPEEDS - 1:
            break
        low, high = float(speeds[k]), float(speeds[k + 1])
    if shown is None:
        least = f"every driver hits a cone at every speed from {low:.0f} to {high:.0f} km/h"
        return ManoeuvreResult({"lane_change_speed": None, "lane_change_cones": None}, remark=least)
    curves = {"lane_change": shown}
    above = _fewest_hits(car, course, passed + ABOVE) if passed + ABOVE <= top else None
    while above == 0.0:  # a driver passes there after all: the coarse search missed it
        passed += ABOVE
        above = _fewest_hits(car, course, passed + ABOVE) if passed + ABOVE <= top else None
    limit = "the car is hardly faster" if top < TOP else "the fastest entry that is tried"
    figures = {"lane_change_speed": passed, "lane_change_cones": above}
    return ManoeuvreResult(figures, curves, remark=f"{limit}: {top:.0f} km/h" if above is None else "")


def lane_change_agreement(cars: Sequence[TestCar], outcomes: Sequence[ManoeuvreResult]) -> list[Check]:
    """Compare the pass speeds of the levels with tyres with that of the single track."""
    speeds = {
        car.level: outcome.figures.get("lane_change_speed")
        for car, outcome in zip(cars, outcomes, strict=True)
        if not outcome.remark
    }
    expected = speeds.pop("bicycle", None)
    speeds.pop("kinematic", None)
    formula = "speed of the bicycle level"
    return [
        Check("ISO 3888-2 speed", level, speed, expected, LANE_CHANGE_TOLERANCE, formula)
        for level, speed in speeds.items()
        if speed is not None and expected is not None
    ]


def _fewest_hits(car: TestCar, course: LaneChangeCourse, speed: float) -> float:
    return float(cone_hits(car, course, np.array([speed]))[0].min())


def cone_hits(car: TestCar, course: LaneChangeCourse, speeds: Floats) -> tuple[Floats, Traces]:
    """Return the cones hit at each entry speed (km/h) by each driver, (speeds, drivers), and the traces of all cars."""
    entry = np.repeat(speeds * KMH, len(DRIVERS))
    preview, gain, early, cut = np.tile(np.array(DRIVERS).T, len(speeds))
    linear = [linear_bicycle(car, float(speed) * KMH) for speed in speeds]
    slopes = [run.base + max(run.gradient, 0.0) * (v * KMH) ** 2 for run, v in zip(linear, speeds, strict=True)]
    angle = np.repeat(slopes, len(DRIVERS))  # rad of steering per curvature
    p = car.values

    def decide(now: Sample) -> Inputs:
        x = now.x - RUN_UP
        target = course.line(x + now.course_x * preview, early, cut)
        bending = FORESIGHT * now.yaw_rate / np.maximum(now.speed, 1.0)
        reach = np.maximum(now.speed * preview, 1.0)
        off = target - (now.y + now.course_y * preview + 0.5 * bending * reach * reach)
        curvature = preview_curvature(bending, off, reach, gain)
        inside = now.x > RUN_UP
        steer = np.clip(angle * curvature, -p.steer_max, p.steer_max)
        pedals = speed_pedals(car, entry, now.speed)
        return {"steer": steer, **{name: np.where(inside, 0.0, pedal) for name, pedal in pedals.items()}}

    length = RUN_UP + sum(LANE_SECTIONS) + 6.0
    seconds = min(length / (0.7 * float(entry.min())), 12.0)
    traces = drive(car, entry, seconds, decide, until=lambda now: bool(((now.x > length) | (now.speed < 0.5)).all()))
    hits = hit_cones(traces["x"] - RUN_UP, traces["y"], traces["heading_x"], traces["heading_y"], course, car.outline())
    done = traces["x"].max(axis=0) > length - 6.0
    entered = np.argmax(traces["x"] >= RUN_UP, axis=0)
    done &= np.abs(traces["speed"][entered, np.arange(len(entry))] - entry) < HELD * KMH
    return np.where(done, hits, len(course.cones)).reshape(len(speeds), len(DRIVERS)), traces


def hit_cones(
    x: Floats,
    y: Floats,
    ahead_x: Floats,
    ahead_y: Floats,
    course: LaneChangeCourse,
    outline: tuple[float, float, float],
) -> Floats:
    """Return how many cones the outline of each car passes over; positions and headings are (samples, n)."""
    half_length, half_width, ahead = outline
    hits = np.zeros(x.shape[1])
    for cone_x, cone_y in course.cones:
        dx, dy = cone_x - x, cone_y - y
        forward, left = dx * ahead_x + dy * ahead_y - ahead, dy * ahead_x - dx * ahead_y
        hits += ((np.abs(forward) < half_length) & (np.abs(left) < half_width)).any(axis=0)
    return hits


RADIUS = driver_options("skidpad")["path"]["circle"]["radius"]  # m
SMALL_RADIUS = 10.0  # m, of cars with a wheelbase below 1.2 m
CARS = 24
EVERY = 0.02  # s between two decisions
RISE, DRIVEN, JUDGED = 10.0, 20.0, 3.0  # s: to the full speed, in all, at the end
STIFFNESS, DAMPING, MEMORY = 4.0, 4.0, 2.0  # 1/s2, 1/s, 1/s3: how the driver returns to the circle
SKIDPAD_TOLERANCE = 0.08


def circle_radius(car: TestCar) -> float:
    """Return the radius (m) of the skidpad that suits the wheelbase of a car."""
    return SMALL_RADIUS if car.values.cg_to_front + car.values.cg_to_rear <= 1.2 else float(RADIUS)


def skidpad(car: TestCar) -> ManoeuvreResult:
    """Drive round a circle of 50 m radius; the fastest of 24 cars that stays within 0.5 m of it counts."""
    radius = circle_radius(car)
    top = 0.95 * top_speed(car)
    guess = fastest(car, radius, top)
    low, high = 0.6 * guess, min(1.3 * guess, top)
    best, remark = None, ""
    for _ in range(2):
        speeds = np.linspace(low, high, CARS)
        lateral, on_circle, at_speed = _driven(car, speeds, radius)
        if not (on_circle & at_speed).any():
            break
        last = int(np.flatnonzero(on_circle & at_speed)[-1])
        best = float(lateral[last])
        if last == CARS - 1:
            break
        remark = "limited by the power of the car, not by its tyres" if on_circle[last + 1] else ""
        low, high = speeds[last], speeds[last + 1]
    if best is None:
        return ManoeuvreResult({"skidpad": None}, remark=f"no car holds the circle at {low:.1f} m/s or faster")
    if high == min(1.3 * guess, top):
        limit = "its top speed" if high == top else "1.3 times the speed of the grip of its tyres"
        return ManoeuvreResult({"skidpad": None}, remark=f"no limit: the car holds the circle at {limit}")
    return ManoeuvreResult({"skidpad": best}, remark=remark)


def fastest(car: TestCar, radius: float, top: float) -> float:
    """Return the speed (m/s, at most `top`) at which the grip of all tyres holds a circle; down-force adds to it."""
    speeds = np.linspace(1.0, top, 500)
    enough = [speed for speed in speeds.tolist() if speed * speed / radius <= lateral_grip(car, speed)]
    return float(enough[-1]) if enough else 1.0


def _driven(car: TestCar, speeds: Floats, radius: float) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the lateral accelerations (m/s2), and which cars held the circle and their speed; all begin at 70 %."""
    linear = [linear_bicycle(car, float(speed)) for speed in speeds]
    base = linear[0].base
    gradients = np.array([max(run.gradient, 0.0) for run in linear])
    missed = np.zeros(len(speeds))  # m s: what a driver learns of the angle that the circle needs
    most = 4.0 * speeds**2 / radius / MEMORY  # tyres near their peak need several times the angle of linear ones

    def decide(now: Sample) -> Inputs:
        dx, dy = now.x, now.y - radius
        distance = np.sqrt(dx * dx + dy * dy)
        off = distance - radius  # outside positive
        outwards = (now.course_x * dx + now.course_y * dy) / distance
        missed[:] = np.clip(missed + EVERY * off, -most, most)
        demand = now.speed**2 / radius + STIFFNESS * off + DAMPING * outwards + MEMORY * missed  # m/s2
        steer = demand * (base / np.maximum(now.speed, 1.0) ** 2 + gradients)
        target = speeds * min(0.7 + 0.3 * now.time / RISE, 1.0)
        limited = np.clip(steer, -car.values.steer_max, car.values.steer_max)
        return {"steer": limited, **speed_pedals(car, target, now.speed, bend_drag(car, now))}

    traces = drive(car, 0.7 * speeds, DRIVEN, decide, every=EVERY)
    end = slice(-round(JUDGED / EVERY), None)
    off = np.sqrt(np.square(traces["x"][end]) + np.square(traces["y"][end] - radius)) - radius
    slow = np.abs(traces["speed"][end] / speeds - 1.0).max(axis=0)
    return traces.lateral[end].mean(axis=0), np.abs(off).max(axis=0) < 0.5, slow < 0.03


def skidpad_agreement(car: TestCar, circle: ManoeuvreResult, turns: ManoeuvreResult) -> list[Check]:
    """Compare the skidpad with the steady turns of ISO 4138, whose speed is another: the down-force differs."""
    measured, limit = circle.figures.get("skidpad"), turns.figures.get("lateral_max")
    if measured is None or limit is None or circle.remark:
        return []
    radius = circle_radius(car)
    expected = (
        limit * lateral_grip(car, (measured * radius) ** 0.5) / lateral_grip(car, standard_speed(car, TURN_SPEED))
    )
    formula = "limit of ISO 4138 with the down-force of this speed"
    return [Check("limit on the skidpad", car.level, measured, expected, SKIDPAD_TOLERANCE, formula)]
