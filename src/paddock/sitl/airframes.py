"""Airframes: what converts actuator commands to the inputs of a vehicle model, one class per kind of model.

An airframe of another package is an entry point of the group `paddock.airframes`, whose module has
`AIRFRAME = MyAirframe`; its name is the `kind` of the models that it is for.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.estimate import GRAVITY
from paddock.autopilot.vehicle_data import MOTORS, Floats
from paddock.compute import arrays
from paddock.compute.math import maximum, minimum
from paddock.compute.routine import routine
from paddock.engine.fleet_settings import VARYING
from paddock.engine.program import FleetProgram
from paddock.plugins import find_plugin, plugin_modules
from paddock.sitl.adapter import AdapterError
from paddock.vehicles.model import BATTERY_COLUMNS, VehicleModel
from paddock.vehicles.models.fixed_wing import TAKE_OFF
from paddock.vehicles.parts import quad
from paddock.world.columns import column_index
from paddock.world.fleet import Ints

ENTRY_POINTS = "paddock.airframes"
"""The entry point group: `boat = "my_package.boat"` is the airframe of models whose kind is `boat`."""

FIRST_SERVO = 1 + MOTORS  # the column of the first servo in a block of actuator commands
NEUTRAL = 0.01  # share below which a motor rests, as electronic speed controllers have it: jitter moves no wheel

Inputs = dict[str, float | Floats]
Rows = Ints | slice  # rows of a fleet


class Airframe(ABC):
    """The actuators of a fleet; all methods take rows and work on whole arrays."""

    inputs: ClassVar[tuple[str, ...]]  # inputs of the model that it sets
    states: ClassVar[tuple[str, ...]] = ()  # state columns that it reads
    parameters: ClassVar[tuple[str, ...]] = ()  # parameters that it reads
    direct: ClassVar[bool] = False  # the inputs depend on nothing but the actuator commands and the parameters
    bounded: ClassVar[bool] = False  # the inputs are float64 and within the model's ranges: they need no check

    def __init__(self, program: FleetProgram) -> None:
        """Refuse a fleet whose model lacks a column that the airframe needs."""
        model = program.model
        for what, names, known in (
            ("input", self.inputs, model.command),
            ("state", self.states, model.state),
            ("parameter", self.parameters, model.parameters),
        ):
            for name in names:
                if name not in column_index(known):
                    raise AdapterError(
                        f"model {model.name!r} has no {what} {name!r}, which an airframe of kind {model.kind!r} needs"
                    )
        self.program = program

    @abstractmethod
    def commanded(self, block: Floats, rows: Rows) -> Inputs:
        """Return the inputs, floats or arrays (n,), for actuator commands (n, WIDTH) within their ranges."""

    def battery(self, rows: Rows) -> Floats | None:
        """Return voltage (V), current (A) and remaining share, (3, n); None without a battery."""
        model = self.program.model
        if not self.program.parameters.has_battery or not set(BATTERY_COLUMNS) <= column_index(model.state).keys():
            return None
        capacity = self.parameter("capacity", rows) if "capacity" in column_index(model.parameters) else 1.0
        power = np.array([self.state(name, rows) for name in ("voltage", "current", "charge")])
        power[2] = np.clip(power[2], 0.0, 1.0)
        power *= np.where(np.asarray(capacity) > 0.0, 1.0, np.nan)
        return power

    def state(self, name: str, rows: Rows) -> Floats:
        """Return a column of the fleet's state, (n,)."""
        return np.asarray(self.program.fleet.state[column_index(self.program.model.state)[name], rows])

    def parameter(self, name: str, rows: Rows) -> float | Floats:
        """Return a parameter of the model: one value, or (n,) where vehicles of the fleet differ."""
        program = self.program
        if name in program.parameters.varying:
            return np.asarray(program.fleet.tables[VARYING][program.parameters.varying.index(name), rows])
        return float(program.parameters.values[column_index(program.model.parameters)[name]])


MOTOR_INPUTS = ("motor_1", "motor_2", "motor_3", "motor_4")


class QuadAirframe(Airframe):
    """Motors 1 to 4 in the order of ArduPilot, which is also the model's; disarmed, all stop.

    They bypass the model's flight controller.
    """

    direct = bounded = True
    inputs = ("armed", "mode", *MOTOR_INPUTS)
    states = ("voltage", "charge", *MOTOR_INPUTS)
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
            return {"armed": on, "mode": quad.MOTORS, "motor_1": a, "motor_2": b, "motor_3": c, "motor_4": d}
        armed, *shares = np.maximum(block[:, :5].T, 0.0, order="C")
        inputs = dict(zip(MOTOR_INPUTS, shares, strict=True))
        return {"armed": (armed > 0.5).astype(np.float64), "mode": quad.MOTORS, **inputs}

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


STANDING = 0.05  # m/s below which a car stands
HOLDING_BRAKE = 0.5  # pedal that holds a standing car


class CarAirframe(Airframe):
    """Motor 1 is the throttle, servo 1 the steering, + right; disarmed, it brakes.

    An electric drive drives both ways, brakes, and holds a standing car. The throttle is the motor's voltage, so the
    force decreases with speed and a share of the throttle is a share of the top speed:
    F = F_stall (throttle - v / v_top). The motor's power peaks at half its top speed, v_top = 4 P / F_stall, so that
    the model's torque and power are never exceeded. Force against the motion comes from the brakes: a car that rolls
    forward and gets reverse throttle stops first.

    A model without tyres rolls wherever its wheels point. Here it turns no tighter than tyres of its tyre_mu would
    hold: at speed the front wheels slide over the rest of their angle.
    """

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
        demand = np.where(armed & (np.abs(block[:, 1]) > NEUTRAL), block[:, 1], 0.0)
        torque, radius = self.parameter("engine_torque", rows), self.parameter("wheel_radius", rows)
        stall = torque * self.parameter("final_drive", rows) / radius  # N: the motor's force at rest
        top = np.maximum(4.0 * self.parameter("power_max", rows) / np.maximum(stall, 1e-9), 0.1)  # m/s: without force
        braking = 2.0 * self.parameter("brake_torque", rows) / radius  # N at full pedal
        force = np.where(armed, demand - speed / top, -np.sign(speed))
        against = force * speed < 0.0
        holds = (demand == 0.0) & (np.abs(speed) < STANDING)
        available = np.minimum(stall, self.parameter("power_max", rows) / np.maximum(np.abs(speed), 0.1))
        throttle = np.where(against | holds, 0.0, np.abs(force) * stall / np.maximum(available, 1e-9))
        brake = np.where(against, np.abs(force) * stall / np.maximum(braking, 1e-9), 0.0)
        brake = np.where(armed, brake, 1.0)
        return {
            "steer": self._steer(block[:, FIRST_SERVO], speed, rows),
            "throttle": np.clip(throttle, 0.0, 1.0),
            "brake": np.clip(np.where(holds, np.maximum(brake, HOLDING_BRAKE), brake), 0.0, 1.0),
            "gear": np.where(force < 0.0, -1.0, 1.0),
            "handbrake": 0.0,
        }

    def _steer(self, servo: Floats, speed: Floats, rows: Rows) -> Floats:
        """Return the angle at which the front wheels roll, rad, + left."""
        angle = -servo * self.parameter("steer_max", rows)
        if self._slides:
            return angle
        length = self.parameter("cg_to_front", rows) + self.parameter("cg_to_rear", rows)
        grip = self.parameter("tyre_mu", rows) * GRAVITY
        angle_max = arrays.arctan2(grip * length, np.maximum(speed * speed, 1e-9))
        return np.asarray(np.minimum(np.maximum(angle, -angle_max), angle_max))


SURFACES = ("aileron", "elevator", "rudder", "throttle")
ROLL_RATE = 2.2  # rad/s of full aileron
PITCH_RATE = 0.8  # rad/s of full elevator
LEVELLING = 6.0  # s: time in which the stabilised model returns to level flight
IDLE = 0.02  # throttle below which the motor stands


class FixedWingAirframe(Airframe):
    """Motor 1 is the throttle, servo 1 the aileron (+ right), 2 the elevator (+ up), 3 the rudder (+ right).

    The model `plane` has surfaces of its own. The stabilised model `fixed_wing` has none: here an aileron sets a roll
    rate and an elevator a rate of the path's angle, as those of an aircraft do, and both slowly return to level flight
    without input. The throttle is an airspeed between the slowest and the fastest; on the ground with the motor stopped
    it rolls to a halt.
    """

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


AIRFRAMES: dict[str, type[Airframe]] = {
    "aircraft": FixedWingAirframe,
    "car": CarAirframe,
    "quad": QuadAirframe,
    "rover": RoverAirframe,
}


def find_airframe(model: VehicleModel) -> type[Airframe]:
    """Return the airframe of a model, by its kind."""
    if model.kind in AIRFRAMES:
        return AIRFRAMES[model.kind]
    known = sorted({*AIRFRAMES, *plugin_modules(None, ENTRY_POINTS)})
    if model.kind not in known:
        raise AdapterError(
            f"model {model.name!r} has no actuators for an autopilot: its kind is {model.kind!r}; "
            f"kinds with an airframe: {', '.join(known)}"
        )
    kind = find_plugin("airframe", model.kind, None, ENTRY_POINTS, "AIRFRAME", type)
    if not issubclass(kind, Airframe):
        raise AdapterError(f"airframe {model.kind!r}: {kind.__name__} is not an Airframe")
    return kind
