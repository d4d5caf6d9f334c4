"""Bodies of a run: those of all fleets and obstacles, numbered by fleet name and member, and cones.

Cones are vehicles. `ConesOfWorld` hides those from rays that no longer stand, `ConeBodies` counts them against cars.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.compute.twin import vectorised
from paddock.contact.bodies import ROW, bounds, obstacle_table
from paddock.contact.candidates import CandidatePairs, immovable
from paddock.contact.touches import GROUND
from paddock.engine.program import FleetProgram
from paddock.engine.race_state import RaceState
from paddock.errors import users_code
from paddock.scenario import Scenario
from paddock.scenario.contact import OBSTACLES, ContactSection
from paddock.scenario.vehicle import CONE
from paddock.track.loading import declared_fleets
from paddock.vehicles.model import Body
from paddock.world.columns import Floats, column_index
from paddock.world.fleet import Ints
from paddock.world.solids import BASE, ENTRY, Obstacles
from paddock.world.world import World

UPRIGHT = 0.94  # cosine of the tilt, about 20 degrees, up to which a cone stands
GATHERED = 2000  # vehicles: up to here the poses of all are gathered in every tick, of more only those needed
FEW_FLEETS = 4  # whose states are compared with the list of candidates one by one, without gathering
STANDS = 0.5  # share of its radius: rays do not see a cone of the world that has been moved further
ARMED = "armed"  # the command of vehicles that a crash disarms


@dataclass(frozen=True)
class Part:
    """The bodies of one fleet in the table."""

    program: FleetProgram
    first: int
    n: int
    falls: bool
    xyz: tuple[int, int, int]  # rows of the state


class Roster:
    """The bodies of all fleets and obstacles, as long as no vehicle joins or leaves."""

    def __init__(
        self,
        programs: dict[str, FleetProgram],
        settings: ContactSection,
        world_obstacles: Obstacles,
        dt: float,
    ) -> None:
        """`dt`: the length of a tick, s."""
        fixed, entries = world_obstacles.solids, world_obstacles.entries
        still = fixed.table[immovable(fixed)]
        obstacles = obstacle_table(still, settings.friction, settings.restitution)
        self.obstacles = len(still)
        numbers = still[:, ENTRY].astype(int).tolist()
        self.obstacle_names = [entries[k].name or f"obstacle {k}" for k in numbers]
        self.parts: list[Part] = []
        tables, layers, ignored, first = [], [], [], 0
        for program in programs.values():
            if program.settings.contact is None or program.control.placed_by_mission or not program.fleet.n:
                continue
            table, falls = _constants(program, settings)
            rows = column_index(program.model.state)
            self.parts.append(Part(program, first, program.fleet.n, falls, (rows["x"], rows["y"], rows["z"])))
            tables.append(table)
            layers.append(program.settings.contact.layer)
            ignored.append(set(program.settings.contact.ignores))
            first += program.fleet.n
        self.moving = first
        self.constants = np.concatenate([np.zeros((ROW.size, 0)), *tables, obstacles], axis=1)
        ids = (part.program.fleet.by_key(part.program.fleet.tables["ids"]) for part in self.parts)
        self.ids: Ints = np.concatenate([np.zeros(0, np.int64), *ids, -2 - np.arange(self.obstacles)])
        self._by_id = np.argsort(self.ids)
        self.fixed = np.arange(len(self.ids)) >= first  # the obstacles
        layers, ignored = [*layers, OBSTACLES], [*ignored, set()]
        ignores = np.array([[b in i or a in j for b, j in zip(layers, ignored, strict=True)]
                            for a, i in zip(layers, ignored, strict=True)])  # fmt: skip
        sizes = [part.n for part in self.parts] + [obstacles.shape[1]]
        fleet = np.repeat(np.arange(len(sizes)), sizes)
        self.candidates = CandidatePairs(bounds(self.constants), fleet, ignores, fixed, dt)
        self.falls = any(part.falls for part in self.parts)
        self.falling = np.repeat([*(part.falls for part in self.parts), False], sizes)
        few = 1 if self.falls else FEW_FLEETS  # poses of bodies that fall are computed in every tick anyway
        gathers = first <= GATHERED and len(self.parts) > few
        self._gathered = self.constants[:13].copy() if gathers else None
        self.disarmable = [p.program for p in self.parts if ARMED in column_index(p.program.model.command)]

    def split(self, bodies: Ints) -> Iterator[tuple[Part, slice, Ints]]:
        """Yield each fleet with bodies among these (ascending), their columns in the array and their rows."""
        for part in self.parts:
            low, high = np.searchsorted(bodies, (part.first, part.first + part.n))
            if high > low:
                yield part, slice(int(low), int(high)), part.program.fleet.rows[bodies[low:high] - part.first]

    def gather(self, tick: int) -> Floats | None:
        """Return the poses (13, n) of all bodies, valid until the next call; None where that does not pay."""
        if self._gathered is not None:
            for part in self.parts:
                own = part.program.fleet.by_key(part.program.pose_block(tick))
                self._gathered[:, part.first : part.first + part.n] = own
        return self._gathered

    def poses(self, bodies: Ints, tick: int) -> Floats:
        """Return the poses (13, k) of some bodies, ascending."""
        poses = np.take(self.constants[:13], bodies, axis=1)  # indexing would return another layout
        for part, columns, rows in self.split(bodies):
            poses[:, columns] = part.program.poses_of(rows, tick)
        return poses

    def numbers_of(self, ids: Ints) -> Ints:
        """Return the numbers of bodies from ids, GROUND for the ground, and how many there are for those that left."""
        at = np.minimum(np.searchsorted(self.ids, ids, sorter=self._by_id), len(self.ids) - 1)
        numbers = np.where(self.ids[self._by_id[at]] == ids, self._by_id[at], len(self.ids))
        return np.where(ids == GROUND, GROUND, numbers)

    def name(self, body: int) -> str:
        """Return the name of a vehicle or an obstacle."""
        for part in self.parts:
            if part.first <= body < part.first + part.n:
                return part.program.fleet.vehicle_name(int(part.program.fleet.rows[body - part.first]))
        return "the ground" if body == GROUND else self.obstacle_names[body - self.moving]


def bodies_of(program: FleetProgram) -> Any:
    """Return the bodies of a fleet in the order of its members, a `Body` whose fields are arrays (n,)."""
    assert program.model.body is not None
    with users_code():
        values = vectorised(program.model.body)(program.parameters.fields(program.fleet.rows))
    columns: Any = [np.broadcast_to(np.asarray(value, np.float64), (program.fleet.n,)) for value in values]
    return Body(*columns)


def _constants(program: FleetProgram, settings: ContactSection) -> tuple[Floats, bool]:
    """Return the columns of the table of bodies that do not change, and whether the bodies fall."""
    assert program.settings.contact is not None
    n, chosen, body = program.fleet.n, program.settings.contact, bodies_of(program)
    table = np.zeros((ROW.size, n))
    table[ROW.lightness], table[ROW.lightness + 1] = 1.0 / body.mass, (1.0 - body.planar) / body.mass
    table[ROW.turning : ROW.turning + 3] = 1.0 / np.stack([body.inertia_x, body.inertia_y, body.inertia_z])
    table[ROW.half : ROW.half + 3] = body.half_length, body.half_width, body.half_height
    table[ROW.centre_x], table[ROW.centre_z], table[ROW.shape] = body.centre_x, body.centre_z - body.mass_z, body.shape
    table[ROW.mass_z], table[ROW.rolling] = body.mass_z, body.rolling
    table[ROW.friction] = settings.friction if chosen.friction is None else chosen.friction
    table[ROW.restitution] = settings.restitution if chosen.restitution is None else chosen.restitution
    return table, bool(np.any(body.falls))


class ConesOfWorld:
    """The cones among the obstacles of the world, which are vehicles (MOVABLE).

    Rays of the kernels see those that stand where they were put, and no others. That follows from the present state, so
    that it needs no saving.
    """

    def __init__(self, scenario: Scenario, world: World) -> None:
        self.obstacles = None if world.scenery is None else world.scenery.obstacles
        self._fleets: list[tuple[str, Ints]] = []  # name, and the row in the table of solids of each member
        if self.obstacles is None or scenario.contact is None:
            return
        self._standing = self.obstacles.table.copy()
        row_of = {int(k): row for row, k in enumerate(self._standing[:, ENTRY])}
        for declared in declared_fleets(scenario):
            if declared.obstacles:
                self._fleets.append((declared.entry.name, np.array([row_of[k] for k in declared.obstacles])))
        self._hidden = np.zeros(len(self._standing), np.bool_)
        self._seen: dict[str, tuple[Floats, Ints]] = {}  # poses and members of the cones at the last update

    def _cones_unchanged(self, programs: dict[str, FleetProgram], tick: int) -> bool:
        """Return whether all cones are where they were at the last update, as in most ticks."""
        same = True
        for name, _ in self._fleets:
            poses, members = np.zeros((5, 0)), np.zeros(0, np.int64)
            if name in programs:
                fleet = programs[name].fleet
                poses, members = programs[name].pose_block(tick)[:5, : fleet.n], fleet.members
            last = self._seen.get(name)
            if last is None or not (np.array_equal(poses, last[0]) and np.array_equal(members, last[1])):
                self._seen[name], same = (poses.copy(), members.copy()), False
        return same

    def update_hidden_cones(self, programs: dict[str, FleetProgram], tick: int) -> None:
        """Hide the cones that have been knocked over, pushed away or removed."""
        if not self._fleets or self.obstacles is None or self._cones_unchanged(programs, tick):
            return
        hidden = np.zeros(len(self._standing), np.bool_)
        for name, rows in self._fleets:
            hidden[rows] = True
            if name in programs:
                fleet = programs[name].fleet
                original = np.flatnonzero(fleet.members < len(rows))
                at, pose = rows[fleet.members[original]], programs[name].pose_block(tick)[:, original]
                moved = ((pose[:2].T - self._standing[at, :2]) ** 2).sum(axis=1)
                upright = 1.0 - 2.0 * (pose[3] ** 2 + pose[4] ** 2) > UPRIGHT
                hidden[at] = ~upright | (moved > (STANDS * self._standing[at, BASE]) ** 2)
        if not np.array_equal(hidden, self._hidden):
            self._hidden = hidden
            self.obstacles.hide(np.flatnonzero(hidden), self._standing)


class ConeBodies:
    """The cones of the world and the track, which are vehicles; none without contact.

    A cone is down or out when it lies, or when its whole base has left the place where it stood. It counts for the car
    that touched it last; a cone that touches another passes its car on, also after it was counted itself.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.homes: dict[str, Any] = {}  # fleet -> (n, 2) m, of its members
        self._radius: dict[str, float] = {}  # of their bases
        for entry, _, _ in declared_fleets(scenario) if scenario.contact is not None else ():
            if entry.model == CONE and entry.spawn is not None and entry.spawn.poses:
                self.homes[entry.name] = np.array([pose[:2] for pose in entry.spawn.poses])
                self._radius[entry.name] = 0.5 * entry.parameters["length"]

    def ids(self, programs: dict[str, FleetProgram]) -> Ints:
        """Return the ids of the cones that are in the world, ascending."""
        ids = [programs[name].fleet.ids for name in self.homes if name in programs]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *ids]))

    def touch(self, pairs: Ints, cars: dict[int, int], cones: Ints, touched_by: dict[int, int]) -> None:
        """Remember which car has touched which cone, from pairs of ids (k, 2)."""
        which = np.isin(pairs, cones)
        some = which.any(axis=1)
        for (first, second), (first_is, second_is) in zip(pairs[some].tolist(), which[some].tolist(), strict=True):
            for cone, by, is_cone in ((first, second, first_is), (second, first, second_is)):
                if is_cone and by in cars:
                    touched_by[cone] = cars[by]
                elif is_cone and by in touched_by:
                    touched_by.setdefault(cone, touched_by[by])

    def fallen(self, programs: dict[str, FleetProgram], tick: int, race: RaceState) -> list[tuple[int, int]]:
        """Return car and cone of those that are down or out since the last call."""
        fallen = []
        waiting = [cone for cone in race.touched_by if cone not in race.counted]
        for name, homes in self.homes.items() if waiting else ():
            if name not in programs:
                continue
            fleet = programs[name].fleet
            rows = np.flatnonzero(np.isin(fleet.ids, waiting) & (fleet.members < len(homes)))
            if not len(rows):
                continue
            pose, home = programs[name].poses_of(rows, tick), homes[fleet.members[rows]]
            moved = ((pose[:2].T - home) ** 2).sum(axis=1) > (2.0 * self._radius[name]) ** 2
            lies = 1.0 - 2.0 * (pose[3] ** 2 + pose[4] ** 2) < UPRIGHT
            for cone in sorted(fleet.ids[rows[moved | lies]].tolist()):
                fallen.append((race.touched_by[cone], cone))
                race.counted.add(cone)
        return fallen

    def name(self, number: int, programs: dict[str, FleetProgram]) -> str:
        """Return the name of a cone by its id."""
        for fleet in (programs[name].fleet for name in self.homes if name in programs):
            row = np.flatnonzero(fleet.ids == number)
            if len(row):
                return fleet.vehicle_name(int(row[0]))
        return f"cone {number}"
