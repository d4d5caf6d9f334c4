"""The autopilots' part of a saved state: built-in autopilots, the bridge, MAVLink, and missions that are being started.

Peers on MAVLink, their requests and transfers are no part of it: a ground station does not go back in time. They
continue, with the restored autopilots.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.saving import AutopilotState, autopilot_state, blank_state, restoring
from paddock.engine.barrier import AutopilotStates
from paddock.engine.engine import AUTOPILOTS
from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.bridge import NEVER_US, BridgeState
from paddock.world.archive import Tree
from paddock.world.parts import array, child, children, fresh, mapping, part, refusing, value
from paddock.world.state import load, save

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

    bridge: BridgeState = child()
    vehicles: dict[str, AutopilotState] = children()
    starters: dict[int, MissionStart] = mapping(int, MissionStart)
    mavlink: MavlinkState | None = child()
    radio: dict[str, RadioPathState] = children()

    def check(self, state: Any) -> None:
        """Check that the parts have the same vehicles, and that no time is later than the tick's, `state` in us."""
        if self.bridge.time_us > state:
            raise InvalidValueError(f"a time of {self.bridge.time_us} us is later than {state} us")
        if {str(system) for system in self.bridge.due} != self.vehicles.keys():
            raise InvalidValueError("the bridge has other vehicles")
        if not all(start.note.isprintable() for start in self.starters.values()):
            raise InvalidValueError("the start of a mission is not valid")


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

    def save(self) -> Tree:
        """Return the state of all built-in autopilots and their connections."""
        with self.host.bridge.lock:
            state = self._flight()
            if self.host.hub is not None:
                state.mavlink = _mavlink_state(self.host.hub)
            return save(state)

    def hashed(self) -> Tree:
        """Return the state without MAVLink and its outbox, which a ground station may read while time stands still."""
        if not self._pilots():
            return {}
        with self.host.bridge.lock:
            state = self._flight()
            for vehicle in state.vehicles.values():
                del vehicle.objects["autopilot"]["outbox"]
            return save(state)

    def _flight(self) -> AutopilotsState:
        """Return the state without MAVLink."""
        state = fresh(AutopilotsState)
        state.bridge = self.host.bridge.save()
        state.vehicles = {str(sysid): autopilot_state(pilot) for sysid, pilot in self._pilots().items()}
        state.starters = {each.sysid: MissionStart(each.step, each.next_us, each.note) for each in self.host.starters}
        for sysid, path in self._paths().items():
            state.radio[str(sysid)] = fresh(RadioPathState)
            state.radio[str(sysid)].beats = path.beats
        return state

    def _blank(self) -> AutopilotsState:
        """Return the part that a saved state is loaded into."""
        state, hub = fresh(AutopilotsState), self.host.hub
        state.bridge = self.host.bridge.blank_state()
        state.vehicles = {str(sysid): blank_state(pilot) for sysid, pilot in self._pilots().items()}
        state.radio = {str(sysid): fresh(RadioPathState) for sysid in self._paths()}
        if hub is not None:
            state.mavlink = fresh(MavlinkState)
            state.mavlink.vehicles = {str(sysid): fresh(MavlinkVehicleState) for sysid in hub.vehicles}
        return state

    def prepare(self, tree: Any, tick: int) -> Callable[[], None]:
        """Check all of a state; return the function that loads it. A state without autopilots restarts them."""
        host, pilots, state = self.host, self._pilots(), self._blank()
        if tree is None:
            return host.reboot
        load(state, tree, AUTOPILOTS, host.bridge.tick_time_us(tick))
        starters = {each.sysid: each for each in host.starters}
        if state.starters.keys() != starters.keys():
            raise InvalidValueError(f"{AUTOPILOTS}.starters: other missions")
        loads = []
        for sysid, pilot in pilots.items():
            if sysid not in state.bridge.failed and state.bridge.due[sysid] > state.bridge.time_us + pilot.period_us:
                raise InvalidValueError(f"{AUTOPILOTS}.bridge.due: vehicle {sysid} is due too late")
            with refusing(f"{AUTOPILOTS}.vehicles.{sysid}"):
                loads.append(restoring(pilot, state.vehicles[str(sysid)]))

        def take_over() -> None:
            host.world.forget()
            with host.bridge.lock:
                host.bridge.restore(state.bridge)
                for restore in loads:
                    restore()
                for sysid, starter in starters.items():
                    starter.restore(*state.starters[sysid])
                if host.hub is not None and state.mavlink is not None:
                    _restore_mavlink(host.hub, state.mavlink)
                for sysid, path in self._paths().items():
                    path.restart()
                    path.beats = state.radio[str(sysid)].beats

        return take_over


def _mavlink_state(hub: "MavlinkHub") -> MavlinkState:
    state = fresh(MavlinkState)
    state.now_us, state.serviced_us = hub.times_us
    for sysid, vehicle in hub.vehicles.items():
        state.vehicles[str(sysid)] = numbers = fresh(MavlinkVehicleState)
        numbers.sequence, numbers.texts = vehicle.numbers
        numbers.streams = vehicle.streams.save()
    return state


def _restore_mavlink(hub: "MavlinkHub", state: MavlinkState) -> None:
    hub.times_us = state.now_us, state.serviced_us
    for sysid, vehicle in hub.vehicles.items():
        numbers = state.vehicles[str(sysid)]
        vehicle.restart(max(state.now_us, 0))  # peers keep the rates that they have requested
        vehicle.numbers = numbers.sequence, numbers.texts
        vehicle.streams.restore(numbers.streams)
