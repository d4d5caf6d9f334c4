"""ISO 3888-2: the double lane change (obstacle avoidance), driven by a preview driver, with cones."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from paddock.behaviour.rules.preview import FORESIGHT, preview_curvature
from paddock.record.validation.manoeuvres import KMH, Check, ManoeuvreResult, top_speed
from paddock.record.validation.proving_ground import (
    Inputs,
    Sample,
    TestCar,
    Traces,
    drive,
    driver_options,
    linear_bicycle,
    speed_pedals,
)
from paddock.world.columns import Floats
from paddock.world.lane_change import SECTIONS, Course

RUN_UP = driver_options("iso_3888_2")["path"]["lane_change"]["run_up"]  # m
ABOVE = 5.0  # km/h above the pass speed at which hit cones are counted
TOP = 160.0  # km/h, the fastest entry that is tried
SLOWEST = 40.0  # km/h
SPEEDS = 10  # entry speeds of one fleet
HELD = 1.0  # km/h: a run counts if the car enters this close to the entry speed
DRIVERS = tuple(product((0.2, 0.3, 0.4, 0.5, 0.6), (1.0, 1.7, 2.5), (0.0, 1.5), (0.1, 0.3)))
"""Drivers: preview (s), gain, begin of a change before the end of a lane (m), cut of the side lane (m)."""
AGREEMENT = 0.2  # of the pass speeds of two levels


def lane_change(car: TestCar) -> ManoeuvreResult:
    """Find the highest entry speed at which one of the drivers hits no cone; the throttle is closed from the entry."""
    course = Course(2.0 * car.outline()[1])
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
        passed, who = float(speeds[k]), int(hits[k].argmin()) + k * len(DRIVERS)
        shown = traces["x"][:, who] - RUN_UP, traces["y"][:, who]
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


def agreement(cars: Sequence[TestCar], outcomes: Sequence[ManoeuvreResult]) -> list[Check]:
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
        Check("ISO 3888-2 speed", level, speed, expected, AGREEMENT, formula)
        for level, speed in speeds.items()
        if speed is not None and expected is not None
    ]


def _fewest_hits(car: TestCar, course: Course, speed: float) -> float:
    return float(cone_hits(car, course, np.array([speed]))[0].min())


def cone_hits(car: TestCar, course: Course, speeds: Floats) -> tuple[Floats, Traces]:
    """Return the cones hit at each entry speed (km/h) by each driver, (speeds, drivers), and the traces of all cars."""
    entry = np.repeat(speeds * KMH, len(DRIVERS))
    preview, gain, early, cut = np.tile(np.array(DRIVERS).T, len(speeds))
    linear = [linear_bicycle(car, float(speed) * KMH) for speed in speeds]
    slopes = [one.base + max(one.gradient, 0.0) * (v * KMH) ** 2 for one, v in zip(linear, speeds, strict=True)]
    angle = np.repeat(slopes, len(DRIVERS))  # rad of steering per curvature
    p = car.values

    def decide(now: Sample) -> Inputs:
        x = now.x - RUN_UP
        wanted = course.line(x + now.course_x * preview, early, cut)
        bending = FORESIGHT * now.yaw_rate / np.maximum(now.speed, 1.0)
        reach = np.maximum(now.speed * preview, 1.0)
        off = wanted - (now.y + now.course_y * preview + 0.5 * bending * reach * reach)
        curvature = preview_curvature(bending, off, reach, gain)
        inside = now.x > RUN_UP
        steer = np.clip(angle * curvature, -p.steer_max, p.steer_max)
        pedals = speed_pedals(car, entry, now.speed)
        return {"steer": steer, **{name: np.where(inside, 0.0, pedal) for name, pedal in pedals.items()}}

    length = RUN_UP + sum(SECTIONS) + 6.0
    seconds = min(length / (0.7 * float(entry.min())), 12.0)
    traces = drive(car, entry, seconds, decide, until=lambda now: bool(((now.x > length) | (now.speed < 0.5)).all()))
    hits = hit_cones(traces["x"] - RUN_UP, traces["y"], traces["heading_x"], traces["heading_y"], course, car.outline())
    done = traces["x"].max(axis=0) > length - 6.0
    entered = np.argmax(traces["x"] >= RUN_UP, axis=0)
    done &= np.abs(traces["speed"][entered, np.arange(len(entry))] - entry) < HELD * KMH
    return np.where(done, hits, len(course.cones)).reshape(len(speeds), len(DRIVERS)), traces


def hit_cones(
    x: Floats, y: Floats, ahead_x: Floats, ahead_y: Floats, course: Course, outline: tuple[float, float, float]
) -> Floats:
    """Return how many cones the outline of each car passes over; positions and headings are (samples, n)."""
    half_length, half_width, ahead = outline
    hits = np.zeros(x.shape[1])
    for cone_x, cone_y in course.cones:
        dx, dy = cone_x - x, cone_y - y
        forward, left = dx * ahead_x + dy * ahead_y - ahead, dy * ahead_x - dx * ahead_y
        hits += ((np.abs(forward) < half_length) & (np.abs(left) < half_width)).any(axis=0)
    return hits
