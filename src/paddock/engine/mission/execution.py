"""Execution of a mission: vehicles follow their routes with their dynamics, or are placed exactly on them."""

from contextlib import suppress
from math import inf
from typing import Any

import numpy as np

from paddock.compute import arrays
from paddock.engine.build import placed_states
from paddock.engine.fleet_control import OWN
from paddock.engine.mission.following import (
    COLUMN,
    FAR,
    LIFT,
    FleetTracks,
    FleetVehicles,
    MissionFleets,
    check_memory,
)
from paddock.engine.mission.link import MissionLink
from paddock.engine.mission.spacing import Spacing
from paddock.engine.program import FleetProgram
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Path, Pose
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.mission.events import home_of
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.station import Row
from paddock.planning.mission.vehicles import LONGEST, MEMBER, MissionFleet, MissionVehicle, extend
from paddock.planning.solver.problem import Problem
from paddock.planning.solver.routes import Status
from paddock.planning.solver.transits import Transits
from paddock.world.columns import Floats, column_index
from paddock.world.columns import Pose as PoseColumns
from paddock.world.fleet import Ints
from paddock.world.parts import array, child, children, fill, part, record
from paddock.world.wind import WIND_ROWS

DEPTH = 1.0  # m below the ground: target height of a landing, so that a vehicle descends until it is on the ground
APART = 3.0  # m between neighbours on the ground, approximately
GOLDEN = 2.399963229728653  # rad: the golden angle between consecutive positions on a spiral
RATE = 1.0  # m/s down


def may_land(fleet: MissionFleet, heights: Floats, ground: Floats, indices: Ints) -> Ints:
    """Return the vehicles at home that can land: no other vehicle arrives below them.

    `heights` (m) are those of all, `ground` that under the vehicles of `indices`.
    """
    arriving = fleet.marked("returning") & np.array([m.spec.moves == "hover" for m in fleet.vehicles], bool)
    left = np.where(arriving, (fleet.due - fleet.progress) / fleet.speed, inf)
    below = heights[None, :] < heights[indices, None]
    soon = left[None, :] < (heights[indices, None] - ground[:, None]) / RATE
    return np.asarray(indices[~(below & soon).any(axis=1)])


class KinematicExecution:
    """Places vehicles on their routes; their dynamics are switched off."""

    def __init__(self, participants: MissionFleets) -> None:
        self.participants = participants
        self.mission = participants.mission
        self.part = KinematicRun(self.mission, None)
        self.spacing = None  # exact paths: no separation

    def join(self, program: FleetProgram) -> None:
        """Add a fleet that takes part."""
        program.control.set_mission_control(None)

    def begin(self, time: float) -> None:
        """Plan."""
        self.part.begin(time)

    def run(self, time: float, fresh: bool) -> None:
        """Place all vehicles on their routes."""
        self.part.advance(max(time - self.part.time, 0.0))
        poses = self.part.poses()
        for group in self.participants.vehicles()[0]:
            vehicles = [self.mission.vehicles[index] for index in group.indices.tolist()]
            speeds = [v.spec.speed if v.current is not None and v.current.flown != 0.0 else 0.0 for v in vehicles]
            placed = placed_states(group.program, poses[group.indices], np.array(speeds), self.participants.host.world)
            group.program.fleet.state[:, group.rows] = placed
            group.program.forget_poses()

    def fleet_removed(self, fleet: str) -> None:
        """Go on without a fleet whose vehicles are gone: they have no tracks."""

    def rebuild(self) -> None:
        """Build what is derived from a loaded state."""
        self.part.rebuild()


ROW = column_index(PoseColumns)
SLOW = 0.5  # m/s: below this speed, the course of a hovering vehicle is its heading
IDLING: tuple[Status, ...] = ("home", "diverted", "idle", "damaged")
"""Distance and range are not counted for vehicles in these states."""


@part
class DynamicsExecution:
    """Reads the positions of all vehicles, updates the mission and sets new routes."""

    mission: Mission = child()
    travelled: Floats = array("f8", MEMBER, unit="m", low=-LONGEST, high=LONGEST)
    here: Floats = array("f8", MEMBER, 4, unit="m", low=-LONGEST, high=LONGEST)  # the last known pose of each vehicle
    until: Floats = array("f8", MEMBER, unit="s", fill=-inf, infinite=True)  # when waiting vehicles may continue
    held: dict[int, Floats] = record(dict[Row, Floats], dict)
    """Memory of vehicles that follow an override instead of their route."""
    tracks: dict[str, FleetTracks] = children()
    spacing: Spacing | None = child()
    link: MissionLink | None = child()  # None: routes and reports arrive at once

    def __init__(self, participants: MissionFleets, link: MissionLink | None = None) -> None:
        """`link` carries routes and reports of a mission over radio."""
        fill(self)
        self.link = link
        self.participants = participants
        self.mission = mission = participants.mission
        required, planned = mission.setup.separation, mission.setup.problem.separation is not None
        self.spacing = None if required is None else Spacing(required, self._heights, planned)
        self.believed = np.zeros((0, 4))  # as `here`, with the position that the vehicle believes in

    @property
    def world(self) -> Run:
        """The world of the mission's run."""
        return self.participants.host.world

    def _heights(self, x: Floats, y: Floats) -> Floats:
        return self.world.heights(x, y)

    def join(self, program: FleetProgram) -> None:
        """Add a fleet that takes part."""
        homes = np.array([vehicle.spec.home[:2] for vehicle in self.mission.vehicles]).reshape(-1, 2)
        ground = float(self.world.heights(homes[:, 0], homes[:, 1]).max()) if len(homes) else None
        environment = self.world.environment.copy()
        environment[WIND_ROWS[:2]] = self.mission.setup.problem.wind  # that at the height of the tasks
        self.tracks[program.fleet.name] = FleetTracks(program, environment, ground)

    def fleet_removed(self, fleet: str) -> None:
        """Drop the tracks of a fleet whose vehicles are gone."""
        self.tracks.pop(fleet, None)

    @property
    def part(self) -> "DynamicsExecution":
        """The part of the run's state."""
        return self

    def begin(self, time: float) -> None:
        """Plan, and set the first routes."""
        new = self.mission.start(time)
        if self.link is not None:
            self.link.announce(new)
        self._adopt(list(range(len(self.mission.vehicles))), time)
        if self.spacing is not None:
            self.spacing.assign_offsets(self._members(), self._layer_offsets())
            self._raise_to_layers()

    def run(self, time: float, fresh: bool) -> None:
        """Report the positions of all vehicles to the mission; `fresh` also updates senses within a layer."""
        self._hold_overridden()
        progress, charge = self._measure()
        poses = self._poses()
        if self.link is None:
            new = self.mission.observe(time, progress, poses, self.travelled, charge)
        else:
            self.mission.advance_onboard(time, progress, self.travelled)
            new = self.link.exchange(time, poses, charge)
        if new:
            self._adopt(new, time)
        self._end_waits(time)
        self._land()
        if self.spacing is not None:
            self.spacing.measure(self._members(), self.here)
            if fresh or new:
                self.spacing.assign_offsets(self._members(), self._layer_offsets())

    def _layer_offsets(self) -> Floats:
        """Return the metres by which the plan has raised each vehicle."""
        return np.array([vehicle.spec.lift for vehicle in self.mission.flown.vehicles])

    def _raise_to_layers(self) -> None:
        """Place vehicles that start in the air in their layers: from equal heights they could not separate in time."""
        for group, tracks in self._members():
            fleet, row = group.program.fleet, column_index(group.program.model.state)["z"]
            x, y, z = (fleet.state[column_index(group.program.model.state)[name], group.rows] for name in "xyz")
            more = tracks.column("offset", group.rows) + self._layer_offsets()[group.indices]
            higher = np.where(z > self.world.heights(x, y) + LIFT, more, 0.0)
            fleet.state[row, group.rows] = z + higher
            group.program.forget_poses()

    def _members(self) -> list[tuple[FleetVehicles, FleetTracks]]:
        return [(group, self.tracks[group.program.fleet.name]) for group in self.participants.vehicles()[0]]

    def _grow(self) -> None:
        """Extend the arrays for vehicles that have joined."""
        joined = [vehicle.spec.pose for vehicle in self.mission.vehicles[len(self.travelled) :]]
        if joined:
            extend(self, len(self.mission.vehicles), here=joined)
            self.believed = np.vstack([self.believed, joined])

    def _measure(self) -> tuple[Floats, Floats | None]:
        """Return the progress of all vehicles and the charge of those with a battery; update the distance travelled."""
        self._grow()
        fleet = self.mission.flown
        progress, charge = fleet.progress.copy(), np.full(len(self.travelled), np.nan)
        idling = fleet.marked(*IDLING)
        groups, missing = self.participants.vehicles()
        for group in groups:
            tracks, rows, indices = self.tracks[group.program.fleet.name], group.rows, group.indices
            progress[indices] = tracks.column("along", rows)
            way = np.where(idling[indices], self.travelled[indices], tracks.column("travelled", rows))
            tracks.write("travelled", rows, way)
            self.travelled[indices] = way
            if group.program.parameters.has_battery and "charge" in column_index(group.program.model.state):
                row = column_index(group.program.model.state)["charge"]
                charge[indices] = group.program.fleet.state[row, rows]
        for index in missing.tolist():
            if fleet.vehicles[index].status != "damaged":
                self.mission.damage(self.mission.vehicles[index].name)
        return progress, None if np.isnan(charge).all() else charge

    def _poses(self) -> Floats:
        """Return the poses of all vehicles (n, 4): the height of the path, and the course for the next path.

        Positions are those that vehicles believe in.
        """
        poses, away = self.here.copy(), np.isin(np.arange(len(self.here)), list(self.held))
        for group, tracks in self._members():
            block = self.participants.host.poses(group.program.fleet.name)[:, group.program.fleet.ranks[group.rows]]
            x, y, z, vx, vy = (block[ROW[name]] for name in ("x", "y", "z", "vx", "vy"))
            qx, qy, qz, qw = (block[ROW[name]] for name in ("qx", "qy", "qz", "qw"))
            yaw = arrays.arctan2(2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qy * qy + qz * qz))
            moving = (np.sqrt(vx * vx + vy * vy) > SLOW) & (tracks.style.moves != "ground")
            heading = np.where(moving, arrays.arctan2(vy, vx), yaw)
            self.here[group.indices] = np.column_stack([x, y, z, heading])
            x, y = tracks.believed(group.rows, np.stack([x, y]), self.world.clock.time, away[group.indices])
            self.believed[group.indices] = np.column_stack([x, y, z, heading])
            poses[group.indices] = np.column_stack([x, y, tracks.heights(group.rows, z), heading])
        return poses

    def _adopt(self, new: list[int], time: float) -> None:
        """Set the new routes of their vehicles."""
        self._grow()
        wanted = set(new)
        for group, tracks in self._members():
            rows, indices = group.rows.tolist(), group.indices.tolist()
            changed = [(row, index) for row, index in zip(rows, indices, strict=True) if index in wanted]
            for row, index in changed:
                tracks.follow(index, row, *self._path_of(self.mission.flown.vehicles[index]))
                self.held.pop(index, None)
            if changed:
                tracks.assemble(group.rows, group.indices)
            for row, index in changed:
                self._set_wait(tracks, row, index, time)

    def _path_of(self, vehicle: MissionVehicle) -> tuple[Path, Path, Pose, float]:
        """Return the path of a vehicle, the loop at its end, its position without either, and its speed (m/s)."""
        spec, none = vehicle.spec, Path(())
        at = self.here if vehicle.status == "damaged" else self.believed  # it comes down where it is
        x, y, z, heading = at[vehicle.row].tolist()
        holds = vehicle.status == "transit" and not vehicle.route.legs and spec.moves == "aircraft"
        if holds or vehicle.status == "damaged":
            still = Transits(Problem((), (), (), self.mission.setup.problem.wind))
            circle = still.circle(spec, (x, y, z, heading)) if spec.moves == "aircraft" else none  # it cannot hover
            ground = float(self.world.heights([x], [y])[0])
            lost: Pose = (x, y, ground - DEPTH if spec.moves == "hover" else z, heading)
            return none, circle, vehicle.rest if holds else lost, spec.speed
        loop = self.mission.loiter_path(vehicle) if spec.moves == "aircraft" else none
        path = vehicle.route.path if vehicle.route.legs else none
        if loop.segments and not path.segments:  # from within its circle it would not find it
            with suppress(InfeasibleError):
                home = home_of(self.mission, spec)
                path = Transits(self.mission.problem).path(spec, (x, y, home[2], heading), home)
        return path, loop, path.end if path.segments else vehicle.rest, spec.speed

    def _set_wait(self, tracks: FleetTracks, row: int, index: int, time: float) -> None:
        """Set where and until when the vehicle waits next; aircraft fly circles instead."""
        vehicle, stop, until = self.mission.flown.vehicles[index], FAR, inf
        for leg, end in zip(vehicle.route.legs, vehicle.ends, strict=True):
            if leg.kind == "wait" and leg.flown == 0.0 and leg.ends > time:
                stop, until = end, leg.ends
                break
        tracks.memory[COLUMN["stop_at"], row] = stop
        self.until[index] = until

    def _end_waits(self, time: float) -> None:
        """Release vehicles whose waiting time is over."""
        for group, tracks in self._members():
            over = self.until[group.indices] <= time
            for row, index in zip(group.rows[over].tolist(), group.indices[over].tolist(), strict=True):
                self._set_wait(tracks, row, index, time)

    def _land(self) -> None:
        """Land the hovering vehicles that are home, unless an override holds them or another vehicle arrives below."""
        home = self.mission.flown.marked("home")
        home &= ~np.isin(np.arange(len(home)), list(self.held))
        for group, tracks in self._members():
            flying = tracks.column("last", group.rows) > tracks.column("first", group.rows)
            indices = group.indices[home[group.indices] & flying]
            if tracks.style.moves != "hover" or not len(indices):
                continue
            if self.spacing is not None:
                ground = self.world.heights(*self.here[indices, :2].T)
                indices = may_land(self.mission.flown, self.here[:, 2], ground, indices)
            # on a spiral around home; the distance flown on their routes is kept
            reach, angle = 0.6 * APART * np.sqrt(indices), GOLDEN * indices
            x, y = self.mission.fleet.home[indices].T + reach * np.array([arrays.cos(angle), arrays.sin(angle)])
            rows = group.rows[np.isin(group.indices, indices)]
            below = self.world.heights(x, y) - DEPTH
            values = {"last": tracks.column("first", rows), "x": x, "y": y, "z": below, "loop": -1.0}
            for name, value in values.items():
                tracks.write(name, rows, value)

    def _hold_overridden(self) -> None:
        """Store the position on the route of vehicles with an override, until the override ends."""
        for group, tracks in self._members():
            overridden = group.program.control.marks()[group.rows] != OWN
            if not self.held and not overridden.any():
                continue
            for row, index, away in zip(group.rows.tolist(), group.indices.tolist(), overridden.tolist(), strict=True):
                if index in self.held:
                    self.held[index][COLUMN["travelled"]] = tracks.memory[COLUMN["travelled"], row]
                    tracks.memory[:, row] = self.held[index]
                if away:
                    self.held.setdefault(index, tracks.memory[:, row].copy())
                else:
                    self.held.pop(index, None)

    def check(self, state: Any) -> None:
        """Refuse more vehicles than the mission has."""
        if len(self.travelled) > len(self.mission.fleet.joined):  # those that join later are added then
            raise InvalidValueError(f"{len(self.travelled)} rows of {len(self.mission.fleet.joined)} vehicles")
        if any(memory.shape != (len(COLUMN),) for memory in self.held.values()):
            raise InvalidValueError("the memory of a vehicle with an override is not valid")

    def rebuild(self) -> None:
        """Build what is derived from a loaded state: the mission's vehicles and routes, and the tracks."""
        self.mission.rebuild()
        self.believed = self.here.copy()  # until the next update
        for group, tracks in self._members():
            tracks.rebuild(group.rows, group.indices)
            held = [self.held[index] for index in group.indices.tolist() if index in self.held]
            if held:
                check_memory(np.array(held).T, tracks.path)
