"""Tyres: magic formula side force, friction that falls with load, relaxation, and the friction ellipse.

The slip of an axle is minus its sideways speed over its rolling speed (the tangent of the slip angle), so a positive
slip gives a force to the left in either direction of travel. It is a state: the contact patch deflects like a spring
while the wheel moves sideways and recovers over the relaxation length as it rolls. That stays exact at standstill,
where a slip computed from the speeds of the moment would be 0/0.
"""

from paddock.compute.math import absolute, atan, clamp, maximum, minimum, select, sin, sqrt

SLIP_MAX = 3.0  # beyond this (72 degrees) the side force hardly changes, and an unbounded slip would take long to decay
PATCH_DAMPING = 0.7  # minimum damping ratio of a car on the spring of its contact patches


def friction(load: float, mu: float, load_nominal: float, sensitivity: float) -> float:
    """Return the largest horizontal force of one tyre under that load, N."""
    loss = sensitivity * (1.0 / load_nominal)  # a quotient of constants: the compiler takes it out of the loop
    return mu * maximum(0.3, 1.0 - loss * (load - load_nominal)) * load


def axle_friction(load: float, mu: float, load_nominal: float, sensitivity: float) -> float:
    """Return the largest horizontal force of an axle whose two tyres share the load, N."""
    return 2.0 * friction(0.5 * load, mu, load_nominal, sensitivity)


def magic_formula(slip: float, b: float, c: float, d: float, e: float) -> float:
    """Return Pacejka's curve: d sin(c atan(b slip - e (b slip - atan(b slip)))), in the unit of `d`."""
    bs = b * slip
    return d * sin(c * atan(bs - e * (bs - atan(bs))))


def relaxed_slip(slip: float, sideways: float, rolling: float, relaxation: float, dt: float) -> float:
    """Return the slip after dt for the contact's sideways and rolling speed (m/s); implicit, so always stable."""
    gain = dt / relaxation
    return clamp((slip - gain * sideways) / (1.0 + gain * absolute(rolling)), -SLIP_MAX, SLIP_MAX)


def slip_rate(slip: float, sideways: float, rolling: float, relaxation: float) -> float:
    """Return the rate of change of the slip, 1/s: `relaxed_slip` in the limit of a small dt."""
    return -(sideways + absolute(rolling) * slip) / relaxation


def patch_damping_time(rolling: float, stiffness: float, relaxation: float) -> float:
    """Return the time (s) of slip rate to add to the slip, so that the contact patch never rings.

    On its contact patches a car is an oscillator of frequency sqrt(stiffness / relaxation) (stiffness in m/s2 per unit
    slip) that rolling damps at rolling / relaxation. This adds the missing damping at low speed; as
    it acts on the rate, steady turns do not change.
    """
    per_slip = maximum(stiffness, 0.1)  # without friction there is nothing to damp
    return maximum(0.0, 2.0 * PATCH_DAMPING * sqrt(relaxation / per_slip) - absolute(rolling) * (1.0 / per_slip))


def cosine_of_slip(slip: float) -> float:
    """Return the cosine of the slip angle: the share of friction along the car of a locked or spinning wheel."""
    return 1.0 / sqrt(1.0 + slip * slip)


def combined_side_force(pure: float, along: float, limit: float, peak: float, slip: float, cosine: float) -> float:
    """Return the side force (N) that the friction ellipse leaves of `pure` while the tyre also gives the force `along`.

    `limit` is the half axis along the wheel and `peak` times it the one across; |along| <= limit * cosine. A sliding
    wheel pushes against its motion, so the force never falls below what a locked wheel would give.
    """
    used = along / maximum(limit, 1e-9)
    left = sqrt(maximum(0.0, 1.0 - used * used))
    across = peak * limit * absolute(slip) * cosine
    size = absolute(pure)
    return select(pure < 0.0, -1.0, 1.0) * maximum(size * left, minimum(size, across))
