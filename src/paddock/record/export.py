"""A recording in formats that other programs read; batch by batch, so that any run fits in memory."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from paddock.errors import MissingFeatureError, PaddockError, unknown_name
from paddock.world.columns import Floats
from paddock.world.layout import FleetLayout, Ints

if TYPE_CHECKING:
    from paddock.record.reader import Run


KEYS = ("time", "tick", "run", "fleet", "vehicle", "id")
"""The columns in front: simulation time in s, tick, which section of the recording, who."""
BATCH = 1 << 16
"""Rows of a batch, about."""


@dataclass
class Batch:
    """Some rows. A NaN stands for a value that a vehicle does not have."""

    keys: dict[str, Any]  # name -> array or list of text, for each of KEYS
    values: Floats  # (columns, rows)

    def __len__(self) -> int:
        """How many rows."""
        return len(self.keys["time"])


@dataclass
class _Piece:
    time: float
    tick: int
    run: int
    layout: FleetLayout
    block: Floats


@dataclass
class Rows:
    """The table of a run, or of one fleet of it."""

    run: Run
    fleet: str | None = None
    columns: tuple[str, ...] = field(init=False)  # after the keys; the union over all fleets

    def __post_init__(self) -> None:
        if self.fleet is not None and self.fleet not in self.run.fleets:
            raise unknown_name("fleet", self.fleet, self.run.fleets, self.run.path)
        layouts = [fleet for layout in self.run.layouts for fleet in layout.fleets]
        chosen = [fleet for fleet in layouts if self.fleet in (None, fleet.name)]
        self.columns = tuple(dict.fromkeys(column for fleet in chosen for column in fleet.columns))
        self._rows = {column: row for row, column in enumerate(self.columns)}
        self._known: dict[int, tuple[FleetLayout, Ints, list[str]]] = {}

    def batches(self) -> Iterator[Batch]:
        """The rows in the order of time, then of fleets, then of vehicles."""
        pieces: list[_Piece] = []
        for section in self.run.sections:
            for k in section.samples:
                snapshot = self.run.sample(k)
                pieces += [
                    _Piece(snapshot.time, snapshot.tick, section.number, fleet.layout, fleet.block)
                    for fleet in snapshot
                    if self.fleet in (None, fleet.name)
                ]
                if sum(piece.layout.n for piece in pieces) >= BATCH:
                    yield self._batch(pieces)
                    pieces = []
        if pieces:
            yield self._batch(pieces)

    def _batch(self, pieces: list[_Piece]) -> Batch:
        counts = [piece.layout.n for piece in pieces]
        values = np.full((len(self.columns), sum(counts)), np.nan)
        vehicles: list[str] = []
        at = 0
        for piece in pieces:
            rows, names = self._look_up(piece.layout)
            values[rows, at : at + piece.layout.n] = piece.block
            vehicles += names
            at += piece.layout.n
        keys = {name: np.repeat([getattr(piece, name) for piece in pieces], counts) for name in ("time", "tick", "run")}
        fleets = [name for piece in pieces for name in (piece.layout.name,) * piece.layout.n]
        ids = np.concatenate([piece.layout.ids for piece in pieces])
        return Batch({**keys, "fleet": fleets, "vehicle": vehicles, "id": ids}, values)

    def _look_up(self, layout: FleetLayout) -> tuple[Ints, list[str]]:
        """Where the layout's columns go, and the names of its vehicles; made once."""
        if id(layout) not in self._known:
            rows = np.array([self._rows[column] for column in layout.columns], np.int64)
            names = [layout.vehicle_name(row) for row in range(layout.n)]
            self._known[id(layout)] = (layout, rows, names)
        return self._known[id(layout)][1:]


def arrow_table(run: Run, fleet: str | None) -> Any:
    """Everything in one table."""
    pa = pyarrow()
    rows = Rows(run, fleet)
    return pa.Table.from_batches(list(arrow_batches(rows)), arrow_schema(rows)).unify_dictionaries()


def arrow_schema(rows: Rows) -> Any:
    """Keys first, then the columns as nullable float64."""
    pa = pyarrow()
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = dict(zip(KEYS, (pa.float64(), pa.int64(), pa.int32(), text, text, pa.int64()), strict=True))
    fields = [pa.field(name, kind) for name, kind in kinds.items()]
    fields += [pa.field(name, pa.float64()) for name in rows.columns]
    about = {key: rows.run.metadata[key] for key in ("name", "seed", "rate", "paddock") if key in rows.run.metadata}
    return pa.schema(fields, metadata={f"paddock.{key}": value for key, value in about.items()})


def arrow_batches(rows: Rows) -> Iterator[Any]:
    """Batch by batch."""
    schema = arrow_schema(rows)
    return (_record_batch(batch, schema) for batch in rows.batches())


def _record_batch(batch: Batch, schema: Any) -> Any:
    pa = pyarrow()
    arrays: list[Any] = []
    for name in KEYS:
        text = name in ("fleet", "vehicle")
        arrays.append(pa.array(batch.keys[name], pa.string()).dictionary_encode() if text else batch.keys[name])
    arrays = [
        array.cast(field.type) if isinstance(array, pa.Array) else pa.array(array, field.type)
        for array, field in zip(arrays, schema, strict=False)
    ]
    arrays += [pa.array(row, pa.float64(), from_pandas=True) for row in batch.values]  # NaN becomes null
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def pyarrow() -> Any:
    """The library, or how to get it."""
    try:
        import pyarrow as library  # type: ignore[import-untyped]
    except ImportError:
        raise MissingFeatureError("this needs pyarrow: pip install 'paddock[analysis]'") from None
    return library


Progress = Callable[[int], None]
"""Told the rows written so far."""


def export(
    run: Run, to: str, output: str | os.PathLike[str], fleet: str | None = None, progress: Progress = lambda n: None
) -> int:
    """Write a table of a run, or of one of its fleets, as `parquet`, `csv` or `json`; returns the number of rows.

    A row for each vehicle and sample; `json` writes an object per line.
    """
    if to not in FORMATS:
        raise unknown_name("format", to, FORMATS)
    rows = Rows(run, fleet)
    path = Path(output)
    if path.exists() and os.path.samefile(path, run.path):
        raise PaddockError(f"{output} is the recording itself: give another --output")
    try:
        return FORMATS[to](rows, path, progress)
    except OSError as error:
        raise PaddockError(f"cannot write {output}: {error.strerror or error}") from None


def _to_csv(rows: Rows, path: Path, progress: Progress) -> int:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow((*KEYS, *rows.columns))
        return _written(rows, progress, lambda batch: writer.writerows(_records(batch, "")))


def _to_json(rows: Rows, path: Path, progress: Progress) -> int:
    names = (*KEYS, *rows.columns)
    with path.open("w", encoding="utf-8") as file:
        return _written(rows, progress, lambda batch: _write_lines(file, names, _records(batch, None)))


def _write_lines(file: TextIO, names: tuple[str, ...], records: Iterable[tuple[Any, ...]]) -> None:
    """Objects without the values that a vehicle does not have."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    for record in records:
        present = {name: value for name, value in zip(names, record, strict=True) if value is not None}
        file.write(encode(present) + "\n")


def _to_parquet(rows: Rows, path: Path, progress: Progress) -> int:
    from paddock.record.export import arrow_batches, arrow_schema, pyarrow

    pyarrow()
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    done = 0
    with parquet.ParquetWriter(path, arrow_schema(rows), compression="zstd") as writer:
        for batch in arrow_batches(rows):
            writer.write_batch(batch)
            done += batch.num_rows
            progress(done)
    return done


def _written(rows: Rows, progress: Progress, write: Callable[[Batch], None]) -> int:
    done = 0
    for batch in rows.batches():
        write(batch)
        done += len(batch)
        progress(done)
    return done


def _records(batch: Batch, missing: Any) -> Iterator[tuple[Any, ...]]:
    """The rows, with something else in place of NaN and infinities, which neither format can tell."""
    keys = [values.tolist() if isinstance(values, np.ndarray) else values for values in batch.keys.values()]
    return zip(*keys, *(_plain(row, missing) for row in batch.values), strict=True)


def _plain(values: Any, missing: Any) -> list[Any]:
    plain: list[Any] = values.tolist()
    finite = np.isfinite(values)
    if not finite.all():
        for k in np.flatnonzero(~finite):
            plain[k] = missing
    return plain


FORMATS: dict[str, Callable[[Rows, Path, Progress], int]] = {
    "parquet": _to_parquet,
    "csv": _to_csv,
    "json": _to_json,
}
