"""Steering: the road wheels follow the command at a limited rate, up to a stop."""

from __future__ import annotations

from paddock.compute.math import clamp


def steered(angle: float, wanted: float, limit: float, rate_max: float, dt: float) -> float:
    """The road-wheel angle after dt, rad."""
    reach = rate_max * dt
    return angle + clamp(clamp(wanted, -limit, limit) - angle, -reach, reach)
