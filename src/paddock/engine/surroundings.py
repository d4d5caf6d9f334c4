"""What sensors with arrays look at: obstacles, the bodies of vehicles and the cones, at the present tick."""

from operator import is_not
from typing import Any

import numpy as np
import xxhash

from paddock.compute.philox import signed
from paddock.compute.quaternion import axes
from paddock.compute.routine import routine
from paddock.engine.contact_bodies import bodies_of
from paddock.engine.program import FleetProgram
from paddock.engine.run_state import Run
from paddock.scenario import Scenario
from paddock.scenario.vehicle import CONE as CONE_MODEL
from paddock.sensing.sensor import CONE, NO_CONES, Around, Cones
from paddock.track.loading import declared_fleets
from paddock.track.track import CONE_COLOURS, UNKNOWN
from paddock.vehicles import model as vehicle_model
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.solids import (
    BOX,
    ENTRY,
    FRUSTUM,
    HIGH,
    LOW,
    NO_OBSTACLES,
    NO_SOLIDS,
    ROUND_BALL,
    ROUND_BAR,
    SOLID,
    Solids,
    X,
    Y,
    solids_of,
)

SHAPES = {
    vehicle_model.BOX: BOX,
    vehicle_model.CONE: FRUSTUM,
    vehicle_model.SPHERE: ROUND_BALL,
    vehicle_model.FRAME: ROUND_BALL,
    vehicle_model.CAPSULE: ROUND_BAR,
}
OBSTACLE_CONES, VEHICLE_CONES = 100_000, 1_000_000
"""A cone of the track has its number there. These are added to the index of a cone of `world.obstacles`, and to the id
of one that is a vehicle of its own."""


def place_solids(pose: Any, constants: Any, first: int, solids: Any) -> None:
    """Write the solids of a fleet from row `first` on; `constants` are solids at the origin, not turned."""
    for i in range(constants.shape[0]):
        row = solids[first + i]
        forward, left, upward = axes(pose[3, i], pose[4, i], pose[5, i], pose[6, i])
        for j in range(3):
            row[3 + j], row[6 + j], row[9 + j] = forward[j], left[j], upward[j]
        ahead, up = constants[i, 0], constants[i, 2]
        for j in range(3):
            row[j] = pose[j, i] + ahead * row[3 + j] + up * row[9 + j]
        if constants[i, 3] == 0.0:  # it lies across: its first axis points to the left
            for j in range(3):
                row[3 + j], row[6 + j] = row[6 + j], -row[3 + j]
        for j in range(12, 20):
            row[j] = constants[i, j]


placed = routine(place_solids)


def body_constants(program: FleetProgram) -> Floats | None:
    """Return the bodies (n, 20) of a fleet at the origin; None for a model without a body."""
    if program.model.body is None or not program.fleet.n:
        return None
    n, body = program.fleet.n, bodies_of(program)
    table = np.zeros((n, SOLID.size))
    table[:, 0], table[:, 2], table[:, SOLID.axes] = body.centre_x, body.centre_z, 1.0
    half = np.stack([body.half_length, body.half_width, body.half_height], axis=1)
    shape = np.vectorize(SHAPES.__getitem__)(body.shape)
    across = (shape == ROUND_BAR) & (half[:, 1] > half[:, 0])
    table[across, SOLID.axes] = 0.0
    half[across] = half[across][:, [1, 0, 2]]
    half[shape == ROUND_BALL] = half[shape == ROUND_BALL][:, :1]
    half[shape == FRUSTUM, 1] = half[shape == FRUSTUM, 0]
    bar = shape == ROUND_BAR
    half[bar, 1] = half[bar, 2]
    table[:, SOLID.half : SOLID.half + 3], table[:, SOLID.shape] = half, shape
    table[:, SOLID.base] = np.where(shape == FRUSTUM, half[:, 0], 0.0)
    table[:, SOLID.reach] = np.sqrt((half * half).sum(axis=1))
    table[:, SOLID.number] = program.fleet.ids[program.fleet.rows]
    return table


def colour_named(name: str) -> int:
    """Return the index of the colour that a name is or ends with, as `blue` and `cones_blue`; else that of unknown."""
    fitting = [colour for colour in CONE_COLOURS if name == colour or name.endswith(f"_{colour}")]
    return CONE_COLOURS.index(max(fitting, key=len)) if fitting else UNKNOWN


def cone_key(cone: Any) -> int:
    """Return the identity of a cone of the world: where it was put."""
    x, y = cone.center[:2]
    return signed(xxhash.xxh3_64_intdigest(np.array([x, y, cone.height], "<f8").tobytes()))


class Surroundings:
    """Makes what sensors look at; obstacles and shapes are kept until the vehicles change."""

    def __init__(self, scenario: Scenario, world: Run) -> None:
        self.world = world
        self._scenario = scenario
        self._of_track = 0  # obstacles before those of the track
        self._known: tuple[Any, ...] = ()  # run, roster, scenery and programs of what is kept
        self._constants: dict[str, Floats] = {}
        self._still = NO_CONES  # cones that are obstacles
        self._moving: list[tuple[str, Floats, Ints]] = []  # fleet, table and keys of cones that are vehicles

    def at(self, tick: int) -> Around:
        """Return what is around the vehicles at the present tick."""
        known = self.world.run, self.world.roster_version, self.world.scenery, *self.world.programs.values()
        old = self._known
        if len(known) != len(old) or known[:2] != old[:2] or any(map(is_not, known[2:], old[2:])):
            self._prepare()
            self._known = known
        bodies, uneven = self._bodies(tick), self.world.uneven
        fixed = NO_SOLIDS if self.world.scenery is None else self.world.scenery.obstacles.solids
        return Around(fixed, bodies, self._cones(tick), () if uneven is None else uneven.tables)

    def _prepare(self) -> None:
        scenery = self.world.scenery
        obstacles = () if scenery is None else scenery.obstacles.entries
        movable = {fleet.entry.name: fleet.obstacles for fleet in declared_fleets(self._scenario) if fleet.obstacles}
        self._of_track = len(self._scenario.world.obstacles or ())
        constants = {name: body_constants(program) for name, program in self.world.programs.items()}
        self._constants = {name: table for name, table in constants.items() if table is not None}
        self._still = self._still_cones() if not movable else NO_CONES
        self._moving = []
        for name in self._constants:
            program = self.world.programs[name]
            if program.model.name == CONE_MODEL:
                self._moving.append(self._cone_fleet(program, movable.get(name, ()), obstacles))

    def _colour(self, k: int, name: str) -> int:
        """Return the colour of the cone that is obstacle `k`: that of the track, else the one in its name."""
        return int(self.world.track.colours[k - self._of_track]) if k >= self._of_track else colour_named(name)

    def _number(self, k: int) -> int:
        """Return the number of the cone that is obstacle `k` of the world with its track."""
        return k - self._of_track if k >= self._of_track else OBSTACLE_CONES + k

    def _still_cones(self) -> Cones:
        """Return the cones of the world that cannot move."""
        rows, keys = [], []
        obstacles = NO_OBSTACLES if self.world.scenery is None else self.world.scenery.obstacles
        for x, y, low, high, k in obstacles.table[:, [X, Y, LOW, HIGH, ENTRY]].tolist():
            entry = obstacles.entries[int(k)]
            if entry.cone is not None:
                rows.append((x, y, low, self._colour(int(k), entry.name), self._number(int(k)), high - low))
                keys.append(cone_key(entry.cone))
        return Cones(np.array(rows, np.float64).reshape(-1, CONE.size), np.array(keys, np.int64))

    def _cone_fleet(self, program: FleetProgram, entries: tuple[int, ...], obstacles: Any) -> tuple[str, Floats, Ints]:
        """Return the cones of a fleet: name, table and keys."""
        fleet = program.fleet
        table, keys = np.zeros((fleet.n, CONE.size)), fleet.tables["streams"][fleet.rows]
        table[:, CONE.colour] = colour_named(fleet.name)
        table[:, CONE.number] = VEHICLE_CONES + fleet.ids[fleet.rows]
        for row, member in enumerate(fleet.members[fleet.rows].tolist()):
            if member < len(entries):
                cone = obstacles[entries[member]].cone
                table[row, CONE.colour] = self._colour(entries[member], obstacles[entries[member]].name)
                table[row, CONE.number] = self._number(entries[member])
                keys[row] = cone_key(cone)
        table[:, CONE.height] = 2.0 * self._constants[fleet.name][:, SOLID.half + 2]
        return fleet.name, table, keys

    def _bodies(self, tick: int) -> Solids:
        """Return the bodies of all vehicles."""
        total = sum(map(len, self._constants.values()))
        if not total:
            return NO_SOLIDS
        solids, first = np.empty((total, SOLID.size)), 0
        for name, constants in self._constants.items():
            program = self.world.programs[name]
            poses = program.pose_block(tick)
            placed(poses if program.fleet.in_order else program.fleet.by_key(poses), constants, first, solids)
            first += len(constants)
        return solids_of(solids)

    def _cones(self, tick: int) -> Cones:
        """Return all cones where they are now."""
        if not self._moving:
            return self._still
        tables, keys = [self._still.table], [self._still.keys]
        for name, table, identity in self._moving:
            at = table.copy()
            at[:, :3] = self.world.programs[name].fleet.by_key(self.world.programs[name].pose_block(tick)[:3]).T
            tables.append(at)
            keys.append(identity)
        return Cones(np.concatenate(tables), np.concatenate(keys))
