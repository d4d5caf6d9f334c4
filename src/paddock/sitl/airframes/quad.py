"""Quadrotor: every motor by itself, past the model's own flight controller."""

from __future__ import annotations

import numpy as np

from paddock.sitl.airframe import Airframe, Inputs, Rows
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.parts.flight_control import MOTORS

NAMES = ("motor_1", "motor_2", "motor_3", "motor_4")


class QuadAirframe(Airframe):
    """Motors 1 to 4 in the order of ArduPilot, which is also the model's; disarmed, all stand still."""

    inputs = ("armed", "mode", *NAMES)
    states = ("voltage", "charge", *NAMES)
    parameters = ("power_ratio", "thrust_max")

    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """The shares of thrust as they are."""
        shares = np.maximum(block[:, 1:5].T, 0.0)
        return {"armed": np.where(block[:, 0] > 0.5, 1.0, 0.0), "mode": MOTORS, **dict(zip(NAMES, shares, strict=True))}

    def battery(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """As the model has it; the current is what the motors' power takes from the voltage under load."""
        voltage, charge = self.state("voltage", rows), self.state("charge", rows)
        speeds = np.stack([self.state(name, rows) for name in NAMES])
        cubes = (speeds * speeds * speeds).sum(axis=0)
        power = self.parameter("power_ratio", rows) * self.parameter("thrust_max", rows) * cubes
        return voltage, power / np.maximum(voltage, 0.1), np.clip(charge, 0.0, 1.0)


AIRFRAME = QuadAirframe
