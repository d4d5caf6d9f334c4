"""Files of radio maps: an .npz archive without pickles.

| array | type | contents |
|---|---|---|
| `format` | text | `paddock radio map 1` |
| `splats` | float64 (k, 16) | `compute.splats.COLUMNS` |
| `prior` | float64 (6,) | `compute.splats.PRIOR` |
| `spread` | float64 (5, 5) | covariance of the prior's level, exponent and position |
| `samples` | float32 (n, 4) | x, y, z (m) and dBm of the samples, for pictures; at most MOST_DRAWN |
| `figures` | float64 (4,) | leave-one-out error of the fit (dB, NaN if unknown), number of samples, frequency (Hz, NaN if unknown), 1 if the transmitter was given |
"""  # noqa: E501

import os
import zipfile
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.files import read_file

FORMAT = "paddock radio map 1"
ARRAYS = ("format", "splats", "prior", "spread", "samples", "figures")
MOST_SPLATS = 1_000_000
MOST_DRAWN = 20_000
MOST_BYTES = 256_000_000
FARTHEST = 1e7  # m
THINNEST, WIDEST = 1e-3, 1e7  # m: standard deviations of a splat
COLUMNS, PRIOR, SPREAD, FIGURES = 16, 6, 5, 4


@dataclass(frozen=True)
class MapFile:
    """The contents of a file."""

    splats: Any  # (k, 16) float64
    prior: Any  # (6,) float64
    samples: Any  # (n, 4) float32
    error: float = float("nan")  # dB, root mean square of leave-one-out errors
    count: int = 0  # samples that were fitted
    frequency: float = float("nan")  # Hz
    given: bool = False  # the transmitter's position was given
    spread: Any = field(default_factory=lambda: np.zeros((SPREAD, SPREAD)))  # (5, 5) float64


def write_map(path: str | os.PathLike[str], contents: MapFile) -> None:
    """Write a map; the same map gives the same bytes."""
    figures = np.array([contents.error, contents.count, contents.frequency, float(contents.given)])
    arrays = {
        "format": np.array(FORMAT),
        "splats": np.ascontiguousarray(contents.splats, np.float64),
        "prior": np.ascontiguousarray(contents.prior, np.float64),
        "spread": np.ascontiguousarray(contents.spread, np.float64),
        "samples": np.ascontiguousarray(contents.samples, np.float32),
        "figures": figures,
    }
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for name, array in arrays.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    except OSError as error:
        raise PaddockError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None


def read_map(path: str | os.PathLike[str]) -> MapFile:
    """Read a map; a file that is damaged, of another kind or with impossible values raises PaddockError."""
    name = os.fspath(path)
    try:
        arrays = _arrays(read_file(path, MOST_BYTES))
    except FileNotFoundError:
        raise PaddockError(f"{name}: no such file") from None
    except OSError as error:
        raise PaddockError(f"{name}: cannot be read: {error.strerror or error}") from None
    except PaddockError as error:
        raise PaddockError(f"{name}: {error}") from None
    except zipfile.BadZipFile:
        raise PaddockError(f"{name}: not a radio map: make one of samples with `paddock radio fit`") from None
    except Exception as error:  # zipfile, zlib and NumPy's header parser raise many kinds for damaged files
        raise PaddockError(f"{name}: not a radio map: {' '.join(str(error).split())[:100]}") from None
    if problem := _problem(arrays):
        raise PaddockError(f"{name}: not a valid radio map: {problem}")
    missed, count, frequency, given = arrays["figures"].tolist()
    return MapFile(
        np.ascontiguousarray(arrays["splats"]), np.ascontiguousarray(arrays["prior"]), arrays["samples"],
        missed, int(count), frequency, bool(given), np.ascontiguousarray(arrays["spread"]),
    )  # fmt: skip


def _arrays(data: bytes) -> dict[str, Any]:
    if not data:
        raise PaddockError("not a radio map: the file is empty")
    with zipfile.ZipFile(BytesIO(data)) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        missing = [name for name in ARRAYS if f"{name}.npy" not in sizes]
        if missing or len(sizes) != len(archive.infolist()):
            raise PaddockError(f"not a radio map: no array {missing[0]!r}" if missing else "arrays appear twice")
        if sum(sizes.values()) > MOST_BYTES:
            raise PaddockError(f"larger than {MOST_BYTES // 1_000_000} MB")
        arrays = {}
        for name in ARRAYS:
            with archive.open(f"{name}.npy") as file:
                arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
        return arrays


def _problem(arrays: dict[str, Any]) -> str | None:
    """Return what is wrong with the arrays of a file."""
    kind = arrays["format"]
    if kind.shape != () or kind.dtype.kind != "U" or str(kind) != FORMAT:
        return f"its format is {str(kind)[:40]!r}, not {FORMAT!r}"
    shapes = {"splats": ("<f8", (None, COLUMNS)), "prior": ("<f8", (PRIOR,)), "figures": ("<f8", (FIGURES,))}
    shapes["spread"] = ("<f8", (SPREAD, SPREAD))
    for name, (kind, shape) in (shapes | {"samples": ("<f4", (None, 4))}).items():
        array = arrays[name]
        same = len(array.shape) == len(shape) and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
        if array.dtype.str != kind or not same:
            return f"{name} has the type {array.dtype.str} and the shape {array.shape}"
        if name != "figures" and not np.isfinite(array).all():
            return f"{name} has values that are not finite"
    if not 1 <= len(arrays["splats"]) <= MOST_SPLATS or len(arrays["samples"]) > MOST_DRAWN:
        return f"{len(arrays['splats'])} splats and {len(arrays['samples'])} samples"
    spread = arrays["spread"]
    if not np.array_equal(spread, spread.T) or np.abs(spread).max() > FARTHEST**2:
        return "the spread is not a covariance"
    if np.linalg.eigvalsh(spread).min() < -1e-6 * max(1.0, float(np.abs(spread).max())):
        return "the spread is not a covariance"
    return _value_problem(arrays["splats"], arrays["prior"], arrays["figures"])


def _value_problem(splats: Any, prior: Any, figures: Any) -> str | None:
    """Return a value that no fit produces; precisions must be those of Gaussians."""
    if np.abs(splats[:, :3]).max() > FARTHEST or np.abs(prior[2:5]).max() > FARTHEST:
        return f"a position is farther than {FARTHEST:g} m"
    if np.abs(splats[:, 9:13]).max() > 1e6 or splats[:, 13:].min() < 0.0 or splats[:, 13:].max() > 1e12:
        return "an amplitude, slope, variance, number of samples or weight is out of range"
    precision = np.empty((len(splats), 3, 3))
    for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), 3):
        precision[:, i, j] = precision[:, j, i] = splats[:, column]
    eigenvalues = np.linalg.eigvalsh(precision)
    if eigenvalues.min() < WIDEST**-2 or eigenvalues.max() > THINNEST**-2:
        return "a precision is not that of a Gaussian"
    if abs(prior[0]) > 1e4 or not 0.0 <= prior[1] <= 20.0 or not 0.0 < prior[5] < 1e8:
        return "the prior is out of range"
    if not 0 <= figures[1] < 2**53 or figures[3] not in (0.0, 1.0) or figures[0] < 0.0 or figures[2] <= 0.0:
        return "the figures are out of range"
    return None
