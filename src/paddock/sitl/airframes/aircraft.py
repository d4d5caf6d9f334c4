"""Fixed wings: control surfaces and throttle.

The model `plane` has surfaces of its own. The stabilised model `fixed_wing` has none: here an aileron sets a roll rate
and an elevator a rate of the path's angle, as those of an aircraft do, and both slowly return to level flight without
input. The throttle is an airspeed between the slowest and the fastest; on the ground with the motor stopped it rolls to
a halt.
"""

import numpy as np

from paddock.engine.program import FleetProgram
from paddock.sitl.airframe import FIRST_SERVO, Airframe, Inputs, Rows
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.models.fixed_wing import TAKE_OFF
from paddock.world.columns import column_index

SURFACES = ("aileron", "elevator", "rudder", "throttle")
ROLL_RATE = 2.2  # rad/s of full aileron
PITCH_RATE = 0.8  # rad/s of full elevator
LEVELLING = 6.0  # s: time in which the stabilised model returns to level flight
IDLE = 0.02  # throttle below which the motor stands


class FixedWingAirframe(Airframe):
    """Motor 1 is the throttle, servo 1 the aileron (+ right), 2 the elevator (+ up), 3 the rudder (+ right)."""

    inputs: tuple[str, ...] = ("speed", "bank", "climb")  # type: ignore[misc]
    states: tuple[str, ...] = ("airspeed", "bank", "climb")  # type: ignore[misc]
    parameters: tuple[str, ...] = ("speed_min", "speed_max", "roll_time", "speed_time")  # type: ignore[misc]

    def __init__(self, program: FleetProgram) -> None:
        self._surfaces = "elevator" in column_index(program.model.command)
        if self._surfaces:
            self.inputs, self.states, self.parameters = SURFACES, (), ()
        super().__init__(program)

    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """Return the surfaces unchanged, or the bank, climb and speed that they cause."""
        throttle = np.where(block[:, 0] > 0.5, np.maximum(block[:, 1], 0.0), 0.0)
        aileron, elevator = block[:, FIRST_SERVO], block[:, FIRST_SERVO + 1]
        if self._surfaces:
            return dict(zip(SURFACES, (aileron, elevator, block[:, FIRST_SERVO + 2], throttle), strict=True))
        slowest, fastest = self.parameter("speed_min", rows), self.parameter("speed_max", rows)
        bank, climb, speed = (self.state(name, rows) for name in ("bank", "climb", "airspeed"))
        rolling = ROLL_RATE * aileron - bank / LEVELLING
        climbing = speed * PITCH_RATE * elevator - climb / LEVELLING
        rising = climb + climbing * self.parameter("speed_time", rows)
        starting = (throttle > IDLE) & (speed < slowest)  # on the ground, where the climb starts the roll
        return {
            "speed": np.where(throttle > IDLE, slowest + throttle * (fastest - slowest), 0.0),
            "bank": np.clip(bank + rolling * self.parameter("roll_time", rows), -1.5, 1.5),
            "climb": np.clip(np.where(starting, np.maximum(rising, TAKE_OFF), rising), -100.0, 100.0),
        }


AIRFRAME = FixedWingAirframe
