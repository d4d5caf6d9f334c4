"""Battery of an electric vehicle: LiPo cells in series with an internal resistance, discharged by the power drawn.

A model keeps `charge` and `voltage` (and `current`, where its power is not a function of other columns) in its state
and has the parameters `cells`, `capacity` and `cell_resistance`. A capacity of 0 means no battery: its charge stays 1,
voltage and current stay 0.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import clamp, maximum, minimum, select, sqrt
from paddock.world.columns import Column, ColumnGroup, column_tuple

FULL_CELL = 4.2  # V: one cell, fully charged, at rest
WEAK_CELL, EMPTY_CELL = 3.6, 3.0  # V at rest: below the first the drive gets weaker, at the second it stops


@column_tuple
class BatteryColumns(ColumnGroup):
    """The battery of the drive."""

    charge: Annotated[float, Column("", "battery charge, 1 full, 0 empty; 1 without a battery")]
    voltage: Annotated[float, Column("V", "battery voltage under load, 0 without a battery")]
    current: Annotated[float, Column("A", "battery current")]


class BatteryState(NamedTuple):
    """Charge (share of the capacity), voltage under load (V) and current (A)."""

    charge: float
    voltage: float
    current: float


def open_circuit(charge: float) -> float:
    """Return the voltage of one cell at rest, V, for a charge of 1 (full) to 0 (empty); below 0 it collapses.

    4.20 V full, 3.89 at 60 %, 3.72 at 20 %, 3.27 empty: the plateau and the knee of a LiPo discharge curve.
    """
    s = clamp(charge, 0.0, 1.0)
    knee = 1.0 + 20.0 * s
    plateau = 3.68 + 0.30 * s + 0.22 * s * s * s * s
    return (plateau - 0.41 / (knee * knee)) * clamp(1.0 + 50.0 * charge, 0.0, 1.0)


def loaded_voltage(open_voltage: float, resistance: float, power: float) -> float:
    """Return the terminal voltage, V, while `power` (W) is drawn through the internal resistance (ohm).

    V (E - V) / R = P has two solutions: the upper one is used, and E/2 if the power exceeds the maximum.
    """
    return 0.5 * (open_voltage + sqrt(maximum(open_voltage * open_voltage - 4.0 * resistance * power, 0.0)))


def discharged(
    charge: float, power: float, cells: float, cell_resistance: float, capacity: float, dt: float
) -> BatteryState:
    """Return the battery after `power` (W) was drawn for dt; `capacity` in mAh, `cell_resistance` in ohm.

    It delivers at most E^2 / 4R, with the current E / 2R.
    """
    rest, resistance = cells * open_circuit(charge), cells * cell_resistance
    voltage = loaded_voltage(rest, resistance, power)
    current = minimum(power / maximum(voltage, 0.1), 0.5 * rest / maximum(resistance, 1e-9))
    return BatteryState(maximum(charge - current * (dt / (3.6 * capacity)), -0.02), voltage, current)


def optional_discharged(
    charge: float, power: float, cells: float, cell_resistance: float, capacity: float, dt: float
) -> BatteryState:
    """Return the battery of a model whose capacity may be 0."""
    fitted = capacity > 0.0
    after = discharged(charge, select(fitted, power, 0.0), cells, cell_resistance, maximum(capacity, 1.0), dt)
    return BatteryState(after.charge, select(fitted, after.voltage, 0.0), after.current)


def drive_strength(charge: float) -> float:
    """Return the share of its power or speed that a drive has left: 1 down to 5 % of the charge, 0 when empty.

    It depends on the voltage at rest: a drive that got weaker with the voltage under load would chatter.
    """
    return clamp((open_circuit(charge) - EMPTY_CELL) * (1.0 / (WEAK_CELL - EMPTY_CELL)), 0.0, 1.0)


def full_strength(charge: float) -> float:
    """Return the share of its power that a drive without a battery has: all of it."""
    return 1.0


def drive_power(mechanical: float, efficiency: float, idle: float) -> float:
    """Return the electrical power, W, of a drive without recuperation that delivers `mechanical` W."""
    return idle + maximum(mechanical, 0.0) * (1.0 / efficiency)
