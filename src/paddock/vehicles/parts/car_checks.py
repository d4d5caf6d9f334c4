"""What is impossible about the parameters of a car together; one line names the key and what would be valid."""

from collections.abc import Iterator
from itertools import pairwise

from paddock.compute.scalars import tan
from paddock.vehicles.parts.car import Parameters

LEAST_INERTIA = 0.05  # of the mass times the lever arms of its axles; road cars have about 1
SHARPEST = 0.9  # share of Ackermann's geometry at which the inner wheel would stand nearly across
GRAVITY = 9.80665


def car_problem(p: Parameters) -> str:
    """Return the first problem of a car of any level; "" if there is none."""
    return next(_problems(p), "")


def full_car_problem(p: Parameters) -> str:
    """Return the first problem of a car with a body that rolls and pitches; "" if there is none."""
    return next(_problems(p), "") or next(_body_problems(p), "")


def _problems(p: Parameters) -> Iterator[str]:
    wheelbase = p.cg_to_front + p.cg_to_rear
    if p.wheel_radius > 0.5 * wheelbase:
        limit = f"at most {0.5 * wheelbase:g} m, half the wheelbase, or the wheels overlap"
        yield f"wheel_radius must be {limit}, not {p.wheel_radius:g}"
    least = LEAST_INERTIA * p.mass * p.cg_to_front * p.cg_to_rear
    if p.inertia_z < least:
        rule = f"{LEAST_INERTIA:g} x mass x cg_to_front x cg_to_rear"
        yield f"inertia_z must be at least {least:.4g} kg m2, {rule}, not {p.inertia_z:g}"
    share = abs(p.ackermann) * 0.5 * p.track_front / wheelbase * tan(p.steer_max)
    if share > SHARPEST:
        most = f"at most {SHARPEST / share * abs(p.ackermann):.3g} with this track_front and steer_max"
        yield f"ackermann must be {most}, not {p.ackermann:g}: the inner wheel would stand across"
    yield from _gear_problems(p)


def _gear_problems(p: Parameters) -> Iterator[str]:
    if p.gears != int(p.gears):
        yield f"gears must be a whole number from 0 to 6, not {p.gears:g}"
        return
    ratios = (p.gear_1, p.gear_2, p.gear_3, p.gear_4, p.gear_5, p.gear_6)[: int(p.gears)]
    for k, ratio in enumerate(ratios, 1):
        if ratio <= 0.0:
            yield f"gear_{k} must be above 0 in a gearbox of {p.gears:g} gears, not {ratio:g}"
            return
    for k, (low, high) in enumerate(pairwise(ratios), 1):
        if high >= low:
            yield f"gear_{k + 1} must be below gear_{k}, {low:g}, not {high:g}"
        elif p.shift_down >= p.shift_up * high / low:
            most = f"below {p.shift_up * high / low:.4g} rad/s, where shift_up arrives in gear_{k + 1}"
            yield f"shift_down must be {most}, not {p.shift_down:g}: the gearbox would shift up and down in turn"
    if len(ratios) > 1 and 0.0 < p.engine_speed_max <= p.shift_up:
        yield f"shift_up must be below engine_speed_max, {p.engine_speed_max:g} rad/s, not {p.shift_up:g}"


def _body_problems(p: Parameters) -> Iterator[str]:
    wheels = 2.0 * (p.unsprung_front + p.unsprung_rear)
    if wheels > 0.9 * p.mass:
        heaviest = f"less than 0.9 of mass, {0.9 * p.mass:g} kg"
        yield f"unsprung_front and unsprung_rear: all wheels must weigh {heaviest}, not {wheels:g}"
    # data sheets give the inertia of the body without wheels about the forward and the left axis
    front = p.unsprung_front * (p.cg_to_front**2 + 0.25 * p.track_front**2)
    rear = p.unsprung_rear * (p.cg_to_rear**2 + 0.25 * p.track_rear**2)
    most = {
        "inertia_x": p.inertia_y + p.inertia_z,
        "inertia_y": p.inertia_x + p.inertia_z,
        "inertia_z": p.inertia_x + p.inertia_y + 2.0 * (front + rear),
    }
    for name, limit in most.items():
        if getattr(p, name) > limit:
            rule = "at most the sum of the other two" + (" and of the wheels" if name == "inertia_z" else "")
            yield f"{name} must be {rule}, {limit:.4g} kg m2, as of every body, not {getattr(p, name):g}"
    least = LEAST_INERTIA * p.mass * 0.25 * p.track_front * p.track_rear
    if p.inertia_x < least:
        rule = f"{LEAST_INERTIA:g} x mass x (half the track)^2"
        yield f"inertia_x must be at least {least:.4g} kg m2, {rule}, not {p.inertia_x:g}"
    stiffest = 0.5 * p.mass * GRAVITY * max(p.cg_to_front, p.cg_to_rear) / (p.cg_to_front + p.cg_to_rear)
    if p.tyre_spring * p.wheel_radius < stiffest:
        least = stiffest / p.wheel_radius
        yield f"tyre_spring must be at least {least:.4g} N/m to carry the car on its tyres, not {p.tyre_spring:g}"
