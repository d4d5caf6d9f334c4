"""`paddock track`: figures of a track, conversion between file formats, pictures, random tracks."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from paddock.cli.options import Flag, Whole
from paddock.errors import PaddockError, file_errors, unknown_name

if TYPE_CHECKING:
    from paddock.track.track import Track

PNG = "png"


def track(
    source: str | None = None,
    /,
    *,
    generate: Whole = None,
    width: float = 3.5,
    to: str | None = None,
    output: Annotated[str | None, Parameter(name=("--output", "-o"))] = None,
    swap_colours: Flag = False,
    start: str | None = None,
    json: Flag = False,
) -> int:
    """Show the figures of a track and what in it breaks the rules; convert it, or draw it.

    Parameters
    ----------
    source
        A track file of any format, or a name: skidpad, acceleration, autocross, trackdrive, park, harbour, speedway.
    generate
        Seed of a random track, instead of a file.
    width
        Least width of a random track, in m.
    to
        csv, csv4 (four columns), cones (YAML, lists by colour), lanes (YAML, left and right), or png.
    output
        Output file; by default a converted track is printed, and a picture is named after the track.
    swap_colours
        Exchange blue and yellow cones.
    start
        Start pose x,y,yaw (m, rad) of a file that has none.
    json
        Print only a JSON object.
    """
    from paddock.track.formula_student import figures
    from paddock.track.loading import dump, formats

    track_shown = _track(source, generate, width, swap_colours, start)
    chosen = to or (PNG if output is not None and output.lower().endswith(f".{PNG}") else None)
    if chosen is not None and chosen not in (*formats(), PNG):
        raise unknown_name("format", chosen, (*formats(), PNG), "--to")
    if output is not None and chosen is None:
        chosen = "csv" if output.lower().endswith(".csv") else None
        if chosen is None:
            raise PaddockError(f"--output {output}: give the format with --to: {', '.join((*formats(), PNG))}")
    if chosen == PNG:
        from paddock.record.plots import draw_track

        print(draw_track(track_shown, output or f"{track_shown.name.replace(' ', '_')}.{PNG}"))
        return 0
    if chosen is not None:
        _write(dump(track_shown, chosen), output)
        return 0
    tree = figures(track_shown)
    print(json_format.dumps(tree, indent=2) if json else "\n".join(_lines(tree)))
    return 0


def _track(source: str | None, seed: int | None, width: float, swap_colours: bool, start: str | None) -> Track:
    from paddock.track.building import MissingStartError
    from paddock.track.formula_student import generate
    from paddock.track.loading import load

    if (source is None) == (seed is None):
        raise PaddockError("give a track file or name, or --generate SEED")
    pose = None if start is None else _pose(start)
    if seed is not None:
        if swap_colours or pose is not None:
            raise PaddockError("--swap-colours and --start are for track files")
        return generate(seed, width)
    assert source is not None
    try:
        return load(source, swap_colours=swap_colours, start=pose)
    except MissingStartError as error:
        raise PaddockError(str(error).replace("start=(x, y, yaw)", "--start x,y,yaw")) from None


def _pose(text: str) -> tuple[float, float, float]:
    try:
        x, y, yaw = (float(part) for part in text.split(","))
    except ValueError:
        raise PaddockError(f"--start takes x,y,yaw in m and rad, not {text!r}") from None
    return x, y, yaw


def _write(text: str, output: str | None) -> None:
    if output is None:
        print(text, end="")
        return
    with file_errors(f"cannot write {output}"):
        Path(output).write_text(text, encoding="utf-8")
    print(output)


def _lines(tree: dict[str, Any]) -> list[str]:
    low, high = tree["width"]
    radius = "straight" if tree["tightest_radius"] is None else f"{tree['tightest_radius']:.1f} m"
    cones = ", ".join(f"{count} {colour.replace('_', ' ')}" for colour, count in tree["cones"].items())
    x, y, yaw = tree["start"]
    rows = {
        "track": f"{tree['name']} ({'closed' if tree['closed'] else 'open'})",
        "length": f"{tree['length']:.1f} m",
        "width": f"{low:.2f} m" if high - low < 0.01 else f"{low:.2f} to {high:.2f} m",
        "tightest radius": radius,
        "longest straight": f"{tree['longest_straight']:.1f} m",
        "cones": cones,
        "start": f"x {x:g} m, y {y:g} m, yaw {yaw:g} rad",
        "gates": ", ".join(tree["gates"]),
    }
    problems = tree["problems"]
    lines = [f"{name:<17} {value}" for name, value in rows.items()]
    return [
        *lines,
        f"{'rules':<17} {'kept' if not problems else problems[0]}",
        *(f"{'':<17} {problem}" for problem in problems[1:]),
    ]
