"""The radio of a simulation, `sim.radio`: links, budgets, stations, jammers, messages and the network.

`radio_tree` has radios, stations and jammers as a plain tree, for clients and viewers of recordings.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from paddock.compute.twin import vectorised
from paddock.engine import actions
from paddock.engine.radio.packets import MessageStage
from paddock.engine.radio.stage import Emitters, RadioStage
from paddock.engine.radio.tuning import LEAST_INTERFERED
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.links.jamming import JammerState
from paddock.radio.links.paths import classes_of
from paddock.radio.links.radios import COLUMN, Floats, Radios
from paddock.radio.links.survey import RadioSurvey, far_interference, radio_ranges
from paddock.radio.packets.messages import EVERYONE, Messages
from paddock.radio.packets.network import Network
from paddock.radio.packets.state import STATE_FIELDS
from paddock.radio.physics.signal import decibels
from paddock.radio.settings import checked_assignment
from paddock.scenario.radio import RadioSection
from paddock.wire.radio_results import (
    CommandTraffic,
    CoverageGrid,
    HeardLevels,
    JammerView,
    LinkBudget,
    Links,
    NegotiatedAssignment,
    RadioFleetTree,
    RadioReport,
    RadioTree,
    RadioTypeTree,
    Received,
    ServiceTraffic,
    Spectrum,
    SpooferView,
    Station,
    StationTree,
    VehicleTelemetry,
    as_tree,
)

if TYPE_CHECKING:
    from paddock.engine.engine import Engine
    from paddock.planning.consensus_radio import RadioConsensus

View = TypeVar("View")


class RadioControl:
    """The radio of a simulation."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self.jammers: EmitterControl[JammerView] = EmitterControl(engine, "jammer", self._jammers)
        self.spoofers: EmitterControl[SpooferView] = EmitterControl(
            engine, "spoofer", lambda: engine.radio.satellites.views()
        )

    @property
    def _stage(self) -> RadioStage:
        self._engine.thread.refuse_elsewhere("radio")
        return self._engine.radio

    def _jammers(self) -> list[JammerView]:
        return self._engine.radio.jammer_views()

    @property
    def radios(self) -> Radios:
        """The table of radios; the numbers in `links()` are its columns."""
        return self._stage.roster.radios

    def links(self) -> Links:
        """Return the links of the last update; rows of transmitters that each receiver hears."""
        stage = self._stage
        _ = stage.roster
        return stage.links

    def name(self, radio: int) -> str:
        """Return the vehicle or station of a radio by its number; `red/1` is the second radio of `red`."""
        count = self.radios.n
        if isinstance(radio, bool) or not isinstance(radio, int | np.integer) or not 0 <= radio < count:
            raise InvalidValueError(f"name: a radio is a number from 0 to {count - 1}, not {radio!r:.40}")
        return self._stage.name_of(int(radio))

    def number(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle, or the name of its station."""
        return self._stage.number_of(name)

    def link(self, source: str | int, to: str | int) -> LinkBudget:
        """Return the budget of the link from one radio to another at the present positions.

        Interference and jamming are those of the last update.
        """
        i, j = self._stage.number_of(to), self._stage.number_of(source)
        if i == j:
            raise InvalidValueError(f"{source!r} and {to!r} are the same radio")
        return self._stage.budget(j, i)

    def commands(self, vehicle: str | int) -> CommandTraffic:
        """Return the counts of commands that went to a vehicle or fleet over the radio."""
        self._engine.thread.refuse_elsewhere("commands()")
        return self._engine.radio.uplink.traffic(*self._engine.applier.found(vehicle))

    def telemetry(self, vehicle: str | int) -> VehicleTelemetry:
        """Return the newest state of a vehicle that has arrived at its station over the radio, with its age."""
        self._engine.thread.refuse_elsewhere("telemetry()")
        program, rows = self._engine.applier.found(vehicle)
        if len(rows) != 1:
            raise PaddockError(f"{vehicle!r} is a fleet of {len(rows)}: name one vehicle, e.g. {vehicle}[0]")
        assert self._engine.radio.telemetry is not None
        return self._engine.radio.telemetry.newest(program, int(rows[0]))

    @property
    def stations(self) -> list[Station]:
        """The ground stations, in the order of their names."""
        radios = self.radios
        stations: dict[str, Station] = {}
        for k, name in enumerate(radios.stations):
            x, y, z = radios.table[:3, radios.carried + k].tolist()
            known = stations.get(name)
            stations[name] = Station(name, (x, y, z), 1 if known is None else known.radios + 1)
        return list(stations.values())

    def noise(self) -> Floats:
        """Return the noise of every receiver, dBm."""
        radios = self.radios
        noise: Floats = vectorised(decibels)(radios.table[COLUMN.noise, : radios.n])
        return noise

    def survey(self) -> RadioSurvey:
        """Return a copy of all transmitters, with which any thread can compute coverage and spectra."""
        return self._stage.survey()

    def coverage(
        self,
        of: str | int | None = None,
        receiver: str | int | None = None,
        x: float | None = None,
        y: float | None = None,
        size: float | None = None,
        side: int = 64,
        height: float = 2.0,
    ) -> CoverageGrid:
        """Return power, SINR, jamming and PER on a square of `size` m around x, y, `height` m above the ground.

        SINR and jamming are means over time; the packet error rate is that under the bursts of jammers. `of` is a
        station or vehicle: by default all stations, or all vehicles where there are none (of more than 200, the nearest
        to each part of the square). `receiver` is a fleet, a vehicle or a station, by default the first fleet.
        """
        stage = self._stage
        return stage.survey().coverage(*stage.surveyed(of, receiver, x, y, size), side, height)

    def levels(self, places: Any, of: str | int | None = None, receiver: str | int | None = None) -> HeardLevels:
        """Return received power, SINR, jamming and PER at places (n, 3), m; `of` and `receiver` as for `coverage`."""
        try:
            at = np.ascontiguousarray(np.asarray(places, np.float64).T)
        except (TypeError, ValueError):
            raise InvalidValueError(f"places are finite numbers of shape (n, 3), not {places!r:.60}") from None
        if at.ndim != 2 or len(at) != 3:
            raise InvalidValueError(f"places are finite numbers of shape (n, 3), not {np.shape(places)}")
        if not np.isfinite(at).all():
            wrong = int(np.flatnonzero(~np.isfinite(at).all(axis=0))[0])
            raise InvalidValueError(f"places are finite numbers; place {wrong} is {at[:, wrong].tolist()}")
        stage = self._stage
        return stage.survey().at(*stage.surveyed(of, receiver, 0.0, 0.0, 1.0)[:2], at)

    def spectrum(self, receiver: str | int, span: float | None = None, bins: int = 96) -> Spectrum:
        """Return the power by frequency at a radio, over `span` Hz; by default four bandwidths."""
        stage = self._stage
        return stage.survey().spectrum(stage.number_of(receiver), span, bins)

    def report(self) -> RadioReport:
        """Return counts of the last update, and a bound of what pruning leaves out."""
        stage = self._stage
        roster, links = stage.roster, stage.links
        noise = roster.radios.table[COLUMN.noise, : roster.radios.n]
        known = noise + links.interference + links.jamming
        far = far_interference(roster.update)
        worst = float(decibels(float((1.0 + far / known).max()))) if len(far) else 0.0
        jammed = int(stage.jammed_now().sum())
        counts = roster.radios.n, len(links.peer), int(links.up.sum()), stage.state.ups, stage.state.downs
        return RadioReport(links.tick, *counts, worst, int(links.outside.sum()), jammed, stage.rate)

    # messages and the network --------------------------------------------------------------------------------

    @property
    def _messages(self) -> MessageStage:
        self._engine.thread.refuse_elsewhere("radio")
        return self._engine.radio.channel

    def send(
        self,
        source: str | int,
        to: str | int = EVERYONE,
        data: Any = None,
        *,
        bits: int | None = None,
        hops: int | None = None,
        lifetime: float | None = None,
        at_tick: int | None = None,
        client: str = "",
    ) -> None:
        """Send a message from a vehicle or station to another one, or with "*" to all that hear it.

        `data` is bytes or what JSON can hold; its size counts, unless `bits` are given. A message to one takes the
        cheapest route, up to `hops`; a broadcast makes one hop unless more are given. After `lifetime` (s) it is
        discarded. Any thread may call this.
        """
        options = {"bits": bits, "hops": hops, "lifetime": lifetime}
        arguments = {"source": source, "to": to, "data": data, **{k: v for k, v in options.items() if v is not None}}
        self._engine.applier.apply_or_post(actions.RadioAction("send", arguments), "send()", at_tick, client)

    def received(self, name: str | int, since: int = 0) -> list[Received]:
        """Return the newest messages that a vehicle or station has received, oldest first; `since`: later numbers."""
        if isinstance(since, bool) or not isinstance(since, int) or since < 0:
            raise InvalidValueError(f"received: since is the number of a message, 0 or more, not {since!r}")
        return self._messages.received(name, self._engine.world.clock.tick, since)

    def heard(self, name: str | int) -> list[dict[str, Any]]:
        """Return the states of others that a vehicle knows from beacons: name, age (s), x, y, z, ..., vz.

        States older than `beacons.keep` are left out.
        """
        stage, now = self._messages, self._engine.world.clock.time
        keep = 0.0 if stage.section.beacons is None else stage.section.beacons.keep
        radio = self._engine.radio.number_of(name)
        state = stage.fitted().state.packets
        states = []
        for origin, values in zip(state.heard[radio].tolist(), state.heard_real[radio].tolist(), strict=True):
            if origin >= 0 and now - values[0] <= keep:
                pose = dict(zip(STATE_FIELDS, values[1:], strict=True))
                states.append({"name": self._engine.radio.name_of(origin), "age": now - values[0], **pose})
        return sorted(states, key=lambda entry: str(entry["name"]))

    def traffic(self) -> dict[str, int]:
        """Return counters of all radios: packets transmitted, messages delivered, those dropped by reason, ..."""
        stage = self._messages
        state = stage.fitted().state.packets
        return {"sent": state.number - state.forged, **stage.messages.counted()}

    def services(self) -> dict[str, ServiceTraffic]:
        """Return counts of packets of `commands`, `telemetry`, `heartbeats`, `mission` and `mavlink` that sent any."""
        return self._messages.traffic_of_services()

    def network(self) -> Network:
        """Return the network of the last links: components, routes, articulation points, bridges."""
        return self._messages.network(self._engine.world.clock.tick)

    def medium(self) -> Messages:
        """Return an empty channel over the present links, for planning over radio; the run is not affected.

        It is an object of this process: remote clients do not have it.
        """
        return self._messages.medium()

    def assign(
        self, vehicles: Sequence[str | int], cost: Any, period: float = 0.5, rounds: int = 1000
    ) -> NegotiatedAssignment:
        """Return the task of each vehicle on which they agree by CBBA over the present links, and how they came to it.

        `cost` (vehicles, tasks): what each task would cost a vehicle. A round of broadcasts takes `period` (s). The
        vehicles stay where they are meanwhile, and the run is not affected.
        """
        return self.bidders(vehicles, cost, period, rounds).assigned(rounds)

    def bidders(
        self, vehicles: Sequence[str | int], cost: Any, period: float = 0.5, rounds: int = 1
    ) -> "RadioConsensus":
        """Return the vehicles of `assign` before their first round, with which any thread can compute."""
        from paddock.planning.consensus_radio import RadioConsensus  # planning takes long to import
        from paddock.planning.solver.methods.cbba import bidding_on

        names, costs, time, _ = checked_assignment(vehicles, cost, period, rounds)
        radios = np.array([self._engine.radio.number_of(vehicle) for vehicle in names], np.int64)
        medium = self.medium()
        owners = medium.devices.group[radios].tolist()
        for k in np.setdiff1d(np.arange(len(owners)), np.unique(owners, return_index=True)[1])[:1].tolist():
            first = owners.index(owners[k])
            raise InvalidValueError(f"assign: vehicles {first} and {k}, {names[k]!r}, are the same vehicle")
        return RadioConsensus(bidding_on(costs), medium, radios, period=time)

    def allocate(
        self,
        groups: Sequence[str],
        channels: Sequence[int],
        method: str = LEAST_INTERFERED,
        *,
        at_tick: int | None = None,
        client: str = "",
    ) -> None:
        """Give each group a channel: that with least interference, or the `least_used`.

        A group is a fleet or station: its first radios, `scouts/1`: its second ones. Groups choose one after the other.
        Links follow with the next update. Any thread may call this.
        """
        lists = (
            names if isinstance(names, str) or not np.iterable(names) else list(names) for names in (groups, channels)
        )
        arguments = {**dict(zip(("groups", "channels"), lists, strict=True)), "method": method}
        self._engine.applier.apply_or_post(actions.RadioAction("allocate", arguments), "allocate()", at_tick, client)


class EmitterControl(Generic[View]):
    """The jammers or the spoofers of a simulation: `sim.radio.jammers`, `sim.radio.spoofers`."""

    def __init__(self, engine: "Engine", kind: str, views: Callable[[], list[View]]) -> None:
        self._engine, self._kind, self._views = engine, kind, views

    def __call__(self) -> list[View]:
        """Return all of them, in the order of their names."""
        self._engine.thread.refuse_elsewhere(f"{self._kind}s()")
        return self._views()

    def set(self, name: str, *, at_tick: int | None = None, source: str = "", **changes: Any) -> None:
        """Change one, immediately or at `at_tick`; links and signals follow with the next update. From any thread.

        `on` (bool) switches it, whatever its schedule; `scheduled=True` returns it to its schedule. `position`
        ([x, y, z] m), `vehicle` (name), `power` (dBm); of a jammer also `frequency` and `bandwidth` (Hz).
        """
        action = actions.RadioAction(self._kind, {"name": name, **changes})
        self._engine.applier.apply_or_post(action, f"{self._kind}s.set()", at_tick, source)


def radio_tree(
    section: RadioSection,
    radios: Radios,
    emitters: Emitters,
    counts: dict[str, int],
    traffic: dict[str, int],
    services: Mapping[str, ServiceTraffic],
) -> RadioTree:
    """Return what a viewer draws; `counts` of links are 0 where they are not known."""
    ranges = radio_ranges(radios, classes_of(section, radios.groups))
    fleets: list[RadioFleetTree] = [
        {"name": part.fleet, "radios": [_type(radios, part.first + k, ranges) for k in range(part.slots)]}
        for part in radios.parts
    ]
    stations: list[StationTree] = []
    for k, name in enumerate(radios.stations):  # as in the numbers of neighbours: one for each radio
        x, y, z = radios.table[:3, radios.carried + k].tolist()
        stations.append({"name": name, "position": (x, y, z), "radio": _type(radios, radios.carried + k, ranges)})
    known = {name: counts.get(name, 0) for name in ("links", "up", "ups", "downs", "jammed")}
    parts = {"rate": section.rate, "fleets": fleets, "stations": stations, **emitters._asdict()}
    tree: RadioTree = as_tree({**parts, "traffic": traffic, "services": services, **known})
    return tree


def _type(radios: Radios, number: int, ranges: Floats) -> RadioTypeTree:
    column = radios.table[:, number]
    return {
        "type": radios.groups[int(column[COLUMN.group])].type,
        "frequency": float(column[COLUMN.frequency]),
        "bandwidth": float(column[COLUMN.bandwidth]),
        "power": float(column[COLUMN.power]),
        "sensitivity": float(column[COLUMN.sensitivity]),
        "noise": decibels(float(column[COLUMN.noise])),
        "needed": float(column[COLUMN.needed]),
        "range": float(ranges[int(column[COLUMN.group])]),
    }


def jammer_views(section: RadioSection, states: Iterable[JammerState], time: float) -> list[JammerView]:
    """Return jammers of given states; where vehicles carry them is not known here."""
    sections = sorted(section.jammers, key=lambda jammer: jammer.name)
    views: list[JammerView] = []
    for jammer, state in zip(sections, states, strict=True):
        active = state.active_share(jammer.on, time, 1.0 / section.rate)
        power = state.power, state.frequency, state.bandwidth, state.false_frames
        switched = jammer.name, jammer.kind, state.on, state.scheduled, active
        views.append(JammerView(*switched, state.position, state.vehicle, *power))
    return views


def spoofer_views(section: RadioSection, states: Iterable[JammerState], time: float) -> list[SpooferView]:
    """Return spoofers of given states; which receivers they have captured is not known here."""
    views: list[SpooferView] = []
    for spoofer, state in zip(sorted(section.spoofers, key=lambda spoofer: spoofer.name), states, strict=True):
        active = state.active_share(spoofer.on, time, 1.0 / section.rate) > 0.0
        place = state.position, state.vehicle
        views.append(SpooferView(spoofer.name, state.on, state.scheduled, active, *place, state.power, captured=0))
    return views
