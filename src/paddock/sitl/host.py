"""Autopilots beside a running simulation: the bridge joins its barrier, ground stations connect over MAVLink."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from math import hypot, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.contract import drives
from paddock.autopilot.log import OnboardLog
from paddock.autopilot.mission_items import ITEM_KINDS, AltitudeFrame, PlanKind
from paddock.autopilot.telemetry import Severity
from paddock.engine.actions import PlaceAction
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario.sitl import LOCAL, WORLD, mavlink_via
from paddock.scenario.via import station_of
from paddock.sitl.adapter_link import StatusRow
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.ardupilot_frames import FRAME_OF_CRAFT, Launch, launch_lines
from paddock.sitl.bridge import Bridge
from paddock.sitl.external_autopilot import ExternalAutopilot
from paddock.sitl.from_scenario import FlownVehicle, build_adapter, build_vehicles
from paddock.sitl.saved_autopilots import SavedAutopilots
from paddock.world.geodesy import Origin

if TYPE_CHECKING:  # they need pymavlink, which only the built-in autopilots need
    from paddock.mavlink.hub import MavlinkHub
    from paddock.mavlink.radio_path import RadioEnds, RadioRelay
    from paddock.sitl.ground_station import MissionStarter

QGROUNDCONTROL = 14550  # UDP port at which QGroundControl listens by default
SHOWN_LAUNCHES = 3  # real autopilots whose command lines are printed


class PortRow(NamedTuple):
    """Addresses of one autopilot."""

    sysid: int
    name: str
    autopilot: str
    listens: str
    speaks: str


class Progress(NamedTuple):
    """Short texts on the progress of a built-in autopilot; empty if unknown or not applicable."""

    item: str = ""  # of the mission, and their number
    height: str = ""  # m above home, of aircraft
    speed: str = ""  # m/s over ground
    battery: str = ""

    def line(self) -> str:
        """Return all in one line, for logs and pipes."""
        named = (("item ", self.item, ""), ("", self.height, " m"), ("", self.speed, " m/s"), ("", self.battery, ""))
        return "  ".join(f"{before}{value}{unit}" for before, value, unit in named if value)


class SitlHost:
    """The autopilots of a simulation whose scenario has a `sitl` section. Joins it, and leaves with `close`."""

    def __init__(self, sim: Simulation) -> None:
        if sim.scenario.sitl is None:
            raise PaddockError(f"{sim.scenario.name}: the scenario has no sitl section")
        self.sim, self.section = sim, sim.scenario.sitl
        self.vehicles: list[FlownVehicle] = []
        self.printed: dict[int, str] = {}  # last line printed for each system
        self.hub: MavlinkHub | None = None
        self.relays: dict[int, RadioRelay] = {}  # of real autopilots, by system id
        self.starters: list[MissionStarter] = []
        self.bridge = Bridge(
            self.section.time,
            tick_rate=sim.engine.world.clock.rate,
            timeout=self.section.timeout,
            fallback=self.section.on_timeout,
            report=sim.engine.applier.report,
            running=lambda: not sim.engine.thread.stopping,
            while_waiting=[sim.engine.thread.serve_reads],
        )
        # real autopilots simulate sensors of their own, from the truth
        truth = self.section.truth or any(entry.autopilot != "builtin" for entry in self.section.pilots)
        self.world = WorldAdapter(WORLD, simulation=sim, truth=truth)
        self._starts: dict[str, tuple[tuple[float, float, float, float], float]] = {}  # name -> pose, speed
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
        for vehicle in build_vehicles(sim, self.section):
            self.bridge.spawn(vehicle.placed, vehicle.autopilot, vehicle.adapter)
            self.vehicles.append(vehicle)
            if isinstance(vehicle.autopilot, ExternalAutopilot):
                vehicle.autopilot.on_event.append(partial(self._log_event, vehicle.placed.name))
            if vehicle.adapter == WORLD:
                self._note_start(vehicle.placed.name)
                vehicle.autopilot.on_restart.append(partial(self._put_back, vehicle.placed.name))
        self._open_mavlink([vehicle for vehicle in self.vehicles if vehicle.entry.autopilot == "builtin"])
        self._open_relays()
        self._ids = {name: sim.snapshot()[name].id for name in self._starts}
        sim.vehicles.autopilots.join(self.bridge, self._ids.values())
        sim.vehicles.autopilots.describe.append(self.describe)
        sim.vehicles.autopilots.failsafes = self.failsafes
        sim.engine.claims.autopilots.states = states = SavedAutopilots(self)
        states.add_part(sim.engine.world.state)
        sim.engine.listeners.restart.append(self._restarted)
        sim.engine.listeners.close.append(self.close)

    def _open_mavlink(self, vehicles: list[FlownVehicle]) -> None:
        if not vehicles:
            return
        from paddock.mavlink.hub import MavlinkHub
        from paddock.mavlink.link import Ports

        links = self.section.mavlink
        ports = Ports(self.section.address, links.port, links.host, links.station, links.shared, links.tcp)
        ports.refuse_overlap([vehicle.placed.id for vehicle in vehicles])
        self.hub = MavlinkHub(ports, None if links.log is None else Path(links.log))
        for vehicle in vehicles:
            assert isinstance(vehicle.autopilot, BuiltInAutopilot)
            self.hub.add(vehicle.autopilot, self._radio_ends(vehicle))
            if self.section.logs is not None:
                folder = Path(self.section.logs) / f"vehicle_{vehicle.placed.id}"
                vehicle.autopilot.log = OnboardLog(vehicle.autopilot, folder)
            vehicle.autopilot.on_text.append(partial(self._log_warning, vehicle.placed.name))
            vehicle.autopilot.on_event.append(partial(self._log_event, vehicle.placed.name))
        self._prepare_missions()
        self.bridge.after_exchange += [self._start_missions, self.hub.service]
        self.bridge.while_waiting.append(self.hub.idle)
        self.sim.engine.listeners.idle.append(self.hub.idle)

    def _open_relays(self) -> None:
        """Open the relays of real autopilots whose packets go over the radio."""
        counts = Counter[int]()
        for vehicle in self.vehicles:
            via, ends = mavlink_via(self.section, vehicle.entry), self._radio_ends(vehicle)
            if via is None or via.relay is None or ends is None:
                continue
            from paddock.mavlink.radio_path import RadioRelay

            sysid, links = vehicle.placed.id, self.section.mavlink
            port, station = via.relay + counts[id(vehicle.entry)], (links.host, links.station + sysid - 1)
            counts[id(vehicle.entry)] += 1
            self.relays[sysid] = relay = RadioRelay(ends, f"vehicle {sysid}", self.section.address, port, station)
            self.bridge.after_exchange.append(relay.service)

    def _radio_ends(self, vehicle: FlownVehicle) -> "RadioEnds | None":
        """Return the ends of a vehicle's packets; None if they do not go over the radio."""
        via, section = mavlink_via(self.section, vehicle.entry), self.sim.scenario.radio
        if via is None or section is None:
            return None
        from paddock.mavlink.radio_path import RadioEnds

        ends, options = (vehicle.placed.name, station_of(via, section)), (via.queue, via.retries, via.header_bits)
        return RadioEnds(self.sim.engine.applier, *ends, *options, heartbeats=via.heartbeat is not None)

    def _prepare_missions(self) -> None:
        from paddock.sitl.ground_station import MissionStarter

        paths = {} if self.hub is None else {sysid: vehicle.path for sysid, vehicle in self.hub.vehicles.items()}
        self.starters = [
            MissionStarter(vehicle, paths.get(vehicle.placed.id))
            for vehicle in self.vehicles
            if vehicle.entry.mission is not None
        ]

    def _start_missions(self, now_us: int) -> None:
        for starter in self.starters:
            if starter.note:  # under way otherwise
                starter.update(now_us)

    def _log_warning(self, name: str, severity: Severity, text: str) -> None:
        """Log an autopilot's warning as an event of the run."""
        if severity <= Severity.WARNING:
            self.sim.engine.applier.report("autopilot", name, text)

    def _log_event(self, name: str, kind: str, detail: str) -> None:
        """Log an autopilot's event as one of the run."""
        self.sim.engine.applier.report(kind, name, detail)

    def close(self) -> None:
        """Leave the simulation, close sockets and autopilots; idempotent."""
        self.sim.vehicles.autopilots.leave(self.bridge)
        self.sim.vehicles.autopilots.describe.clear()
        self.sim.vehicles.autopilots.failsafes = list
        self.sim.engine.claims.autopilots.states = self.sim.engine.world.state.autopilots = None
        if self._restarted in self.sim.engine.listeners.restart:
            self.sim.engine.listeners.restart.remove(self._restarted)
        while self.relays:
            self.relays.popitem()[1].close()
        hub, self.hub = self.hub, None
        if hub is not None:
            self.sim.engine.listeners.idle[:] = [call for call in self.sim.engine.listeners.idle if call != hub.idle]
            hub.close()
        self.bridge.close()

    def _restarted(self, how: str) -> None:
        """Note the poses of the vehicles at the start of another run."""
        if how == "reset":
            for name in filter(self.sim.engine.applier.exists, self._starts):
                self._note_start(name)

    def reboot(self) -> None:
        """Restart all autopilots at time 0, with the missions of the scenario."""
        self.bridge.reset()
        if self.starters:
            self._prepare_missions()

    def _note_start(self, name: str) -> None:
        vehicle, (program, _) = self.sim.snapshot()[name], self.sim.engine.applier.found(name)
        x, y, z = map(float, vehicle.position)
        self._starts[name] = (x, y, z, float(vehicle.yaw)), float(program.settings.entry.get("speed", 0.0))

    def _put_back(self, name: str) -> None:
        """Place a vehicle whose autopilot has restarted at its start, by a logged action that a replay repeats."""
        if self.sim.engine.applier.exists(name):
            self.sim.engine.applier.post(PlaceAction(name, *self._starts[name]), source=WORLD)

    def progress(self) -> list[tuple[StatusRow, Progress]]:
        """Return each vehicle's row, by ascending system id, and its progress; the note is a problem."""
        waiting = {starter.sysid: starter.note for starter in self.starters}
        rows = [row if row.note else row._replace(note=waiting.get(row.sysid, "")) for row in self.bridge.status()]
        known = {} if self.hub is None else self.hub.vehicles
        return [(row, _progress(known[row.sysid].autopilot) if row.sysid in known else Progress()) for row in rows]

    def status(self) -> list[StatusRow]:
        """Return each vehicle's row, by ascending system id; its note is a problem, or else its progress."""
        return [row if row.note else row._replace(note=progress.line()) for row, progress in self.progress()]

    def ports(self) -> list[PortRow]:
        """Return the table of ports."""
        rows = []
        for vehicle in self.vehicles:
            sysid, kind = vehicle.placed.id, vehicle.entry.autopilot
            if self.hub is not None and sysid in self.hub.vehicles:
                host, port = self.hub.ports.station(sysid)
                listens, speaks = f"udp {self.section.address}:{self.hub.ports.own(sysid)}", f"udp {host}:{port}"
                if sysid in self.hub.tcp_links:
                    listens += f", tcp {self.hub.tcp_links[sysid].port}"
                if self.hub.ports.shared_port is not None:
                    shared = self.hub.ports.shared_station()
                    alone = "" if (host, port) == shared else f"{speaks}, "  # the first sends from the shared port only
                    speaks = f"{alone}with all others: udp {shared[0]}:{shared[1]}"
            else:
                scheme = "tcp" if kind == "px4" else "udp"
                own = getattr(vehicle.autopilot, "port", "-")
                listens, speaks = f"{scheme} {self.section.address}:{own}", "any client"
                if (relay := self.relays.get(sysid)) is not None:
                    host, port = relay.station
                    listens, speaks = f"{listens}, MAVLink udp {relay.port}", f"udp {host}:{port}"
            rows.append(PortRow(sysid, vehicle.placed.name, f"{kind} {vehicle.placed.craft}", listens, speaks))
        return rows

    def describe(self) -> list[dict[str, Any]]:
        """Return an AutopilotTree for each vehicle of the world."""
        links = {row.sysid: f"{row.listens}, to {row.speaks}" for row in self.ports()}
        known = {} if self.hub is None else self.hub.vehicles
        return [
            {"id": self._ids[row.name], "system": row.sysid, "link": links[row.sysid], "item": progress.item}
            | {"autopilot": row.pilot, "mode": row.mode, "armed": row.armed, "note": row.note}
            | {"waypoints": self._waypoints(known[row.sysid].autopilot) if row.sysid in known else []}
            for row, progress in self.progress()
            if row.name in self._ids
        ]

    def failsafes(self) -> list[int]:
        """Return the ids of armed vehicles with an active failsafe. Any thread may call this method."""
        pilots = [(self._ids.get(vehicle.placed.name), vehicle.autopilot) for vehicle in self.vehicles]
        armed = [(id, pilot) for id, pilot in pilots if isinstance(pilot, BuiltInAutopilot) and pilot.armed]
        return [id for id, pilot in armed if id is not None and any(each.active for each in pilot.failsafes.all)]

    def _waypoints(self, autopilot: BuiltInAutopilot) -> list[list[float]]:
        """Return the positions of its mission, m east, north and up."""
        home = 0.0 if autopilot.home is None else autopilot.home[2]
        positions = [
            (item.x, item.y, item.z + (0.0 if item.frame == AltitudeFrame.GLOBAL else home))
            for item in autopilot.plans[PlanKind.MISSION][1:]
            if ITEM_KINDS[item.command].task is not None and (item.x or item.y)  # 0, 0 is the present position
        ]
        return Origin(*self.sim.scenario.world.origin).to_local(*np.array(positions).T).tolist() if positions else []

    def hints(self) -> list[str]:
        """Return lines on how to connect ground stations and start real autopilots."""
        own = [vehicle for vehicle in self.vehicles if vehicle.entry.autopilot == "builtin"]
        real = [vehicle for vehicle in self.vehicles if vehicle.entry.autopilot != "builtin"]
        return [*(self._connection_hints(own) if own else []), *self._launch_hints(real)]

    def waiting_hints(self) -> list[str]:
        """Return lines on how to start the real autopilots that are not connected."""
        real = [vehicle for vehicle in self.vehicles if isinstance(vehicle.autopilot, ExternalAutopilot)]
        return self._launch_hints([vehicle for vehicle in real if not vehicle.autopilot.status.connected])

    def _launch_hints(self, vehicles: Sequence[FlownVehicle]) -> list[str]:
        """Return the command lines that start real autopilots."""
        reached = LOCAL if self.section.address == "0.0.0.0" else self.section.address
        pace, lines = self.sim.clock.pace, list[str]()
        for vehicle in vehicles[:SHOWN_LAUNCHES]:
            sysid, relay = vehicle.placed.id, self.relays.get(vehicle.placed.id)
            port = None if relay is None else relay.port
            lines += ["", f"system {sysid} {vehicle.placed.name}, waiting for {vehicle.entry.autopilot}:"]
            if vehicle.entry.autopilot == "px4":
                from paddock.sitl.px4 import launch_lines as px4_lines

                started = px4_lines(vehicle.placed.craft, vehicle.instance, reached, port, pace)
            else:
                frame = vehicle.entry.frame or FRAME_OF_CRAFT[vehicle.placed.craft]
                origin = Origin(*self.sim.scenario.world.origin)
                launch = Launch(vehicle.instance, origin, vehicle.placed.heading, reached, port, pace)
                started = launch_lines(frame, launch)
            lines += [f"  {line}" for line in started]
            if relay is not None:
                lines.append(f"  connect:  udp:{relay.station[0]}:{relay.station[1]}, over the radio")
        if len(vehicles) > SHOWN_LAUNCHES:
            lines.append(f"and {len(vehicles) - SHOWN_LAUNCHES} more, each with its own instance (-I)")
        return lines

    def _connection_hints(self, vehicles: Sequence[FlownVehicle]) -> list[str]:
        links, tcp = self.section.mavlink, {} if self.hub is None else self.hub.tcp_links
        first, last = vehicles[0].placed.id, vehicles[-1].placed.id
        shared = links.shared is not None  # then the first port has all systems
        port, systems = (links.station, "all systems") if shared else (links.station + first - 1, f"system {first}")
        how = "start it: it connects automatically" if port == QGROUNDCONTROL else f"add a UDP link with port {port}"
        lines = [
            "",
            f"To connect to {systems}:",
            f"  QGroundControl   {how}",
            f"  Mission Planner  choose UDP, Connect, port {port}",
            f"  MAVProxy         mavproxy.py --master=udpin:{links.host}:{port}",
            f"  MAVSDK           udpin://{links.host}:{port}",
            f"  pymavlink        mavutil.mavlink_connection('udpin:{links.host}:{port}')",
        ]
        if first in tcp:
            at = tcp[first].port
            lines.append(f"System {first} over TCP, as with ArduPilot: mavproxy.py --master=tcp:127.0.0.1:{at}")
        expected = [vehicle.placed.id for vehicle in vehicles] if links.tcp != 0 else []
        if missing := [str(sysid) for sysid in expected if sysid not in tcp]:
            some = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
            lines.append(f"No TCP for system {some}: the port is in use; choose others with --tcp")
        if shared:
            lines.append(f"A program can also send to all of them: udpout:{links.host}:{links.shared}")
        if last > first:
            others = "Each system from 2 on also has" if shared else "Each other system has"
            lines.append(f"{others} a port of its own, see the table: up to {links.station + last - 1}.")
        return lines


def _progress(autopilot: BuiltInAutopilot) -> Progress:
    estimate, executor, battery = autopilot.estimate, autopilot.executor, autopilot.sensors.battery_remaining
    if estimate.time_us < 0.0:
        return Progress()
    item = f"{executor.current}/{len(executor.items) - 1}" if len(executor.items) > 1 else ""
    altitude = autopilot.telemetry.relative_altitude
    height = f"{altitude:.1f}" if isfinite(altitude) and not drives(autopilot.vehicle.kind) else ""
    speed = hypot(estimate.vn, estimate.ve)
    return Progress(item, height, f"{speed:.1f}", f"{battery:.0%}" if isfinite(battery) else "")
