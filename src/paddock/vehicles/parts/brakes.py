"""Brakes and everything else that resists motion: it can stop a car within a tick and hold it, never push it back."""

from __future__ import annotations

from paddock.compute.math import absolute, clamp, maximum, minimum, select, sign
from paddock.vehicles.parts.car_controls import Command
from paddock.vehicles.parts.car_parameters import Parameters


def brake_force_max(p: Parameters) -> float:
    """The force of all four wheels at full pedal, N, before the tyres limit it."""
    return 2.0 * p.brake_torque / p.wheel_radius


def brake_forces(u: Command, p: Parameters) -> tuple[float, float]:
    """The brake force of the front and the rear axle, N >= 0; the handbrake puts the full torque on the rear axle."""
    force = brake_force_max(p)
    pedal = clamp(u.brake, 0.0, 1.0) * force
    handbrake = clamp(u.handbrake, 0.0, 1.0) * force
    return pedal * p.brake_bias, maximum(pedal * (1.0 - p.brake_bias), handbrake)


def resisting(brake: float, drive: float, direction: float, grip: float) -> float:
    """What of a brake force the tyre passes on, N >= 0, while it also gives `drive` (|drive| <= grip)."""
    return minimum(brake, maximum(0.0, grip + direction * drive))


def holding(speed: float, push: float, resistance: float) -> float:
    """The force (N) of a resistance (>= 0): against the motion, or what holds a standing car against a push."""
    return select(speed == 0.0, -clamp(push, -resistance, resistance), -sign(speed) * resistance)


def slowed(speed: float, loss: float) -> tuple[float, float]:
    """The speed after a resistance that can take `loss` (>= 0) from it, exactly 0 where it suffices, and the change."""
    change = -sign(speed) * minimum(absolute(speed), loss)
    return select(absolute(speed) <= loss, 0.0, speed + change), change
