"""The autopilots' part of a saved state: built-in autopilots, the bridge, MAVLink, and missions that are being started.

Peers on MAVLink, their requests and transfers are no part of it: a ground station does not go back in time. They
continue, with the restored autopilots; their packets on the simulated radio are part of it.
"""

from typing import TYPE_CHECKING, Any

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.state import AutopilotState
from paddock.engine.barrier import AutopilotStates
from paddock.engine.run_state import RunState
from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.bridge import BridgeState
from paddock.world.parts import adopt_fields, child, children, fields_of, fresh, part

if TYPE_CHECKING:
    from paddock.mavlink.radio_path import RadioPath
    from paddock.sitl.host import SitlHost


@part
class MavlinkState:
    """The state of the MAVLink hub, and what the log of each vehicle depends on, by system id."""

    hub: Any = fields_of()
    vehicles: dict[str, Any] = fields_of(many=True)
    writers: dict[str, Any] = fields_of(many=True)
    streams: dict[str, Any] = fields_of(many=True)
    packets: dict[str, Any] = fields_of(many=True)  # over the radio

    def check(self, state: Any) -> None:
        """Check that the streams have known messages, and packets."""
        from paddock.mavlink.messages import KNOWN
        from paddock.mavlink.radio_path import check_packets

        for loaded in self.packets.values():
            check_packets(loaded.values)

        for loaded in self.streams.values():
            intervals, due = loaded.values["_intervals"], loaded.values["_next"]
            if not KNOWN.issuperset(intervals) or [*intervals] != [*due] or not due:
                raise InvalidValueError("the streams are not valid")


@part
class AutopilotsState:
    """The state of all built-in autopilots and their connections; vehicles by system id."""

    host: "SitlHost"
    bridge: BridgeState = child()
    vehicles: dict[str, AutopilotState] = children()
    starters: dict[str, Any] = fields_of(many=True)  # of missions
    mavlink: MavlinkState | None = child(hashed=False)  # a ground station may read while time stands still
    paths: dict[str, Any] = fields_of(many=True)  # of MAVLink over the radio

    def check(self, state: RunState) -> None:
        """Check that no time is later than the tick's."""
        bridge, now = self.bridge, self.host.bridge.tick_time_us(state.clock.tick)
        time_us = bridge.bridge.values["time_us"]
        if time_us > now:
            raise InvalidValueError(f"a time of {time_us} us is later than {now} us")
        for sysid, vehicle in self.vehicles.items():
            own = bridge.vehicles[sysid].values
            if not own["failed"] and own["due_us"] > time_us + vehicle.autopilot.period_us:
                raise InvalidValueError(f"vehicle {sysid} is due too late")


class SavedAutopilots(AutopilotStates):
    """Saves and restores the autopilots of a simulation."""

    def __init__(self, host: "SitlHost") -> None:
        self.host = host

    def _pilots(self) -> dict[int, BuiltInAutopilot]:
        pilots = {vehicle.placed.id: vehicle.autopilot for vehicle in self.host.vehicles}
        return {sysid: pilot for sysid, pilot in pilots.items() if isinstance(pilot, BuiltInAutopilot)}

    def _paths(self) -> "dict[int, RadioPath]":
        vehicles = {} if self.host.hub is None else self.host.hub.vehicles
        return {sysid: vehicle.path for sysid, vehicle in vehicles.items() if vehicle.path is not None}

    def refuse_restore(self) -> None:
        """Refuse a restore beside autopilots in other processes, and with vehicles of other simulators."""
        for vehicle in self.host.vehicles:
            name, kind = vehicle.placed.name, vehicle.entry.autopilot
            if not isinstance(vehicle.autopilot, BuiltInAutopilot):
                raise PaddockError(f"cannot restore: {name!r} is flown by {kind} in another process; use reset()")
            if not self.host.bridge.links[vehicle.adapter].adapter.hosted:
                raise PaddockError(f"cannot restore: {name!r} is in the simulator {vehicle.adapter!r}; use reset()")

    def add_part(self, state: RunState) -> None:
        """Add its part to the state of the run, or a fresh one to another state, if there are built-in autopilots."""
        pilots, hub = self._pilots(), self.host.hub
        if not pilots:
            return
        live = state is self.host.sim.engine.world.state
        made = state.autopilots = fresh(AutopilotsState, host=self.host)
        made.bridge = self.host.bridge.new_state(live)
        made.vehicles = {str(k): pilot.state if live else AutopilotState.of(pilot) for k, pilot in pilots.items()}
        made.paths = {str(sysid): path for sysid, path in self._paths().items()}
        made.starters = {str(starter.sysid): starter for starter in self.host.starters}
        if hub is not None:
            made.mavlink = fresh(MavlinkState)
            made.mavlink.hub = hub
            made.mavlink.vehicles = {str(sysid): vehicle for sysid, vehicle in hub.vehicles.items()}
            made.mavlink.writers = {str(sysid): vehicle.writer for sysid, vehicle in hub.vehicles.items()}
            made.mavlink.packets = {str(sysid): path.packets for sysid, path in self._paths().items()}
            made.mavlink.streams = {str(sysid): vehicle.streams for sysid, vehicle in hub.vehicles.items()}

    def read(self) -> None:
        """Continue from the part of the saved state that has replaced that of the run; without one, restart."""
        host, state = self.host, self._part()
        if state is None:
            host.reboot()
            self.add_part(host.sim.engine.world.state)
            return
        host.world.clear()
        with host.bridge.lock:
            host.bridge.resume(state.bridge)
            for vehicle in state.vehicles.values():
                vehicle.resume()
            for path in self._paths().values():
                path.restart()
            if host.hub is not None and state.mavlink is not None:
                adopt_fields(state.mavlink)
                for link in host.hub.vehicles.values():
                    link.resume(max(host.hub.now_us, 0))
            adopt_fields(state)
            for path in self._paths().values():
                path.resume()

    def _part(self) -> AutopilotsState | None:
        part: AutopilotsState | None = self.host.sim.engine.world.state.autopilots
        return part
