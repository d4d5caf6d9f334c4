"""The track of a scenario: its cones as obstacles or fleets of the world, its surface as friction, and its view."""

from functools import lru_cache
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.scenario import Scenario
from paddock.scenario.scenario import WorldSection
from paddock.scenario.scenery import ConeObstacle, FrictionMap, Grid, GroundSection, Obstacle, packed
from paddock.scenario.track import TrackSection, TrackSurface
from paddock.scenario.vehicle import Declared, cone_fleets
from paddock.track.building import from_file
from paddock.track.generator import generate
from paddock.track.lines import Floats
from paddock.track.loading import STANDARD, load, parse_file
from paddock.track.track import CONE_COLOURS, CONE_SIZES, Track
from paddock.track.viewing import track_tree
from paddock.world.scenery import scenery_tree

MASSES = {"big_orange": 1.05}  # kg
SMALL_MASS = 0.45  # kg
AROUND = 5.0  # m of the friction map beyond the boundaries
FINEST = 0.25  # m between its values
MOST_VALUES = 2_000_000


@lru_cache(maxsize=16)
def track_of(section: TrackSection | None) -> Track | None:
    """Return the track of a scenario's section `track`; None without one."""
    if section is None:
        return None
    if section.generate is not None:
        wish = section.generate
        found = generate(wish.seed, wish.width, wish.length)
        file, name = found.source, found.name
    elif section.file is not None:
        if section.text is None:
            raise InvalidValueError(f"track {section.file!r} has no text: load the scenario with its files")
        file, name = parse_file(section.text, section.file), section.file
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
    found = []
    for (x, y), k in zip(track.cones.tolist(), track.colours.tolist(), strict=True):
        colour = CONE_COLOURS[k]
        base, height = CONE_SIZES[colour]
        cone = ConeObstacle(center=(x, y), radius=0.5 * base, height=height, mass=MASSES.get(colour, SMALL_MASS))
        found.append(Obstacle(name=f"cones_{colour}", cone=cone))
    return found


def friction_map(track: Track, surface: TrackSurface) -> FrictionMap:
    """Return the friction of a track and its surroundings on a grid."""
    edges = np.concatenate([track.left, track.right, track.centre])
    margin = AROUND + surface.transition
    low, high = edges.min(axis=0) - margin, edges.max(axis=0) + margin
    size = high - low
    cell = max(FINEST, float(np.sqrt(size[0] * size[1] / MOST_VALUES)))
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
