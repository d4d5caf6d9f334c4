"""The autopilots' part of a saved state: built-in autopilots, the bridge, MAVLink, and missions that are being started.

Peers on MAVLink, their requests and transfers are no part of it: a ground station does not go back in time. They
continue, with the restored autopilots.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.saving import read_autopilot, save_autopilot
from paddock.engine.barrier import AutopilotStates
from paddock.engine.engine import AUTOPILOTS
from paddock.errors import PaddockError
from paddock.sitl.bridge import NEVER_US
from paddock.world.archive import Tree, check_equal, typed

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.radio_path import RadioPath
    from paddock.sitl.host import SitlHost

SHORTEST, LONGEST = 20_000, 3_600_000_000  # us between two messages


@dataclass
class SavedBridge:
    """Times in us, by system id; blocks by adapter."""

    time_us: int
    due: dict[str, int]
    failed: dict[str, str]
    sensors: dict[str, Any]
    actuators: dict[str, Any]


@dataclass
class SavedNumbers:
    """What the MAVLink log of a vehicle depends on: numbers of the next packet and text; id, interval, time."""

    sequence: int
    texts: int
    streams: Any


@dataclass
class SavedMavlink:
    """Times in us; vehicles by system id."""

    now_us: int
    serviced_us: int
    vehicles: dict[str, SavedNumbers]


class SavedAutopilots(AutopilotStates):
    """Saves and restores the autopilots of a simulation."""

    def __init__(self, host: "SitlHost") -> None:
        self.host = host

    def _pilots(self) -> dict[int, BuiltInAutopilot]:
        found = {vehicle.placed.id: vehicle.autopilot for vehicle in self.host.vehicles}
        return {sysid: pilot for sysid, pilot in found.items() if isinstance(pilot, BuiltInAutopilot)}

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
            return {**self._flight(), "mavlink": self._mavlink()}

    def hashed(self) -> Tree:
        """Return the state without MAVLink and its outbox, which a ground station may read while time stands still."""
        if not self._pilots():
            return {}
        with self.host.bridge.lock:
            tree = self._flight()
            for pilot in tree["vehicles"].values():
                del pilot["objects"]["autopilot"]["outbox"]
            return tree

    def _flight(self) -> Tree:
        vehicles = {str(sysid): save_autopilot(pilot) for sysid, pilot in self._pilots().items()}
        starters = {str(each.sysid): [each.step, each.next_us, each.note] for each in self.host.starters}
        paths = {str(sysid): path.save() for sysid, path in self._paths().items()}
        own = {"radio": paths} if paths else {}
        return {"bridge": self.host.bridge.save(), "vehicles": vehicles, "starters": starters, **own}

    def _paths(self) -> "dict[int, RadioPath]":
        vehicles = {} if self.host.hub is None else self.host.hub.vehicles
        return {sysid: one.path for sysid, one in vehicles.items() if one.path is not None}

    def _mavlink(self) -> Tree:
        if (hub := self.host.hub) is None:
            return {}
        numbers = {
            str(sysid): {"sequence": one.numbers[0], "texts": one.numbers[1], "streams": one.streams.save()}
            for sysid, one in hub.vehicles.items()
        }
        return {"now_us": hub.times_us[0], "serviced_us": hub.times_us[1], "vehicles": numbers}

    def prepare(self, tree: Any, tick: int) -> Callable[[], None]:
        """Check all of a state; return the function that loads it. A state without autopilots restarts them."""
        host, parts = self.host, typed(dict[str, Any] | None, tree, AUTOPILOTS)
        if parts is None:
            return host.reboot
        loads = [self._read_bridge(parts.get("bridge"), tick), *self._read_vehicles(parts.get("vehicles"))]
        loads += [*self._read_starters(parts.get("starters")), *self._read_mavlink(parts.get("mavlink"))]
        loads += self._read_paths(parts.get("radio"))

        def load() -> None:
            host.world.forget()
            with host.bridge.lock:
                for each in loads:
                    each()

        return load

    def _read_bridge(self, tree: Any, tick: int) -> Callable[[], None]:
        bridge, saved = self.host.bridge, typed(SavedBridge, tree, "bridge")
        check_equal(tree, asdict(saved), "bridge")
        now, latest = saved.time_us, bridge.tick_time_us(tick)
        pilots, present = self._pilots(), bridge.save()
        due = {str(k): (now + pilot.period_us, NEVER_US) for k, pilot in pilots.items()}
        if not 0 <= now <= latest or saved.due.keys() != due.keys():
            raise PaddockError(f"bridge: a time of {now} us at {latest} us, or other vehicles")
        for sysid, text in saved.failed.items():
            if sysid not in due or not text.isprintable():
                raise PaddockError("bridge: unknown vehicle that failed")
        for sysid, at in saved.due.items():
            if not (0 <= at <= due[sysid][0] if sysid not in saved.failed else at == NEVER_US):
                raise PaddockError(f"bridge: vehicle {sysid} cannot be due at {at} us")
        for name in ("sensors", "actuators"):
            for adapter, block in present[name].items():
                given = getattr(saved, name).get(adapter)
                if not isinstance(given, np.ndarray) or (given.shape, given.dtype) != (block.shape, block.dtype):
                    raise PaddockError(f"bridge: the {name} of {adapter!r} are not valid")
        return lambda: bridge.restore({name: getattr(saved, name) for name in present})

    def _read_vehicles(self, tree: Any) -> list[Callable[[], None]]:
        pilots, saved = self._pilots(), typed(dict[str, Any], tree, "vehicles")
        if saved.keys() != {str(sysid) for sysid in pilots}:
            raise PaddockError(f"the saved state has autopilots {', '.join(saved)!s:.60}")
        found = []
        for sysid, pilot in pilots.items():
            try:
                found.append(read_autopilot(pilot, saved[str(sysid)]))
            except PaddockError as error:
                raise PaddockError(f"saved state of vehicle {sysid}: {error}") from None
        return found

    def _read_starters(self, tree: Any) -> list[Callable[[], None]]:
        saved = typed(dict[str, tuple[int, int, str]], tree, "starters")
        check_equal(tree, saved, "starters")
        known = {str(each.sysid): each for each in self.host.starters}
        for sysid, (step, next_us, note) in saved.items():
            if sysid not in known or step < 0 or not 0 <= next_us < NEVER_US or not note.isprintable():
                raise PaddockError(f"the start of the mission of vehicle {sysid!s:.20} is not valid")
        if saved.keys() != known.keys():
            raise PaddockError("the saved state has other missions")
        return [partial(known[sysid].restore, *values) for sysid, values in saved.items()]

    def _read_mavlink(self, tree: Any) -> list[Callable[[], None]]:
        hub = self.host.hub
        if hub is None:
            return []
        saved = typed(SavedMavlink, tree, "MAVLink")
        check_equal(tree, asdict(saved), "MAVLink")
        times = saved.now_us, saved.serviced_us
        if saved.vehicles.keys() != {str(sysid) for sysid in hub.vehicles} or not max(map(abs, times)) < NEVER_US:
            raise PaddockError("MAVLink: the saved state has other vehicles or times")
        for sysid, numbers in saved.vehicles.items():
            if not 0 <= numbers.sequence < 256 or not 0 <= numbers.texts < 1 << 16:
                raise PaddockError(f"MAVLink: the numbers of vehicle {sysid} are not valid")
            _check_streams(numbers.streams)

        def load() -> None:
            hub.times_us = times
            for sysid, vehicle in hub.vehicles.items():
                _load_numbers(vehicle, saved.vehicles[str(sysid)], max(times[0], 0))

        return [load]

    def _read_paths(self, tree: Any) -> list[Callable[[], None]]:
        from paddock.mavlink.radio_path import SavedPath

        paths, saved = self._paths(), typed(dict[str, Any], tree or {}, "radio paths")
        if saved.keys() != {str(sysid) for sysid in paths}:
            raise PaddockError("radio paths: the saved state has other vehicles")
        found = []
        for sysid, path in paths.items():
            found.append(path.read(saved[str(sysid)]))
            check_equal(saved[str(sysid)], asdict(typed(SavedPath, saved[str(sysid)], "radio path")), "radio path")
        return found


def _load_numbers(vehicle: "MavlinkVehicle", saved: SavedNumbers, now_us: int) -> None:
    vehicle.restart(now_us)  # peers keep the rates that they have requested
    vehicle.numbers = saved.sequence, saved.texts
    vehicle.streams.restore(saved.streams)


def _check_streams(streams: Any) -> None:
    from paddock.mavlink.messages import KNOWN

    valid = isinstance(streams, np.ndarray) and streams.dtype == np.int64 and streams.ndim == 2
    if not valid or streams.shape[1] != 3:
        raise PaddockError("MAVLink: the saved streams are not valid")
    columns: NDArray[np.int64] = streams.T
    ids, intervals, times = columns
    spaced = ((intervals >= SHORTEST) & (intervals <= LONGEST) & (times >= 0) & (times < NEVER_US)).all()
    if not KNOWN.issuperset(ids.tolist()) or len(np.unique(ids)) < len(ids) or not spaced:
        raise PaddockError("MAVLink: the saved streams are not valid")
