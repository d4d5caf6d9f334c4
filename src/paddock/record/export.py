"""A recording in formats that other programs read; batch by batch, so that any run fits in memory."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from paddock.errors import PaddockError, unknown_name
from paddock.record.rows import KEYS, Batch, Rows

if TYPE_CHECKING:
    from paddock.record.run import Run

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
    from paddock.record.arrow import arrow_batches, arrow_schema, pyarrow

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
