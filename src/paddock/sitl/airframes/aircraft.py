"""Fixed wing: a stabilised airframe, whose deflections are angles and rates that it holds.

The model has coordinated turns, not control surfaces: the aileron is a share of the largest bank, the elevator of the
fastest climb, the throttle an airspeed between the slowest and the fastest. The rudder has no effect. It is always
airborne: disarmed, it glides at its slowest speed.
"""

import numpy as np

from paddock.sitl.airframe import FIRST_SERVO, Airframe, Inputs, Rows
from paddock.sitl.sensor_data import Floats


class FixedWingAirframe(Airframe):
    """Motor 1 is the throttle, servo 1 the aileron (+ rolls right), servo 2 the elevator (+ nose up)."""

    direct = True
    inputs = ("speed", "bank", "climb")
    parameters = ("speed_min", "speed_max", "bank_max", "climb_max")

    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """Return shares of the flight envelope."""
        slowest, fastest = self.parameter("speed_min", rows), self.parameter("speed_max", rows)
        throttle = np.where(block[:, 0] > 0.5, np.maximum(block[:, 1], 0.0), 0.0)
        return {
            "speed": slowest + throttle * (fastest - slowest),
            "bank": block[:, FIRST_SERVO] * self.parameter("bank_max", rows),
            "climb": block[:, FIRST_SERVO + 1] * self.parameter("climb_max", rows),
        }


AIRFRAME = FixedWingAirframe
