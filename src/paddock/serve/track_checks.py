"""Edited tracks: the track of cones with its problems, and its file. Used by the checking process, not by the hub."""

from typing import Any

from paddock.errors import PaddockError
from paddock.track.building import from_cones
from paddock.track.inspection import problems
from paddock.track.loading import dump
from paddock.track.ordering import TrackShapeError
from paddock.track.viewing import track_tree
from paddock.wire.tracks import Cone, Start, TrackFile, write_track

NAME = "track"
DIGITS = 3  # of positions in answers, m


def answer_about(request: dict[str, Any]) -> dict[str, Any]:
    """Return the check of a track, or the text of its file if the request names a format; `refused` on an error."""
    try:
        cones, colours, start = request["cones"], request["colours"], request["start"]
        if len(cones) != len(colours):
            raise PaddockError(f"there are {len(cones)} cones and {len(colours)} colours")
        if "format" in request:
            return {"text": track_text(cones, colours, start, request["format"])}
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


def track_text(cones: list[list[float]], colours: list[str], start: list[float], format: str) -> str:
    """Return the text of a file; unfinished tracks have one, too, except in the format `lanes`."""
    if format == "lanes":
        return dump(from_cones(cones, colours, start, NAME), format)
    made = tuple(Cone(colour, x, y) for colour, (x, y) in zip(colours, cones, strict=True))
    x, y, yaw = start
    return write_track(TrackFile(made, Start(x, y, yaw)), format)
