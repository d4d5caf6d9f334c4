"""Satellite navigation under jammers and spoofers: the signals at the receivers of all vehicles.

The stage of radio updates them with the links. A fleet that has a `gnss` sensor, in a scenario with jammers or
spoofers, has a table of signals, which the sensor reads.
"""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.fleet_settings import GNSS
from paddock.engine.radio.roster import path_tables
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, PaddockError, ScenarioWarning
from paddock.radio.links.jamming import HIGH, LOW, ON, PHASE, SPAN, Jammers, JammerState, started
from paddock.radio.links.paths import check_frequencies, classes_of
from paddock.radio.links.radios import COLUMN, FleetRadios, Floats, jammer_radio, radios_of
from paddock.radio.physics import satellites as g
from paddock.radio.physics.signal import power_ratio
from paddock.scenario import Scenario, VehicleEntry
from paddock.scenario.radio import JammerSection, RadioSection
from paddock.scenario.radio_types import AntennaSection, FittedRadio, RadioType, SpooferSection
from paddock.wire.radio_results import SpooferView
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.radio.stage import RadioStage

SHARED = ("position", "vehicle", "power", "enabled", "on")  # settings of spoofers and jammers
RECEIVER = FittedRadio(
    type=GNSS, frequency=g.L1, channel=0, bandwidth=g.BAND, antenna=AntennaSection(kind="isotropic"), modulation="bpsk"
)


def as_jammer(spoofer: SpooferSection) -> JammerSection:
    """Return the transmitter of a spoofer as a jammer in the band of the satellites."""
    settings: dict[str, Any] = {name: getattr(spoofer, name) for name in ("name", *SHARED)}
    return JammerSection(kind="spot", frequency=g.L1, bandwidth=g.BAND, **settings)


class ReceiverRoster:
    """What does not change while the vehicles stay the same."""

    def __init__(self, scenario: Scenario, world: Run) -> None:
        section = scenario.radio
        assert section is not None
        self.fleets = [p.fleet for p in world.programs.values() if GNSS in p.fleet.tables and p.fleet.n]
        fitted = [
            FleetRadios(fleet.name, fleet.ids[fleet.rows], fleet.tables["streams"][fleet.rows], (RECEIVER,))
            for fleet in self.fleets
        ]
        emitters = (*section.jammers, *map(as_jammer, section.spoofers))
        own: RadioSection = section.model_copy(update={"stations": (), "jammers": emitters, "types": {}})
        self.radios = radios_of(own, fitted)
        self.emitters = Jammers(emitters, self.radios)
        self.classes = classes_of(own, self.radios.groups)
        self.tables = path_tables(world, self.radios, self.classes)
        names = [emitter.name for emitter in self.emitters.sections]
        self.jammers = np.array([names.index(jammer.name) for jammer in _by_name(section.jammers)], np.int64)
        seconds = [self.emitters.second[k] for k in self.jammers.tolist() if k in self.emitters.second]
        self.columns = np.concatenate([self.jammers, np.array(seconds, np.int64)])  # of the jammers, as in the run
        self.spoofers = np.array([names.index(spoofer.name) for spoofer in _by_name(section.spoofers)], np.int64)
        self.aimed = np.zeros((len(self.spoofers), self.radios.n))
        for q, spoofer in enumerate(_by_name(section.spoofers)):
            self.aimed[q] = self._aimed(spoofer.target, world)

    def _aimed(self, target: str | None, world: World) -> Floats:
        """Return 1 for the receivers of a target, 0 for others."""
        if target is None:
            return np.ones(self.radios.n)
        if not world.has(target):  # it has been removed
            return np.zeros(self.radios.n)
        fleet, rows = world.find(target)
        return np.isin(self.radios.owner, fleet.ids[rows]).astype(np.float64)


def _by_name(sections: Any) -> list[Any]:
    return sorted(sections, key=lambda section: section.name)


def check_receivers(scenario: Scenario) -> None:
    """Raise InvalidValueError at its place if a model of propagation is not valid for jammers of satellite signals."""
    section = scenario.radio
    assert section is not None
    near = [
        jammer
        for jammer in section.jammers
        if abs(jammer.frequency - g.L1) < 0.5 * (jammer_radio(jammer).bandwidth + g.BAND) or jammer.sweep is not None
    ]
    ids = np.zeros(1, np.int64)
    fleets = [FleetRadios(entry.name, ids, ids, (RECEIVER,)) for entry in scenario.vehicles if has_receiver(entry)]
    emitters = (*near, *map(as_jammer, section.spoofers))
    if emitters and fleets:
        own: RadioSection = section.model_copy(update={"stations": (), "jammers": emitters, "types": {}})
        groups = radios_of(own, fleets).groups
        check_frequencies(scenario, groups, classes_of(own, groups))


def check_targets(scenario: Scenario) -> None:
    """Raise InvalidValueError at its place if a spoofer's target has no satellite navigation."""
    assert scenario.radio is not None
    equipped = _equipped(scenario)
    for k, spoofer in enumerate(scenario.radio.spoofers):
        if spoofer.target is not None and spoofer.target.partition("[")[0] not in equipped:
            where = scenario.at("radio", "spoofers", k, "target")
            raise InvalidValueError(
                f"{where}: {spoofer.target!r} has no satellite navigation: add `gnss` to its sensors"
            )


def warn_of_targets(scenario: Scenario) -> None:
    """Warn of spoofers, and of jammers of satellite signals alone, where no vehicle has satellite navigation."""
    section = scenario.radio
    if section is None or _equipped(scenario):
        return
    used = [fitted for entry in scenario.vehicles for fitted in entry.radio]
    used += [fitted for station in section.stations for fitted in station.radio]
    radios = [fitted.of(section.known_types) for fitted in used]
    idle = [("spoofers", k, spoofer.name) for k, spoofer in enumerate(section.spoofers)]
    for k, jammer in enumerate(section.jammers):
        if _reaches(jammer, g.L1, g.BAND) and not any(_jams(jammer, radio) for radio in radios):
            idle.append(("jammers", k, jammer.name))
    for kind, k, name in idle:
        text = f"{kind[:-1]} {name!r} has no effect: no vehicle has the sensor `gnss`"
        warnings.warn(f"{scenario.at('radio', kind, k)}: {text}", ScenarioWarning, stacklevel=2)


def _equipped(scenario: Scenario) -> set[str]:
    """Return the names of fleets with satellite navigation: a sensor, or the standard ones of an autopilot."""
    flown = [pilots.vehicles for pilots in scenario.sitl.pilots] if scenario.sitl is not None else []
    entries = scenario.vehicles
    return {entry.name for entry in entries if has_receiver(entry) or (entry.name in flown and not entry.sensors)}


def _jams(jammer: JammerSection, radio: RadioType) -> bool:
    """Return whether a jammer may transmit in the band of a radio; one that follows or hops may."""
    if jammer.kind == "follower" or radio.hopping is not None:
        return True
    return _reaches(jammer, radio.centre, radio.bandwidth)


def _reaches(jammer: JammerSection, centre: float, bandwidth: float) -> bool:
    """Return whether a jammer may transmit in a band, Hz."""
    low, high = jammer.sweep or (jammer.frequency, jammer.frequency)
    half = 0.5 * (jammer.width + bandwidth)
    return low - half < centre < high + half


def has_receiver(entry: VehicleEntry) -> bool:
    """Return whether the vehicles of an entry have satellite navigation."""
    return any(sensor.name == "gnss" for sensor in entry.sensors)


class SatelliteField:
    """The signals of satellites and spoofers at all vehicles."""

    def __init__(self, radio: "RadioStage") -> None:
        self._radio, self.world = radio, radio.world
        self.scenario = scenario = radio.scenario
        section = scenario.radio
        if section is not None:
            check_receivers(scenario)
            check_targets(scenario)
            warn_of_targets(scenario)
        self.sections: list[SpooferSection] = [] if section is None else _by_name(section.spoofers)
        ways, rules = np.zeros((6, len(self.sections))), np.zeros((3, len(self.sections)))
        for q, spoofer in enumerate(self.sections):
            pull = spoofer.pull
            rules[:, q] = power_ratio(spoofer.margin), spoofer.capture, 0.0 if pull is None else pull.delay
            ways[:3, q], ways[3:, q] = spoofer.offset or 0.0, 0.0 if pull is None else pull.velocity
        self._ways, self._rules = ways, rules
        self._roster: ReceiverRoster | None = None
        self._version: tuple[int, int] = (-1, -1)

    @property
    def states(self) -> list[JammerState]:
        """The states of the spoofers, in the order of their names."""
        return self._radio.state.spoofers

    def started(self) -> list[JammerState]:
        """Return the states of the spoofers at the start of a run."""
        return [started(as_jammer(spoofer)) for spoofer in self.sections]

    @property
    def roster(self) -> ReceiverRoster:
        """The receivers of the present vehicles."""
        if self._roster is None or self._version != self.world.version:
            self._roster, self._version = ReceiverRoster(self.scenario, self.world), self.world.version
        return self._roster

    def update(self, tick: int) -> None:
        """Update all signals until the next update of the links, after the jammers."""
        self._watch_fixes(tick)
        jammers, doing = self._radio.roster.jammers, self._radio.state.doing
        time, interval = tick / self.world.clock.rate, self._radio.interval
        weights = np.array([jammer_weight(jammers, doing, k) for k in range(jammers.columns)])
        active = self._active(time)
        fleets = [p.fleet for p in self.world.programs.values() if GNSS in p.fleet.tables]
        if not weights.any() and not active.any():
            for fleet in fleets:
                self._set_open(fleet, tick)
            return
        roster = self.roster
        if not roster.radios.n:
            return
        levels = self._levels(roster, jammers)
        shares = np.zeros(roster.emitters.columns)
        shares[roster.columns] = weights
        active *= roster.emitters.present[roster.spoofers]
        shares[roster.spoofers] = active / g.MATCHED
        spoofing = g.Spoofing(roster.spoofers, active, roster.aimed, self._rules, self._ways)
        for part in roster.radios.parts:
            fleet = self.world.fleets[part.fleet]
            signals = fleet.tables[GNSS] if fleet.in_order else fleet.by_key(fleet.tables[GNSS])
            before = signals[g.CAPTOR, : fleet.n].copy()
            g.update_signals(fleet.n, part.first, time, interval, levels, shares, spoofing, signals)
            if not fleet.in_order:
                fleet.tables[GNSS][:, fleet.rows] = signals
            self._report(fleet, before, signals[g.CAPTOR, : fleet.n], tick)

    def _set_open(self, fleet: Any, tick: int) -> None:
        """Set the signals of open sky."""
        signals = fleet.tables[GNSS][:, : fleet.n]
        before = signals[g.CAPTOR, fleet.rows]
        signals[: g.LOST] = g.OPEN_SIGNAL[: g.LOST, None]
        self._report(fleet, before, signals[g.CAPTOR, fleet.rows], tick)

    def _levels(self, roster: ReceiverRoster, jammers: Jammers) -> Floats:
        """Return the power (mW) of all emitters at the receivers, (emitters, n)."""
        radios, table = roster.radios, roster.radios.table
        for k, state in zip(roster.jammers, jammers.states, strict=True):
            roster.emitters.states[k] = state
        for k, state in zip(roster.spoofers, self.states, strict=True):
            roster.emitters.states[k] = state
            table[COLUMN.power, radios.n + k] = state.power
        from_main = jammers.radios.table[:, jammers.radios.n :]
        for row in (COLUMN.frequency, COLUMN.bandwidth, COLUMN.power):
            table[row, radios.n + roster.columns] = from_main[row]
        for part in radios.parts:
            program = self.world.programs[part.fleet]
            poses = program.pose_block(self.world.clock.tick)
            radios.place(part, poses if program.fleet.in_order else program.fleet.by_key(poses))
        self._radio.put_emitters(roster.emitters, radios)
        table[COLUMN.height] = table[2] - self._radio.heights(table[0], table[1])
        roster.tables.place()
        return roster.emitters.levels(roster.classes, roster.tables.paths)

    def _report(self, fleet: Any, before: Floats, after: Floats, tick: int) -> None:
        """Report receivers that were captured or released; captors are in the order of the members."""
        for kind, captors, changed in (
            ("gnss_spoofed", after, (before != after) & (after > 0.0)),
            ("gnss_released", before, (before != after) & (after == 0.0)),
        ):
            places = np.flatnonzero(changed)
            named = zip(fleet.rows[places].tolist(), captors[places].tolist(), strict=True)
            names = ((fleet.vehicle_name(row), self.sections[int(captor) - 1].name) for row, captor in named)
            self._radio.events.report_some(tick, kind, names, len(places), f"vehicles of {fleet.name}")

    def _watch_fixes(self, tick: int) -> None:
        """Note and report which vehicles have lost or regained their fix, by the newest readings of all receivers."""
        for program in self.world.programs.values():
            fleet = program.fleet
            receivers = [array for array in program.sensors.values() if array.sensor.name == "gnss"]
            if GNSS not in fleet.tables or not fleet.n:
                continue
            fixes = np.full((len(receivers), fleet.n), np.nan)  # of vehicles that have just joined
            for receiver, fix in zip(receivers, fixes, strict=True):
                fix[: receiver.n] = receiver.readings()["fix"]
            without = (fixes == 0.0).all(axis=0)
            at = fleet.tables[GNSS][g.LOST, : fleet.n]
            lost, regained = without & (at == g.HAS_FIX), ~without & (at != g.HAS_FIX)
            at[lost], at[regained] = tick / self.world.clock.rate, g.HAS_FIX
            for kind, changed in (("gnss_lost", lost), ("gnss_regained", regained)):
                rows = fleet.rows[changed[fleet.rows]].tolist()
                names = ((fleet.vehicle_name(row), "") for row in rows)
                self._radio.events.report_some(tick, kind, names, len(rows), f"vehicles of {fleet.name}")

    def views(self) -> list[SpooferView]:
        """Return all spoofers as they are now."""
        roster, views = self.roster, []
        for k, state in zip(roster.spoofers, self.states, strict=True):
            roster.emitters.states[k] = state
        self._radio.put_emitters(roster.emitters, roster.radios)
        tick = self._radio.links.tick
        active = self._active(tick / self.world.clock.rate) * roster.emitters.present[roster.spoofers] * (tick >= 0)
        captors = [fleet.tables[GNSS][g.CAPTOR, : fleet.n] for fleet in roster.fleets]
        for q, (k, state) in enumerate(zip(roster.spoofers.tolist(), self.states, strict=True)):
            captured = sum(int((captor == q + 1.0).sum()) for captor in captors)
            switched = state.name, state.on, state.scheduled, bool(active[q])
            views.append(SpooferView(*switched, roster.emitters.position(k), state.vehicle, state.power, captured))
        return views

    def _active(self, time: float) -> Floats:
        """Return the share of the time from `time` (s) until the next update in which each spoofer transmits."""
        spoofers, interval = zip(self.sections, self.states, strict=True), self._radio.interval
        return np.array([state.active_share(section.on, time, interval) for section, state in spoofers])

    def check(self) -> None:
        """Refuse satellite signals of a loaded state that no run can have left."""
        for name, program in self.world.programs.items():
            if GNSS in program.fleet.tables:
                signals = program.fleet.tables[GNSS][:, : program.fleet.n]
                if not g.possible_signals(signals, len(self.sections), self.world.clock.time):
                    raise PaddockError(f"saved satellite signals of {name!r} are not valid")


def jammer_weight(jammers: Jammers, doing: Floats, k: int) -> float:
    """Return the share of a jammer's power that disturbs the satellites' signals, in time and by 1 / Q."""
    column = jammers.radios.table[:, jammers.radios.n + k]
    frequency, width, share = float(column[COLUMN.frequency]), float(column[COLUMN.bandwidth]), float(doing[ON, k])
    if share == 0.0:
        return 0.0
    if doing[HIGH, k] == 0.0:
        return share * g.spectrum_overlap(frequency - g.L1, width)
    low, reach = float(doing[LOW, k]), float(doing[HIGH, k] - doing[LOW, k])
    phase, span = float(doing[PHASE, k]), float(doing[SPAN, k])
    parts = [(phase, min(phase + span, 1.0)), (0.0, max(phase + span - 1.0, 0.0))]
    total = 0.0
    for begin, end in parts:
        if end > begin:
            middle, wide = low + 0.5 * (begin + end) * reach, (end - begin) * reach + width
            total += (end - begin) / span * g.spectrum_overlap(middle - g.L1, wide)
    return share * total
