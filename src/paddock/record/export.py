"""Export a recording as a table, one row per vehicle and sample: Arrow, Parquet, CSV or JSON lines.

Rows are read in batches, so that any run fits in memory. Arrays of sensors are lists, which CSV does not have.
"""

import csv
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from paddock.errors import MissingFeatureError, PaddockError, file_errors, unknown_name
from paddock.files import read_file
from paddock.record.reader import RecordedRun
from paddock.world.columns import Floats
from paddock.world.layout import FleetLayout, Ints
from paddock.world.snapshot import FleetSnapshot, Snapshot

KEYS = ("time", "tick", "run", "fleet", "vehicle", "id")
"""The first columns: simulation time in s, tick, section of the recording, fleet, vehicle, id."""
BATCH = 1 << 16  # rows of a batch, about
Progress = Callable[[int], None]  # called with the number of rows written so far


def export(
    run: RecordedRun,
    to: str,
    output: str | os.PathLike[str],
    fleet: str | None = None,
    progress: Progress = lambda n: None,
) -> int:
    """Write a table of a run, or of one fleet, as `parquet`, `csv` or `json` lines; return the number of rows."""
    if to not in FORMATS:
        raise unknown_name("format", to, FORMATS)
    table = RunTable(run, fleet)
    path = Path(output)
    if path.exists() and os.path.samefile(path, run.path):
        raise PaddockError(f"{output} is the recording itself: give another --output")
    with file_errors(f"cannot write {output}"):
        return FORMATS[to](table, path, progress)


@dataclass
class RowBatch:
    """Some rows; NaN for values that a vehicle does not have."""

    keys: dict[str, Any]  # name -> array or list of text, for each of KEYS
    values: Floats  # (columns, rows)
    arrays: dict[str, list[Any]]  # name -> an array for each row, None for a vehicle that lacks it

    def __len__(self) -> int:
        return len(self.keys["time"])


class RunTable:
    """The table of a run, or of one fleet."""

    def __init__(self, run: RecordedRun, fleet: str | None = None) -> None:
        self.run, self.fleet = run, fleet
        layouts = run.fleet_layouts(fleet)
        self.columns = tuple(dict.fromkeys(column for layout in layouts for column in layout.columns))
        arrays = {array.name: array for layout in layouts for array in layout.arrays}
        self.arrays = {name: (len(array.shape), array.dtype) for name, array in arrays.items()}  # axes and type
        self._batch_rows = max(64, BATCH // (1 + sum(array.size for array in arrays.values()) // 32))
        self._rows = {column: row for row, column in enumerate(self.columns)}
        self._known: dict[FleetLayout, tuple[Ints, list[str]]] = {}

    def batches(self) -> Iterator[RowBatch]:
        """Yield the rows in order of time, then of fleets, then of vehicles."""
        pieces: list[tuple[Snapshot, int, FleetSnapshot]] = []  # with the number of the section
        rows = 0
        for section in self.run.sections:
            for k in section.samples:
                snapshot = self.run.sample(k)
                shown = [fleet for fleet in snapshot if self.fleet in (None, fleet.name)]
                pieces += [(snapshot, section.number, fleet) for fleet in shown]
                rows += sum(map(len, shown))
                if rows >= self._batch_rows:
                    yield self._batch(pieces)
                    pieces, rows = [], 0
        if pieces:
            yield self._batch(pieces)

    def _batch(self, pieces: list[tuple[Snapshot, int, FleetSnapshot]]) -> RowBatch:
        fleets = [fleet for *_, fleet in pieces]
        counts = [len(fleet) for fleet in fleets]
        values = np.full((len(self.columns), sum(counts)), np.nan)
        vehicles: list[str] = []
        for fleet in fleets:
            rows, names = self._look_up(fleet.layout)
            values[rows, len(vehicles) : len(vehicles) + len(fleet)] = fleet.block
            vehicles += names
        times = [(snapshot.time, snapshot.tick, number) for snapshot, number, _ in pieces]
        keys = {name: np.repeat(column, counts) for name, column in zip(KEYS, zip(*times, strict=True), strict=False)}
        names = [name for fleet in fleets for name in (fleet.name,) * len(fleet)]
        ids = np.concatenate([fleet.ids for fleet in fleets])
        arrays: dict[str, list[Any]] = {}
        for name in self.arrays:
            arrays[name] = [row for fleet in fleets for row in fleet.blocks.get(name, [None] * len(fleet))]
        return RowBatch({**keys, "fleet": names, "vehicle": vehicles, "id": ids}, values, arrays)

    def _look_up(self, layout: FleetLayout) -> tuple[Ints, list[str]]:
        """Return the rows of a layout's columns and the names of its vehicles; cached."""
        if layout not in self._known:
            rows = np.array([self._rows[column] for column in layout.columns], np.int64)
            self._known[layout] = rows, [layout.vehicle_name(row) for row in range(layout.n)]
        return self._known[layout]


def _to_csv(table: RunTable, path: Path, progress: Progress) -> int:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow((*KEYS, *table.columns))
        return _written(table, progress, lambda batch: writer.writerows(_records(batch, "")))


def _to_json(table: RunTable, path: Path, progress: Progress) -> int:
    names, encode = (*KEYS, *table.columns), json.JSONEncoder(separators=(",", ":")).encode

    def lines(batch: RowBatch) -> Iterator[str]:
        """Yield objects without the values that a vehicle does not have."""
        for k, record in enumerate(_records(batch, None)):
            present = {name: value for name, value in zip(names, record, strict=True) if value is not None}
            lists = {name: _listed(rows[k]) for name, rows in batch.arrays.items() if rows[k] is not None}
            yield encode(present | lists) + "\n"

    with path.open("w", encoding="utf-8") as file:
        return _written(table, progress, lambda batch: file.writelines(lines(batch)))


def _to_parquet(table: RunTable, path: Path, progress: Progress) -> int:
    _pyarrow()
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    schema = _arrow_schema(table)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        return _written(table, progress, lambda batch: writer.write_batch(_arrow_batch(batch, schema)))


def _written(table: RunTable, progress: Progress, write: Callable[[RowBatch], None]) -> int:
    done = 0
    for batch in table.batches():
        write(batch)
        done += len(batch)
        progress(done)
    return done


def _records(batch: RowBatch, missing: Any) -> Iterator[tuple[Any, ...]]:
    """Return the rows, with `missing` for NaN and infinities, which neither format can represent."""
    keys = [values.tolist() if isinstance(values, np.ndarray) else values for values in batch.keys.values()]
    values = batch.values.astype(object)
    values[~np.isfinite(batch.values)] = missing
    return zip(*keys, *values.tolist(), strict=True)


def _listed(array: Any) -> Any:
    """Return an array as lists, with None for what is not finite."""
    values = array.astype(object)
    values[~np.isfinite(array)] = None
    return values.tolist()


FORMATS: dict[str, Callable[[RunTable, Path, Progress], int]] = {
    "parquet": _to_parquet,
    "csv": _to_csv,
    "json": _to_json,
}


def arrow_table(run: RecordedRun, fleet: str | None) -> Any:
    """Return the whole run, or one fleet, as a pyarrow.Table."""
    pa = _pyarrow()
    table = RunTable(run, fleet)
    schema = _arrow_schema(table)
    batches = [_arrow_batch(batch, schema) for batch in table.batches()]
    return pa.Table.from_batches(batches, schema).unify_dictionaries()


def _arrow_schema(table: RunTable) -> Any:
    """Return the schema: keys first, then the columns as nullable float64."""
    pa = _pyarrow()
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = dict(zip(KEYS, (pa.float64(), pa.int64(), pa.int32(), text, text, pa.int64()), strict=True))
    fields = [pa.field(name, kind) for name, kind in kinds.items()]
    fields += [pa.field(name, pa.float64()) for name in table.columns]
    for name, (axes, dtype) in table.arrays.items():
        kind = pa.float32() if dtype == "float32" else pa.float64()
        for _ in range(axes):
            kind = pa.list_(kind)
        fields.append(pa.field(name, kind))
    metadata = table.run.metadata
    about = {f"paddock.{key}": metadata[key] for key in ("name", "seed", "rate", "paddock") if key in metadata}
    return pa.schema(fields, metadata=about)


def _arrow_batch(batch: RowBatch, schema: Any) -> Any:
    pa = _pyarrow()
    arrays = [pa.array(batch.keys[name], schema.field(name).type) for name in KEYS]
    arrays += [pa.array(row, pa.float64(), from_pandas=True) for row in batch.values]  # NaN becomes null
    for name, rows in batch.arrays.items():
        arrays.append(pa.array(list(map(_nested, rows)), schema.field(name).type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _nested(array: Any) -> Any:
    """Return an array as lists of its last axes, as PyArrow takes it; None stays None."""
    return array if array is None or array.ndim == 1 else [_nested(part) for part in array]


def _pyarrow() -> Any:
    try:
        import pyarrow as library
    except ImportError:
        raise MissingFeatureError("this needs pyarrow: pip install 'paddock[analysis]'") from None
    return library


INPUTS = ("steer", "throttle", "brake", "gear", "handbrake")


def recorded_inputs(source: str | os.PathLike[str], vehicle: str = "") -> list[list[float]]:
    """Return rows [time, steer, throttle, brake, gear, handbrake] of a car, for the driver `playback`.

    `source`: a recording, or a table (.csv) with the columns time and command.steer or steer, ...; only the steering is
    required. `vehicle` chooses one of several. A row that repeats the one before is left out.
    """
    times, columns = (_table_inputs if Path(source).suffix == ".csv" else _run_inputs)(Path(source), vehicle)
    rest = {"gear": 1.0}
    inputs = [columns.get(name, [rest.get(name, 0.0)] * len(times)) for name in INPUTS]
    rows: list[list[float]] = []
    for time, *values in zip(times, *inputs, strict=True):
        if not rows or values != rows[-1][1:]:
            rows.append([time, *values])
    return rows


def _run_inputs(path: Path, vehicle: str) -> tuple[list[float], dict[str, list[float]]]:
    from paddock.record.reader import open_run

    with open_run(path) as run:
        cars = [layout for layout in run.fleet_layouts() if "command.steer" in layout.columns]
        names = [layout.vehicle_name(row) for layout in cars for row in range(layout.n)]
        if (vehicle or len(names) != 1) and vehicle not in names:
            raise unknown_name("car", vehicle, names, str(path))
        history = run.fleet(vehicle.partition("[")[0] or cars[0].name)
    column = history.names.index(vehicle) if vehicle else 0
    present = [name for name in INPUTS if f"command.{name}" in history.columns]
    inputs = {name: history[f"command.{name}"][:, column] for name in present}
    exists = np.isfinite(inputs["steer"])
    return history.times[exists].tolist(), {name: values[exists].tolist() for name, values in inputs.items()}


def _table_inputs(path: Path, vehicle: str) -> tuple[list[float], dict[str, list[float]]]:
    with file_errors(f"cannot read {path}"):
        text = read_file(path).decode("utf-8")
    records = list(csv.DictReader(StringIO(text, newline="")))
    header = list(records[0]) if records else []
    columns = {name: column for name in INPUTS for column in (name, f"command.{name}") if column in header}
    for needed in ("time", "steer"):
        if needed not in (*columns, *header):
            raise PaddockError(f"{path}: column {needed!r} is missing; it has {', '.join(header) or 'no rows'}")
    vehicles = sorted({record["vehicle"] for record in records}) if "vehicle" in header else []
    if (vehicle or len(vehicles) > 1) and vehicle not in vehicles:
        raise unknown_name("vehicle", vehicle, vehicles, str(path))
    used = [record for record in records if not vehicle or record["vehicle"] == vehicle]
    try:
        numbers = {name: [float(record[column]) for record in used] for name, column in columns.items()}
        return [float(record["time"]) for record in used], numbers
    except ValueError as error:
        raise PaddockError(f"{path}: {error}") from None
