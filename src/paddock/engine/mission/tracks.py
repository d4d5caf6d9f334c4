"""What the members of a fleet follow: one table of segments, and in each vehicle's memory which rows are its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paddock.engine.behaviours import MEMORY, FleetBehaviour, RuleSetup
from paddock.engine.mission.curve import COLUMNS
from paddock.engine.mission.following import FAR, RULE, Memory
from paddock.engine.mission.style import Style, style_of
from paddock.engine.mission.table import NOTHING, rows_of
from paddock.engine.program import FleetProgram
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import Pose
from paddock.world.columns import Floats, column_index
from paddock.world.fleet import Ints

COLUMN = column_index(Memory)
EMPTY = np.zeros((1, COLUMNS))


class Track(NamedTuple):
    """What one member is to follow."""

    path: Path
    loop: Path  # repeated at the end; empty: it stops there
    rest: Pose  # where it stays without either
    speed: float  # m/s


class FollowingBehaviour(FleetBehaviour):
    """Vehicles that come back from an order go on where they left their route."""

    def admit(self, rows: slice | Ints) -> None:
        """Only those who have joined start with an empty memory."""
        if isinstance(rows, slice):
            super().admit(rows)


class FleetTracks:
    """Of one fleet of members."""

    def __init__(self, program: FleetProgram, environment: Floats) -> None:
        """The fleet follows routes from now on."""
        self.program = program
        self.style: Style = style_of(program, environment)
        setup = RuleSetup(RULE, None, self.style.values, EMPTY)
        self.behaviour = FollowingBehaviour(setup, program.model, program.fleet, program.varying)
        program.behaviour = self.behaviour
        self.parts: dict[int, Floats] = {}  # agent -> its rows of the table

    @property
    def memory(self) -> Floats:
        """The memory of the rule, (columns, n)."""
        fleet = self.program.fleet
        table: Floats = fleet.tables[MEMORY][:, : fleet.n]
        return table

    def column(self, name: str, rows: Ints) -> Floats:
        """A column of the memory of some vehicles."""
        found: Floats = self.memory[COLUMN[name], rows]
        return found

    def write(self, name: str, rows: Ints, values: Any) -> None:
        """Set a column of some vehicles."""
        self.memory[COLUMN[name], rows] = values

    def follow(self, agent: int, row: int, track: Track) -> None:
        """A vehicle begins a new track; `assemble` afterwards."""
        rows = rows_of(track.path, track.loop, self.style)
        self.parts[agent] = rows
        told = {
            "first": 0.0,
            "last": float(len(rows)),
            "loop": float(len(track.path.segments)) if track.loop.segments else -1.0,
            **{"row": 0.0, "inside": 0.0, "before": 0.0, "along": 0.0, "beside": 0.0, "stop_at": FAR},
            "speed": track.speed,
            **dict(zip("xyz", track.rest[:3], strict=True)),
        }
        for name, value in told.items():
            self.memory[COLUMN[name], row] = value

    def assemble(self, rows: Ints, agents: Ints) -> None:
        """One table of all that these vehicles follow; what they remember of rows moves along."""
        self.parts = {agent: self.parts.get(agent, NOTHING) for agent in agents.tolist()}
        counts = np.array([len(part) for part in self.parts.values()], np.float64)
        first = np.cumsum(counts) - counts
        shift = first - self.column("first", rows)
        repeats = self.column("loop", rows) >= 0.0
        for name in ("first", "last", "row"):
            self.memory[COLUMN[name], rows] += shift
        self.memory[COLUMN["loop"], rows] += np.where(repeats, shift, 0.0)
        table = np.concatenate([NOTHING, *self.parts.values()])
        self.behaviour.path = np.ascontiguousarray(table) if len(table) else EMPTY

    def heights(self, rows: Ints, otherwise: Floats) -> Floats:
        """The heights (m) of their paths where they are; `otherwise` for those without."""
        has = self.column("last", rows) > self.column("first", rows)
        k = np.where(has, self.column("row", rows), 0.0).astype(np.int64)
        on = self.behaviour.path[k]
        along = self.column("inside", rows) * on[:, 10] / np.sqrt(1.0 + on[:, 6] ** 2)
        return np.where(has, on[:, 2] + on[:, 6] * along, otherwise)

    def save(self) -> Floats:
        """The table; whose its rows are stands in the memory."""
        return self.behaviour.path

    def restore(self, table: Floats, rows: Ints, agents: Ints) -> None:
        """Exactly what was saved; the memory is back already."""
        self.behaviour.path = np.ascontiguousarray(table)
        first, last = (self.column(name, rows).astype(int).tolist() for name in ("first", "last"))
        self.parts = {agent: table[a:b] for agent, a, b in zip(agents.tolist(), first, last, strict=True)}
