"""The contract of an airframe, which converts actuator commands to the inputs of a vehicle model.

A new one is a file in `airframes/`, or an entry point, with `AIRFRAME = MyAirframe`; its name is the `kind` of the
models that it is for.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from paddock.engine.program import VARYING, FleetProgram
from paddock.plugins import find_plugin, plugin_modules
from paddock.sitl import airframes
from paddock.sitl.actuators import MOTORS
from paddock.sitl.adapter import AdapterError
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.model import BATTERY_COLUMNS, VehicleModel
from paddock.world.columns import column_index
from paddock.world.fleet import Ints

ENTRY_POINTS = "paddock.airframes"
"""The entry point group: `boat = "my_package.boat"` is the airframe of models whose kind is `boat`."""

FIRST_SERVO = 1 + MOTORS  # the column of the first servo in a block of actuator commands

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
        if not self.program.has_battery or not set(BATTERY_COLUMNS) <= column_index(model.state).keys():
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
        if name in program.varying:
            return np.asarray(program.fleet.tables[VARYING][program.varying.index(name), rows])
        return float(program.parameter_values[column_index(program.model.parameters)[name]])


def find_airframe(model: VehicleModel) -> type[Airframe]:
    """Return the airframe of a model, by its kind."""
    known = sorted(plugin_modules(airframes, ENTRY_POINTS))
    if model.kind not in known:
        raise AdapterError(
            f"model {model.name!r} has no actuators for an autopilot: its kind is {model.kind!r}; "
            f"kinds with an airframe: {', '.join(known)}"
        )
    found = find_plugin("airframe", model.kind, airframes, ENTRY_POINTS, "AIRFRAME", type)
    if not issubclass(found, Airframe):
        raise AdapterError(f"airframe {model.kind!r}: {found.__name__} is not an Airframe")
    return found
