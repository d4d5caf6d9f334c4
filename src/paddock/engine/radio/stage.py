"""The stage of radio: updates all links at the rate of the section `radio`, after the sensors.

Between updates the links stay as they are. When vehicles are added or removed, the rows of those that remain are kept
(`roster.renumbered`); the others follow with the next update.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddock.engine.actions import RadioAction
from paddock.engine.behaviours import PoseBlocks
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.program import FleetProgram
from paddock.engine.radio.deception import DeceptionStage
from paddock.engine.radio.gnss import SatelliteField
from paddock.engine.radio.jamming import HOLD, NOT_JAMMED, DeniedRadios, JammedReceivers
from paddock.engine.radio.links import (
    DamagedRows,
    SilentRadios,
    check_links,
    count_changes,
    links_tree,
    loaded_links,
    report_links,
    show_links,
    without,
)
from paddock.engine.radio.packets import MessageStage, RadioView
from paddock.engine.radio.roster import RadioRoster, moved, new_numbers, put_emitters, renumbered
from paddock.engine.radio.telemetry import HeartbeatStage, TelemetryStage
from paddock.engine.radio.tuning import Tuning, links_on_one_channel
from paddock.engine.radio.uplink import Uplink, station_range
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.radio.describing import Emitters
from paddock.radio.links.jamming import (
    EVERY,
    ON,
    ROWS,
    Jammers,
    JammerState,
    add_jamming,
    changed,
    find_bursts,
    possible_acts,
)
from paddock.radio.links.radios import COLUMN, Floats, Ints, Radios
from paddock.radio.links.survey import RadioSurvey
from paddock.radio.links.table import BURST_ROWS, Bools, Links, jammed_radios, no_links
from paddock.radio.packets.datalink import Route, route_both_ways, ways_to
from paddock.radio.settings import checked_settings
from paddock.radio.views import JammerView
from paddock.scenario import Scenario
from paddock.scenario.radio_types import MessagesSection, band_problem
from paddock.wire.survey_limits import LARGEST
from paddock.world.world import World

NO_RADIO = "there is no radio: add a section `radio: {}` to the scenario"


class RadioStage:
    """Links of all radios, and the jammers."""

    name = "radio"

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        programs: dict[str, FleetProgram],
        events: EventLog,
        poses: PoseBlocks,
        damaged: DamagedRows = tuple,
    ) -> None:
        self.scenario, self.settings = scenario, scenario.radio
        self.world, self.programs, self.events, self._poses = world, programs, events, poses
        rate = 1.0 if self.settings is None else self.settings.rate
        self.period = max(1, round(world.clock.rate / rate))
        self.links: Links = no_links(0)
        self.ups = self.downs = 0  # links that have come up and dropped since the last reset, each direction by itself
        self._levels: Floats = np.zeros((0, 0))  # mW of jammers at radios, of the last update
        self._doing: Floats = np.zeros((ROWS, 0))  # what the jammers do, of the last update
        self._on_air: Floats = np.zeros(0)  # share of time that radios transmitted packets before the last update
        self._roster: RadioRoster | None = None
        self._version: tuple[int, int] = (-1, -1)
        self.satellites = SatelliteField(scenario, world, programs, events, self._put_emitters)
        self.tuning = Tuning()
        self.silent = SilentRadios(damaged)
        self.denied = DeniedRadios(MessagesSection() if self.settings is None else self.settings.messages)
        self.jammed = JammedReceivers(events, round(HOLD * world.clock.rate))
        self.messages: MessageStage | None = None
        self.deception: DeceptionStage | None = None
        self.telemetry: TelemetryStage | None = None
        self.heartbeats: HeartbeatStage | None = None
        self._ways: tuple[object, dict[str, Ints]] = None, {}  # to stations, of the last links
        if self.settings is not None:
            given = self.settings.messages, world.clock.rate, lambda: world.seed, self.period
            self.messages = MessageStage(*given, self._view, poses, events)
            self.deception = DeceptionStage(world.clock.rate, lambda: self.roster, self.messages)
            around = scenario, world, programs
            self.telemetry = TelemetryStage(*around, poses, self._radios, self.messages, self.silent)
            self.heartbeats = HeartbeatStage(*around, self._radios, self.messages)
        self.uplink = Uplink(scenario, world, programs, events, self._radios, self.messages)

    def _radios(self) -> Radios:
        """Return the radios of the present vehicles."""
        return self.roster.radios

    def _view(self) -> RadioView:
        """Return what the messages need."""
        roster = self.roster
        given = roster.radios, self.links, roster.update, roster.tables
        return RadioView(*given, roster.name_of, self.number_of, self.world.clock.tick, self.silent.mask)

    @property
    def rate(self) -> float:
        """Updates of the links per second, Hz."""
        return self.world.clock.rate / self.period

    @property
    def active(self) -> bool:
        """Whether the scenario has radio."""
        return self.settings is not None

    @property
    def roster(self) -> RadioRoster:
        """The radios of the present vehicles; links of vehicles that have been removed are dropped."""
        version = self.world.run, self.world.roster_version
        if self._roster is None or self._version != version:
            old, self._version = self._roster, version
            self._roster = RadioRoster(self.scenario, self.world, self.programs)
            if old is None:
                if len(self.links.start) != self._roster.radios.n + 1:
                    self.links = no_links(self._roster.radios.n)
            else:
                self._roster.jammers.states = old.jammers.states
                place, n = new_numbers(old.keys, self._roster.keys), self._roster.radios.n
                self.links = renumbered(self.links, place, n)
                self._on_air = moved(self._on_air, place, n, 0.0)
                if self.deception is not None:
                    self.deception.move(place, n)
                self.jammed.last = moved(self.jammed.last, place, n, NOT_JAMMED)
                self.silent.mask = moved(self.silent.mask, place, n, False)
            if len(self._on_air) != self._roster.radios.n:
                self._on_air = np.zeros(self._roster.radios.n)
            if len(self.silent.mask) != self._roster.radios.n:
                self.silent.mask = np.zeros(self._roster.radios.n, bool)
            self._tune(self.links.tick)
        return self._roster

    def _tune(self, tick: int) -> None:
        """Set the frequencies of all radios as of a tick, and the transmissions of jammers as of now."""
        roster = self.roster
        muted = self.silent.mute(roster.radios)
        if self.tuning.tune(roster.radios, self.world.seed, max(tick, 0) / self.world.clock.rate) or muted:
            roster.update.refresh()
        roster.jammers.tune()

    def due(self, tick: int) -> int:
        """Return the next multiple of the period."""
        return NEVER_DUE if self.settings is None else every(tick, self.period)

    def begin(self) -> None:
        """Compute the links at the start of a run."""
        if self.messages is not None:
            self._update(self.world.clock.tick, quiet=True)
            self.messages.begin(self.world.clock.tick)

    def look(self) -> None:
        """Compute the links if they have not been computed: for planning before the run begins."""
        if self.messages is not None and self.links.tick < 0:
            self._update(self.world.clock.tick, quiet=True)

    def run(self, tick: int) -> None:
        """Update all links."""
        self._update(tick)

    def _update(self, tick: int, quiet: bool = False) -> None:
        roster, before = self.roster, self.links
        self.silent.look(roster.radios)
        self._tune(tick)
        self.locate()
        self._on_air = self._traffic(tick)
        jamming, bursts, self._doing = self._jam(roster, tick)
        links = without(roster.update.run(tick, jamming, bursts, before), self.silent.mask)
        self.links = self.denied.shut(roster.radios, links)
        self.satellites.update(tick, self.period / self.world.clock.rate, roster.jammers, self._doing, self.heights)
        assert self.deception is not None
        interval = self.period / self.world.clock.rate
        self.deception.update(tick / self.world.clock.rate, interval, self.links, self._doing, self._levels)
        self.deception.chances[:, self.silent.mask] = 0.0
        hit = self.jammed_now()
        show_links(roster.radios, self.links, self.deception.chances, hit, self.programs)
        if not quiet:
            report_links(self.events, tick, roster.radios, before, self.links, self.name_of)
            up, down = count_changes(before, self.links)
            self.ups, self.downs = self.ups + up, self.downs + down
            given = roster.radios, roster.jammers, self.links, self._doing, self._levels, self.name_of
            self.jammed.report(tick, hit, *given)

    def jammed_now(self) -> Bools:
        """Return 1 for radios that have lost half of their links or more to jammers, or are kept off the channel."""
        radios = self.roster.radios
        return jammed_radios(radios.table, self.links, self.denied.always(radios, self.links))

    def _traffic(self, tick: int) -> Floats:
        """Return the share of time that each radio has transmitted packets since the last update."""
        assert self.messages is not None
        interval = self.period / self.world.clock.rate
        taken = self.messages.airtimes(max(tick - 1, 0))
        return np.minimum(taken / interval, 1.0)

    def locate(self) -> None:
        """Put all radios and jammers where their vehicles are now."""
        roster = self.roster
        table = roster.radios.table
        for part in roster.radios.parts:
            roster.radios.place(part, self._poses(part.fleet))
        self._put_emitters(roster.jammers, roster.radios)
        if roster.needs_heights:
            table[COLUMN.height] = table[2] - self.heights(table[0], table[1])
        roster.tables.place()

    def _jam(self, roster: RadioRoster, tick: int) -> tuple[Floats, Floats, Floats]:
        """Return the mean power (mW) of all jammers at each receiver, bursts there, and what the jammers do."""
        radios, classes = roster.radios, roster.classes
        jamming, bursts, doing = np.zeros(radios.n), np.zeros((BURST_ROWS, radios.n)), np.zeros((ROWS, 0))
        if len(roster.jammers):
            time, interval = tick / self.world.clock.rate, self.period / self.world.clock.rate
            before = radios.table[COLUMN.frequency, radios.n :].copy()
            doing = roster.jammers.act(time, interval, classes, roster.paths, self._on_air)
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

    def _put_emitters(self, jammers: Jammers, radios: Radios) -> None:
        put_emitters(self.world, self._poses, jammers, radios)

    # names ------------------------------------------------------------------------------------------------------------

    def name_of(self, radio: int) -> str:
        """Return the vehicle or station of a radio, with its number where it has several: `red`, `red/1`."""
        return self.roster.name_of(radio)

    def number_of(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle or station; `red/1` is its second radio."""
        return self.roster.number_of(name)

    def routes(self, vehicle: str, station: str) -> tuple[Route, Route]:
        """Return the last routes from a station to a vehicle and back; () if there is none, or no such vehicle."""
        radios = self.roster.radios
        try:
            fleet, rows = self.world.find(vehicle)
        except UnknownNameError:
            return (), ()
        [part] = [one for one in radios.parts if one.fleet == fleet.name]
        goal, _ = station_range(radios, station)
        assert self.messages is not None
        if self._ways[0] is not self.links:
            self._ways = self.links, {}
        ways = self._ways[1]
        if station not in ways:
            ways[station] = ways_to(self.messages.graph(), goal)
        given = radios, self.links, ways[station]
        down, up = route_both_ways(*given, part.first + int(rows[0]) * part.slots, goal)
        return up, down

    def jammer_views(self) -> list[JammerView]:
        """Return all jammers as they are now."""
        roster = self.roster
        self._put_emitters(roster.jammers, roster.radios)
        found = []
        for k, (one, state) in enumerate(zip(roster.jammers.sections, roster.jammers.states, strict=True)):
            x, y, z = roster.radios.table[:3, roster.radios.n + k].tolist()
            active = float(self._doing[ON, roster.jammers.columns_of(k)].sum()) if self._doing.shape[1] else 0.0
            place = (x, y, z) if roster.jammers.present[k] else None
            now = state.tuned if one.kind == "follower" and state.tuned else state.frequency
            given = state.vehicle, state.power, now, state.bandwidth, state.false_frames
            found.append(JammerView(one.name, one.kind, state.on, state.scheduled, active, place, *given))
        return found

    # surveys ----------------------------------------------------------------------------------------------------------

    def survey(self) -> RadioSurvey:
        """Return a copy of all transmitters at their present places."""
        roster = self.roster
        self.locate()
        return RadioSurvey(roster.radios, roster.classes, roster.tables, self._doing, self.heights, self._on_air)

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
            sources = np.flatnonzero(~self.silent.mask).tolist()
        first = {part.fleet: part.first for part in radios.parts}
        if receiver is None:
            at = next(iter(first.values()), 0)
        else:
            at = first[receiver] if receiver in first else self.number_of(receiver)
        low, high = radios.table[:2].min(axis=1), radios.table[:2].max(axis=1)
        middle, extent = 0.5 * (low + high), float((high - low).max())
        given = float(middle[0]) if x is None else x, float(middle[1]) if y is None else y
        return sources, at, *given, min(max(1.7 * extent, 100.0), LARGEST) if size is None else size

    def emitters(self) -> Emitters:
        """Return jammers and spoofers as they are now, as plain trees."""
        spoofers: list[Any] = [one._asdict() for one in self.satellites.views()] if self.satellites.sections else []
        jammers: list[Any] = [one._asdict() for one in self.jammer_views()]
        return Emitters(jammers, spoofers)

    def counts(self) -> dict[str, int]:
        """Return numbers of links: heard, usable, changes since the start; and of jammed receivers."""
        links, jammed = self.links, int(self.jammed_now().sum())
        changes = {"ups": self.ups, "downs": self.downs}
        return {"links": len(links.peer), "up": int(links.up.sum()), "jammed": jammed, **changes}

    # changes from outside -----------------------------------------------------------------------------------------

    def checked(self, action: RadioAction) -> RadioAction:
        """Return the action in plain values; PaddockError if it cannot be applied."""
        if self.settings is None:
            raise PaddockError(f"{action.verb}: {NO_RADIO}")
        assert self.messages is not None
        if action.verb == "send":
            return RadioAction("send", self.messages.checked(action.arguments))
        if action.verb == "allocate":
            given = self.tuning.checked(action.arguments, self.roster.radios)
            self.roster.check_bands(self.tuning.bands(given, self.roster.radios))
            return RadioAction("allocate", given)
        if action.verb not in ("jammer", "spoofer"):
            raise unknown_name("change of the radio", action.verb, ["jammer", "spoofer", "send", "allocate"])
        arguments = dict(action.arguments)
        state = self._emitter(action.verb, str(arguments.pop("name", "")))
        changes = checked_settings(action.verb, state.name, arguments)
        if changes.get("vehicle") is not None:
            _, rows = self.world.find(changes["vehicle"])
            if len(rows) != 1:
                raise PaddockError(f"{changes['vehicle']!r} is a fleet of {len(rows)}: name one vehicle")
        if "frequency" in changes:
            [section] = [one for one in self.roster.jammers.sections if one.name == state.name]
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
        return self.roster.jammers.find(name) if kind == "jammer" else self.satellites.find(name)

    def apply(self, action: RadioAction) -> None:
        """Send a message, or change a jammer, a spoofer or channels; links follow with the next update."""
        action = self.checked(action)
        arguments = dict(action.arguments)
        if action.verb == "send":
            assert self.messages is not None
            self.messages.send(arguments, self.world.clock.tick)
            return
        if action.verb == "allocate":
            self._allocate(arguments)
            return
        state = self._emitter(action.verb, arguments.pop("name"))
        changed(state, arguments)
        self._tune(self.links.tick)
        detail = ", ".join(f"{name} {value}" for name, value in arguments.items())
        self.events.report(self.world.clock.tick, action.verb, state.name, detail)

    def _allocate(self, arguments: Mapping[str, Any]) -> None:
        """Allocate channels by the links at the present positions."""
        roster, tick = self.roster, self.world.clock.tick
        self.locate()
        together = links_on_one_channel(roster.update, tick)
        levels = roster.jammers.levels(roster.classes, roster.paths)

        def jamming_at(frequency: float) -> Floats:
            table, found = roster.radios.table.copy(), np.zeros(roster.radios.n)
            table[COLUMN.frequency, : roster.radios.n] = frequency
            if len(roster.jammers):
                add_jamming(table, self._doing, levels, found)
            return found

        for name, channel in self.tuning.allocate(arguments, roster.radios, together, jamming_at).items():
            self.events.report(tick, "channel_allocated", name, f"channel {channel}")
        self._tune(self.links.tick)

    # saving -----------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return links, jammers and counts."""
        roster = self.roster
        counts = {"ups": self.ups, "downs": self.downs}
        assert self.messages is not None
        own: dict[str, Any] = {"messages": self.messages.save(), "channels": self.tuning.save()}
        own |= {"on_air": self._on_air.copy(), "jammed": self.jammed.save(roster.radios.n)}
        own["doing"] = self._doing.copy()
        if self.silent.mask.any():
            own["silent"] = self.silent.save()
        if len(roster.deceptive):
            assert self.deception is not None
            own["deception"] = self.deception.save()
        if self.satellites.sections:
            own["spoofers"] = self.satellites.save()
        return {"links": links_tree(self.links), "jammers": roster.jammers.save(), **own, **counts}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Load what `save` returned; PaddockError for what it cannot have returned."""
        roster = self.roster
        links = loaded_links(saved.get("links"))
        check_links(links, roster.radios.n, self.world.clock.tick, self.period)
        self.denied.check_saved(roster.radios, links)
        counts = saved.get("ups"), saved.get("downs")
        if any(type(one) is not int or one < 0 for one in counts):
            raise PaddockError("saved numbers of link changes are not whole numbers >= 0")
        self.silent.restore(saved.get("silent"), roster.radios, links)
        roster.jammers.restore(saved.get("jammers"))
        self.links, (self.ups, self.downs) = links, counts  # type: ignore[assignment]
        assert self.messages is not None
        self.tuning.restore(saved.get("channels"), roster.radios)
        self._tune(links.tick)
        self.messages.restore(saved.get("messages"))
        on_air = np.asarray(saved.get("on_air"))
        if on_air.shape != (roster.radios.n,) or on_air.dtype != np.float64 or not _shares(on_air):
            raise PaddockError("saved shares of time on the air are not those of the radios")
        self._on_air = on_air.copy()
        doing = np.asarray(saved.get("doing"))
        if doing.shape != (ROWS, roster.jammers.columns) or doing.dtype != np.float64 or not possible_acts(doing):
            raise PaddockError("saved acts of jammers are not valid")
        self._doing = doing.copy()
        assert self.deception is not None
        self.deception.restore(saved.get("deception", np.zeros((0, roster.radios.n))))
        self.jammed.restore(saved.get("jammed"), roster.radios.n, self.world.clock.tick)
        self.uplink.check_saved()
        assert self.telemetry is not None and self.heartbeats is not None
        self.telemetry.check_saved()
        self.heartbeats.check_saved()
        rate = self.world.clock.rate
        self.satellites.restore(saved.get("spoofers", []), links.tick / rate, self.period / rate)

    def take_over(self, other: "RadioStage") -> None:
        """Replace the state by that of another stage, whose programs are now those of this one."""
        if self.settings is None:
            return
        roster = other.roster
        self.links, self.ups, self.downs = other.links, other.ups, other.downs
        self._doing = other._doing
        self._roster, self._version = roster, (-1, -1)
        self.tuning, self._on_air, self.jammed.last = other.tuning, other._on_air, other.jammed.last
        self.silent.mask = other.silent.mask
        assert self.messages is not None and other.messages is not None
        assert self.deception is not None and other.deception is not None
        assert self.telemetry is not None and self.heartbeats is not None
        self.telemetry.times.forget()
        self.heartbeats.times.forget()
        self.deception.chances = other.deception.chances
        self.messages.take_over(other.messages)
        self.satellites.take_over(other.satellites)

    def forget(self, fleet: str) -> None:
        """Forget the channels of a fleet that has no vehicles any more."""
        self.tuning.forget(fleet)

    def clear(self) -> None:
        """Start a new run."""
        self.links, self.ups, self.downs = no_links(0), 0, 0
        self._roster, self.tuning, self._on_air = None, Tuning(), np.zeros(0)
        self.jammed.last, self.silent.mask = np.zeros(0, np.int64), np.zeros(0, bool)
        if self.messages is not None and self.deception is not None:
            self.messages.clear()
            self.deception.clear()
        self.satellites.clear()


def _shares(values: Floats) -> bool:
    return bool(((values >= 0.0) & (values <= 1.0)).all())
