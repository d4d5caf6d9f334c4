"""Quadrotor: each motor individually, bypassing the model's flight controller."""

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import maximum, minimum
from paddock.compute.routine import routine
from paddock.engine.program import FleetProgram
from paddock.sitl.airframe import Airframe, Inputs, Rows
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.parts.quad import MOTORS
from paddock.world.columns import column_index

NAMES = ("motor_1", "motor_2", "motor_3", "motor_4")


class QuadAirframe(Airframe):
    """Motors 1 to 4 in the order of ArduPilot, which is also the model's; disarmed, all stop."""

    direct = bounded = True
    inputs = ("armed", "mode", *NAMES)
    states = ("voltage", "charge", *NAMES)
    parameters = ("power_ratio", "thrust_max")

    def __init__(self, program: FleetProgram) -> None:
        super().__init__(program)
        self._read = np.array([column_index(program.model.state)[name] for name in self.states])
        self._power_of = power_of.direct()
        self._full: Floats | None = None  # W: power of a motor at full speed, where it is the same for all vehicles

    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """Return the shares of thrust unchanged."""
        if len(block) == 1:
            values = block[0, :5].tolist()
            if min(values) < 0.0:
                values = [max(value, 0.0) for value in values]
            armed, a, b, c, d = values
            on = 1.0 if armed > 0.5 else 0.0
            return {"armed": on, "mode": MOTORS, "motor_1": a, "motor_2": b, "motor_3": c, "motor_4": d}
        armed, *shares = np.maximum(block[:, :5].T, 0.0, order="C")
        return {"armed": (armed > 0.5).astype(np.float64), "mode": MOTORS, **dict(zip(NAMES, shares, strict=True))}

    def battery(self, rows: Rows) -> Floats:
        """Return the model's battery; the current is the motors' power over the voltage under load."""
        state = self.program.fleet.state[:, rows]
        full = self._full
        if full is None:
            varying = self.parameter("power_ratio", rows) * self.parameter("thrust_max", rows)
            full = np.atleast_1d(np.asarray(varying, np.float64))
            self._full = full if isinstance(varying, float) else None
        power = np.empty((3, state.shape[1]))
        self._power_of(state, self._read, full, power)
        return power


def measure_power(state: Floats, rows: NDArray[np.int64], full: Floats, power: Floats) -> None:
    """Write voltage, current and remaining share (3, n) of states (columns, n); `rows`: voltage, charge, motors.

    `full`, one for all or (n,): the power (W) of a motor at its full speed.
    """
    for k in range(state.shape[1]):
        cubes = 0.0
        for j in range(2, len(rows)):
            speed = state[rows[j], k]
            cubes += speed * speed * speed
        voltage = state[rows[0], k]
        power[0, k] = voltage
        power[1, k] = full[k if len(full) > 1 else 0] * cubes / maximum(0.1, voltage)
        power[2, k] = minimum(1.0, maximum(0.0, state[rows[1], k]))


power_of = routine(measure_power)


AIRFRAME = QuadAirframe
