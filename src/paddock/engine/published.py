"""The public columns of a fleet: the groups of which its block in a snapshot consists, in their order."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paddock.contact.bodies import CONTACT, CONTACT_NAMES
from paddock.engine.behaviours import RADIO
from paddock.engine.fleet_settings import FleetParameters, FleetSettings
from paddock.radio.links.table import FIRST_PEER, PEERS, STATUS
from paddock.sensing.suite import FleetSensor
from paddock.track.standings import SHOWN
from paddock.vehicles.model import BATTERY_COLUMNS, VehicleModel
from paddock.world.columns import Floats, Pose, column_index
from paddock.world.fleet import Fleet
from paddock.world.layout import ArrayColumn, FleetLayout
from paddock.world.wind import VARYING_WIND, WIND_TABLE

POSE_COLUMNS = tuple(column_index(Pose))
COMMANDS_SHOWN = 1000  # size limit of fleets whose commands and wide reports are in snapshots
WIDE_REPORT = 16  # columns
RADIO_ARRAYS = (
    ArrayColumn("radio.peers", (PEERS,), "float64"),  # ids of the best neighbours, -1: none, -2 - k: station k
    ArrayColumn("radio.peer_sinr", (PEERS,), "float64"),  # dB
)


class SnapshotParts(NamedTuple):
    """What the groups write a snapshot from, besides the fleet."""

    tick: int
    environment: Floats
    arrays: Mapping[str, Any]  # of the snapshot, to write: name -> (n, ...)


class PublishedGroup(NamedTuple):
    """Columns that are next to each other in a block, and the arrays that belong to them."""

    names: tuple[str, ...]
    write: Callable[[Floats, SnapshotParts], None]  # fills the rows (columns, n), and the arrays
    arrays: tuple[ArrayColumn, ...] = ()


class PublishedColumns:
    """The public columns of a fleet. Large fleets have fewer, so that commands do not dominate a snapshot."""

    def __init__(
        self,
        fleet: Fleet,
        model: VehicleModel,
        parameters: FleetParameters,
        settings: FleetSettings,
        write_poses: Callable[[Floats, Any], None],
        write_report: Callable[[Floats, Floats], None],
    ) -> None:
        """`write_poses(rows, _)` and `write_report(rows, environment)` fill rows with poses and the model's report."""
        self._fleet, self._model, self._settings = fleet, model, settings
        self._write_poses, self._write_report = write_poses, write_report
        telemetry = (name for name in model.telemetry if parameters.has_battery or name not in BATTERY_COLUMNS)
        self._telemetry = {name: column_index(model.state)[name] for name in telemetry}
        self._race = np.zeros((len(SHOWN), 0))
        self._groups: dict[bool, list[tuple[PublishedGroup, slice]]] = {}  # of a large fleet and of others

    @property
    def race(self) -> Floats:
        """The columns of the race (columns, n), which the rules write before a snapshot is made."""
        if self._race.shape[1] != self._fleet.n:
            self._race = np.zeros((len(SHOWN), self._fleet.n))
        return self._race

    @property
    def has_report(self) -> bool:
        """Whether the model's report is published: not in a large fleet if it is wide."""
        width = len(self._model.report_columns)
        return width > 0 and (self._fleet.n <= COMMANDS_SHOWN or width <= WIDE_REPORT)

    def layout(self) -> FleetLayout:
        """Return the layout of this fleet's block in a snapshot."""
        fleet, model, groups = self._fleet, self._model, [group for group, _ in self._present()]
        columns = tuple(name for group in groups for name in group.names)
        arrays = tuple(array for group in groups for array in group.arrays)
        ids, members = (fleet.by_key(fleet.tables[name]) for name in ("ids", "members"))
        return FleetLayout(fleet.name, model.kind, model.name, columns, fleet.n, ids, members, fleet.single, arrays)

    def write(self, block: Floats, parts: SnapshotParts) -> None:
        """Fill a snapshot's block (columns, n) and its arrays, vehicles in the order of the members."""
        fleet = self._fleet
        if not fleet.n:
            return
        for (_, write, _), rows in self._groups.get(fleet.n > COMMANDS_SHOWN) or self._present():
            write(block[rows], parts)
        if not fleet.in_order:
            for table in (block.T, *parts.arrays.values()):
                table[:] = table[fleet.rows]

    def _present(self) -> list[tuple[PublishedGroup, slice]]:
        """Return the groups of a fleet of the present size, each with its rows of the block, in their order."""
        large = self._fleet.n > COMMANDS_SHOWN
        if large not in self._groups:
            groups = [group for group in self._listed(large) if group.names]
            ends = np.cumsum([len(group.names) for group in groups]).tolist()
            rows = [slice(end - len(group.names), end) for group, end in zip(groups, ends, strict=True)]
            self._groups[large] = list(zip(groups, rows, strict=True))
        return self._groups[large]

    def _listed(self, large: bool) -> Iterator[PublishedGroup]:
        model, settings = self._model, self._settings
        yield PublishedGroup(POSE_COLUMNS, self._write_poses)
        yield PublishedGroup(tuple(self._telemetry), self._write_telemetry)
        if self.has_report:
            yield PublishedGroup(model.report_columns, lambda rows, parts: self._write_report(rows, parts.environment))
        if not large:
            yield PublishedGroup(tuple(f"command.{name}" for name in column_index(model.command)), self._write_commands)
        if WIND_TABLE in self._fleet.tables:
            yield PublishedGroup(VARYING_WIND, self._write_wind)
        if settings.contact is not None:
            yield PublishedGroup(CONTACT_NAMES[:1] if large else CONTACT_NAMES, self._write_contact)
        for name, sensor in self._fleet.sensors.items():
            names = tuple(f"{name}.{reading}" for reading in (*column_index(sensor.sensor.reading), "sample_tick"))
            arrays = tuple(
                ArrayColumn(f"{name}.{each.name}", each.shape, each.dtype) for each in sensor.arrays.values()
            )
            yield PublishedGroup(names, partial(self._write_readings, name, sensor), arrays)
        if settings.races:
            yield PublishedGroup(tuple(f"race.{name}" for name in SHOWN), self._write_race)
        if settings.radio:
            yield PublishedGroup(tuple(f"radio.{name}" for name in STATUS), self._write_radio, RADIO_ARRAYS)

    def _write_wind(self, rows: Floats, _: SnapshotParts) -> None:
        rows[:] = self._fleet.tables[WIND_TABLE][: len(VARYING_WIND), : self._fleet.n]

    def _write_telemetry(self, rows: Floats, _: SnapshotParts) -> None:
        state, n = self._fleet.state, self._fleet.n
        for k, row in enumerate(self._telemetry.values()):  # column by column: fancy indexing copies twice
            rows[k] = state[row, :n]

    def _write_commands(self, rows: Floats, _: SnapshotParts) -> None:
        rows[:] = self._fleet.tables["command"][:, : self._fleet.n]

    def _write_contact(self, rows: Floats, parts: SnapshotParts) -> None:
        last = self._fleet.tables[CONTACT][:, : self._fleet.n]
        rows[0] = (last[0] >= 0.0) & (parts.tick - last[0] < self._settings.collided_ticks)
        rows[1:] = last[: len(rows) - 1]

    def _write_readings(self, name: str, sensor: FleetSensor, rows: Floats, parts: SnapshotParts) -> None:
        sensor.arrive(parts.tick)
        rows[:-1] = sensor.published()
        rows[-1] = sensor.sample_ticks if sensor.arrays else sensor.sample_tick
        for reading in sensor.arrays:
            parts.arrays[f"{name}.{reading}"][:] = sensor.array(reading)

    def _write_race(self, rows: Floats, _: SnapshotParts) -> None:
        rows[:] = self.race

    def _write_radio(self, rows: Floats, parts: SnapshotParts) -> None:
        status = self._fleet.tables[RADIO][:, : self._fleet.n]
        rows[:] = status[:FIRST_PEER]
        parts.arrays["radio.peers"][:] = status[FIRST_PEER : FIRST_PEER + PEERS].T
        parts.arrays["radio.peer_sinr"][:] = status[FIRST_PEER + PEERS :].T
