"""Load tracks by catalog name, from files, from plain data or from a scenario, and write them.

The catalog has the events of Formula Student, and circuits. `track_tree` is a track as plain data for viewers,
recordings and clients. The track of a scenario gives its cones to the world as obstacles or fleets, and its surface as
friction.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError, suggestion, unknown_name
from paddock.scenario import Scenario
from paddock.scenario.scenario import WorldSection
from paddock.scenario.scenery import ConeObstacle, FrictionMap, Grid, GroundSection, Obstacle, packed
from paddock.scenario.track import TrackSection, TrackSurface
from paddock.scenario.vehicle import Declared, cone_fleets
from paddock.track.building import from_file
from paddock.track.formula_student import cone_rows, generate
from paddock.track.lines import Floats, evenly, smooth_curve
from paddock.track.skidpad import skidpad_file
from paddock.track.track import CONE_COLOURS, CONE_SIZES, Gate, Track
from paddock.wire.tracks import FORMATS, Cone, Start, TrackFile, TrackFileError, parse_track, read_track, write_track
from paddock.world.scenery import scenery_tree

SPRINT, STOP = 75.0, 100.0  # m from start to finish line, and to stop in behind it
LANE = 3.5  # m, width of the acceleration track
Corners = Sequence[tuple[float, float]]
STAGED = 0.30  # m from the front of the car to the start line
CONE_MASSES = {"big_orange": 1.05}  # kg
SMALL_CONE_MASS = 0.45  # kg
FRICTION_AROUND = 5.0  # m of the friction map beyond the boundaries
FRICTION_FINEST = 0.25  # m between its values
FRICTION_MOST_VALUES = 2_000_000


def acceleration_file() -> TrackFile:
    """Return the acceleration track: the start line at x = 0, the finish line at 75 m, then 100 m to stop."""
    cones: list[Cone] = []
    for colour, y in (("blue", 0.5 * LANE), ("yellow", -0.5 * LANE)):
        cones += [Cone(colour, x, y) for x in np.arange(-5.0, SPRINT + 1.0, 5.0).tolist() if x not in (0.0, SPRINT)]
        cones += [Cone("big_orange", x + gap, y) for x in (0.0, SPRINT) for gap in (-0.35, 0.35)]
        cones += [Cone("orange", x, y) for x in np.arange(SPRINT + 5.0, SPRINT + STOP + 1.0, 5.0).tolist()]
    return TrackFile(tuple(cones), Start(-STAGED, 0.0, 0.0, reference="front_wing"))


def circuit_file(corners: Corners, width: float, farthest: float) -> TrackFile:
    """Return the cones of a smooth closed track through corners; the start line is at the first one."""
    line = middle_through(np.array(corners, np.float64))
    return cone_rows(line, np.full(len(line), width), farthest)


def middle_through(corners: Floats) -> Floats:
    """Return a smooth closed line through corners, with points every 0.5 m."""
    return evenly(smooth_curve(corners, closed=True, parts=64), 0.5, closed=True)


AUTOCROSS = [
    (0, 0), (12, 0), (24, 0), (36, 3), (44, 12), (43, 23), (33, 28), (23, 23), (13, 28), (14, 41),
    (24, 48), (36, 48), (48, 52), (54, 62), (48, 73), (36, 75), (24, 70), (12, 75), (0, 70), (-12, 75),
    (-24, 75), (-34, 69), (-36, 58), (-28, 49), (-15, 45), (-9, 35), (-17, 26), (-29, 23), (-36, 14), (-33, 4),
    (-24, 0), (-12, 0),
]  # fmt: skip
TRACKDRIVE = [
    (0, 0), (14, 0), (28, 0), (42, 0), (54, 4), (61, 15), (56, 28), (42, 31), (30, 26), (18, 25),
    (10, 34), (15, 45), (29, 48), (43, 46), (57, 51), (61, 65), (50, 76), (34, 75), (20, 66), (6, 61),
    (-8, 64), (-20, 72), (-34, 70), (-39, 57), (-31, 46), (-33, 33), (-44, 23), (-41, 8), (-28, 0), (-14, 0),
]  # fmt: skip
PARK = [
    (0, 0), (40, 0), (80, 0), (120, 0), (160, 10), (181, 45), (165, 82), (125, 90), (95, 110), (98, 148),
    (130, 172), (138, 212), (105, 240), (60, 236), (25, 208), (-8, 176), (-48, 168), (-84, 144), (-92, 104), (-74, 70),
    (-80, 30), (-62, 4), (-40, 0),
]  # fmt: skip
HARBOUR = [
    (0, 0), (24, 0), (48, 0), (72, 0), (98, 6), (111, 26), (102, 48), (78, 54), (60, 64), (62, 84),
    (84, 94), (108, 96), (124, 112), (118, 134), (94, 142), (60, 142), (26, 142), (-8, 138), (-28, 122), (-26, 100),
    (-6, 88), (14, 80), (16, 62), (-2, 50), (-26, 45), (-42, 28), (-32, 5), (-16, 0),
]  # fmt: skip
SPEEDWAY = [
    (0, 0), (80, 0), (160, 0), (240, 0), (320, 0), (400, 20), (454, 84), (452, 166), (396, 220), (322, 244),
    (280, 300), (300, 372), (290, 440), (226, 474), (152, 446), (104, 384), (52, 330), (-20, 312), (-96, 330),
    (-166, 306), (-196, 238), (-176, 170), (-196, 100), (-164, 28), (-80, 0),
]  # fmt: skip

STANDARD: dict[str, tuple[Callable[[], TrackFile], str]] = {
    "skidpad": (skidpad_file, "figure of eight, two laps to the right, two to the left"),
    "acceleration": (acceleration_file, "75 m straight, 100 m to stop"),
    "autocross": (lambda: circuit_file(AUTOCROSS, 3.5, 4.6), "one narrow lap"),
    "trackdrive": (lambda: circuit_file(TRACKDRIVE, 3.5, 4.6), "ten narrow laps"),
    "park": (lambda: circuit_file(PARK, 8.0, 8.0), "fast circuit, 8 m wide"),
    "harbour": (lambda: circuit_file(HARBOUR, 6.0, 6.0), "slow circuit with tight bends, 6 m wide"),
    "speedway": (lambda: circuit_file(SPEEDWAY, 14.0, 10.0), "circuit for 20 cars, 14 m wide"),
}
"""Name -> its cones, and what it is."""


def names() -> list[str]:
    """Return the names of the tracks in the catalog."""
    return list(STANDARD)


@lru_cache(maxsize=16)
def standard(name: str) -> Track:
    """Return a track of the catalog."""
    if name not in STANDARD:
        raise unknown_name("track", name, STANDARD)
    return from_file(STANDARD[name][0](), name)


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
    if name in STANDARD and not os.path.exists(name):
        if format is not None:
            raise TrackFileError(f"{name}: a track of the catalog has no format: leave out format={format!r}")
        if not swap_colours and start is None:
            return standard(name)
        file = STANDARD[name][0]()
    else:
        if not os.path.exists(name) and not os.path.splitext(name)[1]:
            raise TrackFileError(f"{name}: no such track file or track of the catalog; {suggestion(name, STANDARD)}")
        file = read_track(source, format)
    return from_file(file.swapped() if swap_colours else file, name, start)


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


_POINTS, _WIDTHS = ("cones", "centre", "left", "right"), ("left_width", "right_width")  # m
_NUMBERS = ("colours", "left_cones", "right_cones")


def track_tree(track: Track, movable: bool, digits: int | None = None) -> dict[str, Any]:
    """Return a track for viewers and clients; `movable`: its cones are vehicles. Numbers are rounded to `digits`."""
    arrays = {name: getattr(track, name) for name in (*_POINTS, *_WIDTHS)}
    if digits is not None:
        arrays = {name: np.round(values, digits) for name, values in arrays.items()}
    arrays |= {name: getattr(track, name) for name in _NUMBERS}
    return {
        "name": track.name,
        "closed": track.closed,
        "length": track.length,
        "start": list(track.start),
        "colour_names": list(CONE_COLOURS),
        "movable": movable,
        **{name: values.tolist() for name, values in arrays.items()},
        "gates": [
            {"name": gate.name, "left": list(gate.left), "right": list(gate.right), "along": gate.along}
            for gate in track.gates
        ],
    }


def track_from(tree: Mapping[str, Any]) -> Track:
    """Return the track of plain data whose numbers are not rounded: equal to the one that it was made from."""
    x, y, yaw = tree["start"]
    cones = tuple(Cone(CONE_COLOURS[k], *position) for k, position in zip(tree["colours"], tree["cones"], strict=True))
    arrays: dict[str, Any] = {name: np.array(tree[name], np.float64).reshape(-1, 2) for name in _POINTS}
    arrays |= {name: np.array(tree[name]) for name in (*_WIDTHS, *_NUMBERS)}
    gates = [Gate(gate["name"], tuple(gate["left"]), tuple(gate["right"]), gate["along"]) for gate in tree["gates"]]
    about = {"name": tree["name"], "closed": tree["closed"], "start": (x, y, yaw)}
    return Track(**about, **arrays, gates=tuple(gates), source=TrackFile(cones, Start(x, y, yaw)))


@lru_cache(maxsize=16)
def track_of(section: TrackSection | None) -> Track | None:
    """Return the track of a scenario's section `track`; None without one."""
    if section is None:
        return None
    if section.generate is not None:
        wish = section.generate
        generated = generate(wish.seed, wish.width, wish.length)
        file, name = generated.source, generated.name
    elif section.file is not None:
        if section.text is None:
            raise InvalidValueError(f"track {section.file!r} has no text: load the scenario with its files")
        file, name = parse_track(section.text, section.file), section.file
    else:
        assert section.name is not None
        if section.name not in STANDARD:
            load(section.name)  # raises, with the names of the catalog
        file, name = STANDARD[section.name][0](), section.name
    return from_file(file.swapped() if section.swap_colours else file, name, section.start)


def world_with_track(scenario: Scenario, cones: bool = True) -> WorldSection:
    """Return the section `world` with the cones (or without) and the surface of the scenario's track."""
    if scenario.track is None:
        return scenario.world
    return _world(scenario.world, scenario.track, cones)


@lru_cache(maxsize=8)
def _world(world: WorldSection, section: TrackSection, cones: bool) -> WorldSection:
    track = track_of(section)
    assert track is not None
    changes: dict[str, Any] = {}
    if cones:
        changes["obstacles"] = (*(world.obstacles or ()), *track_cones(track))
    if section.surface is not None:
        ground = world.ground or GroundSection()
        changes["ground"] = ground.model_copy(update={"friction_map": friction_map(track, section.surface)})
    return world.model_copy(update=changes)


def track_cones(track: Track) -> list[Obstacle]:
    """Return the cones of a track as obstacles, in their order."""
    cones = []
    for (x, y), k in zip(track.cones.tolist(), track.colours.tolist(), strict=True):
        colour = CONE_COLOURS[k]
        base, height = CONE_SIZES[colour]
        cone = ConeObstacle(
            center=(x, y), radius=0.5 * base, height=height, mass=CONE_MASSES.get(colour, SMALL_CONE_MASS)
        )
        cones.append(Obstacle(name=f"cones_{colour}", cone=cone))
    return cones


def friction_map(track: Track, surface: TrackSurface) -> FrictionMap:
    """Return the friction of a track and its surroundings on a grid."""
    edges = np.concatenate([track.left, track.right, track.centre])
    margin = FRICTION_AROUND + surface.transition
    low, high = edges.min(axis=0) - margin, edges.max(axis=0) + margin
    size = high - low
    cell = max(FRICTION_FINEST, float(np.sqrt(size[0] * size[1] / FRICTION_MOST_VALUES)))
    columns, rows = (int(count) for count in np.ceil(size / cell) + 1)
    x = low[0] + cell * np.arange(columns)
    values = np.empty((rows, columns))
    for row in range(rows):
        values[row] = friction_at(track, surface, x, np.full(columns, low[1] + cell * row))
    grid = Grid(**packed(values.astype(np.float32).astype(np.float64)))
    return FrictionMap(values=grid, cell=cell, origin=(float(low[0]), float(low[1])))


def friction_at(track: Track, surface: TrackSurface, x: Floats, y: Floats) -> Floats:
    """Return the friction at places: that of the track, changing to that outside at its boundaries."""
    along, offset = track.locate(x, y)
    left, right = track.widths_at(along)
    beyond = np.where(offset > 0.0, offset - left, -offset - right)
    share = np.clip(0.5 - beyond / max(surface.transition, 1e-6), 0.0, 1.0)
    return np.asarray(surface.outside + share * (surface.mu - surface.outside))


def declared_fleets(scenario: Scenario) -> tuple[Declared, ...]:
    """Return the fleets of a run: the entries of `vehicles` and, with contact, the cones of the world and the track."""
    written = tuple(Declared(entry, ("vehicles", k)) for k, entry in enumerate(scenario.vehicles))
    obstacles = world_with_track(scenario).obstacles
    if scenario.contact is None or not obstacles:
        return written
    of_track = len(scenario.world.obstacles or ())
    return written + cone_fleets(obstacles, {entry.name for entry in scenario.vehicles}, of_track)


def scenery_with_track(scenario: Scenario, side: int = 128) -> dict[str, Any]:
    """Return the scenery of a scenario for viewers: ground, obstacles without the track's cones, and the track."""
    tree = scenery_tree(world_with_track(scenario, cones=False), side, scenario.contact is None)
    track = track_of(scenario.track)
    return {**tree, "track": None if track is None else track_tree(track, scenario.contact is not None, 3)}
