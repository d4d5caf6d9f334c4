"""Contact in a run: fills the table of bodies from the fleets, applies the bumps, keeps records and reports events.

`paddock.contact` computes on arrays. The stage runs after the motion of every tick. Bodies are numbered by fleet name
and member. Bodies asleep take no part until something awake touches one of them or what it rests on leaves: then all
that lean on each other wake.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddock.compute.twin import vectorised
from paddock.contact.bodies import CONTACT, ROW, ContactState, LastContact, contact_keys, posed
from paddock.contact.solver import SLOP, WAKE_SPEED, Impulses, resolve
from paddock.contact.touches import GROUND, Contact
from paddock.engine.contact_bodies import ARMED, ConesOfWorld, Roster
from paddock.engine.events import EVENTS_SHOWN, EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.program import FleetProgram
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, users_code
from paddock.scenario import Scenario
from paddock.track.loading import declared_fleets
from paddock.vehicles.model import Bump
from paddock.world.columns import Environment, Floats, column_index
from paddock.world.fleet import Ints
from paddock.world.ground import surface
from paddock.world.parts import fresh
from paddock.world.solids import NO_OBSTACLES

REPORTED_FOR = 0.5  # s: a pair that touches again within this time is not reported again
TIPPED = 0.3  # cosine of the tilt beyond which a drone on the ground lies on its side
TIP_RATE = 4.0  # Hz at which drones on the ground are checked for that
LAST, RESTLESS = column_index(LastContact), Bump._fields.index("restless")
NOBODY = np.zeros(0, np.int64)
NO_IMPULSES = Impulses(NOBODY, np.zeros((0, 4, 3)), np.zeros((0, 4)), np.zeros((0, 4)))


def contained(keys: Ints, others: Ints) -> NDArray[np.bool_]:
    """Return which keys are among others, in ascending order."""
    if not len(others):
        return np.zeros(len(keys), np.bool_)
    same: NDArray[np.bool_] = others[np.minimum(np.searchsorted(others, keys), len(others) - 1)] == keys
    return same


class ContactStage:
    """Lets vehicles touch each other, obstacles and, where their own models do not, the ground."""

    name = "contact"

    def __init__(self, scenario: Scenario, world: Run, events: EventLog) -> None:
        self.settings = scenario.contact
        self.scenario = scenario
        self.world, self.events = world, events
        self._epoch = -1
        self.contacts: Floats = np.zeros((0, len(Contact._fields)))  # of the last tick
        self._roster: Roster | None = None
        self._cones = ConesOfWorld(scenario, world)
        self._version: tuple[int, int] = (-1, -1)
        self._disarmed: list[tuple[FleetProgram, Ints]] | None = None  # None: not known

    def fresh(self) -> ContactState | None:
        """Return the state at the start of a run."""
        return None if self.settings is None else fresh(ContactState)

    @property
    def total(self) -> int:
        """Number of contacts of the run, not counting those with the ground."""
        return 0 if self.world.state.contact is None else self.world.state.contact.total

    def forget(self) -> None:
        """Forget where bodies were, after a change of the state outside a tick."""
        self._roster = self._disarmed = None

    @property
    def roster(self) -> Roster:
        """The bodies of the present vehicles."""
        assert self.settings is not None
        version = self.world.version
        if self._epoch != self.world.epoch:
            self._epoch, self._disarmed, self.contacts = self.world.epoch, None, self.contacts[:0]
            if self._cones.obstacles is not (self.world.scenery and self.world.scenery.obstacles):
                self._cones = ConesOfWorld(self.scenario, self.world)  # of the scenery that the sensors look at
        if self._roster is None or self._version != version:
            obstacles = NO_OBSTACLES if self.world.scenery is None else self.world.scenery.obstacles
            self._roster = Roster(self.world.programs, self.settings, obstacles, self.world.clock.dt)
            self._version = version
        return self._roster

    def due(self, tick: int) -> int:
        """Return this tick if something could touch, else never."""
        if self.settings is None:
            return NEVER_DUE
        roster = self.roster
        return tick if roster.moving and (len(roster.constants[0]) > 1 or roster.falls) else NEVER_DUE

    def run(self, tick: int) -> None:
        """Find the contacts of the last tick, apply their impulses, and record them."""
        self._touch(self.roster, tick)
        self._cones.update_hidden_cones(self.world.programs, tick)

    def _touch(self, roster: Roster, tick: int) -> None:
        gathered = roster.gather(tick)
        still = self._still(roster, gathered, tick)
        pairs = self._pairs(roster, gathered, still, tick)
        resting = np.flatnonzero(roster.falling & ~still) if roster.falls else NOBODY
        if roster.disarmable and every(tick, max(1, round(self.world.clock.rate / TIP_RATE))) == tick:
            self._find_tipped(roster, tick)
        self.contacts = self.contacts[:0]
        state = self.world.state.contact
        assert state is not None
        if not pairs.shape[1] and not len(resting) and not len(state.touching):
            return
        part = np.zeros(len(still), np.bool_)
        part[pairs] = part[resting] = True
        bodies = np.flatnonzero(part)
        table = self._table(roster, bodies, resting, gathered, tick)
        numbered = (np.cumsum(part) - 1)[pairs]
        dt, gravity = self.world.clock.dt, float(self.world.environment[0])
        before = Impulses(contact_keys(state.touching), state.points, state.normal, state.friction)
        wake = max(WAKE_SPEED, 3.0 * gravity * dt)
        bump, touches, after = resolve(table, roster.ids[bodies], numbered, dt, wake, before)
        self._apply(roster, bodies, bump)
        hit = bodies[(table[ROW.asleep] != 0.0) & (bump != 0.0).any(axis=0)]
        self._store(roster, before, after, still, hit)
        if not len(touches):
            return
        touched = (touches[:, 8] > 0.0) & (touches[:, 1] != GROUND)
        self.contacts = touches[touched]
        self.contacts[:, :2] = bodies[self.contacts[:, :2].astype(np.int64)]
        if len(self.contacts):
            self._record(roster, tick)
            self._crash(roster, bodies, bump, tick)

    def _still(self, roster: Roster, gathered: Floats | None, tick: int) -> NDArray[np.bool_]:
        """Return which bodies are asleep or obstacles."""
        if not roster.falls:
            return roster.fixed
        if gathered is not None:
            asleep: NDArray[np.bool_] = roster.falling & ~(gathered[7:13] != 0.0).any(axis=0)
            return asleep | roster.fixed
        still = roster.fixed.copy()
        for part in roster.parts:
            if part.falls:
                poses = part.program.fleet.by_key(part.program.pose_block(tick))
                still[part.first : part.first + part.n] = ~(poses[7:13, : part.n] != 0.0).any(axis=0)
        return still

    def _store(self, roster: Roster, before: Impulses, after: Impulses, still: NDArray[np.bool_], hit: Ints) -> None:
        """Replace the impulses of contacts with a body that is awake; wake those that were hit or lose what holds them.

        All bodies asleep that lean on them, directly or through others, wake as well.
        """
        state = self.world.state.contact
        assert state is not None
        numbers = roster.numbers_of(state.touching)  # (n, 2); GROUND, or len(still): not there any more
        rests = np.append(still, [False, True])[numbers]  # the last one, -1: the ground
        kept: NDArray[np.bool_] = rests[:, 0] & rests[:, 1]
        pressing = np.flatnonzero(after.normal.any(axis=1))
        pressing = pressing[np.argsort(after.keys[pressing])]
        lost = ~kept & ~contained(before.keys, after.keys[pressing])
        woken = np.zeros(len(still) + 2, np.bool_)
        woken[hit] = True
        woken[numbers[lost][rests[lost]]] = True
        sleeping = np.append(still & ~roster.fixed, [False, False])
        if (woken & sleeping).any():
            leaning = numbers[kept & sleeping[numbers].all(axis=1)]
            count = 0
            while count < (count := int(np.count_nonzero(woken))):
                woken[leaning[woken[leaning].any(axis=1)]] = True
            woken[hit] = False
            others: Ints = np.flatnonzero(woken & sleeping)
            bump = np.zeros((len(Bump._fields), len(others)))
            bump[RESTLESS] = 1.0
            self._apply(roster, others, bump)
        rows = np.concatenate([np.flatnonzero(kept), len(kept) + pressing])
        keys = np.concatenate([before.keys, after.keys])[rows]
        rows = rows[np.argsort(keys)]
        keys.sort()
        state.touching = np.stack([keys >> 32, (keys & 0xFFFFFFFF) - (1 << 31)], axis=1)
        state.points = np.concatenate([before.points, after.points])[rows]
        state.normal = np.concatenate([before.normal, after.normal])[rows]
        state.friction = np.concatenate([before.friction, after.friction])[rows]

    def _pairs(self, roster: Roster, gathered: Floats | None, still: NDArray[np.bool_], tick: int) -> Ints:
        """Return the pairs that may touch in this tick; two that rest do not."""
        candidates = roster.candidates
        holds = candidates.advance()
        if holds and gathered is not None:
            holds = candidates.holds(0, *gathered[:3, : roster.moving])
        elif holds:
            for part in roster.parts:
                fleet = part.program.fleet
                holds = holds and candidates.holds(part.first, *(fleet.by_key(fleet.state[row]) for row in part.xyz))
        if not holds:
            poses = roster.poses(np.arange(candidates.n), tick) if gathered is None else gathered
            candidates.search(poses[:3], poses[7:10])
        if not candidates.pairs.shape[1] and not candidates.crowded:
            return candidates.pairs
        if gathered is not None:
            return candidates.chosen(gathered[:3], gathered[7:10], still)
        near = np.full(candidates.n, candidates.crowded)
        near[candidates.pairs] = True
        bodies = np.flatnonzero(near)
        poses = roster.poses(bodies, tick)
        position, velocity = np.zeros((2, 3, candidates.n))
        position[:, bodies], velocity[:, bodies] = poses[:3], poses[7:10]
        return candidates.chosen(position, velocity, still)

    def _table(self, roster: Roster, bodies: Ints, resting: Ints, gathered: Floats | None, tick: int) -> Floats:
        """Return the table of the bodies that take part."""
        poses = roster.poses(bodies, tick) if gathered is None else gathered
        columns = np.arange(len(bodies)) if gathered is None else bodies
        table: Floats = posed(roster.constants, bodies, poses, columns, roster.falling)
        held = np.searchsorted(bodies, resting)
        if len(held):
            height, slope_x, slope_y, mu = self._ground(*table[:2, held])
            up = 1.0 / np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
            table[ROW.ground : ROW.ground + 5, held] = height, -slope_x * up, -slope_y * up, up, mu
        return table

    def _ground(self, x: Floats, y: Floats) -> Floats:
        """Return height (m), slopes and friction of the ground at places, (4, n)."""
        scenery = self.world.scenery
        if scenery is not None and scenery.uneven:
            ground = scenery.ground.at(x, y, self.world.environment)
        else:
            ground = vectorised(surface)(x, y, Environment(*self.world.environment.tolist()))
        return np.stack([np.broadcast_to(values, x.shape) for values in ground])

    def _apply(self, roster: Roster, bodies: Ints, bump: Floats) -> None:
        """Change the states of the bodies that were bumped."""
        moved = np.flatnonzero((bump != 0.0).any(axis=0))
        moved = moved[bodies[moved] < roster.moving]
        for part, columns, rows in roster.split(bodies[moved]):
            program, fleet = part.program, part.program.fleet
            assert program.model.bumped is not None
            state = program.model.state(*np.take(fleet.state, rows, axis=1))
            with users_code():
                after = vectorised(program.model.bumped)(
                    state, program.parameters.fields(rows), Bump(*bump[:, moved[columns]])
                )
            for row, values in enumerate(after):
                fleet.state[row, rows] = values
            program.forget_poses()
        change = np.sqrt((bump[3:6] ** 2).sum(axis=0)).max(initial=0.0) * self.world.clock.dt
        if change > 0.1 * roster.candidates.slack:  # faster than the list of candidates foresees
            roster.candidates.forget()

    def _record(self, roster: Roster, tick: int) -> None:
        """Write the last contact of each vehicle, and report pairs that have not touched for a while."""
        contacts, state = self.contacts, self.world.state.contact
        assert state is not None
        state.total += len(contacts)
        first, second = contacts[:, 0].astype(np.int64), contacts[:, 1].astype(np.int64)
        ids = roster.ids
        body, other = np.concatenate([first, second]), np.concatenate([second, first])
        sign = np.repeat([-1.0, 1.0], len(contacts))  # the second is pushed along the normal
        order = np.lexsort((np.tile(contacts[:, 8], 2), body))  # the hardest touch of each body is written last
        body, other, sign, which = body[order], other[order], sign[order], np.tile(np.arange(len(contacts)), 2)[order]
        last = np.flatnonzero(np.append(body[1:] != body[:-1], True) & (body < roster.moving))
        for part, columns, rows in roster.split(body[last]):
            at = last[columns]
            table, chosen = part.program.fleet.tables[CONTACT], contacts[which[at]]
            table[LAST["tick"], rows] = tick
            table[LAST["other"], rows] = np.maximum(ids[other[at]], -1)
            table[LAST["impulse"], rows] = chosen[:, 8]
            table[LAST["x"] : LAST["z"] + 1, rows] = chosen[:, 2:5].T
            table[LAST["nx"] : LAST["nz"] + 1, rows] = sign[at] * chosen[:, 5:8].T
        self._report(roster, state, np.stack([ids[first], ids[second]]), tick)

    def _report(self, roster: Roster, state: ContactState, pairs: Ints, tick: int) -> None:
        old = state.reported
        old = old[:, old[2] > tick - max(1, self.world.clock.ticks(REPORTED_FOR))]
        reported, touching = contact_keys(old[:2].T), contact_keys(pairs.T)
        new = np.flatnonzero(~contained(touching, reported))
        for k in new[:EVENTS_SHOWN].tolist():
            c = Contact(*self.contacts[k].tolist())
            where = f"at {c.x:.2f}, {c.y:.2f}, {c.z:.2f}, normal {c.nx:.2f}, {c.ny:.2f}, {c.nz:.2f}"
            detail = f"{roster.name(int(c.second))}: {c.impulse:.3g} N s at {c.speed:.1f} m/s {where}"
            self.events.report(tick, "contact", roster.name(int(c.first)), detail)
        if len(new) > EVENTS_SHOWN:
            self.events.report(tick, "contact", "", f"{len(new) - EVENTS_SHOWN} more contacts")
        keep = ~contained(reported, np.sort(touching))
        both = np.concatenate([old[:, keep], np.vstack([pairs, np.full(pairs.shape[1], tick)])], axis=1)
        state.reported = both[:, np.lexsort((both[1], both[0]))]

    # crashes of drones ------------------------------------------------------------------------------------------------

    def _crash(self, roster: Roster, bodies: Ints, bump: Floats, tick: int) -> None:
        """Disarm drones whose speed a touch has changed too much."""
        assert self.settings is not None
        limit = self.settings.crash_speed
        if limit is None or not roster.disarmable:
            return
        speed = np.sqrt((bump[3:6] ** 2).sum(axis=0))
        for part, columns, rows in roster.split(bodies):
            hit = speed[columns] >= limit
            if part.program in roster.disarmable and hit.any():
                for row, change in zip(rows[hit].tolist(), speed[columns][hit].tolist(), strict=True):
                    self.disarm(part.program, row, f"hit at {change:.1f} m/s", tick)

    def _find_tipped(self, roster: Roster, tick: int) -> None:
        """Disarm drones that lie on the ground on their side or back."""
        for program in roster.disarmable:
            pose = program.pose_block(tick)[:, : program.fleet.n]
            tilted = np.flatnonzero(1.0 - 2.0 * (pose[3] ** 2 + pose[4] ** 2) < TIPPED)
            height = pose[2, tilted] - self._ground(pose[0, tilted], pose[1, tilted])[0]
            for row in program.fleet.rows[np.sort(program.fleet.ranks[tilted[height < 0.05]])].tolist():
                self.disarm(program, row, "tipped over", tick)

    def disarm(self, program: FleetProgram, row: int, why: str, tick: int) -> None:
        """Keep a vehicle that has crashed disarmed until it is placed; no effect on others and twice."""
        if program.settings.contact is None or ARMED not in column_index(program.model.command):
            return
        table = program.fleet.tables[CONTACT]
        if table[LAST["disarmed"], row] == 0.0:
            table[LAST["disarmed"], row], self._disarmed = 1.0, None
            self.events.report(tick, "disarmed", program.fleet.vehicle_name(row), why)

    @property
    def disarmed(self) -> list[tuple[FleetProgram, Ints]]:
        """The fleets with vehicles that crashes have disarmed, and their rows."""
        _ = self.roster
        if self._disarmed is None:
            able = [
                p for p in self.world.programs.values() if p.settings.contact and ARMED in column_index(p.model.command)
            ]
            rows = [np.flatnonzero(p.fleet.tables[CONTACT][LAST["disarmed"], : p.fleet.n]) for p in able]
            self._disarmed = [
                (program, disarmed) for program, disarmed in zip(able, rows, strict=True) if len(disarmed)
            ]
        return self._disarmed

    def repair(self, program: FleetProgram, rows: Ints) -> None:
        """Let vehicles that are placed be armed again."""
        if program.settings.contact is not None:
            program.fleet.tables[CONTACT][LAST["disarmed"], rows], self._disarmed = 0.0, None

    # overlap ----------------------------------------------------------------------------------------------------------

    def check_start(self) -> None:
        """Report vehicles that overlap before the first tick; InvalidValueError if the scenario refuses them."""
        if self.settings is None or self.due(0) == NEVER_DUE:
            return
        roster = self.roster
        bodies = np.arange(roster.constants.shape[1])
        position = roster.poses(bodies, self.world.clock.tick)[:3]
        still = np.zeros_like(position)
        roster.candidates.search(position, still)
        pairs = roster.candidates.chosen(position, still, roster.fixed)
        roster.candidates.forget()
        table = self._table(roster, bodies, np.zeros(0, np.int64), None, self.world.clock.tick)
        table[7:13], table[ROW.asleep] = 0.0, 0.0
        _, touches, _ = resolve(table, roster.ids, pairs, self.world.clock.dt, WAKE_SPEED, NO_IMPULSES)
        deep = touches[touches[:, 10] > 10.0 * SLOP]
        if not len(deep):
            return
        worst = deep[np.argmax(deep[:, 10])]
        first, second = (roster.name(int(body)) for body in sorted(worst[:2]))
        more = "" if len(deep) == 1 else f" (and {len(deep) - 1} other pairs)"
        text = f"{first!r} and {second!r} overlap by {worst[10]:.2f} m at the start{more}"
        if self.settings.overlap == "refuse":
            where = self._location_of(int(min(worst[:2])), roster)
            raise InvalidValueError(f"{where}: {text}; move one, or set contact.overlap: resolve")
        self.events.report(self.world.clock.tick, "overlap", first, text)

    def _location_of(self, body: int, roster: Roster) -> str:
        """Return where the user wrote the start of a body."""
        name, at = roster.name(body).partition("[")[0], self.scenario.at
        for entry, keys, cones in declared_fleets(self.scenario):
            if entry.name == name:
                key = "spawn" if entry.spawn else "pose" if entry.pose else "name"
                return at(*keys) if cones else at(*keys, key)
        return "vehicles"


@dataclass(eq=False, repr=False)
class DisarmStage:
    """Keeps drones that have crashed disarmed, whatever is commanded."""

    contact: ContactStage
    name = "disarm"

    def due(self, tick: int) -> int:
        """Return this tick while a vehicle is disarmed by a crash."""
        return tick if self.contact.disarmed else NEVER_DUE

    def run(self, tick: int) -> None:
        """Overwrite the command."""
        for program, rows in self.contact.disarmed:
            program.fleet.command[column_index(program.model.command)[ARMED], rows] = 0.0
