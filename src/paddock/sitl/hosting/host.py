"""Autopilots beside a running simulation: the bridge at its barrier, ground stations on their sockets."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, isfinite
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario.sitl import WORLD, Sitl
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.telemetry import Telemetry
from paddock.sitl.bridge.bridge import Bridge
from paddock.sitl.bridge.partner import EnginePartner
from paddock.sitl.bridge.status import StatusRow
from paddock.sitl.hosting.crew import Seat, build_adapter, build_seats, listening
from paddock.sitl.hosting.hints import connection_hints

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
            self.bridge.spawn(seat.placed, seat.pilot, seat.adapter)
            self.seats.append(seat)
            if seat.adapter == WORLD and getattr(seat.pilot, "needs_truth", False):
                self.world.set_truth(seat.placed.id)
        self._open_mavlink([seat for seat in self.seats if seat.pilots.autopilot == "builtin"])
        self.bridge.go_on = sim.barrier.go_on
        self.bridge.meanwhile.append(sim.barrier.meanwhile)
        own = [seat.placed.name for seat in self.seats if seat.adapter == WORLD]
        sim.barrier.join(self._partner, frozenset(sim.snapshot()[name].id for name in own))
        sim.restarted.append(self._partner.restarted)
        sim.closing.append(self.close)

    def _open_mavlink(self, seats: list[Seat]) -> None:
        if not seats:
            return
        from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
        from paddock.sitl.mavlink.hub import MavlinkHub
        from paddock.sitl.mavlink.ports import Ports
        from paddock.sitl.station.station import Station

        links = self.section.mavlink
        ports = Ports(listening(self.section), links.port, links.host, links.station, links.shared)
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

    def status(self) -> list[StatusRow]:
        """One row per vehicle, by ascending system id; what goes wrong stands before what is being done."""
        rows = self.bridge.status()
        waiting = {} if self.station is None else self.station.notes()
        own = {} if self.hub is None else self.hub.vehicles
        doing = {sysid: summary(vehicle.autopilot.telemetry) for sysid, vehicle in own.items()} | waiting
        return [row if row.note else row._replace(note=doing.get(row.sysid, "")) for row in rows]

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
        else:
            scheme = "tcp" if seat.pilots.autopilot == "px4" else "udp"
            listens, speaks = f"{scheme} {getattr(seat.pilot, 'port', '-')}", "whoever connects"
        return PortRow(sysid, seat.placed.name, f"{seat.pilots.autopilot} {seat.placed.craft}", listens, speaks)


def summary(told: Telemetry) -> str:
    """Where the mission is, height above home, speed over ground, battery."""
    if told.estimate is None:
        return "no sensor data yet"
    parts = [f"item {told.mission_current}/{told.mission_count - 1}"] if told.mission_count > 1 else []
    if isfinite(told.relative_altitude):
        speed = hypot(told.estimate.vn, told.estimate.ve)
        parts.append(f"{told.relative_altitude:.1f} m {speed:.1f} m/s")
    if told.sensors is not None and isfinite(told.sensors.battery_remaining):
        parts.append(f"{told.sensors.battery_remaining:.0%}")
    return "  ".join(parts)


def _bridge(sim: Simulation, section: Sitl) -> Bridge:
    return Bridge(
        section.time if section.time != "scaled" else "lockstep",  # the engine keeps the pace
        timeout=section.timeout,
        fallback=section.on_timeout,
        report=sim.applier.report,
    )
