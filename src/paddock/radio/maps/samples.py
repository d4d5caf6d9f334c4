"""Samples of received power from CSV and Parquet files."""

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from paddock.compute.splats import Floats
from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, printable
from paddock.files import open_file, read_file

LEAST_SAMPLES = 10
MOST_SAMPLES = 5_000_000
LARGEST_SAMPLES = 512 << 20  # bytes of a CSV file
FARTHEST = 1e7  # m
WEAKEST, STRONGEST = -400.0, 200.0  # dBm
ALIASES = {
    "x": ("x", "east", "x_m", "pos_x", "position_x", "position.x"),
    "y": ("y", "north", "y_m", "pos_y", "position_y", "position.y"),
    "z": ("z", "up", "z_m", "height", "altitude", "alt", "pos_z", "position_z", "position.z"),
    "dbm": ("dbm", "rssi", "power", "rx_power", "received_power", "power_dbm", "rssi_dbm", "rsrp", "signal_dbm"),
    "weight": ("weight", "w"),
}
"""Column -> names that it may have in a file, in any case."""
LIMITS = {
    "x": (-FARTHEST, FARTHEST, "m"),
    "y": (-FARTHEST, FARTHEST, "m"),
    "z": (-FARTHEST, FARTHEST, "m"),
    "dbm": (WEAKEST, STRONGEST, "dBm"),
    "weight": (0.0, 1e9, ""),
}


@dataclass(frozen=True)
class RadioSamples:
    """Measured received power at positions."""

    position: Floats  # (n, 3) m
    dbm: Floats  # (n,)
    weight: Floats  # (n,) inverse of the variance, relative

    def chosen(self, which: Any) -> "RadioSamples":
        """Return some of the samples, by mask or indices."""
        return RadioSamples(self.position[which], self.dbm[which], self.weight[which])

    @staticmethod
    def of(position: Any, dbm: Any, weight: Any = None) -> "RadioSamples":
        """Return samples from arrays, checked: (n, 3), (n,) and, optionally, (n,)."""
        places, power = np.array(position, np.float64), np.array(dbm, np.float64)
        weights = np.ones(power.shape) if weight is None else np.array(weight, np.float64)
        if power.ndim != 1 or places.shape != (len(power), 3) or weights.shape != power.shape:
            raise InvalidValueError(
                f"samples are positions (n, 3), dbm (n,) and weight (n,), not {places.shape}, {power.shape} and "
                f"{weights.shape}"
            )
        samples = RadioSamples(places, power, weights)
        for name, column in samples.columns().items():
            bad = np.flatnonzero(~_valid(name, column))
            if len(bad):
                raise InvalidValueError(f"sample {bad[0]}: {_complaint(name, float(column[bad[0]]))}")
        return samples

    def columns(self) -> dict[str, Floats]:
        """Return the columns by name."""
        x, y, z = self.position.T
        return {"x": x, "y": y, "z": z, "dbm": self.dbm, "weight": self.weight}


def read_samples(path: str | os.PathLike[str]) -> RadioSamples:
    """Read samples from a CSV or Parquet file with the columns x, y, z, dbm and, optionally, weight.

    An invalid value raises InvalidValueError with file:line:column (of Parquet: the row and the column's name).
    """
    file = Path(path)
    columns, lines = (_parquet(file), 0) if file.suffix.lower() in (".parquet", ".pq") else _csv(file)
    count = len(columns["dbm"])
    end = f"{file}:{lines or max(count, 1)}:1"
    if count < LEAST_SAMPLES:
        raise InvalidValueError(
            f"{end}: a radio map needs at least {LEAST_SAMPLES} samples; the file ends after {count}"
        )
    if "weight" in columns and (used := int((columns["weight"] > 0.0).sum())) < LEAST_SAMPLES:
        raise InvalidValueError(
            f"{end}: a radio map needs at least {LEAST_SAMPLES} samples of weight > 0; the file has {used}"
        )
    position = np.stack([columns["x"], columns["y"], columns["z"]], axis=1)
    return RadioSamples(position, columns["dbm"], columns.get("weight", np.ones(count)))


def read_points(path: str | os.PathLike[str]) -> Floats:
    """Read points (n, 3) from a CSV or Parquet file with the columns x, y, z."""
    file = Path(path)
    wanted = ("x", "y", "z")
    columns = _parquet(file, wanted) if file.suffix.lower() in (".parquet", ".pq") else _csv(file, wanted)[0]
    if not len(columns["x"]):
        raise InvalidValueError(f"{file}: no points")
    return np.stack([columns[name] for name in wanted], axis=1)


def _valid(name: str, values: Any) -> Any:
    low, high, _ = LIMITS[name]
    return np.isfinite(values) & (values >= low) & (values <= high)


def _complaint(name: str, value: float) -> str:
    low, high, unit = LIMITS[name]
    if not isfinite(value):
        return f"{name} must be a finite number, not {value}"
    return f"{name} must be within {low:g} to {high:g}{f' {unit}' if unit else ''}, not {value:g}"


def _columns_of(header: Sequence[str], where: str, required: Sequence[str]) -> dict[str, int]:
    """Return the index of each column in a header."""
    names = [name.strip().lower() for name in header]
    columns: dict[str, int] = {}
    for column, aliases in ALIASES.items():
        if column not in required and "dbm" not in required:
            continue  # points need no power
        places = [k for k, name in enumerate(names) if name in aliases]
        if len(places) > 1:
            first, second = (header[k].strip() for k in places[:2])
            raise InvalidValueError(f"{where}: columns {first!r} and {second!r} both are {column}: keep one")
        if places:
            columns[column] = places[0]
    missing = [column for column in required if column not in columns]
    if missing:
        names_of = ", ".join([name for name in ALIASES[missing[0]] if name != missing[0]][:3])
        present = ", ".join(printable(name) for name in header[:8]) or "none"
        raise InvalidValueError(f"{where}: no column {missing[0]!r} (or {names_of}); the columns are: {present:.120}")
    return columns


def _csv(path: Path, required: Sequence[str] = ("x", "y", "z", "dbm")) -> tuple[dict[str, Floats], int]:
    """Return the columns of a file, and the number of its lines."""
    try:
        lines = read_file(path, LARGEST_SAMPLES).decode("utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InvalidValueError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise InvalidValueError(f"{path}: not a text file (CSV) and not named .parquet") from None
    except OSError as error:
        raise PaddockError(f"{path}: cannot be read: {error.strerror or error}") from None
    numbered = [(k, line) for k, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    if not numbered:
        raise InvalidValueError(
            f"{path}:1:1: the file is empty; its first line names the columns {', '.join(required)}"
        )
    first, head = numbered[0]
    separator = max(",;\t", key=head.count)
    header = next(csv.reader([head], delimiter=separator))
    columns = _columns_of(header, f"{path}:{first}:1", required)
    if len(numbered) - 1 > MOST_SAMPLES:
        raise InvalidValueError(f"{path}: {len(numbered) - 1:,} rows; at most {MOST_SAMPLES:,} are read")
    least, most = max(columns.values()) + 1, len(header)
    table = np.empty((len(numbered) - 1, len(columns)))
    for row, (line, text) in enumerate(numbered[1:]):
        cells = text.split(separator) if '"' not in text else next(csv.reader([text], delimiter=separator))
        if len(cells) < least or (len(cells) > most and "".join(cells[most:]).strip()):
            column = min(len(text), sum(len(cell) + 1 for cell in cells[:most])) + 1
            raise InvalidValueError(f"{path}:{line}:{column}: {len(cells)} values, but {most} columns")
        for k, (name, at) in enumerate(columns.items()):
            try:
                value = float(cells[at])
            except ValueError:
                value = nan
            low, high, _ = LIMITS[name]
            if not low <= value <= high:
                column = sum(len(cell) + 1 for cell in cells[:at]) + 1
                raise InvalidValueError(f"{path}:{line}:{column}: {_cell_complaint(name, cells[at], value)}")
            table[row, k] = value
    return {name: table[:, k].copy() for k, name in enumerate(columns)}, max(len(lines), 1)


def _cell_complaint(name: str, text: str, value: float) -> str:
    try:
        float(text)
    except ValueError:
        return f"{name} must be a number, not {printable(text.strip())!r:.40}"
    return _complaint(name, value)


def _parquet(path: Path, required: Sequence[str] = ("x", "y", "z", "dbm")) -> dict[str, Floats]:
    try:
        import pyarrow as arrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        raise MissingFeatureError("Parquet needs pyarrow: pip install 'paddock[analysis]'") from None
    try:
        source = open_file(path)
    except FileNotFoundError:
        raise InvalidValueError(f"{path}: no such file") from None
    except OSError as error:
        raise InvalidValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        file = parquet.ParquetFile(source)
        names = file.schema_arrow.names
        wanted = _columns_of(names, f"{path}:1:1", required)
        if file.metadata.num_rows > MOST_SAMPLES:
            raise InvalidValueError(f"{path}: {file.metadata.num_rows:,} rows; at most {MOST_SAMPLES:,} are read")
        table = file.read(columns=[names[at] for at in wanted.values()])
    except (arrow.ArrowException, OSError) as error:
        raise InvalidValueError(f"{path}: not a valid Parquet file: {' '.join(str(error).split())[:100]}") from None
    finally:
        source.close()
    columns = {}
    for name, at in wanted.items():
        column = table.column(names[at])
        if not (arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)):
            raise InvalidValueError(f"{path}:1:{at + 1}: column {names[at]!r} must have numbers, not {column.type}")
        values = column.cast(arrow.float64()).fill_null(nan).to_numpy()
        bad = np.flatnonzero(~_valid(name, values))
        if len(bad):
            raise InvalidValueError(f"{path}:{bad[0] + 1}:{at + 1}: {_complaint(name, float(values[bad[0]]))}")
        columns[name] = np.ascontiguousarray(values, np.float64)
    return columns
