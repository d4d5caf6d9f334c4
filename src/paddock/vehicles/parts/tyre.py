"""Tyres: linear, magic formula and brush; load sensitivity, combined slip, relaxation, peaks.

A tyre is a function `(slip_ratio, slip, load, mu, p) -> TyreForce` and its peaks `(load, mu, p) -> Peaks`; a car's
entry may name others. The slip ratio is (rolling speed of the tread - speed of the contact) / |speed of the contact|;
the slip is minus the sideways speed over the rolling speed (the tangent of the slip angle), so a positive slip gives a
force to the left in either direction of travel. `mu` is the friction of tyre and ground at the nominal load.

Both slips are states: the contact patch deflects like a spring while it moves and recovers over the relaxation length
as it rolls. That stays exact at standstill, where a slip computed from the speeds of the moment would be 0/0.
"""

from typing import NamedTuple

from paddock.compute.math import (
    PI,
    absolute,
    asin,
    atan,
    atan_positive,
    clamp,
    hypot,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sin_half_turn,
    sqrt,
    tan,
)
from paddock.vehicles.parts.car import Parameters

SLIP_MAX = 3.0  # beyond this (72 degrees) the side force hardly changes, and an unbounded slip would take long to decay
PATCH_DAMPING = 0.7  # minimum damping ratio of a car on the spring of its contact patches
ELASTIC = 1.5  # a standing patch slides beyond this share of 1 / (B C), where the linear force reaches the peak
SLIDING = 2.0  # s/m: growth of that limit with the speed of sliding
NO_PEAK = 0.95  # a curve without a maximum counts as peaking at this share of its asymptote


class TyreForce(NamedTuple):
    """Force of one tyre on the car in the axes of its wheel, N."""

    along: float
    across: float  # to the left


class Peaks(NamedTuple):
    """Where the force of a tyre is largest at a load."""

    mu: float  # lateral force over load
    alpha: float  # slip angle, rad
    kappa: float  # slip ratio
    mu_long: float  # longitudinal force over load


def friction(load: float, mu: float, load_nominal: float, sensitivity: float) -> float:
    """Return the largest horizontal force of one tyre under that load, N."""
    loss = sensitivity * (1.0 / load_nominal)  # a quotient of constants: the compiler takes it out of the loop
    return mu * maximum(0.3, 1.0 - loss * (load - load_nominal)) * load


def axle_friction(load: float, mu: float, load_nominal: float, sensitivity: float, transfer: float = 0.0) -> float:
    """Return the largest horizontal force of an axle, N; `transfer` is the load that one wheel passes to the other.

    Friction falls linearly with load, so the sum over both wheels loses 2 mu sensitivity transfer^2 / nominal load.
    """
    moved = clamp(transfer, -0.5 * load, 0.5 * load)
    even = 2.0 * friction(0.5 * load, mu, load_nominal, sensitivity)
    return maximum(0.3 * mu * load, even - (2.0 * mu * sensitivity * (1.0 / load_nominal)) * (moved * moved))


def magic_formula(slip: float, b: float, c: float, d: float, e: float) -> float:
    """Return Pacejka's curve: d sin(c atan(b slip - e (b slip - atan(b slip)))), in the unit of `d`; c < 3, e <= 1."""
    bs = absolute(b * slip)
    size = sin_half_turn(c * atan_positive(bs - e * (bs - atan_positive(bs))))
    return select(b * slip < 0.0, -d, d) * size


def magic_tyre(slip_ratio: float, slip: float, load: float, mu: float, p: Parameters) -> TyreForce:
    """Return the force by the magic formula.

    Both curves are taken at the size of the combined slip, and the force points along the slip: it stays inside the
    friction ellipse, and a locked wheel pushes against its motion.
    """
    limit = friction(load, mu, p.tyre_load, p.tyre_load_sensitivity)
    rolls = slip_ratio == 0.0  # where this is known, at level 2, the root and the division are not compiled
    size = select(rolls, absolute(slip), hypot(slip_ratio, slip))
    share = 1.0 / maximum(size, 1e-9)
    along = magic_formula(size, p.tyre_b_long, p.tyre_c_long, p.tyre_d_long, p.tyre_e_long)
    across = magic_formula(size, p.tyre_b_lat, p.tyre_c_lat, p.tyre_d_lat, p.tyre_e_lat)
    return TyreForce(limit * along * (share * slip_ratio), limit * across * select(rolls, sign(slip), share * slip))


def magic_peaks(load: float, mu: float, p: Parameters) -> Peaks:
    """Return the peaks of the magic formula."""
    across, alpha = magic_peak(p.tyre_b_lat, p.tyre_c_lat, p.tyre_e_lat)
    along, kappa = magic_peak(p.tyre_b_long, p.tyre_c_long, p.tyre_e_long)
    grip = friction(load, mu, p.tyre_load, p.tyre_load_sensitivity) / maximum(load, 1e-9)
    return Peaks(p.tyre_d_lat * grip * across, atan(alpha), kappa, p.tyre_d_long * grip * along)


def magic_peak(b: float, c: float, e: float) -> tuple[float, float]:
    """Return the largest value for d = 1 and the slip where it is reached; see NO_PEAK."""
    bend = select(e < 1.0, 0.5 * PI, atan(0.5 * PI))  # the most that atan(...) of the formula approaches
    exists = c * bend > 0.5 * PI
    top = select(exists, 1.0, sin(c * bend))
    target = tan(minimum(asin(select(exists, 1.0, NO_PEAK * top)) / c, 1.55))
    x = _newton(_newton(_newton(_newton(target, target, e), target, e), target, e), target, e)
    x = _newton(_newton(_newton(_newton(x, target, e), target, e), target, e), target, e)
    return top, x / b


def _newton(x: float, target: float, e: float) -> float:
    """Return a better solution of x - e (x - atan x) = wanted; converges from one side for every e <= 1."""
    return x - ((1.0 - e) * x + e * atan(x) - target) / maximum(1.0 - e + e / (1.0 + x * x), 1e-6)


def linear_tyre(slip_ratio: float, slip: float, load: float, mu: float, p: Parameters) -> TyreForce:
    """Return forces proportional to the slips, with the stiffness of the magic formula, up to friction."""
    along, across, size = _stretched(slip_ratio, slip, p)
    share = friction(load, mu, p.tyre_load, p.tyre_load_sensitivity) / maximum(size, 1.0)
    return TyreForce(share * p.tyre_d_long * along, share * p.tyre_d_lat * across)


def linear_peaks(load: float, mu: float, p: Parameters) -> Peaks:
    """Return where the linear tyre reaches friction."""
    grip = friction(load, mu, p.tyre_load, p.tyre_load_sensitivity) / maximum(load, 1e-9)
    alpha = atan(1.0 / (p.tyre_b_lat * p.tyre_c_lat))
    kappa = 1.0 / (p.tyre_b_long * p.tyre_c_long) + 0.0 * load
    return Peaks(p.tyre_d_lat * grip, alpha, kappa, p.tyre_d_long * grip)


def brush_tyre(slip_ratio: float, slip: float, load: float, mu: float, p: Parameters) -> TyreForce:
    """Return the force of the brush model with a parabolic pressure (Fiala).

    Its stiffness is that of the magic formula; it slides altogether where the linear force is three times friction.
    """
    along, across, size = _stretched(slip_ratio, slip, p)
    used = minimum(size * (1.0 / 3.0), 1.0)
    force = 3.0 * used * (1.0 - used + used * used * (1.0 / 3.0))
    share = friction(load, mu, p.tyre_load, p.tyre_load_sensitivity) * force / maximum(size, 1e-9)
    return TyreForce(share * p.tyre_d_long * along, share * p.tyre_d_lat * across)


def brush_peaks(load: float, mu: float, p: Parameters) -> Peaks:
    """Return where the brush model slides altogether."""
    mu_peak, _, kappa, mu_long = linear_peaks(load, mu, p)
    return Peaks(mu_peak, atan(3.0 / (p.tyre_b_lat * p.tyre_c_lat)), 3.0 * kappa, mu_long)


def _stretched(slip_ratio: float, slip: float, p: Parameters) -> tuple[float, float, float]:
    """Return linear forces along and across as shares of friction, and the size of both together."""
    along, across = p.tyre_b_long * p.tyre_c_long * slip_ratio, p.tyre_b_lat * p.tyre_c_lat * slip
    return along, across, hypot(along, across)


def relaxed_slip(slip: float, sideways: float, rolling: float, relaxation: float, dt: float) -> float:
    """Return the slip after dt for the contact's sideways and rolling speed (m/s); implicit, so always stable."""
    gain = dt / relaxation
    return clamp((slip - gain * sideways) / (1.0 + gain * absolute(rolling)), -SLIP_MAX, SLIP_MAX)


def slip_rate(slip: float, sideways: float, rolling: float, relaxation: float) -> float:
    """Return the rate of change of the slip, 1/s: `relaxed_slip` in the limit of a small dt."""
    return -(sideways + absolute(rolling) * slip) / relaxation


def patch_limit(sliding: float, b: float, c: float) -> float:
    """Return the largest slip of a patch whose contact slides at that speed (m/s).

    A patch that has slid to a halt keeps the deflection of a spring at the limit of friction, not the slip that it had
    at speed: it would throw the car back.
    """
    return minimum(SLIP_MAX, ELASTIC / (b * c) + SLIDING * sliding)


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
