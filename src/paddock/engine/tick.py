"""The tick: `assemble_tick` lists its stages in the order in which they run.

Each stage has `due(tick)` and `run(tick)`; `pipeline.py` runs the due ones and has the stage that makes snapshots,
`barrier.py` the programs that the first stage waits for.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from itertools import groupby
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paddock.compute.philox import signed
from paddock.engine.actions import CommandAction, Mailbox, MissionAction
from paddock.engine.barrier import Checked, Claim, Claims
from paddock.engine.behaviours import PoseBlocks
from paddock.engine.clock_thread import ClockThread
from paddock.engine.commands import policy_inputs
from paddock.engine.contact import DisarmStage
from paddock.engine.events import EventLog
from paddock.engine.motion import CRASHED, FAILED, NOT_FINITE, Alarm
from paddock.engine.pipeline import NEVER_DUE, HaltedError, Pipeline, PublishStage, every
from paddock.engine.program import FleetProgram
from paddock.engine.radio.relaying import RadioSenses
from paddock.engine.radio.stage import RadioStage
from paddock.engine.run_state import Run
from paddock.engine.surroundings import Surroundings
from paddock.errors import PaddockError
from paddock.scenario import Sync
from paddock.world.columns import Floats
from paddock.world.fleet import Fleet
from paddock.world.snapshot import CommandRequest
from paddock.world.wind import WIND_ROWS, WIND_TABLE, blow

if TYPE_CHECKING:
    from paddock.engine.applier import Applier
    from paddock.engine.fleets import PreparedSpawn
    from paddock.engine.mission.run import MissionRun
    from paddock.engine.run_parts import RunParts

MISSION_RATE = 10.0  # Hz of simulated time at which the mission is updated
REWOUND_VALUES = 100_000  # size limit of the states that are copied before a stride of several ticks
TRIED_STEPS = 100_000  # limit of steps of vehicles in the trial of a restored state: a few ms
NAMED = 8  # vehicles of a client in the event of a late reply
ALARMS_SHOWN = 100  # events of one fleet at one tick; a last one counts the rest
SPREAD_RATE = 1.0  # Hz at which vehicles in the same height layer are checked


class AssembledTick(NamedTuple):
    """The assembled tick, and those of its stages that the engine uses."""

    pipeline: Pipeline
    barrier: BarrierStage
    guard: GuardStage


def assemble_tick(parts: RunParts, applier: Applier, mailbox: Mailbox, thread: ClockThread) -> AssembledTick:
    """Return the stages of a tick in the order in which they run."""
    scenario, world, events, publish = parts.scenario, parts.world, parts.events, parts.publisher
    mission, move, sense, contact = parts.mission, parts.move, parts.sense, parts.contact
    rules, radio = parts.rules, parts.radio
    barrier = BarrierStage(scenario.clock.sync or Sync(), applier.claims, mailbox, applier, publish, thread)
    behave = BehaveStage(world, publish.poses, events, scenario.every.behaviour, move, radio)
    guard = GuardStage(world, move, events, applier, scenario.on_nan)
    before = (
        guard,  # refuse the tick if the run has ended
        barrier,  # wait for autopilots and for clients with claims; their commands enter the mailbox
        applier,  # apply the actions of the mailbox, and the failsafe where commands have timed out
        *(() if scenario.mission is None or mission.kinematic else (mission,)),  # follow progress, replan, set routes
        behave,  # behaviours turn poses into commands
        *(() if contact.settings is None else (DisarmStage(contact),)),  # drones that have crashed stay disarmed
        *(() if world.air is None else (AirStage(world),)),  # the wind at each vehicle
    )
    # then `move`: vehicle dynamics; the clock advances
    after = (
        guard,  # report crashes and states that are not finite; remove the vehicle, or end the run
        *((mission,) if mission.kinematic else ()),  # set poses along the routes
        *(() if contact.settings is None else (contact,)),  # vehicles touch each other, obstacles and the ground
        *((rules,) if rules.active else ()),  # cars are timed; cones, off course, finish
        sense,  # sensors sample the new state
        *(() if radio.deception is None else (radio.deception,)),  # false frames of jammers reach mailboxes
        *((radio,) if radio.active else ()),  # links between radios, jammers
        *(() if radio.messages is None else (radio.messages,)),  # messages over these links
        *(() if radio.telemetry is None else (radio.telemetry,)),  # states that vehicles send to their stations
        *(() if radio.heartbeats is None else (radio.heartbeats,)),  # of the scenario's ground station for autopilots
        publish,  # watchers get a snapshot
    )
    return AssembledTick(Pipeline(world.clock, before, move, after), barrier, guard)


@dataclass(eq=False, repr=False)
class BarrierStage:
    """Exchanges with autopilots when they are due, and with clients every `sync.every` ticks while claims exist."""

    sync: Sync
    claims: Claims
    mailbox: Mailbox
    applier: Applier
    publisher: PublishStage
    thread: ClockThread
    name = "barrier"

    def due(self, tick: int) -> int:
        """Return the next tick at which a partner is due or claims are requested."""
        partners = self.claims.autopilots.due(tick)
        return min(partners, every(tick, self.sync.every)) if self.claims.active else partners

    def longest_slice(self, tick: int) -> int:
        """Return the number of ticks until the engine may have to wait again."""
        return min(self.due(tick + 1) - tick, 1 << 20)

    def is_free(self, tick: int, ticks: int) -> bool:
        """Return whether that many ticks can pass without waiting for a reply."""
        first = self.due(tick)
        if first >= tick + ticks:
            return True
        if self.claims.autopilots.due(tick) < tick + ticks:
            return False
        return ticks == 1 and all(claim.released or claim.prepared_for(first) for claim in self.claims.active)

    def run(self, tick: int) -> None:
        """Exchange with the partners in the order in which they joined; then send all requests and collect replies."""
        partners, claimed = self.claims.autopilots.partners, self.claims.active
        for partner in partners:
            if (len(partners) == 1 and not claimed) or partner.due(
                tick
            ) == tick:  # a single one is due, as the stage is
                partner.exchange(tick)
        if not claimed or tick % self.sync.every:
            return
        claims = self.claims.current(self.applier.exists)
        deadline = monotonic() + self.sync.timeout
        for claim in claims:
            self._request(claim, tick, deadline)
        replies: list[tuple[Claim, list[Checked]]] = []  # posted together: a halt posts none
        for claim in claims:
            reply = claim.collect(deadline, self.thread)
            if reply is None and not claim.released and not self.thread.stopping:
                reply = self._late(claim, tick)
            if reply is None and not claim.released and self.thread.stopping:
                raise HaltedError
            replies.append((claim, reply or []))
        for claim, actions in replies:
            for action, checked_at in actions:
                self.mailbox.post(action, tick, claim.name, checked_at)

    def _request(self, claim: Claim, tick: int, deadline: float) -> None:
        claim.request(CommandRequest(tick, deadline, claim.vehicles, self.publisher.snapshot()))

    def _late(self, claim: Claim, tick: int) -> list[Checked] | None:
        """Apply the policy for a missing reply."""
        policy = self.sync.on_timeout
        names = ", ".join(claim.vehicles[:NAMED]) + (", ..." if len(claim.vehicles) > NAMED else "")
        detail = f"no reply within {self.sync.timeout:g} s: {policy} ({names})"
        self.applier.report("barrier_timeout", claim.name, detail)
        if policy == "pause":  # time stops until the client replies or releases the claim
            self._request(claim, tick, float("inf"))
            return claim.collect(float("inf"), self.thread)
        if policy == "hold":
            return None
        present = {name: self.applier.found(name)[0] for name in claim.vehicles if self.applier.exists(name)}
        wanted = {name: policy_inputs(program, policy) for name, program in present.items()}
        return [(CommandAction(vehicle, inputs), ()) for vehicle, inputs in wanted.items() if inputs]


class MissionStage:
    """Runs the mission of the present run, if there is one, at a fixed rate of simulated time."""

    name = "mission"

    def __init__(self, world: Run, kinematic: bool, behaviour_period: int) -> None:
        """A `kinematic` mission sets poses after the motion, every `behaviour_period` ticks."""
        self.world, self.kinematic = world, kinematic
        self.period = behaviour_period if kinematic else max(1, round(world.clock.rate / MISSION_RATE))
        self.spread_period = self.period * max(1, round(MISSION_RATE / SPREAD_RATE))

    def due(self, tick: int) -> int:
        """Return the next multiple of the period."""
        return NEVER_DUE if self.world.mission is None else every(tick, self.period)

    def run(self, tick: int) -> None:
        """Continue the mission."""
        assert self.world.mission is not None
        self.world.mission.run(tick, tick % self.spread_period == 0)

    def checked(self, action: MissionAction) -> MissionAction:
        """Return the action with validated arguments; PaddockError if the mission does not accept it."""
        from paddock.engine.mission.run import checked  # planning is imported for a mission only

        self._present(action)
        return checked(action)

    def apply(self, action: MissionAction, prepared: PreparedSpawn | None = None) -> None:
        """Apply a change, with vehicles that may be `prepared`; the mission reacts when the stage runs next."""
        self._present(action).apply(action, prepared)

    def _present(self, action: MissionAction) -> MissionRun:
        if self.world.mission is None:
            raise PaddockError(f"{action.verb}: there is no mission; add a section `mission` to the scenario")
        return self.world.mission


@dataclass(eq=False, repr=False)
class BehaveStage:
    """Runs the behaviours of all fleets every `period` ticks."""

    world: Run
    poses: PoseBlocks
    events: EventLog
    period: int
    move: MoveStage
    radio: RadioStage
    name = "behave"

    def due(self, tick: int) -> int:
        """Return the next multiple of the period, if any vehicle has a behaviour."""
        for program in self.world.programs.values():
            if program.control.acts:
                return every(tick, self.period)
        return NEVER_DUE

    def run(self, tick: int) -> None:
        """Run the behaviours of all fleets on the same state: no fleet sees another's decision before the next tick."""
        dt = self.world.clock.dt * self.period
        rate = max(1, round(self.world.clock.rate / self.period))
        renew = (tick // self.period) % rate == 0  # places of relays, once per second
        heard = RadioSenses(self.radio, self.poses, tick, renew) if self.radio.active else None
        for program in self.world.programs.values():
            if program.control.acts:
                for row, detail in program.control.run(self.world, self.poses, dt, self._report_lost, heard):
                    self.move.decisions.append((program, Alarm(1, row, NOT_FINITE, detail)))  # the tick ends with these

    def _report_lost(self, subject: str, lost: str | None) -> None:
        reported = self.world.state.lost_targets
        if lost is None:
            if subject in reported:
                reported.remove(subject)
        elif subject not in reported:
            insort(reported, subject)
            self.events.report(
                self.world.clock.tick, "target_lost", subject.partition(" ")[0], f"{lost!r} is no longer there"
            )


@dataclass(eq=False, repr=False)
class AirStage:
    """Writes the wind at every vehicle, at the height of its body's centre, for the motion of the tick."""

    world: Run
    name = "air"

    def due(self, tick: int) -> int:
        """Return the present tick: vehicles change their height, and gusts pass, in every tick."""
        return tick

    def run(self, tick: int) -> None:
        """Write the tables of all fleets."""
        world, air = self.world, self.world.air
        assert air is not None
        wind = world.environment[WIND_ROWS]
        for program in world.programs.values():
            fleet, n = program.fleet, program.fleet.n
            if not n:
                continue
            poses = program.pose_block(tick)
            ground = world.heights(poses[0, :n], poses[1, :n])
            gust_wind = -1.0 if air.gust_wind is None else air.gust_wind
            draw = fleet.tables["streams"], signed(world.seed), tick
            blow(poses, ground, wind, air.profile, gust_wind, *draw, world.clock.dt, fleet.tables[WIND_TABLE])


@dataclass(eq=False, repr=False)
class MoveStage:
    """Advances the dynamics of every fleet."""

    world: Run
    rewinds: bool  # whether a stride ends at the tick at which a state is not finite
    alarms: list[tuple[int, FleetProgram, Alarm]] = field(default_factory=list)  # (tick, fleet, alarm), for the guard
    decisions: list[tuple[FleetProgram, Alarm]] = field(default_factory=list)  # alarms of behaviours in this tick
    name = "move"

    def run(self, tick: int, ticks: int) -> int:
        """Launch one kernel per fleet; at most one tick with FMUs, which cannot be rewound."""
        if self.decisions:
            return self._end_after(tick)
        if ticks > 1 and any(program.fmus for program in self.world.programs.values()):
            ticks = 1
        before = self._copies() if self.rewinds and ticks > 1 else []
        alarms = self._move(ticks)
        if not alarms:
            self.alarms = []
            return ticks
        first = min((alarm.ticks for _, alarm in alarms if alarm.kind == NOT_FINITE), default=ticks)
        if before and first < ticks:
            for fleet, state in before:
                fleet.state[:, : fleet.n] = state
            ticks, alarms = first, self._move(first)
        self._keep(tick, alarms)
        return ticks

    def _end_after(self, tick: int) -> int:
        """Move one tick; a vehicle whose decision was not finite has no other alarm."""
        decisions, self.decisions = self.decisions, []
        known = {(program.fleet.name, alarm.row) for program, alarm in decisions}
        moved = [(program, alarm) for program, alarm in self._move(1) if (program.fleet.name, alarm.row) not in known]
        self._keep(tick, decisions + moved)
        return 1

    def _keep(self, tick: int, alarms: list[tuple[FleetProgram, Alarm]]) -> None:
        timed = [(tick + alarm.ticks, program, alarm) for program, alarm in alarms]
        self.alarms = sorted(timed, key=lambda raised: (raised[0], raised[1].fleet.name, raised[2].row))

    def refuse_diverging(self) -> None:
        """Raise PaddockError if a state does not stay finite for a second with its commands; states stay as they are.

        Fewer ticks of large fleets are tried, because others wait for their kernels. FMUs are not.
        """
        rate = self.world.clock.rate
        for program in self.world.programs.values():
            fleet = program.fleet
            if program.fmus is not None or not fleet.n:
                continue
            ticks = max(1, min(round(rate), TRIED_STEPS // (fleet.n * program.settings.substeps)))
            before = fleet.state[:, : fleet.n].copy()
            alarms = program.move(ticks, self.world.environment, rate)
            fleet.state[:, : fleet.n] = before
            for alarm in alarms:
                if alarm.kind == NOT_FINITE:
                    name, after = fleet.vehicle_name(alarm.row), f"{alarm.ticks / rate:.3g} s later"
                    raise PaddockError(f"the saved state of {name!r} cannot be continued: {after} {alarm.detail}")

    def _move(self, ticks: int) -> list[tuple[FleetProgram, Alarm]]:
        environment, rate = self.world.state.environment, self.world.clock.rate
        raised: list[tuple[FleetProgram, Alarm]] = []
        for program in self.world.programs.values():
            if alarms := program.move(ticks, environment, rate):
                raised += [(program, alarm) for alarm in alarms]
        return raised

    def _copies(self) -> list[tuple[Fleet, Floats]]:
        """Return the states to rewind to; none of a large world, whose strides are short."""
        fleets = [program.fleet for program in self.world.programs.values()]
        if sum(len(fleet.tables["state"]) * fleet.n for fleet in fleets) > REWOUND_VALUES:
            return []
        return [(fleet, fleet.state[:, : fleet.n].copy()) for fleet in fleets]


@dataclass(eq=False, repr=False)
class GuardStage:
    """Reports crashes and states that are not finite; then removes the vehicle, or ends the run, as `on_nan` says."""

    world: Run
    move: MoveStage
    events: EventLog
    applier: Applier
    on_nan: str
    name = "guard"

    def due(self, tick: int) -> int:
        """Return this tick after an alarm, and once the run has ended."""
        return tick if self.move.alarms or self.world.state.failure else NEVER_DUE

    def run(self, tick: int) -> None:
        """Handle the alarms of the motion; without any, the run has ended: refuse the next tick."""
        alarms, self.move.alarms = self.move.alarms, []
        if not alarms:
            raise HaltedError
        # names and ids first: a removal moves the rows of others
        named = [
            (at, p.fleet.name, int(p.fleet.ranks[a.row]), p.fleet.vehicle_name(a.row), p.fleet.ids[a.row], a)
            for at, p, a in alarms
        ]
        for (at, fleet), group in groupby(named, key=lambda alarm: alarm[:2]):
            self._handle(at, fleet, [alarm[3:] for alarm in sorted(group, key=lambda alarm: alarm[2])])

    def _handle(self, at: int, fleet: str, alarms: list[tuple[str, int, Alarm]]) -> None:
        """Report the alarms of a fleet at a tick, and act on those of vehicles that cannot continue."""
        for vehicle, _, alarm in alarms[:ALARMS_SHOWN]:
            self.events.report(at, alarm.kind, vehicle, alarm.detail)
        for number in [number for _, number, alarm in alarms if alarm.kind == CRASHED]:
            program, rows = self.applier.found(int(number))
            self.applier.contact.disarm(program, int(rows[0]), "hit the ground", at)
        if len(alarms) > ALARMS_SHOWN:
            self.events.report(at, alarms[-1][2].kind, fleet, f"{len(alarms) - ALARMS_SHOWN} more vehicles")
        broken = [named for named in alarms if named[2].kind in (NOT_FINITE, FAILED)]
        if broken and self.on_nan == "remove":
            self.world.state.discarded += len(broken)
            self.applier.discard(np.array([number for _, number, _ in broken], np.int64), at)
        elif broken and not self.world.state.failure:
            vehicle, _, alarm = broken[0]
            what = f"the state of {vehicle!r} is not finite" if alarm.kind == NOT_FINITE else f"{vehicle!r} failed"
            self.world.state.failure = f"{what} at tick {at}: {alarm.detail}"

    def clear_failure_if_finite(self) -> None:
        """Let a run that has ended continue if all is finite: the vehicle was removed, placed or overridden."""
        if self.world.state.failure and all(program.finite for program in self.world.programs.values()):
            self.world.state.failure = ""


@dataclass(eq=False, repr=False)
class SenseStage:
    """Samples sensors; delayed samples are delivered when they are read."""

    world: Run
    poses: PoseBlocks
    surroundings: Surroundings
    name = "sense"

    def due(self, tick: int) -> int:
        """Return the tick of the next sample."""
        first = NEVER_DUE
        for program in self.world.programs.values():
            for sensor in program.sensors.values():
                first = min(first, sensor.due(tick))
                if first == tick:
                    return tick
        return first

    def run(self, tick: int) -> None:
        """Sample every sensor that is due."""
        environment, seed = self.world.environment, self.world.seed
        around = None
        for program in self.world.programs.values():
            fleet = program.fleet
            due = [sensor for sensor in program.sensors.values() if not tick % sensor.period]
            if due:
                poses = self.poses(fleet.name) if fleet.in_order else program.pose_block(tick)
                streams, wind = fleet.tables["streams"], program.wind
                for sensor in due:
                    seen = program.sensor_inputs.read(sensor.sensor, environment)
                    if around is None and sensor.arrays:
                        around = self.surroundings.at(tick)
                    sensor.sample(tick, poses, fleet.n, streams, environment, seed, seen, around, fleet.ids, wind)
