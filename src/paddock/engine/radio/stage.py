"""The stage of radio: updates all links at the rate of the section `radio`, after the sensors.

Between updates the links stay as they are. When vehicles are added or removed, the rows of those that remain are kept
(`_renumbered`); the others follow with the next update.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.engine.actions import RadioAction
from paddock.engine.behaviours import RADIO, PoseBlocks
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.program import FleetProgram
from paddock.engine.radio.gnss import SPOOFER_SETTINGS, SatelliteField
from paddock.engine.radio.messages import MessageStage, RadioView
from paddock.engine.radio.saved import check_links, links_tree, loaded_links
from paddock.engine.radio.tuning import Tuning, links_on_one_channel
from paddock.engine.radio.uplink import Uplink, station_range
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.radio.datalink import NO_LINK, LinkQuality, quality_between
from paddock.radio.describing import Emitters
from paddock.radio.jamming import (
    FRAMES,
    ON,
    SETTABLE,
    SPAN,
    Jammers,
    JammerState,
    add_false_frames,
    add_jamming,
    changed,
    checked_changes,
)
from paddock.radio.link_update import LinkUpdate
from paddock.radio.links import Links, no_links
from paddock.radio.paths import PathTables
from paddock.radio.radios import COLUMN, FleetRadios, Floats, Ints, Radios, check_frequencies, classes_of, radios_of
from paddock.radio.summary import fill_status
from paddock.radio.survey import RadioSurvey
from paddock.scenario import Scenario
from paddock.wire.survey_limits import LARGEST
from paddock.world.columns import column_index
from paddock.world.pose import Environment
from paddock.world.world import World

GROUND_Z = column_index(Environment)["ground_z"]
EVENTS_SHOWN = 100  # at one update; a last one counts the rest
MOST_SURVEYED = 200  # vehicles whose coverage is computed, where there are no stations
FEW = 32  # radios up to which every link that comes up or drops is an event; beyond, those of stations


class JammerView(NamedTuple):
    """A jammer at this tick."""

    name: str
    kind: str
    on: bool  # whether it follows its schedule
    active: float  # share of the time from the last update to the next in which it transmits
    position: tuple[float, float, float] | None  # m; None: its vehicle has been removed
    vehicle: str | None
    power: float  # dBm
    frequency: float  # Hz, where it transmits now
    bandwidth: float  # Hz
    false_frames: float  # that receivers have accepted since the start, of a deceptive jammer


class RadioRoster:
    """What does not change while the vehicles stay the same."""

    def __init__(self, scenario: Scenario, world: World, programs: Mapping[str, FleetProgram]) -> None:
        section = scenario.radio
        assert section is not None
        fleets = [
            FleetRadios(name, p.fleet.ids.copy(), p.fleet.tables["streams"][: p.fleet.n].copy(), p.radio)
            for name, p in programs.items()
            if p.radio and p.fleet.n
        ]
        self.radios: Radios = radios_of(section, fleets)
        self.jammers = Jammers(section.jammers, self.radios)
        self.classes = classes_of(section, self.radios.groups)
        check_frequencies(scenario, self.radios.groups, self.classes)
        self.tables = PathTables(
            self.radios, self.classes, world.scenery, float(world.environment[GROUND_Z]), world.seed
        )
        self.paths = self.tables.paths
        longest = float(np.inf if section.range is None else section.range)
        given = section.hysteresis, section.margin, longest
        self.update = LinkUpdate(self.radios, self.classes, self.paths, *given)
        self.needs_heights = bool((self.classes.table[0] > 0.0).any())  # every model but free space
        self.deceptive = np.array(
            [k for k, one in enumerate(self.jammers.sections) if one.kind == "deceptive"], np.int64
        )
        self.keys = {
            (int(owner) if owner >= 0 else name, int(slot)): k
            for k, (owner, slot, name) in enumerate(
                zip(
                    self.radios.owner,
                    self.radios.slot,
                    [""] * self.radios.carried + [*self.radios.stations],
                    strict=True,
                )
            )
        }


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
    ) -> None:
        self.scenario, self.settings = scenario, scenario.radio
        self.world, self.programs, self.events, self._poses = world, programs, events, poses
        rate = 1.0 if self.settings is None else self.settings.rate
        self.period = max(1, round(world.clock.rate / rate))
        self.links: Links = no_links(0)
        self.ups = self.downs = 0  # links that have come up and dropped since the last reset
        self._accepted: Floats = np.zeros((0, 0))
        self._levels: Floats = np.zeros((0, 0))  # mW of jammers at radios, of the last update
        self._doing: Floats = np.zeros((SPAN + 1, 0))  # what the jammers do, of the last update
        self._on_air: Floats = np.zeros(0)  # share of time that radios transmitted packets before the last update
        self._roster: RadioRoster | None = None
        self._version: tuple[int, int] = (-1, -1)
        self.satellites = SatelliteField(scenario, world, programs, events, self._put_emitters)
        self.uplink = Uplink(scenario, world, programs, events, lambda: (self.roster.radios, self.links))
        self.tuning = Tuning()
        self.messages: MessageStage | None = None
        if self.settings is not None:
            given = self.settings.messages, world.clock.rate, lambda: world.seed, self.period
            self.messages = MessageStage(*given, self._view, poses, events)

    def _view(self) -> RadioView:
        """Return what the messages need."""
        radios = self.roster.radios
        return RadioView(radios, self.links, self.name_of, self.number_of, self.world.clock.tick)

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
                self.links = _renumbered(self.links, old.keys, self._roster.keys)
                before, self._on_air = self._on_air, np.zeros(self._roster.radios.n)
                for key, k in old.keys.items() if len(before) == old.radios.n else ():
                    if key in self._roster.keys:
                        self._on_air[self._roster.keys[key]] = before[k]
            if len(self._on_air) != self._roster.radios.n:
                self._on_air = np.zeros(self._roster.radios.n)
        return self._roster

    def due(self, tick: int) -> int:
        """Return the next multiple of the period."""
        return NEVER_DUE if self.settings is None else every(tick, self.period)

    def begin(self) -> None:
        """Compute the links at the start of a run."""
        if self.messages is not None:
            self._update(self.world.clock.tick, quiet=True)
            self.messages.begin(self.world.clock.tick)

    def run(self, tick: int) -> None:
        """Update all links."""
        self._update(tick)

    def _update(self, tick: int, quiet: bool = False) -> None:
        roster, before = self.roster, self.links
        if self.tuning.tune(roster.radios, self.world.seed, tick / self.world.clock.rate):
            roster.update.refresh()
        self.locate()
        self._on_air = self._traffic(tick)
        jamming, self._doing = self._jam(roster, tick)
        self.links = roster.update.run(tick, jamming, before)
        self.satellites.update(tick, self.period / self.world.clock.rate, roster.jammers, self._doing, self.heights)
        self._accepted = np.zeros((len(roster.deceptive), roster.radios.n))
        if len(roster.deceptive):
            self._deceive(roster)
        self._show(roster)
        if not quiet:
            self._report(roster, before, tick)

    def _traffic(self, tick: int) -> Floats:
        """Return the share of time that each radio has transmitted messages and commands since the last update."""
        assert self.messages is not None
        interval = self.period / self.world.clock.rate
        taken = self.messages.airtimes(max(tick - 1, 0)) + self.uplink.airtimes(interval)
        return np.minimum(taken / interval, 1.0)

    def locate(self) -> None:
        """Put all radios and jammers where their vehicles are now."""
        roster = self.roster
        table = roster.radios.table
        for part in roster.radios.parts:
            roster.radios.place(part, self._poses(part.fleet))
        self._place_jammers(roster)
        if roster.needs_heights:
            table[COLUMN.height] = table[2] - self.heights(table[0], table[1])
        roster.tables.place()

    def _jam(self, roster: RadioRoster, tick: int) -> tuple[Floats, Floats]:
        """Return the power (mW) of all jammers at each receiver, and what they do."""
        radios, classes = roster.radios, roster.classes
        jamming, doing = np.zeros(radios.n), np.zeros((SPAN + 1, 0))
        if len(roster.jammers):
            time, interval = tick / self.world.clock.rate, self.period / self.world.clock.rate
            doing = roster.jammers.act(time, interval, classes, roster.paths, self._on_air)
            self._levels = roster.jammers.levels(classes, roster.paths)
            add_jamming(radios.table, doing, self._levels, jamming)
        return jamming, doing

    def heights(self, x: Floats, y: Floats) -> Floats:
        """Return the height (m) of the ground at places."""
        heights: Floats = np.asarray(self.world.heights(x, y))
        return heights

    def _place_jammers(self, roster: RadioRoster) -> None:
        self._put_emitters(roster.jammers, roster.radios)

    def _put_emitters(self, jammers: Jammers, radios: Radios) -> None:
        """Put jammers where their vehicles are; `radios` is their table."""
        table = radios.table
        for k, state in enumerate(jammers.states):
            if state.vehicle is None:
                jammers.place(k, np.array(state.position), None, -1.0)
                continue
            try:
                fleet, rows = self.world.find(state.vehicle)
            except UnknownNameError:
                jammers.place(k, None, None, -1.0)
                continue
            pose = self._poses(fleet.name)[:7, int(rows[0])]
            own = np.flatnonzero(radios.owner == fleet.ids[rows[0]])
            jammers.place(k, pose[:3], pose[3:], float(table[COLUMN.owner, own[0]]) if len(own) else -1.0)

    def _deceive(self, roster: RadioRoster) -> None:
        """Compute how probable false frames are, and count those that are accepted."""
        links, jammers = self.links, roster.jammers
        given = links.jamming, links.interference, self._accepted
        add_false_frames(roster.radios.table, roster.deceptive, self._doing, self._levels, *given)
        interval = self.period / self.world.clock.rate
        for q, k in enumerate(roster.deceptive.tolist()):
            frames = jammers.sections[k].frames or FRAMES
            jammers.states[k].false_frames += frames * interval * float(self._accepted[q].sum())

    def _show(self, roster: RadioRoster) -> None:
        """Write the columns of snapshots."""
        radios, links = roster.radios, self.links
        for part in radios.parts:
            status = self.programs[part.fleet].fleet.tables[RADIO]
            given: Any = (
                *(part.n, part.first, part.slots, radios.carried, len(radios.stations), radios.table, radios.owner),
                *(links.start, links.peer, links.sinr, links.up, links.interference, links.jamming),
                *(self._accepted, status),
            )
            fill_status(*given)

    # events -----------------------------------------------------------------------------------------------------------

    def _report(self, roster: RadioRoster, before: Links, tick: int) -> None:
        """Report links that have come up or dropped: of stations, and of all radios where there are few."""
        radios, now = roster.radios, self.links
        lowest = 0 if radios.n <= FEW else radios.carried
        old, new = _pairs(before, lowest), _pairs(now, lowest)
        risen, fallen = np.setdiff1d(new, old, assume_unique=True), np.setdiff1d(old, new, assume_unique=True)
        self.ups, self.downs = self.ups + len(risen), self.downs + len(fallen)
        shown = 0
        for kind, found in (("link_up", risen), ("link_down", fallen)):
            for key in found[: EVENTS_SHOWN - shown].tolist():
                one, two = key // radios.n, key % radios.n
                self.events.report(tick, kind, self.name_of(two), self.name_of(one))
            shown = min(EVENTS_SHOWN, shown + len(found))
        more = len(risen) + len(fallen) - EVENTS_SHOWN
        if more > 0:
            self.events.report(tick, "link_down" if len(fallen) > len(risen) else "link_up", "", f"{more} more links")

    def name_of(self, radio: int) -> str:
        """Return the vehicle or station of a radio, with its number where it has several: `red`, `red/1`."""
        radios = self.roster.radios
        for part in radios.parts:
            if part.first <= radio < part.first + part.n * part.slots:
                row, slot = divmod(radio - part.first, part.slots)
                name = self.programs[part.fleet].fleet.vehicle_name(row)
                return f"{name}/{slot}" if slot else name
        name, slot = radios.stations[radio - radios.carried], int(radios.slot[radio])
        return f"{name}/{slot}" if slot else name

    def number_of(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle or station; `red/1` is its second radio."""
        radios = self.roster.radios
        plain, _, slot = str(name).partition("/")
        at = int(slot) if slot.isdecimal() else 0
        if plain in radios.stations:
            own = np.array([radios.carried + k for k, one in enumerate(radios.stations) if one == plain])
        else:
            try:
                fleet, rows = self.world.find(name if isinstance(name, int) else plain)
            except UnknownNameError:
                known = [*self.world.fleets, *dict.fromkeys(radios.stations)]
                raise unknown_name("vehicle or station", plain, known) from None
            if len(rows) != 1:
                raise PaddockError(f"{plain!r} is a fleet of {len(rows)}: name one vehicle, e.g. {plain}[0]")
            own = np.flatnonzero(radios.owner == fleet.ids[rows[0]])
        if not len(own):
            raise PaddockError(f"{plain!r} has no radio: add `radio: default` to its entry")
        if at >= len(own):
            raise PaddockError(f"{plain!r} has the radios 0 to {len(own) - 1}, not {slot}")
        return int(own[at])

    def components(self) -> Ints:
        """Return the part of the network to which each radio belongs."""
        assert self.messages is not None
        return self.messages.components()

    def qualities(self, vehicle: str, station: str) -> tuple[LinkQuality, LinkQuality]:
        """Return the last links from a station to a vehicle and back; NO_LINK for a vehicle that was removed."""
        radios = self.roster.radios
        try:
            fleet, rows = self.world.find(vehicle)
        except UnknownNameError:
            return NO_LINK, NO_LINK
        [part] = [one for one in radios.parts if one.fleet == fleet.name]
        first = part.first + int(rows[0]) * part.slots
        own, base = (first, first + part.slots), station_range(radios, station)
        return quality_between(radios, self.links, own, base), quality_between(radios, self.links, base, own)

    def jammer_views(self) -> list[JammerView]:
        """Return all jammers as they are now."""
        roster = self.roster
        self._place_jammers(roster)
        found = []
        for k, (one, state) in enumerate(zip(roster.jammers.sections, roster.jammers.states, strict=True)):
            x, y, z = roster.radios.table[:3, roster.radios.n + k].tolist()
            active = float(self._doing[ON, k]) if k < self._doing.shape[1] else 0.0
            place = (x, y, z) if roster.jammers.present[k] else None
            now = state.tuned if one.kind == "follower" and state.tuned else state.frequency
            given = state.vehicle, state.power, now, state.bandwidth, state.false_frames
            found.append(JammerView(one.name, one.kind, state.on, active, place, *given))
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
            sources = list(range(radios.n))[:MOST_SURVEYED]
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
        links, noise = self.links, self.roster.radios.table[COLUMN.noise, : self.roster.radios.n]
        jammed = int((links.jamming > noise + links.interference).sum())
        changes = {"ups": self.ups, "downs": self.downs}
        return {"links": len(links.peer), "up": int(links.up.sum()), "jammed": jammed, **changes}

    # changes from outside -----------------------------------------------------------------------------------------

    def checked(self, action: RadioAction) -> RadioAction:
        """Return the action in plain values; PaddockError if it cannot be applied."""
        if self.settings is None:
            raise PaddockError(f"{action.verb}: there is no radio; add a section `radio: {{}}` to the scenario")
        assert self.messages is not None
        if action.verb == "send":
            return RadioAction("send", self.messages.checked(action.arguments))
        if action.verb == "allocate":
            return RadioAction("allocate", self.tuning.checked(action.arguments, self.roster.radios))
        if action.verb not in ("jammer", "spoofer"):
            raise unknown_name("change of the radio", action.verb, ["jammer", "spoofer", "send", "allocate"])
        arguments = dict(action.arguments)
        state = self._emitter(action.verb, str(arguments.pop("name", "")))
        if not arguments:
            known = SPOOFER_SETTINGS if action.verb == "spoofer" else SETTABLE
            raise InvalidValueError(f"{action.verb} {state.name!r}: nothing to change; give {', '.join(known)}")
        for name in arguments if action.verb == "spoofer" else ():
            if name not in SPOOFER_SETTINGS:
                raise unknown_name("setting of a spoofer", name, SPOOFER_SETTINGS)
        changes = checked_changes(arguments)
        if changes.get("vehicle") is not None:
            _, rows = self.world.find(changes["vehicle"])
            if len(rows) != 1:
                raise PaddockError(f"{changes['vehicle']!r} is a fleet of {len(rows)}: name one vehicle")
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
        detail = ", ".join(f"{name} {value}" for name, value in arguments.items())
        self.events.report(self.world.clock.tick, action.verb, state.name, detail)

    def _allocate(self, arguments: Mapping[str, Any]) -> None:
        """Allocate channels by the links at the present positions."""
        roster, tick = self.roster, self.world.clock.tick
        self.locate()
        together = links_on_one_channel(roster.update, tick)

        def jamming_at(frequency: float) -> Floats:
            table, found = roster.radios.table.copy(), np.zeros(roster.radios.n)
            table[COLUMN.frequency, : roster.radios.n] = frequency
            if len(roster.jammers):
                add_jamming(table, self._doing, self._levels, found)
            return found

        for name, channel in self.tuning.allocate(arguments, roster.radios, together, jamming_at).items():
            self.events.report(tick, "channel_allocated", name, f"channel {channel}")

    # saving -----------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return links, jammers and counts."""
        roster = self.roster
        counts = {"ups": self.ups, "downs": self.downs}
        assert self.messages is not None
        own: dict[str, Any] = {"messages": self.messages.save(), "channels": self.tuning.save()}
        own["on_air"] = self._on_air.copy()
        if self.satellites.sections:
            own["spoofers"] = self.satellites.save()
        return {"links": links_tree(self.links), "jammers": roster.jammers.save(), **own, **counts}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Load what `save` returned; PaddockError for what it cannot have returned."""
        roster = self.roster
        links = loaded_links(saved.get("links"))
        check_links(links, roster.radios.n, self.world.clock.tick, self.period)
        counts = saved.get("ups"), saved.get("downs")
        if any(type(one) is not int or one < 0 for one in counts):
            raise PaddockError("saved numbers of link changes are not whole numbers >= 0")
        roster.jammers.restore(saved.get("jammers"))
        self.links, (self.ups, self.downs) = links, counts  # type: ignore[assignment]
        assert self.messages is not None
        self.tuning.restore(saved.get("channels"), roster.radios)
        self.messages.restore(saved.get("messages"))
        on_air = np.asarray(saved.get("on_air"))
        if on_air.shape != (roster.radios.n,) or on_air.dtype != np.float64 or not _shares(on_air):
            raise PaddockError("saved shares of time on the air are not those of the radios")
        self._on_air = on_air.copy()
        self.uplink.check_saved()
        self.satellites.restore(saved.get("spoofers", []))

    def take_over(self, other: "RadioStage") -> None:
        """Replace the state by that of another stage, whose programs are now those of this one."""
        if self.settings is None:
            return
        roster = other.roster
        self.links, self.ups, self.downs, self._accepted = other.links, other.ups, other.downs, other._accepted
        self._roster, self._version = roster, (-1, -1)
        self.tuning, self._on_air = other.tuning, other._on_air
        assert self.messages is not None and other.messages is not None
        self.messages.take_over(other.messages)
        self.satellites.take_over(other.satellites)

    def forget(self, fleet: str) -> None:
        """Forget the channel of a fleet that has no vehicles any more."""
        self.tuning.channels.pop(fleet, None)

    def clear(self) -> None:
        """Start a new run."""
        self.links, self.ups, self.downs = no_links(0), 0, 0
        self._roster, self.tuning, self._on_air = None, Tuning(), np.zeros(0)
        if self.messages is not None:
            self.messages.clear()
        self.satellites.clear()


def _shares(values: Floats) -> bool:
    return bool(((values >= 0.0) & (values <= 1.0)).all())


def _pairs(links: Links, lowest: int) -> Ints:
    """Return lower number + n x higher number of every two radios that hear each other, the higher from `lowest` on."""
    n = len(links.start) - 1
    if n == 0 or lowest >= n:
        return np.zeros(0, np.int64)
    first = int(links.start[lowest])
    rows = np.repeat(np.arange(lowest, n), np.diff(links.start[lowest:]))
    peer, up = links.peer[first:].astype(np.int64), links.up[first:] != 0
    down_there: NDArray[np.bool_] = up & (peer < rows)
    rows, peer = rows[down_there], peer[down_there]
    back = _entries(links, peer, rows)
    both = (back >= 0) & (links.up[np.maximum(back, 0)] != 0) if len(links.up) else np.zeros(0, bool)
    return np.sort(rows[both] * n + peer[both])


def _entries(links: Links, rows: Ints, peers: Ints) -> Ints:
    """Return the places of entries by receiver and transmitter, -1 where there are none."""
    low, high = links.start[rows].copy(), links.start[rows + 1].copy()
    end = high.copy()
    for _ in range(int(max(1, (high - low).max(initial=1))).bit_length() + 1):  # binary search in all rows at once
        middle = (low + high) // 2
        less = (middle < high) & (links.peer[np.minimum(middle, len(links.peer) - 1)] < peers)
        low, high = np.where(less, middle + 1, low), np.where(less, high, np.maximum(middle, low))
    found = (low < end) & (links.peer[np.minimum(low, len(links.peer) - 1)] == peers) if len(links.peer) else low < 0
    return np.where(found, low, -1)


def _renumbered(links: Links, old: Mapping[Any, int], new: Mapping[Any, int]) -> Links:
    """Return the links of the radios that are in both tables, under their new numbers."""
    place = np.full(len(old), -1)
    for key, k in old.items():
        place[k] = new.get(key, -1)
    n = len(new)
    rows = np.repeat(place, np.diff(links.start)) if len(links.start) == len(old) + 1 else np.zeros(0, np.int64)
    peers = place[links.peer] if len(rows) else rows
    kept = np.flatnonzero((rows >= 0) & (peers >= 0))
    kept = kept[np.lexsort((peers[kept], rows[kept]))]
    start = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=n))]).astype(np.int64)
    per_radio = []
    for values in (links.interference, links.jamming, links.outside):
        moved = np.zeros(n, values.dtype)
        if len(values) == len(place):
            moved[place[place >= 0]] = values[place >= 0]
        per_radio.append(moved)
    taken: Any = [values[kept] for values in (links.power, links.sinr, links.per, links.up)] + per_radio
    return Links(links.tick, start, peers[kept].astype(np.int32), *taken)
