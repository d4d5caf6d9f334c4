"""The stage of radio: updates all links at the rate of the section `radio`, after the sensors.

Between updates the links stay as they are. When vehicles are added or removed, the state of those that remain is kept
(`state.with_radios`); the links of others follow with the next update.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.prepare import Progress
from paddock.engine.actions import RADIO_VERBS, PacketAction, RadioAction
from paddock.engine.behaviours import PoseBlocks
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.radio.gnss import SatelliteField
from paddock.engine.radio.jammers import DENIED, HOLD, DeceptionStage, DeniedRadios, report_jammed
from paddock.engine.radio.links import (
    DAMAGED,
    count_changes,
    mute,
    report_links,
    show_links,
    silent_radios,
    without,
)
from paddock.engine.radio.packets import MessageStage
from paddock.engine.radio.relaying import rehearse_chain
from paddock.engine.radio.roster import RadioRoster, RadioState, is_of, new_radio_state, put_emitters, with_radios
from paddock.engine.radio.services import HeartbeatStage, TelemetryStage, Uplink
from paddock.engine.radio.tuning import (
    allocate,
    allocated_bands,
    check_channels,
    checked_allocation,
    links_on_one_channel,
    tune,
)
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.links.jamming import (
    EVERY,
    ON,
    ROWS,
    JammerState,
    add_jamming,
    find_bursts,
    find_emitter,
    started,
)
from paddock.radio.links.radios import COLUMN, Floats, Ints
from paddock.radio.links.rows import SEEN_ROWS, apply_bursts
from paddock.radio.links.survey import RadioSurvey, link_budget
from paddock.radio.links.table import BURST_ROWS, Bools, find_jammed, jammed_radios
from paddock.radio.links.update import follow
from paddock.radio.packets.network import NO_HOP, ways_to
from paddock.radio.settings import checked_settings
from paddock.scenario import Scenario
from paddock.scenario.radio import RadioSection
from paddock.scenario.radio_types import MessagesSection, band_problem
from paddock.scenario.sitl import mavlink_vias
from paddock.wire.radio_results import JammerView, LinkBudget, Links, SpooferView, SurveyLimits

NO_RADIO_SECTION = RadioSection()  # of a scenario without radio
NO_RADIO = "there is no radio: add a section `radio: {}` to the scenario"


def messages_section(scenario: Scenario) -> MessagesSection:
    """Return the options of packets: queues have at least the room that MAVLink asks for."""
    if scenario.radio is None:
        return NO_RADIO_SECTION.messages
    section = scenario.radio.messages
    vias = [] if scenario.sitl is None else mavlink_vias(scenario.sitl)
    return section.model_copy(update={"queue": max([section.queue, *(via.queue for _, via in vias)])})


class Emitters(NamedTuple):
    """Jammers and spoofers."""

    jammers: list[JammerView]
    spoofers: list[SpooferView]


class RadioStage:
    """Links of all radios, and the jammers."""

    name = "radio"

    def __init__(
        self,
        scenario: Scenario,
        world: Run,
        events: EventLog,
        poses: PoseBlocks,
    ) -> None:
        self.scenario, self.settings = scenario, scenario.radio
        self.active = self.settings is not None
        self.section = messages_section(scenario)
        self.world, self.events, self._poses = world, events, poses
        rate = 1.0 if self.settings is None else self.settings.rate
        self.period = max(1, round(world.clock.rate / rate))
        self._levels: Floats = np.zeros((0, 0))  # mW of jammers at radios, of the last update
        self._roster: RadioRoster | None = None
        self._version = (-1, -1)  # of the roster
        self._prepared = False
        self.put_emitters = partial(put_emitters, world, poses)
        self.satellites = SatelliteField(self)
        self.denied = DeniedRadios(self.section)
        self.messages: MessageStage | None = None
        self.deception: DeceptionStage | None = None
        self.telemetry: TelemetryStage | None = None
        self.heartbeats: HeartbeatStage | None = None
        self._ways: tuple[object, dict[str, Ints]] = None, {}  # to stations, of the last links
        if self.settings is not None:
            self.messages = MessageStage(self, poses, events)
            self.deception = DeceptionStage(self)
            self.telemetry, self.heartbeats = TelemetryStage(self, poses), HeartbeatStage(self)
        self.uplink = Uplink(self, events)

    @property
    def channel(self) -> MessageStage:
        """The packets, of a scenario with radio."""
        assert self.messages is not None
        return self.messages

    @property
    def links(self) -> Links:
        """The links of the last update."""
        return self.state.links.table

    def new_state(self) -> RadioState:
        """Return the state at the start of a run; radios are added when they are first needed."""
        section = self.settings or NO_RADIO_SECTION
        jammers = [started(jammer) for jammer in sorted(section.jammers, key=lambda jammer: jammer.name)]
        kinds = [jammer.kind for jammer in section.jammers]
        sizes = {"jammer": len(jammers) + kinds.count("follower"), "deceptive": kinds.count("deceptive")}
        return new_radio_state(0, self.section, jammers, self.satellites.started(), sizes)

    @cached_property
    def _idle(self) -> RadioState:
        """The state without radio in the scenario."""
        return self.new_state()

    @property
    def state(self) -> RadioState:
        """The state of the radios in the state of the run."""
        return self.world.state.radio or self._idle

    @state.setter
    def state(self, state: RadioState) -> None:
        self.world.state.radio = state

    def fresh(self) -> RadioState | None:
        """Return the state at the start of a run; None without radio in the scenario."""
        return self.new_state() if self.active else None

    @property
    def rate(self) -> float:
        """Updates of the links per second, Hz."""
        return self.world.clock.rate / self.period

    @property
    def interval(self) -> float:
        """Time from one update of the links to the next, s."""
        return self.period / self.world.clock.rate

    @property
    def roster(self) -> RadioRoster:
        """The radios of the present vehicles; the state follows when vehicles have come or gone."""
        if self._roster is None or self._version != self.world.version:
            before, self._version = self._roster, self.world.version
            self._roster = roster = RadioRoster(self.scenario, self.world, self.state.jammers)
            if not is_of(self.state, roster.radios):
                slot = self.channel.slot_at(self.world.clock.time)
                self.state, senders = with_radios(self.state, roster.radios, self.section, slot)
                if before is not None:
                    names = {number: before.name_of(radio) for number, radio in senders.items()}
                    self.state.packets.senders.update(names)
            self._tune(self.links.tick)
        return self._roster

    def _tune(self, tick: int) -> None:
        """Set the frequencies of all radios as of a tick, and the transmissions of jammers as of now."""
        roster = self.roster
        muted, time = mute(roster.radios, self.state.silent), max(tick, 0) / self.world.clock.rate
        if tune(roster.radios, self.state.channels, self.world.seed, time) or muted:
            roster.update.refresh()
        roster.jammers.tune()

    def due(self, tick: int) -> int:
        """Return the next multiple of the period."""
        return NEVER_DUE if self.settings is None else every(tick, self.period)

    def begin(self) -> None:
        """Compute the links at the start of a run."""
        if self.active:
            self._update(self.world.clock.tick, quiet=True)
            self.channel.begin(self.world.clock.tick)

    def prepare(self, progress: Progress | None = None) -> None:
        """Compile what the first packets, jammers and moves need: calls that change nothing; no effect if done."""
        if self._prepared or not self.active or not self.roster.radios.n:
            return
        self._prepared = True
        radios, links, jammers = self.roster.radios, self.links, self.roster.jammers
        n, table, at = radios.n, radios.table, radios.table[:3].copy()
        steps: list[Callable[[], object]] = [
            lambda: follow(table, np.arange(n), at[:, :n].copy(), np.zeros((SEEN_ROWS, n))),
            lambda: count_changes(links, links),
            self.channel.rehearse,
        ]
        if len(jammers):
            quiet, doing = links._replace(bursts=np.zeros((BURST_ROWS, n))), np.zeros((ROWS, jammers.columns))
            levels, hysteresis = np.zeros((jammers.columns, n)), self.roster.update.hysteresis
            steps += [
                lambda: add_jamming(table, doing, levels, np.zeros(n)),
                lambda: find_bursts(table, doing, levels, np.zeros((BURST_ROWS, n))),
                lambda: apply_bursts(table, radios.survivals, hysteresis, links, quiet),
                lambda: find_jammed(table, links, np.zeros(n, bool), np.zeros(n, np.uint8)),
            ]
        behaviours = [program.control.behaviour for program in self.world.programs.values()]
        if any(behaviour is not None and behaviour.rule.relays for behaviour in behaviours):
            steps.append(partial(rehearse_chain, self.roster))
        for k, call in enumerate(steps):
            if progress is not None:
                progress(k + 1, len(steps))
            call()

    def follow_vehicles(self) -> None:
        """Let the links and packets follow vehicles that have come or gone."""
        if self.messages is not None:
            self.messages.fitted()

    def ensure_links(self) -> None:
        """Compute the links if they have not been computed: for planning before the run begins."""
        if self.active and self.links.tick < 0:
            self._update(self.world.clock.tick, quiet=True)

    def run(self, tick: int) -> None:
        """Update all links."""
        self._update(tick)

    def _update(self, tick: int, quiet: bool = False) -> None:
        roster, before = self.roster, self.links
        state, time = self.state, tick / self.world.clock.rate
        mission = self.world.mission
        state.silent = silent_radios(roster.radios, [] if mission is None else mission.damaged())
        self._tune(tick)
        self.locate()
        state.on_air = self._traffic(tick)
        jamming, bursts, state.doing = self._jam(roster, tick)
        links = without(roster.update.run(tick, jamming, bursts, before), state.silent)
        state.links.set(self.denied.close_links(roster.radios, links))
        links = self.links
        self.satellites.update(tick)
        assert self.deception is not None
        self.deception.update(time, self._levels)
        hit = self.jammed_now()
        show_links(roster.radios, links, state.chances, hit, self.world.programs)
        if not quiet:
            report_links(self.events, tick, roster.radios, before, links, self.name_of)
            up, down = count_changes(before, links)
            state.ups, state.downs = state.ups + up, state.downs + down
            report_jammed(self.events, tick, round(HOLD * self.world.clock.rate), roster, state, hit, self._levels)

    def jammed_now(self) -> Bools:
        """Return 1 for radios that have lost half of their links or more to jammers, or are kept off the channel."""
        radios = self.roster.radios
        return jammed_radios(radios.table, self.links, self.denied.always_denied(radios, self.links))

    def _traffic(self, tick: int) -> Floats:
        """Return the share of time that each radio has transmitted packets since the last update."""
        return np.minimum(self.channel.airtimes(max(tick - 1, 0)) / self.interval, 1.0)

    def locate(self) -> None:
        """Put all radios and jammers where their vehicles are now."""
        roster = self.roster
        table = roster.radios.table
        for part in roster.radios.parts:
            roster.radios.place(part, self._poses(part.fleet))
        self.put_emitters(roster.jammers, roster.radios)
        if roster.needs_heights:
            table[COLUMN.height] = table[2] - self.heights(table[0], table[1])
        roster.tables.place()

    def _jam(self, roster: RadioRoster, tick: int) -> tuple[Floats, Floats, Floats]:
        """Return the mean power (mW) of all jammers at each receiver, bursts there, and what the jammers do."""
        radios, classes = roster.radios, roster.classes
        jamming, bursts, doing = np.zeros(radios.n), np.zeros((BURST_ROWS, radios.n)), np.zeros((ROWS, 0))
        if len(roster.jammers):
            before = radios.table[COLUMN.frequency, radios.n :].copy()
            doing = roster.jammers.act(
                tick / self.world.clock.rate, self.interval, classes, roster.paths, self.state.on_air
            )
            if (radios.table[COLUMN.frequency, radios.n :] != before).any():
                roster.tables.place()  # fading is that of the present frequencies
            self._levels = roster.jammers.levels(classes, roster.paths)
            add_jamming(radios.table, doing, self._levels, jamming)
            if (doing[EVERY] > 0.0).any():
                find_bursts(radios.table, doing, self._levels, bursts)
        return jamming, bursts, doing

    def heights(self, x: Floats, y: Floats) -> Floats:
        """Return the height (m) of the ground at places."""
        heights: Floats = np.asarray(self.world.heights(x, y))
        return heights

    # names ------------------------------------------------------------------------------------------------------------

    def name_of(self, radio: int) -> str:
        """Return the vehicle or station of a radio, with its number where it has several: `red`, `red/1`."""
        return self.roster.name_of(radio)

    def number_of(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle or station; `red/1` is its second radio."""
        return self.roster.number_of(name)

    def connected(self, vehicle: str, station: str) -> bool:
        """Return whether the last links have a route between a vehicle and a station, in both directions."""
        try:
            source = self.number_of(vehicle)
        except PaddockError:  # it has been removed
            return False
        if self._ways[0] is not self.state.links.peer:
            self._ways = self.state.links.peer, {}
        ways = self._ways[1]
        if station not in ways:
            _, ways[station] = ways_to(self.channel.graph(), self.number_of(station))
        return bool(ways[station][source] != NO_HOP)

    def budget(self, source: int, to: int) -> LinkBudget:
        """Return the budget of the link from one radio to another at the present positions."""
        roster, links, names = self.roster, self.links, (self.name_of(source), self.name_of(to))
        self.locate()
        budget = link_budget(roster.radios, roster.classes, roster.paths, links, to, source, names)
        if self.state.silent[[to, source]].any():
            return budget._replace(up=False, per=1.0, capacity=0.0, throughput=0.0, mismatch=DAMAGED)
        share, power, limit = self.denied.denial_of(roster.radios, links, source)
        budget = budget._replace(
            throughput=(1.0 - share) * budget.throughput, denied=share, denying=power, energy=limit
        )
        if share < 1.0 or budget.mismatch:
            return budget
        return budget._replace(up=False, per=1.0, capacity=0.0, mismatch=DENIED)

    def jammer_views(self) -> list[JammerView]:
        """Return all jammers as they are now."""
        roster = self.roster
        self.put_emitters(roster.jammers, roster.radios)
        views = []
        for k, (jammer, state) in enumerate(zip(roster.jammers.sections, roster.jammers.states, strict=True)):
            active, place = float(self.state.doing[ON, roster.jammers.columns_of(k)].sum()), roster.jammers.position(k)
            now = state.tuned if jammer.kind == "follower" and state.tuned else state.frequency
            settings = state.vehicle, state.power, now, state.bandwidth, state.false_frames
            views.append(JammerView(jammer.name, jammer.kind, state.on, state.scheduled, active, place, *settings))
        return views

    # surveys ----------------------------------------------------------------------------------------------------------

    def survey(self) -> RadioSurvey:
        """Return a copy of all transmitters at their present places."""
        roster = self.roster
        self.locate()
        tables = roster.radios, roster.classes, roster.tables
        return RadioSurvey(*tables, self.state.doing, self.heights, self.state.on_air, self.world.clock.time)

    def surveyed(
        self, of: str | int | None, receiver: str | int | None, x: float | None, y: float | None, size: float | None
    ) -> tuple[list[int], int, float, float, float]:
        """Return the transmitters, the receiver, the centre and the size (m) of a survey; None: all radios."""
        radios = self.roster.radios
        if not radios.n:
            raise PaddockError("there are no radios: add `radio: default` to an entry of vehicles")
        if of is not None:
            sources = [self.number_of(of)]
        elif radios.stations:
            sources = list(range(radios.carried, radios.n))
        else:
            sources = np.flatnonzero(~self.state.silent).tolist()
        first = {part.fleet: part.first for part in radios.parts}
        if receiver is None:
            at = next(iter(first.values()), 0)
        else:
            at = first[receiver] if receiver in first else self.number_of(receiver)
        low, high = radios.table[:2].min(axis=1), radios.table[:2].max(axis=1)
        middle, extent = 0.5 * (low + high), float((high - low).max())
        centre = float(middle[0]) if x is None else x, float(middle[1]) if y is None else y
        return sources, at, *centre, min(max(1.7 * extent, 100.0), SurveyLimits.LARGEST) if size is None else size

    def emitters(self) -> Emitters:
        """Return jammers and spoofers as they are now."""
        return Emitters(self.jammer_views(), self.satellites.views() if self.satellites.sections else [])

    def counts(self) -> dict[str, int]:
        """Return numbers of links: heard, usable, changes since the start; and of jammed receivers."""
        links, jammed = self.links, int(self.jammed_now().sum())
        changes = {"ups": self.state.ups, "downs": self.state.downs}
        return {"links": len(links.peer), "up": int(links.up.sum()), "jammed": jammed, **changes}

    # changes from outside -----------------------------------------------------------------------------------------

    def checked(self, action: RadioAction) -> RadioAction:
        """Return the action in plain values; PaddockError if it cannot be applied."""
        if self.settings is None:
            raise PaddockError(f"{action.verb}: {NO_RADIO}")
        if action.verb not in RADIO_VERBS:
            raise unknown_name("change of the radio", action.verb, RADIO_VERBS)
        if action.verb == "send":
            return RadioAction("send", self.channel.checked(action.arguments))
        if action.verb == "allocate":
            arguments = checked_allocation(action.arguments, self.roster.radios)
            self.roster.check_bands(allocated_bands(arguments, self.roster.radios, self.state.channels))
            return RadioAction("allocate", arguments)
        arguments = dict(action.arguments)
        state = self._emitter(action.verb, str(arguments.pop("name", "")))
        changes = checked_settings(action.verb, state.name, arguments)
        if changes.get("vehicle") is not None:
            _, rows = self.world.find(changes["vehicle"])
            if len(rows) != 1:
                raise PaddockError(f"{changes['vehicle']!r} is a fleet of {len(rows)}: name one vehicle")
        if "frequency" in changes:
            [section] = [jammer for jammer in self.roster.jammers.sections if jammer.name == state.name]
            if section.sweep is not None:
                raise InvalidValueError(f"jammer {state.name!r} sweeps: its frequency cannot be set")
            self.roster.check_bands({state.name: [(changes["frequency"], changes["frequency"])]})
        if "frequency" in changes or "bandwidth" in changes:
            centre, width = changes.get("frequency", state.frequency), changes.get("bandwidth", state.bandwidth)
            if problem := band_problem(centre, width):
                raise InvalidValueError(f"jammer {state.name!r}: {problem}")
        return RadioAction(action.verb, {"name": state.name, **changes})

    def _emitter(self, kind: str, name: str) -> JammerState:
        """Return the state of a jammer or spoofer."""
        return find_emitter(kind, self.roster.jammers.states if kind == "jammer" else self.satellites.states, name)

    def apply(self, action: RadioAction) -> None:
        """Send a message, or change a jammer, a spoofer or channels; links follow with the next update."""
        action = self.checked(action)
        arguments = dict(action.arguments)
        if action.verb == "send":
            self.channel.send(arguments, self.world.clock.tick)
            return
        if action.verb == "allocate":
            self._allocate(arguments)
            return
        state = self._emitter(action.verb, arguments.pop("name"))
        state.change(arguments)
        self._tune(self.links.tick)
        detail = ", ".join(f"{name} {value}" for name, value in sorted(arguments.items()))
        self.events.report(self.world.clock.tick, action.verb, state.name, detail)

    def post_packet(self, action: PacketAction) -> int:
        """Queue the packet of a program; return its number, 0: it was dropped."""
        if not self.active:
            raise PaddockError(NO_RADIO)
        return self.channel.post_packet(action, self.world.clock.tick)

    def _allocate(self, arguments: Mapping[str, Any]) -> None:
        """Allocate channels by the links at the present positions."""
        roster, tick = self.roster, self.world.clock.tick
        self.locate()
        together = links_on_one_channel(roster.update, tick)
        levels = roster.jammers.levels(roster.classes, roster.paths)

        def jamming_at(frequency: float) -> Floats:
            table, jamming = roster.radios.table.copy(), np.zeros(roster.radios.n)
            table[COLUMN.frequency, : roster.radios.n] = frequency
            if len(roster.jammers):
                add_jamming(table, self.state.doing, levels, jamming)
            return jamming

        for name, channel in allocate(arguments, roster.radios, together, jamming_at).items():
            self.state.channels[name] = channel
            self.events.report(tick, "channel_allocated", name, f"channel {channel}")
        self._tune(self.links.tick)

    # state ------------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse a loaded state that no run of this scenario can have left at this tick."""
        tick, state = self.world.clock.tick, self.state
        radios = self.roster.radios
        if self.state is not state:
            raise PaddockError(f"saved radios are not the {radios.n} radios of the vehicles")
        links = self.links
        if links.tick > tick or (links.tick >= 0 and links.tick % self.period):
            raise PaddockError(f"saved links are of tick {links.tick}, the run is at {tick}")
        if (state.jammed > tick).any() or state.silent[radios.carried :].any():
            raise PaddockError("saved radios are jammed in the future, or are stations that are damaged")
        denied = self.denied.always_denied(radios, links)
        if denied.any() and links.up[denied[links.peer]].any():
            raise PaddockError("saved links of radios that jammers keep off the channel are up")
        check_channels(state.channels, radios)
        self.channel.check()
        self.uplink.check()
        assert self.telemetry is not None and self.heartbeats is not None
        self.telemetry.check()
        self.heartbeats.check()
        self.satellites.check()
