"""Lithium-polymer battery: open-circuit voltage over charge, and the sag that a power draw causes."""

from __future__ import annotations

from paddock.compute.math import clamp, maximum, sqrt

FULL_CELL = 4.2
"""V: one cell, fully charged, at rest."""


def open_circuit(charge: float) -> float:
    """Voltage of one cell at rest, V, for a charge of 1 (full) to 0 (empty); below 0 it collapses.

    4.20 V full, 3.89 at 60 %, 3.72 at 20 %, 3.27 empty: the plateau and the knee of a LiPo discharge curve.
    """
    s = clamp(charge, 0.0, 1.0)
    knee = 1.0 + 20.0 * s
    plateau = 3.68 + 0.30 * s + 0.22 * s * s * s * s
    return (plateau - 0.41 / (knee * knee)) * clamp(1.0 + 50.0 * charge, 0.0, 1.0)


def loaded_voltage(open_voltage: float, resistance: float, power: float) -> float:
    """Terminal voltage, V, while `power` (W) is drawn through the internal resistance (ohm).

    V (E - V) / R = P has two solutions; the battery sits on the upper one, and at E/2 when asked for more than it has.
    """
    return 0.5 * (open_voltage + sqrt(maximum(open_voltage * open_voltage - 4.0 * resistance * power, 0.0)))
