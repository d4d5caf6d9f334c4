"""Grids of numbers in files: NumPy (.npy, .npz), text (.csv, .txt), ESRI ASCII (.asc) and greyscale PNG.

Row 0 of an array is the southern edge, column 0 the western one. Pictures and ESRI grids begin in the north; they are
turned over, so that every file means the same.
"""

import zipfile
import zlib
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.files import read_file
from paddock.scenario.scenery import MOST_VALUES

LARGEST_FILE = 256 << 20  # bytes
LARGEST_ITEM = 16  # bytes of a number
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
FORMATS = ".npy, .npz, .csv, .txt, .asc, .png"
ESRI_KEYS = ("ncols", "nrows", "xllcorner", "yllcorner", "xllcenter", "yllcenter", "cellsize", "nodata_value")


class FileGrid(NamedTuple):
    """The values of a file (rows from the south, columns from the west), and what it says about their places."""

    values: NDArray[Any]
    cell: float | None = None  # m between neighbours
    origin: tuple[float, float] | None = None  # m, position of values[0, 0]


def read_grid(path: Path) -> FileGrid:
    """Read a file by its ending; PaddockError in one line if that is impossible."""
    readers = {".npy": _numpy, ".npz": _numpy, ".csv": _text, ".txt": _text, ".asc": _esri, ".png": _png}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise PaddockError(f"{path}: the format of a grid is one of {FORMATS}")
    try:
        grid = reader(read_file(path, LARGEST_FILE))
    except PaddockError as error:
        raise PaddockError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise PaddockError(f"{path}: no such file") from None
    except OSError as error:
        raise PaddockError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, IndexError, EOFError, zlib.error, zipfile.BadZipFile, MemoryError) as error:
        raise PaddockError(f"{path}: not a valid {path.suffix} file: {' '.join(str(error).split())[:100]}") from None
    return grid


def _numpy(data: bytes) -> FileGrid:
    if data.startswith(np.lib.format.MAGIC_PREFIX):
        return FileGrid(_array(BytesIO(data)))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if len(names) != 1 and "values" not in names:
            raise PaddockError(f"an .npz file has one array, or one named 'values', not {', '.join(names) or 'none'}")
        with archive.open(f"{'values' if 'values' in names else names[0]}.npy") as file:
            return FileGrid(_array(file))


def _array(file: IO[bytes]) -> NDArray[Any]:
    """Read an array of NumPy; its header is checked before its memory is taken."""
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read_header(file)
    if kind.hasobject:
        raise PaddockError("it has objects, not numbers")
    if prod(shape) > MOST_VALUES or kind.itemsize > LARGEST_ITEM:
        raise PaddockError(f"an array of shape {shape}; at most {MOST_VALUES} values are read")
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _text(data: bytes) -> FileGrid:
    lines = [line for line in data.decode("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    return FileGrid(_numbers(lines))


def _numbers(lines: list[str]) -> NDArray[Any]:
    """Return lines of numbers, separated by commas, semicolons or spaces, as an array."""
    rows = [line.replace(",", " ").replace(";", " ").split() for line in lines]
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise PaddockError(f"row {k + 1} has {len(row)} values, the first has {len(rows[0])}")
    return np.array(rows, dtype=np.float64)


def _esri(data: bytes) -> FileGrid:
    lines = data.decode("utf-8").splitlines()
    header: dict[str, float] = {}
    while lines and (words := lines[0].split()) and words[0].lower() in ESRI_KEYS:
        header[words[0].lower()] = float(words[1])
        del lines[0]
    missing = [key for key in ("ncols", "nrows", "cellsize") if key not in header]
    if missing:
        raise PaddockError(f"the header has no {missing[0]}")
    values = np.array(" ".join(lines).split(), dtype=np.float64)
    shape = int(header["nrows"]), int(header["ncols"])
    if values.size != shape[0] * shape[1]:
        raise PaddockError(f"{values.size} values, but nrows x ncols is {shape[0]} x {shape[1]}")
    cell = header["cellsize"]
    x, y = (header.get(f"{a}llcenter", header.get(f"{a}llcorner", -0.5 * cell) + 0.5 * cell) for a in "xy")
    values = np.where(values == header.get("nodata_value", -9999.0), np.nan, values)
    return FileGrid(values.reshape(shape)[::-1].copy(), cell, (x, y))


def _png(data: bytes) -> FileGrid:
    if not data.startswith(PNG_SIGNATURE):
        raise PaddockError("not a PNG file")
    head, packed, at = b"", bytearray(), len(PNG_SIGNATURE)
    while at < len(data):
        size, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        content = data[at + 8 : at + 8 + size]
        if len(content) != size or zlib.crc32(kind + content) != int.from_bytes(data[at + 8 + size : at + 12 + size]):
            raise PaddockError("the file is damaged or cut off")
        head, at = (content if kind == b"IHDR" else head), at + 12 + size
        packed += content if kind == b"IDAT" else b""
    width, height, depth, colour, interlace = *_sizes(head), head[8], head[9], head[12]
    if colour != 0 or depth not in (8, 16) or interlace:
        kinds = {0: "greyscale", 2: "RGB", 3: "palette", 4: "greyscale with alpha", 6: "RGB with alpha"}
        kind_now = f"{depth}-bit {kinds.get(colour, colour)}{', interlaced' if interlace else ''}"
        raise PaddockError(f"a picture of heights is 8-bit or 16-bit greyscale, not interlaced; this is {kind_now}")
    if width * height > MOST_VALUES:
        raise PaddockError(f"{width} x {height} pixels; at most {MOST_VALUES} are read")
    width_bytes = width * depth // 8
    expected = height * (width_bytes + 1)
    raw = zlib.decompressobj().decompress(bytes(packed), expected)
    if len(raw) != expected:
        raise PaddockError("the file is damaged or cut off")
    lines = unfiltered(np.frombuffer(raw, np.uint8).reshape(height, width_bytes + 1).copy(), depth // 8)
    values = lines if depth == 8 else np.ascontiguousarray(lines).view(">u2").astype(np.uint16)
    return FileGrid(values[::-1].copy())


def _sizes(head: bytes) -> tuple[int, int]:
    if len(head) != 13:
        raise PaddockError("the header is missing")
    return int.from_bytes(head[:4]), int.from_bytes(head[4:8])


def unfiltered(lines: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Undo the filters of a PNG in place; `lines` begin with the number of their filter, a pixel has `step` bytes."""
    above = np.zeros(lines.shape[1] - 1, np.uint8)
    for line in lines:
        kind, values = int(line[0]), line[1:]
        if kind == 1:
            values[:] = np.add.accumulate(values.reshape(-1, step), axis=0, dtype=np.uint8).ravel()
        elif kind == 2:
            values += above
        elif kind in (3, 4):  # every byte depends on the one before it
            values[:] = np.frombuffer(_guessed(values.tolist(), above.tolist(), step, kind == 4), np.uint8)
        above = values
    return lines[:, 1:]


def _guessed(values: list[int], above: list[int], step: int, paeth: bool) -> bytes:
    """Return a line whose bytes are differences from a guess: the mean of left and above, or the nearest neighbour."""
    done = [0] * step + values
    corners = [0] * step + above
    for k, (value, up, corner) in enumerate(zip(values, above, corners, strict=False)):
        left = done[k]
        guess = (left + up) >> 1
        if paeth:
            a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = left if a <= b and a <= c else (up if b <= c else corner)
        done[k + step] = (value + guess) & 255
    return bytes(done[step:])
