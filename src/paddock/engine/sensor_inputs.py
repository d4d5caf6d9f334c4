"""What the sensors of a fleet read of their vehicles besides the pose: columns of the state, the report, ..."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from paddock.engine.fleet_settings import GNSS, FleetParameters
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.physics.satellites import SIGNAL_ROWS
from paddock.sensing.sensor import Sensor
from paddock.vehicles.model import VehicleModel, find_model, model_names
from paddock.world.columns import Floats, column_index, columns_of
from paddock.world.fleet import Fleet


class ColumnSource(NamedTuple):
    """Where a sensor reads a value of its vehicle."""

    kind: str  # state, report, command, parameter, gnss or default
    row: int
    name: str
    default: float = 0.0


class SensorInputs:
    """The columns of a fleet's vehicles that its sensors read."""

    def __init__(
        self,
        fleet: Fleet,
        model: VehicleModel,
        parameters: FleetParameters,
        report: Callable[[Floats], Floats],
    ) -> None:
        """`report(environment)` returns the model's report of all vehicles, (columns, n)."""
        self._fleet, self._model, self._parameters, self._report = fleet, model, parameters, report
        self._sources: dict[str, tuple[ColumnSource, ...]] = {}  # of each kind of sensor

    @property
    def need_report(self) -> bool:
        """Whether a sensor reads the model's report."""
        return any(source.kind == "report" for sources in self._sources.values() for source in sources)

    def sources(self, sensor: Sensor) -> tuple[ColumnSource, ...]:
        """Return where a sensor reads its columns; InvalidValueError if the vehicles do not have one of them."""
        if sensor.name not in self._sources:
            fields: Any = sensor.seen
            tables = column_tables(self._model) | {GNSS: SIGNAL_ROWS if GNSS in self._fleet.tables else {}}
            sources = []
            for column in () if fields is None else columns_of(fields):
                names = sensor.from_columns[column.name]
                known = (
                    ColumnSource(kind, rows[name], name)
                    for name in names
                    for kind, rows in tables.items()
                    if name in rows
                )
                source = next(known, None)
                if source is None and column.name not in fields._field_defaults:
                    needs = f"sensor {sensor.name!r} needs the column {' or '.join(map(repr, names))}"
                    having = ", ".join(models_for(sensor))
                    others = f"; models that have it: {having}" if having else ""
                    raise InvalidValueError(f"{needs}, which model {self._model.name!r} does not have{others}")
                sources.append(source or ColumnSource("default", 0, "", float(column.default or 0.0)))
            self._sources[sensor.name] = tuple(sources)
        return self._sources[sensor.name]

    def read(self, sensor: Sensor, environment: Floats) -> Floats | None:
        """Return what a sensor reads of all vehicles, (columns, n); None for most sensors."""
        if sensor.seen is None:
            return None
        sources, n = self.sources(sensor), self._fleet.n
        report: Floats | None = None
        values = np.empty((len(sources), n))
        for k, (kind, row, name, default) in enumerate(sources):
            if kind == "report":
                report = self._report(environment) if report is None else report
                values[k] = report[row]
            elif kind == "parameter":
                values[k] = self._parameters.column(name)
            elif kind == "default":
                values[k] = default
            else:
                table = self._fleet.state if kind == "state" else self._fleet.tables[kind]
                values[k] = table[row, :n]
        return values


def column_tables(model: VehicleModel) -> dict[str, dict[str, int]]:
    """Return the rows of the columns of a model that sensors may read, by the table that they are in."""
    return {
        "state": column_index(model.state),
        "report": {} if model.report_type is None else column_index(model.report_type),
        "command": {f"command.{name}": row for name, row in column_index(model.command).items()},
        "parameter": column_index(model.parameters),
    }


def models_for(sensor: Sensor) -> list[str]:
    """Return the names of the installed models that have what a sensor reads."""
    suitable = []
    for name in model_names():
        with suppress(PaddockError):  # a plug-in that cannot be loaded
            known = {column for rows in column_tables(find_model(name)).values() for column in rows}
            seen: Any = sensor.seen
            needed = [column for column in seen._fields if column not in seen._field_defaults]
            if all(known.intersection(sensor.from_columns[column]) for column in needed):
                suitable.append(name)
    return suitable
