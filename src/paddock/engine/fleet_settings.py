"""What the scenario determines for a fleet, as long as it exists: the parameters of its vehicles, and its settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.errors import unknown_name
from paddock.scenario.contact import FleetContact
from paddock.scenario.radio_types import FittedRadio
from paddock.scenario.via import MavlinkViaSection, ViaSection
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import Floats, checked, column_index, columns_of
from paddock.world.fleet import Fleet, Ints
from paddock.world.parts import limited

VARYING = "varying"  # the table of the parameters in which vehicles differ
GNSS = "gnss"  # the table of satellite signals at each vehicle


class FleetParameters:
    """The parameters of a fleet: one value for all vehicles, and a table with those in which the vehicles differ."""

    def __init__(self, fleet: Fleet, model: VehicleModel, values: Floats, varying: tuple[str, ...]) -> None:
        """Add the table of the `varying` parameters to the fleet."""
        self.values, self.varying = values, varying
        self._fleet, self._model = fleet, model
        self._rows = column_index(model.parameters)
        if varying:
            fleet.add_table(VARYING, len(varying))

    @property
    def arguments(self) -> tuple[Floats, ...]:
        """The parameter arguments of this fleet's kernels."""
        return (self.values, self._fleet.tables[VARYING]) if self.varying else (self.values,)

    def arguments_of(self, rows: Ints) -> tuple[Floats, ...]:
        """Return the parameter arguments for some of the vehicles."""
        return (self.values, *(np.take(table, rows, axis=1) for table in self.arguments[1:]))

    def column(self, name: str) -> Floats:
        """Return a parameter of all vehicles, (n,)."""
        if name in self.varying:
            return self._fleet.tables[VARYING][self.varying.index(name), : self._fleet.n].copy()
        return np.full(self._fleet.n, self.values[self._rows[name]])

    def fields(self, rows: Ints | None = None) -> Any:
        """Return the model's named tuple of parameters: numbers, and arrays where the vehicles (of `rows`) differ."""
        values: list[Any] = self.values.tolist()
        for k, name in enumerate(self.varying):
            column = self._fleet.tables[VARYING][k, : self._fleet.n]
            values[self._rows[name]] = column if rows is None else column[rows]
        return self._model.parameters(*values)

    def of(self, row: int) -> dict[str, float]:
        """Return the parameters of one vehicle by name."""
        return {name: float(value) for name, value in self.fields(np.array(row))._asdict().items()}

    @property
    def has_battery(self) -> bool:
        """Whether a vehicle of the fleet has a battery."""
        battery = self._model.battery
        return not battery or battery in self.varying or bool(self.values[self._rows[battery]] > 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class FleetSettings:
    """What the entry of a fleet, and the sections of its scenario, say about all its vehicles."""

    entry: Mapping[str, Any]  # as the user wrote it, for saving
    substeps: int  # of the dynamics in a tick
    failsafe: Floats  # the value of each command after a timeout, NaN where the last one is held
    brake: Floats  # the same that stops a vehicle
    timeout_ticks: int | None = None  # None: commands do not time out
    contact: FleetContact | None = None  # None: others cannot touch it
    collided_ticks: int = 1  # for which a vehicle counts as collided after a touch
    races: bool = False  # its vehicles take part in the race of the scenario's rules
    radio: tuple[FittedRadio, ...] = ()  # of each vehicle
    beacons: bool = False  # its vehicles send and hear beacons
    via: ViaSection | None = None  # how commands of clients reach its vehicles; None: immediately
    heartbeat: MavlinkViaSection | None = None  # of the scenario's ground station; None: no heartbeats


def command_values(model: VehicleModel, policy: str) -> Floats:
    """Return the value of each command under a policy (failsafe or brake); NaN where the last command is held."""
    values = [getattr(column, policy) for column in columns_of(model.command)]
    return np.array([np.nan if value is None else float(value) for value in values])


def checked_inputs(model: VehicleModel, inputs: Mapping[str, Any], where: Callable[[str], str]) -> dict[str, float]:
    """Return command inputs by name; an error names an input that is unknown, not finite or out of range."""
    rows, columns = column_index(model.command), columns_of(model.command)
    result = {}
    for name, value in inputs.items():
        if name not in rows:
            raise unknown_name(f"input of {model.name}", name, rows, where(name))
        result[name] = checked(limited(columns[rows[name]]), value, "input", where(name))
    return result
