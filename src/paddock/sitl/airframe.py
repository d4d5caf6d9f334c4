"""The contract between actuators and a vehicle model: a block of actuator commands becomes the model's inputs.

A new kind is a file in `airframes/`, or an entry point, that says `AIRFRAME = MyAirframe`; its name is the `kind` of
the models that it is for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from paddock.engine.program import VARYING, FleetProgram
from paddock.plugins import find_plugin, plugin_modules
from paddock.sitl import airframes
from paddock.sitl.actuators import MOTORS
from paddock.sitl.adapter import AdapterError
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import column_index
from paddock.world.fleet import Ints

ENTRY_POINTS = "paddock.airframes"
"""The entry point group: `boat = "my_package.boat"` is the airframe of models whose kind is `boat`."""

FIRST_SERVO = 1 + MOTORS
"""The column of the first servo in a block of actuator commands."""

Inputs = dict[str, float | Floats]
Rows = Ints | slice
"""Some vehicles of a fleet."""


class Airframe(ABC):
    """The actuators of a fleet; all methods take rows of it and work on whole arrays."""

    inputs: ClassVar[tuple[str, ...]]  # what it commands of the model
    states: ClassVar[tuple[str, ...]] = ()  # what it reads of its state
    parameters: ClassVar[tuple[str, ...]] = ()  # and of its parameters

    def __init__(self, program: FleetProgram) -> None:
        """A fleet whose model lacks something that the airframe needs is refused."""
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
        """The inputs, floats or arrays (n,), for a block of actuator commands (n, WIDTH) within their ranges."""

    def battery(self, rows: Rows) -> tuple[Floats, Floats, Floats] | None:
        """Voltage (V), current (A) and remaining share, each (n,); None for a model without a battery."""
        return None

    def state(self, name: str, rows: Rows) -> Floats:
        """A column of the fleet's state, (n,)."""
        return np.asarray(self.program.fleet.state[column_index(self.program.model.state)[name], rows])

    def parameter(self, name: str, rows: Rows) -> float | Floats:
        """A parameter of the model: one value, or (n,) where vehicles of the fleet differ in it."""
        program = self.program
        if name in program.varying:
            return np.asarray(program.fleet.tables[VARYING][program.varying.index(name), rows])
        return float(program.parameter_values[column_index(program.model.parameters)[name]])


def find_airframe(model: VehicleModel) -> type[Airframe]:
    """The airframe of a model, by its kind; a kind that has no actuators is refused."""
    known = sorted(plugin_modules(airframes, ENTRY_POINTS))
    if model.kind not in known:
        raise AdapterError(
            f"model {model.name!r} has no actuators for an autopilot: it is of kind {model.kind!r}; "
            f"kinds with an airframe: {', '.join(known)}"
        )
    found = find_plugin("airframe", model.kind, airframes, ENTRY_POINTS, "AIRFRAME", type)
    if not issubclass(found, Airframe):
        raise AdapterError(f"airframe {model.kind!r}: {found.__name__} is not an Airframe")
    return found
