"""The skidpad: a driver holds a circle at rising speeds; its limit must agree with that of steady turns."""

import numpy as np
from numpy.typing import NDArray

from paddock.record.validation.manoeuvres import TURN_SPEED, Check, ManoeuvreResult, bend_drag, reaches, top_speed
from paddock.record.validation.proving_ground import (
    Inputs,
    Sample,
    TestCar,
    drive,
    driver_options,
    lateral_grip,
    linear_bicycle,
    speed_pedals,
)
from paddock.world.columns import Floats

RADIUS = driver_options("skidpad")["path"]["circle"]["radius"]  # m
SMALL_RADIUS = 10.0  # m, of cars with a wheelbase below 1.2 m
CARS = 24
EVERY = 0.02  # s between two decisions
RISE, DRIVEN, JUDGED = 10.0, 20.0, 3.0  # s: to the full speed, in all, at the end
STIFFNESS, DAMPING, MEMORY = 4.0, 4.0, 2.0  # 1/s2, 1/s, 1/s3: how the driver returns to the circle
AGREEMENT = 0.08


def skidpad(car: TestCar) -> ManoeuvreResult:
    """Drive round a circle of 50 m radius; the fastest of 24 cars that stays within 0.5 m of it counts."""
    p = car.values
    radius = RADIUS if p.cg_to_front + p.cg_to_rear > 1.2 else SMALL_RADIUS
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
    gradients = np.array([max(one.gradient, 0.0) for one in linear])
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
        wanted = speeds * min(0.7 + 0.3 * now.time / RISE, 1.0)
        limited = np.clip(steer, -car.values.steer_max, car.values.steer_max)
        return {"steer": limited, **speed_pedals(car, wanted, now.speed, bend_drag(car, now))}

    traces = drive(car, 0.7 * speeds, DRIVEN, decide, every=EVERY)
    end = slice(-round(JUDGED / EVERY), None)
    off = np.sqrt(np.square(traces["x"][end]) + np.square(traces["y"][end] - radius)) - radius
    slow = np.abs(traces["speed"][end] / speeds - 1.0).max(axis=0)
    return traces.lateral[end].mean(axis=0), np.abs(off).max(axis=0) < 0.5, slow < 0.03


def agreement(car: TestCar, circle: ManoeuvreResult, turns: ManoeuvreResult) -> list[Check]:
    """Compare the skidpad with the steady turns of ISO 4138, whose speed is another: the down-force differs."""
    measured, limit = circle.figures.get("skidpad"), turns.figures.get("lateral_max")
    if measured is None or limit is None or circle.remark:
        return []
    radius = RADIUS if car.values.cg_to_front + car.values.cg_to_rear > 1.2 else SMALL_RADIUS
    speed = TURN_SPEED if reaches(car, TURN_SPEED) else 0.7 * top_speed(car)
    expected = limit * lateral_grip(car, (measured * radius) ** 0.5) / lateral_grip(car, speed)
    formula = "limit of ISO 4138 with the down-force of this speed"
    return [Check("limit on the skidpad", car.level, measured, expected, AGREEMENT, formula)]
