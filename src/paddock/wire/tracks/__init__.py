"""Track files: formats by name, reading with detection of the format, writing.

`csv` and `csv4` are comma-separated values with seven and four columns, `cones` is YAML with lists by colour, `lanes`
is YAML with left and right boundaries.
"""

import os
from pathlib import Path

from paddock.errors import unknown_name
from paddock.wire.tracks.csv_format import csv_columns, looks_like_csv, read_csv, write_csv
from paddock.wire.tracks.document import (
    COLOURS,
    LARGEST,
    Cone,
    EarthPlacement,
    Point,
    Start,
    TrackFile,
    TrackFileError,
)
from paddock.wire.tracks.yaml_format import read_lanes, read_lists, write_lanes, write_lists, yaml_kind

__all__ = [
    "COLOURS",
    "FORMATS",
    "Cone",
    "EarthPlacement",
    "Point",
    "Start",
    "TrackFile",
    "TrackFileError",
    "format_of",
    "parse_track",
    "read_track",
    "read_track_text",
    "write_track",
]
FORMATS = {"csv": ".csv", "csv4": ".csv", "cones": ".yaml", "lanes": ".yaml"}
"""Name of a format -> ending of its files."""
SHORT_COLUMNS = 4  # of `csv4`


def read_track_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a track file."""
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise TrackFileError(f"{name}: a track file has at most {LARGEST >> 20} MB")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise TrackFileError(f"{name}:{line}:{column}: not UTF-8 text") from None
    except OSError as error:
        raise TrackFileError(f"{name}: cannot be read: {error.strerror or error}") from None


def read_track(path: str | os.PathLike[str], format: str | None = None) -> TrackFile:
    """Read a track file, in the format that its contents show unless one is given."""
    return parse_track(read_track_text(path), os.fspath(path), format)


def format_of(text: str, name: str = "<text>") -> str:
    """Return the name of the format of a text; `name` is the file name in errors."""
    if looks_like_csv(text):
        return "csv4" if csv_columns(text) == SHORT_COLUMNS else "csv"
    return yaml_kind(text, name)


def parse_track(text: str, name: str = "<text>", format: str | None = None) -> TrackFile:
    """Read the text of a track file; `name` is the file name in errors."""
    if format is not None and format not in FORMATS:
        raise unknown_name("track format", format, FORMATS)
    if format in ("csv", "csv4") or (format is None and looks_like_csv(text)):
        return read_csv(text, name)
    kind = format or format_of(text, name)
    return read_lanes(text, name) if kind == "lanes" else read_lists(text, name)


def write_track(track: TrackFile, format: str = "csv") -> str:
    """Return the text of a track file."""
    if format not in FORMATS:
        raise unknown_name("track format", format, FORMATS)
    if format in ("csv", "csv4"):
        return write_csv(track, short=format == "csv4")
    return write_lanes(track) if format == "lanes" else write_lists(track)
