"""Load tracks by catalog name or from files, and write them."""

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from paddock.errors import suggestion, unknown_name
from paddock.track.building import from_file
from paddock.track.standard import STANDARD, standard
from paddock.track.track import Track
from paddock.wire.tracks import FORMATS, Cone, TrackFile, TrackFileError, parse_track, read_track, write_track


def load(
    source: str | os.PathLike[str],
    format: str | None = None,
    swap_colours: bool = False,
    start: Sequence[float] | None = None,
) -> Track:
    """Return a track of the catalog or of a file of any format.

    `swap_colours` exchanges blue and yellow, `start` is (x, y, yaw) for files without a start pose.
    """
    name = os.fspath(source)
    if format is not None and format not in FORMATS:
        raise unknown_name("track format", str(format), FORMATS)
    if name in STANDARD and not os.path.exists(name) and format is None:
        if not swap_colours and start is None:
            return standard(name)
        file = STANDARD[name][0]()
    else:
        if name in STANDARD and not os.path.exists(name):
            raise TrackFileError(f"{name}: a track of the catalog has no format: leave out format={format!r}")
        if not os.path.exists(name) and not os.path.splitext(name)[1]:
            raise TrackFileError(f"{name}: no such track file or track of the catalog; {suggestion(name, STANDARD)}")
        file = read_track(source, format)
    return from_file(file.swapped() if swap_colours else file, name, start)


def parse_file(text: str, name: str) -> TrackFile:
    """Return the contents of the text of a file; `name` is its name in errors."""
    return parse_track(text, name)


def parse(text: str, name: str = "track", format: str | None = None, swap_colours: bool = False) -> Track:
    """Return the track of the text of a file; `name` is its name in errors."""
    file = parse_track(text, name, format)
    return from_file(file.swapped() if swap_colours else file, name)


def dump(track: Track, format: str = "csv", swap_colours: bool = False) -> str:
    """Return the text of a track file: `csv`, `csv4`, `cones` or `lanes`.

    The left cones of the format `cones` are yellow: `swap_colours` writes blue ones as left cones.
    """
    file = track.source.swapped() if swap_colours else track.source
    if format == "lanes":
        closed = track.closed if file.closed is None else file.closed
        file = replace(file, version=file.version or "1.0", closed=closed, cones=_with_sides(track, file.cones))
    return write_track(file, format)


def _with_sides(track: Track, cones: tuple[Cone, ...]) -> tuple[Cone, ...]:
    """Return cones with the boundary on which the track has them; those with a side keep it."""
    sides = dict.fromkeys(track.left_cones.tolist(), "left") | dict.fromkeys(track.right_cones.tolist(), "right")
    standing = count(0)
    numbers = [-1 if cone.invisible else next(standing) for cone in cones]
    return tuple(
        cone if cone.side else cone._replace(side=sides.get(k, "unknown"))
        for cone, k in zip(cones, numbers, strict=True)
    )


def formats() -> list[str]:
    """Return the names of the formats."""
    return list(FORMATS)
