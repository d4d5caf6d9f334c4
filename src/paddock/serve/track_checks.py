"""Edited tracks: the track of cones with its problems, and files. Used by the checking process, not by the hub."""

from math import cos, pi, sin
from typing import Any

from paddock.errors import PaddockError
from paddock.track.building import from_cones
from paddock.track.formula_student import problems
from paddock.track.loading import dump, track_tree
from paddock.track.ordering import TrackShapeError
from paddock.wire.operations.arguments import MOST_CONES
from paddock.wire.tracks import Cone, Start, TrackFile, format_of, parse_track, write_track

NAME = "track"
DIGITS = 3  # of positions in answers, m


def answer_about(request: dict[str, Any]) -> dict[str, Any]:
    """Return the check of a track, the text of its file if the request names a format, or the contents of a file.

    On an error, `refused` is one line.
    """
    try:
        if "file" in request:
            return file_tree(request["text"], request["file"])
        cones, colours, start = request["cones"], request["colours"], request["start"]
        if len(cones) != len(colours):
            raise PaddockError(f"there are {len(cones)} cones and {len(colours)} colours")
        if "format" in request:
            return {"text": track_text(cones, colours, start, request["format"], request.get("covariances"))}
        return check(cones, colours, start)
    except PaddockError as error:
        return {"refused": str(error).removeprefix(f"{NAME}: ")}


def check(cones: list[list[float]], colours: list[str], start: list[float]) -> dict[str, Any]:
    """Return the track of cones as a tree, or why there is none, and the rules that it breaks."""
    if not cones:
        return {"track": None, "problems": ["there are no cones yet"], "warnings": []}
    try:
        track = from_cones(cones, colours, start, NAME)
    except TrackShapeError as error:
        return {"track": None, "problems": [str(error).removeprefix(f"{NAME}: ")], "warnings": []}
    return {"track": track_tree(track, movable=False, digits=DIGITS), "problems": [], "warnings": problems(track)}


def prepare() -> None:
    """Check a circle of cones: the first check of a process loads compiled code, or compiles it."""
    turns = [2.0 * pi * k / 16 for k in range(16)]
    cones = [[radius * cos(turn), radius * sin(turn)] for radius in (8.0, 12.0) for turn in turns]
    check(cones, ["blue"] * 16 + ["yellow"] * 16, [10.0, 0.0, 0.5 * pi])


def file_tree(text: str, name: str) -> dict[str, Any]:
    """Return the cones and the start pose of a file, and what of it the editor does not keep."""
    format = format_of(text, name)
    file = parse_track(text, name, format)
    cones = [cone for cone in file.cones if not cone.invisible]
    if len(cones) > MOST_CONES:
        raise PaddockError(f"{name}: the file has {len(cones):,} cones; the editor takes at most {MOST_CONES:,}")
    left_out = {
        "{} boundary point{} without a cone": len(file.cones) - len(cones),
        "{} timing point{}": len(file.timing),
        "{} point{} of the middle line": len(file.midpoints),
    }
    notes = [f"left out: {words.format(count, 's'[: count > 1])}" for words, count in left_out.items() if count]
    spread = [[cone.x_variance, cone.y_variance, cone.xy_covariance] for cone in cones]
    return {
        "format": format,
        "cones": [[cone.x, cone.y] for cone in cones],
        "colours": [cone.colour for cone in cones],
        "covariances": spread if any(map(any, spread)) else None,
        "start": None if file.start is None else [file.start.x, file.start.y, file.start.yaw],
        "notes": notes,
    }


def track_text(
    cones: list[list[float]],
    colours: list[str],
    start: list[float],
    format: str,
    covariances: list[list[float]] | None = None,
) -> str:
    """Return the text of a file; unfinished tracks have one, too, except in the format `lanes`."""
    if covariances is not None and len(covariances) != len(cones):
        raise PaddockError(f"there are {len(cones)} cones and {len(covariances)} covariances")
    if format == "lanes":
        return dump(from_cones(cones, colours, start, NAME), format)
    spread = covariances or [[0.0, 0.0, 0.0]] * len(cones)
    made = tuple(
        Cone(colour, x, y, x_variance=xx, y_variance=yy, xy_covariance=xy)
        for colour, (x, y), (xx, yy, xy) in zip(colours, cones, spread, strict=True)
    )
    x, y, yaw = start
    return write_track(TrackFile(made, Start(x, y, yaw)), format)
