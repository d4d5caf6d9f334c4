"""Car: a steering servo, and an electric drive that drives both ways, brakes, and holds a standing car.

The throttle is the motor's voltage, so the force decreases with speed and a share of the throttle is a share of the
top speed: F = F_stall (throttle - v / v_top). The motor's power peaks at half its top speed, v_top = 4 P / F_stall, so
that the model's torque and power are never exceeded. Force against the motion comes from the brakes: a car that rolls
forward and gets reverse throttle stops first.

A model without tyres rolls wherever its wheels point. Here it turns no tighter than tyres of its tyre_mu would hold: at
speed the front wheels slide over the rest of their angle.
"""

import numpy as np

from paddock.compute import arrays
from paddock.engine.program import FleetProgram
from paddock.sitl.airframe import FIRST_SERVO, Airframe, Inputs, Rows
from paddock.sitl.sensor_data import Floats
from paddock.world.columns import column_index

STANDING = 0.05  # m/s below which a car stands
NEUTRAL = 0.01  # throttle below which it counts as 0
HOLDING_BRAKE = 0.5  # pedal that holds a standing car
GRAVITY = 9.80665  # m/s2


class CarAirframe(Airframe):
    """Motor 1 is the throttle, servo 1 the steering, + right; disarmed, it brakes."""

    inputs = ("steer", "throttle", "brake", "gear", "handbrake")
    states = ("vx",)
    parameters = (
        *("engine_torque", "final_drive", "wheel_radius", "power_max", "brake_torque"),
        *("steer_max", "tyre_mu", "cg_to_front", "cg_to_rear"),
    )

    def __init__(self, program: FleetProgram) -> None:
        super().__init__(program)
        self._slides = "vy" in column_index(program.model.state)  # the model has tyres

    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """Return pedals, gear and steering."""
        armed, speed = block[:, 0] > 0.5, self.state("vx", rows)
        asked = np.where(armed & (np.abs(block[:, 1]) > NEUTRAL), block[:, 1], 0.0)
        torque, radius = self.parameter("engine_torque", rows), self.parameter("wheel_radius", rows)
        stall = torque * self.parameter("final_drive", rows) / radius  # N: the motor's force at rest
        top = np.maximum(4.0 * self.parameter("power_max", rows) / np.maximum(stall, 1e-9), 0.1)  # m/s: without force
        braking = 2.0 * self.parameter("brake_torque", rows) / radius  # N at full pedal
        push = np.where(armed, asked - speed / top, -np.sign(speed))
        against = push * speed < 0.0
        halted = (asked == 0.0) & (np.abs(speed) < STANDING)
        available = np.minimum(stall, self.parameter("power_max", rows) / np.maximum(np.abs(speed), 0.1))
        throttle = np.where(against | halted, 0.0, np.abs(push) * stall / np.maximum(available, 1e-9))
        brake = np.where(against, np.abs(push) * stall / np.maximum(braking, 1e-9), 0.0)
        brake = np.where(armed, brake, 1.0)
        return {
            "steer": self._steer(block[:, FIRST_SERVO], speed, rows),
            "throttle": np.clip(throttle, 0.0, 1.0),
            "brake": np.clip(np.where(halted, np.maximum(brake, HOLDING_BRAKE), brake), 0.0, 1.0),
            "gear": np.where(push < 0.0, -1.0, 1.0),
            "handbrake": 0.0,
        }

    def _steer(self, servo: Floats, speed: Floats, rows: Rows) -> Floats:
        """Return the angle at which the front wheels roll, rad, + left."""
        wanted = -servo * self.parameter("steer_max", rows)
        if self._slides:
            return wanted
        length = self.parameter("cg_to_front", rows) + self.parameter("cg_to_rear", rows)
        grip = self.parameter("tyre_mu", rows) * GRAVITY
        most = arrays.arctan2(grip * length, np.maximum(speed * speed, 1e-9))
        return np.asarray(np.minimum(np.maximum(wanted, -most), most))


AIRFRAME = CarAirframe
