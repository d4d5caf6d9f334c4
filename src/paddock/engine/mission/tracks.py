"""Tracks of a mission: one table of segments per fleet; each vehicle's memory contains its rows."""

from dataclasses import dataclass
from functools import partial
from math import inf, remainder, sqrt, tau
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.engine.behaviours import MEMORY, FleetBehaviour, HeardBlocks, PoseBlocks, RuleSetup
from paddock.engine.build import Place, build_program
from paddock.engine.mission.following import (
    COLUMNS,
    CURVATURE,
    FAR,
    LENGTH,
    RULE,
    FollowingMemory,
    FollowingOptions,
    along_per_flown,
    place_on,
)
from paddock.engine.program import GNSS, FleetProgram
from paddock.errors import InvalidValueError
from paddock.planning.from_scenario import participants
from paddock.planning.geometry.path import FIELDS, Path, Pose, Segment, ends_at, flown_of
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.methods import find_method
from paddock.radio.gnss import HAS_FIX, LOST, OFFSET
from paddock.scenario import Scenario, VehicleEntry
from paddock.world.columns import FARTHEST, Environment, Floats, column_index, columns_of
from paddock.world.fleet import Ints
from paddock.world.parts import array, fill, part
from paddock.world.world import World

INERTIAL = 2.0  # s without a fix for which a vehicle still knows its position, from its inertial sensors
ROUNDING = 1e-6  # s
CORNER = 0.1  # rad: smallest change of course between two segments that counts as a corner


@dataclass(frozen=True)
class FollowingStyle:
    """Limits of a fleet."""

    moves: str  # aircraft, hover or ground
    options: FollowingOptions
    lateral: float = inf  # m/s2, maximum lateral acceleration in bends
    turn: float = inf  # rad/s, maximum
    crawl: float = inf  # m/s at corners and where the gear changes

    def limit(self, curvature: float) -> float:
        """Return the maximum speed (m/s) for a curvature (1/m)."""
        bend = abs(curvature)
        return inf if bend < 1e-9 else min(sqrt(self.lateral / bend), self.turn / bend)


def style_of(program: FleetProgram, environment: Floats, ground: float | None = None) -> FollowingStyle:
    """Return the options with which a fleet follows paths in this wind; `ground` is its height (m) at home if known."""
    rows = column_index(program.model.parameters)
    p = {name: float(program.parameter_values[row]) for name, row in rows.items()}
    e = Environment(*environment.tolist())
    air = {"wind_x": e.wind_x, "wind_y": e.wind_y, "ground": e.ground_z if ground is None else ground}
    kind = program.model.kind
    if kind == "aircraft":
        options = FollowingOptions(preview=p["roll_time"], lookahead_time=3.5, capture=p["turn_radius"], **air)
        return FollowingStyle("aircraft", options)
    if kind in ("quad", "agent"):
        lag, gains = 0.15 if kind == "quad" else 0.0, {"gain": 1.2, "height_gain": 1.2}
        options = FollowingOptions(hovers=1.0, preview=lag, brake=2.5, capture=10.0, arrived=0.25, **gains, **air)
        return FollowingStyle("hover", options, lateral=4.0, crawl=2.0)
    if kind == "rover":
        lag = 0.3 * min(1.0, p["turn_rate_max"] / p["turn_acceleration_max"])
        near = {"lookahead": 0.4, "lookahead_time": 0.5, "capture": 3.0, "arrived": 0.05}
        options = FollowingOptions(preview=lag, brake=0.4 * p["acceleration_max"], align=1.0, **near)
        return FollowingStyle("ground", options, turn=0.9 * p["turn_rate_max"], crawl=min(0.1, 0.2 * p["speed_max"]))
    options = FollowingOptions(lookahead=4.0, lookahead_time=0.8, preview=0.1, brake=1.5, capture=10.0, arrived=0.2)
    return FollowingStyle("ground", options, lateral=4.0, crawl=0.5)


NOTHING = np.zeros((0, COLUMNS))


def rows_of(path: Path, loop: Path, style: FollowingStyle) -> Floats:
    """Return the rows (k, 15) of a path and of the loop after it."""
    segments = (*path.segments, *loop.segments)
    if not segments:
        return NOTHING
    table = np.zeros((len(segments), COLUMNS))
    table[:, :FIELDS] = segments
    flown = np.array([flown_of(segment) for segment in segments])
    table[:, FIELDS] = np.cumsum(flown) - flown
    table[:, FIELDS + 1] = flown
    limits = [min(style.limit(segment.curvature), FAR) for segment in segments]
    table[:, FIELDS + 2] = limits
    table[:, FIELDS + 3] = _leaving(segments, limits, style, bool(loop.segments))
    return table


def _leaving(segments: tuple[Segment, ...], limits: list[float], style: FollowingStyle, repeated: bool) -> list[float]:
    """Return the speed at the end of each segment, m/s: slow at corners, and with enough distance to brake."""
    leave = [FAR] * len(segments)
    if style.moves == "aircraft":
        return leave
    leave[-1] = FAR if repeated else max(style.crawl, 0.0)
    for k in range(len(segments) - 2, -1, -1):  # of one route, a few hundred
        here, after = segments[k], segments[k + 1]
        straight = here.gear == after.gear and abs(remainder(after.heading - ends_at(here)[3], tau)) < CORNER
        braked = sqrt(leave[k + 1] ** 2 + 2.0 * style.options.brake * flown_of(after))
        leave[k] = min(limits[k + 1], braked, inf if straight else style.crawl)
    return leave


COLUMN = column_index(FollowingMemory)
EMPTY = np.zeros((1, COLUMNS))


class FleetVehicles(NamedTuple):
    """The vehicles of one fleet."""

    program: FleetProgram
    rows: Ints  # of the fleet
    indices: Ints  # of the mission, in the same order


class MissionFleets:
    """The names of the fleets that take part, and the rows of their vehicles."""

    def __init__(self, mission: Mission, scenario: Scenario, world: World, programs: dict[str, FleetProgram]) -> None:
        self.mission = mission
        self.world = world
        self.programs = programs
        assert scenario.mission is not None
        self.fleets = {scenario.vehicles[k].name for k in participants(scenario, scenario.mission)}
        self._known: tuple[object, ...] = ()
        self._vehicles: list[FleetVehicles] = []
        self._missing: Ints = np.empty(0, np.int64)

    def vehicles(self) -> tuple[list[FleetVehicles], Ints]:
        """Return the vehicles of the mission, fleet by fleet, and the indices of removed ones."""
        count = len(self.mission.vehicles)
        now = (self.world.run, self.world.roster_version, count, *map(id, self.programs.values()))
        if now != self._known:
            self._known = now
            self._vehicles, self._missing = self._found()
        return self._vehicles, self._missing

    def forget(self) -> None:
        """Look up the vehicles again at the next call."""
        self._known = ()

    def _found(self) -> tuple[list[FleetVehicles], Ints]:
        indices = {vehicle.name: k for k, vehicle in enumerate(self.mission.vehicles)}
        groups, seen = [], np.zeros(len(self.mission.vehicles), bool)
        for name, program in self.programs.items():
            if name in self.fleets:
                fleet = program.fleet
                called = [indices.get(fleet.vehicle_name(row), -1) for row in range(fleet.n)]
                places = np.array(called, np.int64)
                rows = np.flatnonzero(places >= 0)
                groups.append(FleetVehicles(program, rows, places[rows]))
                seen[places[rows]] = True
        return groups, np.flatnonzero(~seen)


def check_members(scenario: Scenario, world: World) -> None:
    """Refuse driven vehicles, joining ones that could not be built at their time, and plans that stop by the clock."""
    mission = scenario.mission
    assert mission is not None
    method = mission.method
    limit = find_method(method.name).clocked if method.options else ""
    if method.options.get(limit):
        raise InvalidValueError(
            f"{scenario.at('mission', 'method')}: option {limit!r} of method {method.name!r} stops by the wall clock, "
            "so that the run could not be repeated; leave it out, and limit the number of iterations instead"
        )
    for k in participants(scenario, mission):
        refuse_behaviour(scenario.vehicles[k], partial(scenario.at, "vehicles", k))
    for k, event in enumerate(mission.events):
        if event.vehicle is not None:
            location = partial(scenario.at, "mission", "events", k, "vehicle")
            refuse_behaviour(event.vehicle, location)
            build_program(world, scenario, event.vehicle, location)


def refuse_behaviour(entry: VehicleEntry, location: Place) -> None:
    """Refuse fields that would drive a vehicle in addition to its mission."""
    for field in ("behaviour", "driver", "commands", "timeout", "failsafe"):
        if getattr(entry, field):
            raise InvalidValueError(
                f"{location(field)}: {entry.name!r} takes part in the mission and follows its route; leave out "
                f"{field}, or name the others in mission.members"
            )


class FollowingBehaviour(FleetBehaviour):
    """The behaviour of a fleet in a mission: after an override, a vehicle continues where it left its route.

    Vehicles whose satellite navigation is spoofed follow the route with the position that they believe in. Those
    without a fix for `INERTIAL` s do not know it: hovering ones stop, others go on by dead reckoning.
    """

    def run(
        self,
        world: World,
        poses: PoseBlocks,
        parameters: tuple[Floats, ...],
        dt: float,
        among: tuple[int, Ints] | None = None,
        heard: HeardBlocks | None = None,
    ) -> str | None:
        """Compute the commands of every vehicle."""
        signals, n = self.fleet.tables.get(GNSS), self.fleet.n
        if signals is not None:
            if self.urges.shape[1] < n:
                self.urges = np.zeros((len(self.urges), self.fleet.capacity))
            self.urges[:2, :n] = signals[OFFSET : OFFSET + 2, :n]
            self.urges[2, :n] = without_position(signals[LOST, :n], world.clock.time)
        return super().run(world, poses, parameters, dt, among, heard)

    def admit(self, rows: slice | Ints) -> None:
        """Clear the memory of vehicles that join; others continue where they left their route."""
        if isinstance(rows, slice):
            super().admit(rows)


def without_position(lost: Floats, time: float) -> NDArray[np.bool_]:
    """Return which vehicles do not know their position at a time (s), from when they lost their fix (s)."""
    return np.asarray((lost != HAS_FIX) & (time - lost >= INERTIAL - ROUNDING))


def _find_places(path: Floats, row: Ints, inside: Floats, places: Floats) -> None:
    """Set the places (2, n) in m of vehicles on their rows of a path, `inside` m flown on each."""
    for i in range(len(row)):
        k = row[i]
        x, y, _ = place_on(path, k, inside[i] * along_per_flown(path, k))
        places[0, i], places[1, i] = x, y


find_places = routine(_find_places)


MEMORY_LOW, MEMORY_HIGH = (
    np.array([getattr(c, side) for c in columns_of(FollowingMemory)]) for side in ("low", "high")
)
SEGMENT_LOW = np.array([*[-FARTHEST] * 3, -1e6, 0.0, -1e3, -1e6, -1.0, -1e3, -1e3, 1e-6, 0.0, 0.0, 0.0, 0.0])
SEGMENT_HIGH = np.array([*[FARTHEST] * 3, 1e6, 1e9, 1e3, 1e6, 1.0, 1e3, 1e3, 1e6, 1e12, 1e12, FAR, FAR])
"""Limits of the columns of saved segments."""
TURNED = 1e6  # rad, limit of the turn of a saved segment


def check_memory(memory: Floats, path: Floats) -> None:
    """Refuse memories (columns, n) out of their limits, or whose rows are not among those of the path."""
    first, last, loop, row = (memory[COLUMN[name]] for name in ("first", "last", "loop", "row"))
    has = last > first
    whole = (memory[[COLUMN[name] for name in ("first", "last", "loop", "row")]] % 1.0 == 0.0).all(axis=0)
    inside = (first >= 0) & (row >= first) & (row < last) & (loop >= -1) & (loop < last) & (last <= len(path))
    limited = ((memory >= MEMORY_LOW[:, None]) & (memory <= MEMORY_HIGH[:, None])).all(axis=0)
    limited &= (np.abs(first) <= FAR) & (np.abs(last) <= FAR)
    if not (limited & (~has | (whole & inside))).all():
        raise InvalidValueError("the progress of a vehicle is not on its track")


@part
class FleetTracks:
    """The tracks of one fleet: the path of its vehicles, whose memory has the rows of each."""

    path: Floats = array("f8", "segment", COLUMNS, low=-FAR, high=FAR)

    def __init__(self, program: FleetProgram, environment: Floats, ground: float | None = None) -> None:
        """Let the fleet follow routes from now on."""
        fill(self)
        self.path = EMPTY
        self.program = program
        self.style: FollowingStyle = style_of(program, environment, ground)
        setup = RuleSetup(RULE, None, np.array(self.style.options, dtype=np.float64), EMPTY)
        self.behaviour = FollowingBehaviour(setup, program.model, program.fleet, program.varying)
        program.behaviour = self.behaviour
        self.parts: dict[int, Floats] = {}  # index -> its rows of the table

    @property
    def memory(self) -> Floats:
        """The memory of the rule, (columns, n)."""
        fleet = self.program.fleet
        return np.asarray(fleet.tables[MEMORY][:, : fleet.n])

    def column(self, name: str, rows: Ints) -> Floats:
        """Return a column of the memory of some vehicles."""
        return np.asarray(self.memory[COLUMN[name], rows])

    def write(self, name: str, rows: Ints, values: Any) -> None:
        """Set a column of some vehicles."""
        self.memory[COLUMN[name], rows] = values

    def follow(self, index: int, row: int, path: Path, loop: Path, rest: Pose, speed: float) -> None:
        """Let a vehicle follow a path at a speed (m/s), then a loop, or stay at `rest`; `assemble` afterwards."""
        rows = rows_of(path, loop, self.style)
        self.parts[index] = rows
        values = {
            "first": 0.0,
            "last": float(len(rows)),
            "loop": float(len(path.segments)) if loop.segments else -1.0,
            **{"row": 0.0, "inside": 0.0, "before": 0.0, "along": 0.0, "beside": 0.0, "stop_at": FAR},
            "speed": speed,
            **dict(zip("xyz", rest[:3], strict=True)),
        }
        for name, value in values.items():
            self.memory[COLUMN[name], row] = value

    def assemble(self, rows: Ints, indices: Ints) -> None:
        """Build one table of all tracks; the rows in the vehicles' memory move along."""
        self.parts = {index: self.parts.get(index, NOTHING) for index in indices.tolist()}
        counts = np.array([len(part) for part in self.parts.values()], np.float64)
        first = np.cumsum(counts) - counts
        shift = first - self.column("first", rows)
        repeats = self.column("loop", rows) >= 0.0
        for name in ("first", "last", "row"):
            self.memory[COLUMN[name], rows] += shift
        self.memory[COLUMN["loop"], rows] += np.where(repeats, shift, 0.0)
        table = np.concatenate([NOTHING, *self.parts.values()])
        self.path = self.behaviour.path = np.ascontiguousarray(table) if len(table) else EMPTY

    def heights(self, rows: Ints, otherwise: Floats) -> Floats:
        """Return the heights (m) of the paths at the vehicles' positions; `otherwise` for vehicles without a path."""
        has = self.column("last", rows) > self.column("first", rows)
        k = np.where(has, self.column("row", rows), 0.0).astype(np.int64)
        on = self.behaviour.path[k]
        along = self.column("inside", rows) * on[:, 10] / np.sqrt(1.0 + on[:, 6] ** 2)
        return np.where(has, on[:, 2] + on[:, 6] * along, otherwise)

    def believed(self, rows: Ints, true_positions: Floats, time: float, away: NDArray[np.bool_]) -> Floats:
        """Return where vehicles (k,) believe to be, (2, k) m, from their true places.

        Spoofed ones are wrong by the error of their fix. Those that do not know their position go by their memory of
        the route, except those that are `away` from it.
        """
        signals = self.program.fleet.tables.get(GNSS)
        if signals is None:
            return true_positions
        positions: Floats = true_positions + signals[OFFSET : OFFSET + 2, rows]
        blind = without_position(signals[LOST, rows], time) & ~away
        if blind.any():
            positions[:, blind] = self._remembered(rows[blind])
        return positions

    def _remembered(self, rows: Ints) -> Floats:
        """Return the places (2, k) of vehicles on their paths by their progress; without a path, where they stay."""
        has = self.column("last", rows) > self.column("first", rows)
        k = np.where(has, self.column("row", rows), 0.0).astype(np.int64)
        places = np.zeros((2, len(rows)))
        find_places(self.behaviour.path, k, self.column("inside", rows), places)
        return np.where(has, places, [self.column("x", rows), self.column("y", rows)])

    def check(self, state: Any) -> None:
        """Refuse segments out of their limits."""
        valid = ((self.path >= SEGMENT_LOW) & (self.path <= SEGMENT_HIGH)).all(axis=1)
        valid &= np.abs(self.path[:, CURVATURE] * self.path[:, LENGTH]) <= TURNED
        if not len(self.path) or not (valid | (self.path == EMPTY).all(axis=1)).all():
            raise InvalidValueError("a segment of the path is out of its limits")

    def rebuild(self, rows: Ints, indices: Ints) -> None:
        """Let the vehicles follow a loaded path; their memory must be loaded first."""
        check_memory(self.memory, self.path)
        self.behaviour.path = self.path
        first, last = (self.column(name, rows).astype(int).tolist() for name in ("first", "last"))
        self.parts = {index: self.path[a:b] for index, a, b in zip(indices.tolist(), first, last, strict=True)}
