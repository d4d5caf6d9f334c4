"""Autopilots beside a running simulation: the bridge at its barrier, ground stations on their sockets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario.sitl import WORLD, Sitl
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.telemetry import Severity
from paddock.sitl.bridge.bridge import Bridge
from paddock.sitl.bridge.partner import EnginePartner
from paddock.sitl.bridge.status import StatusRow
from paddock.sitl.hosting.crew import Seat, build_adapter, build_seats, listening
from paddock.sitl.hosting.doing import Doing, doing
from paddock.sitl.hosting.hints import connection_hints
from paddock.sitl.physics.starting_places import StartingPlaces

if TYPE_CHECKING:  # they need pymavlink, which only the built-in autopilots need
    from paddock.sitl.mavlink.hub import MavlinkHub
    from paddock.sitl.station.station import Station


class PortRow(NamedTuple):
    """Where one autopilot can be reached."""

    sysid: int
    name: str
    autopilot: str
    listens: str
    speaks: str


class SitlHost:
    """The autopilots of a simulation whose scenario has a `sitl` section; joins it, and leaves with `close`."""

    def __init__(self, sim: Simulation) -> None:
        if sim.scenario.sitl is None:
            raise PaddockError(f"{sim.scenario.name}: its scenario has no sitl section, which says who flies what")
        self.sim, self.section = sim, sim.scenario.sitl
        self.seats: list[Seat] = []
        self.told: dict[int, str] = {}  # what was last said of each system, to people who read lines
        self.hub: MavlinkHub | None = None
        self.station: Station | None = None
        self.bridge = _bridge(sim, self.section)
        self.world = WorldAdapter(WORLD, simulation=sim, truth=self.section.truth)
        self._partner = EnginePartner(self.bridge, sim.world.clock.rate)
        self._places = StartingPlaces(sim)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        sim = self.sim
        self.bridge.register(self.world)
        for k, entry in enumerate(self.section.adapters):
            adapter = build_adapter(entry, sim.scenario.at("sitl", "adapters", k))
            self.bridge.register(adapter, entry.timeout, entry.on_timeout)
        for seat in build_seats(sim, self.section):
            self._take_seat(seat)
        self._open_mavlink([seat for seat in self.seats if seat.pilots.autopilot == "builtin"])
        self.bridge.go_on = sim.barrier.go_on
        self.bridge.meanwhile.append(sim.barrier.meanwhile)
        own = [seat.placed.name for seat in self.seats if seat.adapter == WORLD]
        sim.barrier.join(self._partner, frozenset(sim.snapshot()[name].id for name in own))
        sim.restarted.append(self._partner.restarted)
        sim.closing.append(self.close)

    def _take_seat(self, seat: Seat) -> None:
        self.bridge.spawn(seat.placed, seat.pilot, seat.adapter)
        self.seats.append(seat)
        if seat.adapter == WORLD and getattr(seat.pilot, "needs_truth", False):
            self.world.set_truth(seat.placed.id)
        if seat.adapter == WORLD:
            self._places.note(seat.placed.name)
            seat.pilot.on_restart = partial(self._places.put_back, seat.placed.name, WORLD)

    def _open_mavlink(self, seats: list[Seat]) -> None:
        if not seats:
            return
        from paddock.sitl.mavlink.hub import MavlinkHub
        from paddock.sitl.mavlink.link import Ports
        from paddock.sitl.station.station import Station

        links = self.section.mavlink
        ports = Ports(listening(self.section), links.port, links.host, links.station, links.shared)
        ports.refuse_overlap([seat.placed.id for seat in seats])
        self.hub = MavlinkHub(ports, None if links.log is None else Path(links.log))
        for seat in seats:
            assert isinstance(seat.pilot, BuiltInAutopilot)
            self.hub.add(seat.pilot)
            seat.pilot.on_text = self._telling(seat.placed.name)
        self.station = Station(self.hub, [seat for seat in seats if seat.pilots.mission is not None])
        self.bridge.after_exchange += [self.station.service, self.hub.service]
        self.bridge.meanwhile.append(self.hub.idle)
        self.sim.idling.append(self.hub.idle)

    def _telling(self, name: str) -> Callable[[Severity, str], None]:
        """What an autopilot warns of is an event of the run."""

        def tell(severity: Severity, text: str) -> None:
            if severity <= Severity.WARNING:
                self.sim.applier.report("autopilot", name, text)

        return tell

    def close(self) -> None:
        """Let go of the simulation, the sockets and the pilots; nothing if that has been done."""
        self.sim.barrier.leave(self._partner)
        if self._partner.restarted in self.sim.restarted:
            self.sim.restarted.remove(self._partner.restarted)
        self._places.close()
        hub, self.hub = self.hub, None
        if hub is not None:
            self.sim.idling[:] = [call for call in self.sim.idling if call != hub.idle]
            hub.close()
        self.bridge.close()

    def __enter__(self) -> Self:
        """For `with SitlHost(sim) as autopilots`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    # for people ------------------------------------------------------------------------------------------------------

    def progress(self) -> list[tuple[StatusRow, Doing]]:
        """One row per vehicle, by ascending system id, and what it is doing; a note says what hinders it."""
        waiting = {} if self.station is None else self.station.notes()
        rows = [row if row.note else row._replace(note=waiting.get(row.sysid, "")) for row in self.bridge.status()]
        return [(row, self._doing(row)) for row in rows]

    def status(self) -> list[StatusRow]:
        """One row per vehicle, by ascending system id; what goes wrong stands before what is being done."""
        return [row if row.note else row._replace(note=now.line()) for row, now in self.progress()]

    def _doing(self, row: StatusRow) -> Doing:
        vehicle = None if self.hub is None else self.hub.vehicles.get(row.sysid)
        return Doing() if vehicle is None else doing(vehicle.autopilot.telemetry, row.craft)

    def ports(self) -> list[PortRow]:
        """The table of ports."""
        return [self._port(seat) for seat in self.seats]

    def hints(self) -> list[str]:
        """How to connect ground stations, and how to start real autopilots."""
        return connection_hints(self.sim.scenario, self.seats)

    def _port(self, seat: Seat) -> PortRow:
        sysid = seat.placed.id
        if self.hub is not None and sysid in self.hub.vehicles:
            host, port = self.hub.ports.station(sysid)
            listens, speaks = f"udp {self.hub.ports.own(sysid)}", f"udp {host}:{port}"
            if self.hub.ports.shared_port is not None and (host, port) == self.hub.ports.shared_station():
                speaks = f"with all others: {speaks}"  # from the shared port, not from its own
        else:
            scheme = "tcp" if seat.pilots.autopilot == "px4" else "udp"
            listens, speaks = f"{scheme} {getattr(seat.pilot, 'port', '-')}", "whoever connects"
        return PortRow(sysid, seat.placed.name, f"{seat.pilots.autopilot} {seat.placed.craft}", listens, speaks)


def _bridge(sim: Simulation, section: Sitl) -> Bridge:
    return Bridge(
        section.time if section.time != "scaled" else "lockstep",  # the engine keeps the pace
        timeout=section.timeout,
        fallback=section.on_timeout,
        report=sim.applier.report,
    )
