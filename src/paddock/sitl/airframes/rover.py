"""Skid-steer rover: a motor for the wheels of each side."""

import numpy as np

from paddock.sitl.airframe import Airframe, Inputs, Rows
from paddock.sitl.sensor_data import Floats

NEUTRAL = 0.01  # share below which a motor rests, as electronic speed controllers have it: jitter moves no wheel


class RoverAirframe(Airframe):
    """Motor 1 left, motor 2 right, as shares of a wheel's top speed; disarmed, it stops."""

    direct = True
    inputs = ("speed", "turn_rate")
    parameters = ("speed_max", "wheel_base")

    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """Return the speed of the centre and the turn rate of the two wheel speeds."""
        armed = block[:, 0] > 0.5
        top = np.where(armed, self.parameter("speed_max", rows), 0.0)
        left, right = (np.where(np.abs(share) > NEUTRAL, share, 0.0) * top for share in (block[:, 1], block[:, 2]))
        return {"speed": 0.5 * (left + right), "turn_rate": (right - left) / self.parameter("wheel_base", rows)}


AIRFRAME = RoverAirframe
