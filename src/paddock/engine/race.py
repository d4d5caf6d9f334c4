"""The rules of a discipline in a run: times cars over the gates of the track, counts cones and times off course.

`paddock.track.timing` follows all cars in compiled code; this stage applies the rules to what it finds, reports events,
and keeps the log from which standings are made. Cars are numbered in the order in which they joined; a car that is
removed keeps its number. The stage runs after contact, at every tick while a car is active.
"""

from collections.abc import Callable

import numpy as np

from paddock.engine.contact import ContactStage
from paddock.engine.contact_bodies import ConeBodies
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import FleetProgram
from paddock.engine.race_state import RaceState, check_race
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import Scenario
from paddock.scenario.track import DNF, RaceRules
from paddock.track import race_log, timing
from paddock.track.loading import world_with_track
from paddock.track.race_log import RaceEntry, entries_of, entry_text
from paddock.track.standings import SHOWN, ScoredRules, Standings, order_of
from paddock.track.timing import (
    FINISHED,
    OUT,
    RUNNING,
    STOPPED,
    UNSAFE_STOP,
    WAITING,
    check_discipline,
    course_of,
    sectors_of,
    shapes_of,
    timing_points,
)
from paddock.track.track import Track
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import fresh
from paddock.world.state import append

FULL_CIRCLE = 1.5 * np.pi  # rad about the centre of a circle that a lap of a skidpad has turned at least
HIDDEN = -1.0  # status of vehicles of a fleet that do not take part


def fitting_track(scenario: Scenario, track: Track) -> Track:
    """Return the track of a scenario with rules; an error at its mark if the discipline cannot be driven there."""
    assert scenario.rules is not None
    try:
        check_discipline(track, scenario.rules.discipline)
    except PaddockError as error:
        raise type(error)(f"{scenario.at('rules', 'discipline')}: {error}") from None
    return track


class RulesStage:
    """Times cars and applies the rules of the scenario's discipline."""

    name = "rules"

    def __init__(
        self,
        scenario: Scenario,
        world: Run,
        events: EventLog,
        contact: ContactStage,
    ) -> None:
        """Without a section `rules` the stage is never due."""
        self.scenario, self.world, self.events, self.contact = scenario, world, events, contact
        self.active = scenario.rules is not None
        if scenario.rules is None:
            return
        self.track = track = fitting_track(scenario, world.track)
        self.rules: RaceRules = scenario.rules.resolved
        self.scoring = ScoredRules(self.rules)
        cones = () if scenario.contact is not None else world_with_track(scenario).obstacles  # else bodies of their own
        self.course, self.cone_names = course_of(track, self.rules.discipline, cones or ())
        self._sectors = sectors_of(track, self.rules.discipline)
        self._limits = timing.TimingLimits(
            self.rules.stop_distance or np.inf,
            np.inf if self.rules.time_limit is None or self._racing else self.rules.time_limit,
            self.rules.start_limit or np.inf,
            world.clock.dt,
        )
        self.cones = ConeBodies(scenario)
        self._version: tuple[int, int] = (-1, -1)  # of the fleets in which cars were found

    @property
    def _racing(self) -> bool:
        return self.rules.discipline == "race"

    # the state --------------------------------------------------------------------------------------------------------

    @property
    def race(self) -> RaceState:
        """The state of the race."""
        race = self.world.state.race
        assert race is not None
        return race

    def fresh(self) -> RaceState | None:
        """Return the state at the start of a run, without cars."""
        return fresh(RaceState, cone=len(self.course.cones)) if self.active else None

    def check(self) -> None:
        """Refuse a race that no run has."""
        if self.active:
            check_race(self, self.race, {number: name for number, name, _ in self._vehicles()})

    # cars -------------------------------------------------------------------------------------------------------------

    def _vehicles(self) -> list[tuple[int, str, FleetProgram]]:
        """Return id, name and program of the vehicles that take part now."""
        assert self.scenario.rules is not None
        chosen = self.scenario.rules.vehicles
        members = []
        for program in self.world.programs.values():
            if not program.settings.races:
                continue
            fleet = program.fleet
            whole = chosen is None or fleet.name in chosen
            for row in fleet.rows.tolist():
                name, number = fleet.vehicle_name(row), int(fleet.ids[row])
                if whole or name in (chosen or ()):
                    members.append((number, name, program))
        return members

    def begin(self) -> None:
        """Take up the cars of the scenario; InvalidValueError if it has vehicles, but none takes part."""
        self.enrol()
        if self.active and not len(self.race.ids) and self.scenario.vehicles:
            where = self.scenario.at("rules")
            raise InvalidValueError(f"{where}: no vehicle takes part: there is no car; name others in rules.vehicles")

    def enrol(self) -> None:
        """Find the cars in the fleets; those that have joined take part from now on."""
        if not self.active or self._version == self.world.version:
            return
        self._version = self.world.version
        vehicles = self._vehicles()
        known = set(self.race.ids.tolist())
        new = [(number, name) for number, name, _ in vehicles if number not in known]
        if new:
            self._join(new)
        self._car_of = car_of = {number: k for k, number in enumerate(self.race.ids.tolist())}
        self._parts: list[tuple[FleetProgram, Ints, Ints]] = []  # program, its rows, numbers of the cars
        self._shapes = np.zeros((timing.SHAPE_ROWS, len(self.race.ids)))
        for program in self.world.programs.values():
            if not program.settings.races:
                continue
            ids = program.fleet.ids
            rows = np.array([row for row in program.fleet.rows.tolist() if int(ids[row]) in car_of], np.int64)
            cars = np.array([car_of[number] for number in ids[rows].tolist()], np.int64)
            self._parts.append((program, rows, cars))
            self._shapes[:, cars] = shapes_of(program.model.body, program.parameters.fields(), program.fleet.n)[:, rows]
        self._present = np.isin(self.race.ids, [number for number, _, _ in vehicles])
        self._poses = np.full((13, len(self.race.ids)), np.nan)
        gates, cones = len(self.course.gates), len(self.course.cones)
        self._marks = np.zeros((timing.most_events(len(self.race.ids), gates, cones), timing.EVENT_COLUMNS))
        self._cone_ids = self.cones.ids(self.world.programs)
        self._register_cars(np.flatnonzero((self.race.table[timing.KNOWN] == 0.0) & self._present))

    def _join(self, new: list[tuple[int, str]]) -> None:
        columns = np.zeros((timing.TABLE_ROWS, len(new)))
        if self._racing:  # the start is a signal for all
            columns[timing.STATUS] = RUNNING
            columns[[timing.STARTED, timing.LAP_BEGAN, timing.SECTOR_BEGAN]] = self.world.clock.time
        columns[timing.GATE] = 1 % len(self.course.gates) if self._racing else 0
        self.race.table = np.concatenate([self.race.table, columns], axis=1)
        self.race.ids = np.concatenate([self.race.ids, np.array([number for number, _ in new], np.int64)])
        self.race.names += [name for _, name in new]

    def placed(self, program: FleetProgram, rows: Ints) -> None:
        """Follow vehicles that were placed from there on: a jump crosses no gate."""
        if self.active and program.settings.races:
            cars = np.flatnonzero(np.isin(self.race.ids, program.fleet.ids[rows]))
            self.race.table[timing.KNOWN, cars] = 0.0
            self._version = (-1, -1)

    def _register_cars(self, cars: Ints) -> None:
        """Note where cars are that are not followed yet, and at which point they are timed."""
        if len(cars):
            poses, table = self._gather(self.world.clock.tick)[:, cars].copy(), self.race.table[:, cars].copy()
            before = table[timing.STATUS] == WAITING
            points = timing_points(poses, self._shapes[:, cars], self.course)
            table[timing.POINT, before] = points[before]
            if self._racing:
                table[timing.POINT] = self._shapes[timing.NOSE, cars]
            hit, time = np.ones_like(self.race.hit), self.world.clock.time
            arguments = poses, self._shapes[:, cars].copy(), table, self.course, self._limits
            timing.detect_race_events(*arguments, hit, time, self._marks)
            rows = [*range(timing.PROGRESS + 1), timing.POINT]
            self.race.table[np.ix_(rows, cars)] = table[rows]

    def _gather(self, tick: int) -> Floats:
        """Return the poses (13, n) of all cars, NaN for those that are gone."""
        for program, rows, cars in self._parts:
            block = program.pose_block(tick)
            whole = len(rows) == program.fleet.n and program.fleet.in_order
            if whole and len(cars) and cars[-1] - cars[0] == len(cars) - 1:
                self._poses[:, cars[0] : cars[-1] + 1] = block[:, : len(rows)]
            else:
                self._poses[:, cars] = block[:, rows]
        return self._poses

    # the tick ---------------------------------------------------------------------------------------------------------

    def due(self, tick: int) -> int:
        """Return this tick while a car takes part."""
        if not self.active:
            return NEVER_DUE
        self.enrol()
        return tick if (self.race.table[timing.STATUS] < STOPPED).any() else NEVER_DUE

    def run(self, tick: int) -> None:
        """Follow all cars, and apply the rules to what has happened in this tick."""
        clock = self.world.clock
        arguments = self._gather(tick), self._shapes, self.race.table, self.course, self._limits
        count = timing.detect_race_events(*arguments, self.race.hit, clock.time, self._marks)
        if self.cones.homes:
            self._count_cones(tick)
        if count:
            marks = self._marks[:count]
            for k in np.lexsort((marks[:, 1], marks[:, 0], marks[:, 3])).tolist():
                kind, car, number = (int(value) for value in marks[k, :3].tolist())
                if self.race.table[timing.STATUS, car] < STOPPED:
                    self._apply(kind, car, number, (tick - 1 + float(marks[k, 3])) / clock.rate, tick)

    def _apply(self, kind: int, car: int, number: int, time: float, tick: int) -> None:
        match kind:
            case timing.CROSSED:
                self._crossed(car, number, time, tick)
            case timing.LEFT_TRACK:
                self.race.table[timing.OFF_COURSE, car] += 1
                self._note(race_log.OFF_COURSE, car, time, tick)
                if self.rules.off_course_penalty == DNF:
                    self._retire(car, race_log.LEFT_COURSE, time, tick)
            case timing.CONE_TOUCHED:
                self._hit(car, number, time, tick)
            case timing.AT_REST:
                self.race.table[timing.STATUS, car] = STOPPED
                self._note(race_log.STOPPED, car, time, tick, value=self.race.table[timing.AFTER, car])
            case timing.TOO_FAR:
                self.race.table[timing.STATUS, car] = UNSAFE_STOP
                self._note(race_log.UNSAFE_STOP, car, time, tick, value=self.race.table[timing.AFTER, car])
                if self.rules.unsafe_stop_penalty == DNF:
                    self._retire(car, race_log.UNSAFE, time, tick)
            case timing.LATE:
                waiting = self.race.table[timing.STATUS, car] == WAITING
                self._retire(car, race_log.NO_START if waiting else race_log.TIME_LIMIT, time, tick)
            case timing.BROKEN if self.race.table[timing.STATUS, car] < FINISHED:
                present = bool(self._present[car])
                self._retire(car, race_log.NOT_FINITE if present else race_log.REMOVED, time, tick)
            case timing.BROKEN:  # removed after the finish
                self.race.table[timing.STATUS, car] = STOPPED

    def _crossed(self, car: int, gate: int, time: float, tick: int) -> None:
        table, status = self.race.table, self.race.table[timing.STATUS, car]
        if gate == 0 and status == WAITING:
            table[timing.STATUS, car] = RUNNING
            table[timing.STARTED, car] = time
            self._note(race_log.STARTED, car, time, tick)
            self._begin_lap(car, time)
        elif status == RUNNING and self.rules.discipline == "skidpad":
            if gate == 0:
                self._crossed_skidpad(car, time, tick)
        elif status == RUNNING and gate == self._last_gate:
            driven = table[timing.PROGRESS, car] - table[timing.LAP_BASE, car]
            if not self.track.closed or driven > 0.5 * self._length:
                self._end_lap(car, time, tick)
            else:
                self._note(race_log.LAP_REFUSED, car, time, tick, value=max(driven, 0.0))
        elif status == RUNNING and gate >= table[timing.GATE, car] > 0:
            if gate == table[timing.GATE, car]:
                self._end_sector(car, gate, time, tick)
            table[timing.SECTOR_BEGAN, car], table[timing.GATE, car] = time, (gate + 1) % len(self.course.gates)
            self._measure_gap(car, gate, time)

    @property
    def _last_gate(self) -> int:
        return 0 if self.track.closed else len(self.course.gates) - 1

    @property
    def _length(self) -> float:
        return float(self.course.along[-1])

    def _crossed_skidpad(self, car: int, time: float, tick: int) -> None:
        """End a lap of a skidpad, if a circle has been driven: the first two to the right, the others to the left."""
        left, right = self.race.table[[timing.LEFT_TURN, timing.RIGHT_TURN], car]
        to_left, to_right = left > FULL_CIRCLE, right < -FULL_CIRCLE
        if not to_left and not to_right:
            return
        if to_right != (self.race.table[timing.LAPS, car] < 2):
            self._retire(car, race_log.WRONG_CIRCLE, time, tick)
        else:
            self._end_lap(car, time, tick)

    def _begin_lap(self, car: int, time: float) -> None:
        table = self.race.table
        table[[timing.LAP_BEGAN, timing.SECTOR_BEGAN], car] = time
        table[timing.GATE, car] = 1 % len(self.course.gates)
        table[[timing.LEFT_TURN, timing.RIGHT_TURN], car] = 0.0
        table[timing.LAP_BASE, car] = round(table[timing.PROGRESS, car] / self._length) * self._length

    def _end_sector(self, car: int, number: int, time: float, tick: int) -> None:
        if self._sectors:
            value = time - self.race.table[timing.SECTOR_BEGAN, car]
            self._note(race_log.SECTOR, car, time, tick, number, value)

    def _end_lap(self, car: int, time: float, tick: int) -> None:
        table, rules = self.race.table, self.rules
        if table[timing.GATE, car] == self._last_gate:
            self._end_sector(car, self._sectors, time, tick)
        lap_time = time - table[timing.LAP_BEGAN, car]
        self._note(race_log.LAP, car, time, tick, value=lap_time)
        table[timing.LAPS, car] += 1
        table[timing.LAST_LAP, car] = lap_time
        best = table[timing.BEST_LAP, car]
        table[timing.BEST_LAP, car] = lap_time if best == 0.0 else min(best, lap_time)
        self._measure_gap(car, 0, time)
        self._begin_lap(car, time)
        if table[timing.LAPS, car] >= rules.laps or (self._racing and time > self._flag(time)):
            self._finish(car, time, tick)

    def _flag(self, time: float) -> float:
        """Return when the flag was shown: the winner of a race has finished, or its time is over; s."""
        done = self.race.table[timing.ENDED][self.race.table[timing.STATUS] >= FINISHED]
        done = done[self.race.table[timing.LAPS][self.race.table[timing.STATUS] >= FINISHED] >= self.rules.laps]
        limit = np.inf if self.rules.time_limit is None else self.rules.time_limit
        return float(min(done.min(initial=np.inf), limit))

    def _finish(self, car: int, time: float, tick: int) -> None:
        table = self.race.table
        table[timing.STATUS, car], table[timing.ENDED, car] = FINISHED, time
        total = time - table[timing.STARTED, car]
        mine = (self.race.entries[0] == race_log.LAP) & (self.race.entries[1] == car)
        table[timing.TIME, car] = self.scoring.time(self.race.entries[5][mine].tolist(), total)
        end = tick / self.world.clock.rate  # the way from the line to here
        table[timing.AFTER, car] = (end - time) * float(np.sqrt((table[timing.VX : timing.VY + 1, car] ** 2).sum()))
        self._note(race_log.FINISHED, car, time, tick, value=total, lap=int(table[timing.LAPS, car]))

    def _retire(self, car: int, reason: int, time: float, tick: int) -> None:
        self._note(race_log.DNF, car, time, tick, reason)
        self.race.table[timing.STATUS, car], self.race.table[timing.ENDED, car] = OUT, time

    def _measure_gap(self, car: int, gate: int, time: float) -> None:
        """Note how much later than the first car this one has passed a gate."""
        passage = int(self.race.table[timing.LAPS, car]) * len(self.course.gates) + gate
        self.race.first_at += [-1.0] * (passage + 1 - len(self.race.first_at))
        since = time - self.race.table[timing.STARTED, car]
        first = self.race.first_at[passage]
        self.race.first_at[passage] = since if first < 0.0 else min(first, since)
        self.race.table[timing.GAP, car] = since - self.race.first_at[passage]

    # cones ------------------------------------------------------------------------------------------------------------

    def _count_cones(self, tick: int) -> None:
        """Count the cones that contact has knocked over or out of their places."""
        contacts = self.contact.contacts
        if len(contacts):
            roster = self.contact.roster
            moving = (contacts[:, :2] >= 0.0).all(axis=1) & (contacts[:, :2] < roster.moving).all(axis=1)
            pairs = roster.ids[contacts[moving, :2].astype(np.int64)]
            self.cones.touch(pairs, self._car_of, self._cone_ids, self.race.touched_by)
        for car, cone in self.cones.fallen(self.world.programs, tick, self.race):
            if self.race.table[timing.STATUS, car] < STOPPED:
                self._hit(car, cone, tick / self.world.clock.rate, tick)

    def _hit(self, car: int, cone: int, time: float, tick: int) -> None:
        self.race.table[timing.CONES, car] += 1
        self._note(race_log.CONE_HIT, car, time, tick, cone)

    def _cone_name(self, number: int) -> str:
        return self.cones.name(number, self.world.programs) if self.cones.homes else self.cone_names[number]

    # the log, standings -----------------------------------------------------------------------------------------------

    def _note(
        self, kind: int, car: int, time: float, tick: int, number: int = 0, value: float = 0.0, lap: int | None = None
    ) -> None:
        """Add an entry to the log and report its event."""
        if lap is None:
            laps, status = int(self.race.table[timing.LAPS, car]), self.race.table[timing.STATUS, car]
            lap = 0 if status == WAITING else laps + 1 if status == RUNNING else laps
        new = append(self.race, "entry", 1)
        self.race.log[:, new.start] = kind, car, time, lap, number, value
        hit = kind == race_log.CONE_HIT
        cone = self._cone_name(number) if hit else ""
        entry = RaceEntry(
            race_log.KINDS[kind], self.race.names[car], time, lap, 0 if hit else number, float(value), cone
        )
        self.events.report(tick, entry.kind, entry.car, entry_text(entry))

    def columns(self) -> dict[str, Floats]:
        """Return the public columns (see SHOWN) of all cars at this tick."""
        t, now = self.race.table, self.world.clock.time
        status, laps = t[timing.STATUS], t[timing.LAPS]
        running = status == RUNNING
        unsafe = np.zeros(len(self.race.ids), np.bool_)
        log = self.race.entries
        unsafe[log[1, log[0] == race_log.UNSAFE_STOP].astype(np.int64)] = True
        result = t[timing.TIME] + self.scoring.penalty(t[timing.CONES], t[timing.OFF_COURSE], unsafe)
        order = order_of(status, laps, t[timing.PROGRESS], result, self._racing)
        position = np.empty(len(order))
        position[order] = np.arange(1, len(order) + 1)
        done = (status >= FINISHED) & (status < OUT)
        gap = t[timing.GAP].copy()
        if done.any():
            level = laps == laps[done].max()  # of cars with fewer laps, the gap at the last gate
            best = result[done & level].min()
            gap[done & level] = result[done & level] - best
        sector = np.where(t[timing.GATE] == 0.0, float(max(self._sectors, 1)), t[timing.GATE])
        return {
            "lap": np.where(running, laps + 1.0, laps),
            "lap_time": np.where(running, now - t[timing.LAP_BEGAN], 0.0),
            "last_lap": t[timing.LAST_LAP],
            "best_lap": t[timing.BEST_LAP],
            "sector": np.where(running, sector, 0.0),
            "progress": t[timing.PROGRESS],
            "position": position,
            "gap": gap,
            "cones": t[timing.CONES],
            "off_course": t[timing.OFF_COURSE],
            "status": status,
        }

    def show(self) -> None:
        """Write the public columns into the tables from which snapshots are made."""
        if not self.active:
            return
        self.enrol()
        columns = self.columns()
        values = np.stack([columns[name] for name in SHOWN])
        for program, rows, cars in self._parts:
            shown = program.published.race
            shown[:-1], shown[-1] = 0.0, HIDDEN
            shown[:, rows] = values[:, cars]

    def standings(self) -> Standings:
        """Return the standings at this tick."""
        return self.standings_later()()

    def standings_later(self) -> Callable[[], Standings]:
        """Return a function that computes the standings at this tick, for any thread to call."""
        self.enrol()
        cars, now = list(zip(self.race.names, self.race.ids.tolist(), strict=True)), self.world.clock.time
        columns = {name: column.copy() for name, column in self.columns().items()}
        hits = self.race.entries[4][self.race.entries[0] == race_log.CONE_HIT]
        cones = {number: self._cone_name(number) for number in set(hits.astype(np.int64).tolist())}
        log, names, track = self.race.entries.copy(), list(self.race.names), self.track
        sectors = sectors_of(track, self.rules.discipline)
        return lambda: self.scoring.table(track.name, now, sectors, cars, columns, entries_of(log, names, cones))
