"""The autopilots' part of a saved state: built-in autopilots, the bridge, MAVLink, and missions that are being started.

Peers on MAVLink, their requests and transfers are no part of it: a ground station does not go back in time. They
continue, with the restored autopilots.
"""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.saving import AutopilotState, blank_state
from paddock.engine.barrier import AutopilotStates
from paddock.engine.run_state import RunState
from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.bridge import NEVER_US, BridgeState
from paddock.world.parts import array, child, children, fresh, mapping, part, value

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkHub
    from paddock.mavlink.radio_path import RadioPath
    from paddock.sitl.host import SitlHost

SHORTEST, LONGEST = 20_000, 3_600_000_000  # us between two messages


class MissionStart(NamedTuple):
    """Progress of the upload and start of a mission."""

    step: Annotated[int, Ge(0)]
    next_us: Annotated[int, Ge(0), Lt(NEVER_US)]
    note: str


@part
class MavlinkVehicleState:
    """What the MAVLink log of a vehicle depends on."""

    sequence: int = value(0, low=0, high=255)  # of the next packet
    texts: int = value(0, low=0, high=65_535)  # number of the next text
    streams: NDArray[np.int64] = array("i8", "stream", 3, low=0, high=NEVER_US - 1)  # message id, interval us, next us

    def check(self, state: Any) -> None:
        """Check that the messages are known and their intervals valid."""
        from paddock.mavlink.messages import KNOWN

        ids, intervals = self.streams[:, 0], self.streams[:, 1]
        valid = ((intervals >= SHORTEST) & (intervals <= LONGEST)).all()
        if not KNOWN.issuperset(ids.tolist()) or len(np.unique(ids)) < len(ids) or not valid:
            raise InvalidValueError("the streams are not valid")


@part
class MavlinkState:
    """The state of the MAVLink hub; vehicles by system id."""

    now_us: int = value(0, low=1 - NEVER_US, high=NEVER_US - 1)
    serviced_us: int = value(0, low=1 - NEVER_US, high=NEVER_US - 1)
    vehicles: dict[str, MavlinkVehicleState] = children()


@part
class RadioPathState:
    """The heartbeats of the simulated ground station that a vehicle has received."""

    beats: int = value(0, low=0, high=(1 << 53) - 1)


@part
class AutopilotsState:
    """The state of all built-in autopilots and their connections; vehicles by system id."""

    host: "SitlHost"
    bridge: BridgeState = child()
    vehicles: dict[str, AutopilotState] = children()
    starters: dict[int, MissionStart] = mapping(int, MissionStart)
    mavlink: MavlinkState | None = child(hashed=False)  # a ground station may read while time stands still
    radio: dict[str, RadioPathState] = children()
    loaded = False  # from a saved state

    def check(self, state: RunState) -> None:
        """Check that the parts have the same vehicles, and that no time is later than the tick's."""
        bridge, now = self.bridge, self.host.bridge.tick_time_us(state.clock.tick)
        if bridge.time_us > now:
            raise InvalidValueError(f"a time of {bridge.time_us} us is later than {now} us")
        if {str(system) for system in bridge.due} != self.vehicles.keys():
            raise InvalidValueError("the bridge has other vehicles")
        if self.starters.keys() != {each.sysid for each in self.host.starters}:
            raise InvalidValueError("starters: other missions")
        if not all(start.note.isprintable() for start in self.starters.values()):
            raise InvalidValueError("the start of a mission is not valid")
        for sysid, vehicle in self.vehicles.items():
            due = bridge.due[int(sysid)]
            if int(sysid) not in bridge.failed and due > bridge.time_us + vehicle.autopilot.period_us:
                raise InvalidValueError(f"vehicle {sysid} is due too late")
        self.loaded = True


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
        """Add a fresh part to a state, if there are built-in autopilots."""
        pilots, hub = self._pilots(), self.host.hub
        if not pilots:
            return
        made = state.autopilots = fresh(AutopilotsState, host=self.host)
        made.bridge = self.host.bridge.blank_state()
        made.vehicles = {str(sysid): blank_state(pilot) for sysid, pilot in pilots.items()}
        made.radio = {str(sysid): fresh(RadioPathState) for sysid in self._paths()}
        if hub is not None:
            made.mavlink = fresh(MavlinkState)
            made.mavlink.vehicles = {str(sysid): fresh(MavlinkVehicleState) for sysid in hub.vehicles}

    def write(self) -> None:
        """Write what the autopilots and their connections hold to their part of the run's state."""
        host, state = self.host, self._part()
        if state is None:
            return
        with host.bridge.lock:
            host.bridge.write(state.bridge)
            for vehicle in state.vehicles.values():
                vehicle.write()
            state.starters = {each.sysid: MissionStart(each.step, each.next_us, each.note) for each in host.starters}
            for sysid, path in self._paths().items():
                state.radio[str(sysid)].beats = path.beats
            if host.hub is not None and state.mavlink is not None:
                _write_mavlink(host.hub, state.mavlink)

    def read(self) -> None:
        """Continue from the part of the state that has replaced that of the run; without one, restart."""
        host, state = self.host, self._part()
        if state is None or not state.loaded:
            if state is None:
                self.add_part(host.sim.engine.world.state)
            host.reboot()
            return
        host.world.clear()
        with host.bridge.lock:
            host.bridge.read(state.bridge)
            for vehicle in state.vehicles.values():
                vehicle.read()
            for starter in host.starters:
                starter.resume(*state.starters[starter.sysid])
            if host.hub is not None and state.mavlink is not None:
                _read_mavlink(host.hub, state.mavlink)
            for sysid, path in self._paths().items():
                path.restart()
                path.beats = state.radio[str(sysid)].beats

    def _part(self) -> AutopilotsState | None:
        part: AutopilotsState | None = self.host.sim.engine.world.state.autopilots
        return part


def _write_mavlink(hub: "MavlinkHub", state: MavlinkState) -> None:
    state.now_us, state.serviced_us = hub.now_us, hub.serviced_us
    for sysid, vehicle in hub.vehicles.items():
        numbers = state.vehicles[str(sysid)]
        numbers.sequence, numbers.texts = vehicle.writer.sequence, vehicle.texts
        numbers.streams = vehicle.streams.table()


def _read_mavlink(hub: "MavlinkHub", state: MavlinkState) -> None:
    hub.now_us, hub.serviced_us = state.now_us, state.serviced_us
    for sysid, vehicle in hub.vehicles.items():
        numbers = state.vehicles[str(sysid)]
        vehicle.restart(max(state.now_us, 0))  # peers keep the rates that they have requested
        vehicle.writer.sequence, vehicle.texts = numbers.sequence, numbers.texts
        vehicle.streams.resume(numbers.streams)
