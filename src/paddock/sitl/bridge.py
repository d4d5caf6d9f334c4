"""The bridge: sensors from simulators to autopilots, actuator commands back.

It is a partner of the engine's barrier, which owns time. Before a tick at which an autopilot is due, the bridge moves
the simulators beside the world to that tick, offers the sensors to the autopilots and collects their commands. In
lockstep it waits for each live autopilot until a deadline; free-running it never waits. Scaled time is lockstep at the
engine's pace.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, perf_counter_ns
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from paddock.autopilot.contract import Autopilot
from paddock.autopilot.vehicle_data import ACTUATOR_WIDTH, SENSOR_WIDTH, ActuatorCommands, Floats
from paddock.engine.pipeline import HaltedError
from paddock.errors import InvalidValueError, PaddockError, one_line, unknown_name
from paddock.scenario.sitl import LAST_SYSID
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.adapter_link import (
    NEVER_US,
    AdapterLink,
    BridgeStoppedError,
    BridgeVehicle,
    Fallback,
    StatusRow,
    TimeoutPolicy,
    VehicleGroup,
)
from paddock.world.parts import VEHICLE, adopt_fields, array, children, count, fields_of, fresh, part

Ints = NDArray[np.int64]
IDLE_PERIOD_US = 20_000  # simulated time between exchanges while there are no vehicles
MODES = ("lockstep", "scaled", "free")
SLICE = 0.02  # s of wall time to wait for one autopilot before the next is polled


@part
class AdapterRows:
    """The newest data of the vehicles of a simulator, in ascending order of their system ids."""

    n: int = count(VEHICLE)
    systems: Ints = array("i8", VEHICLE, key=True, low=1, high=LAST_SYSID)
    sensors: Floats = array("f8", VEHICLE, SENSOR_WIDTH, nan=True)
    actuators: Floats = array("f8", VEHICLE, ACTUATOR_WIDTH, nan=True)


@part
class BridgeState:
    """The state of the bridge: its time, when each vehicle is due, and the newest data of the world."""

    bridge: Any = fields_of()
    vehicles: dict[str, Any] = fields_of(many=True)  # by system id
    adapters: dict[str, AdapterRows] = children()

    def check(self, state: Any) -> None:
        """Check that exactly the vehicles that have failed are never due."""
        for system, loaded in self.vehicles.items():
            if (loaded.values["due_us"] == NEVER_US) != bool(loaded.values["failed"]):
                raise InvalidValueError(f"vehicle {system} cannot be due at {loaded.values['due_us']} us")


class FairLock:
    """A lock that prefers a waiting thread to one that has just released it."""

    def __init__(self) -> None:
        self._queue, self._lock = threading.Lock(), threading.Lock()

    def __enter__(self) -> None:
        with self._queue:
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let other threads hold the lock within a `with` block of the thread that holds it."""
        self._lock.release()
        try:
            yield
        finally:
            self.__enter__()


class Bridge:
    """Adapters by name, vehicles with their autopilots by system id.

    The ticking thread calls `due` and `exchange`; the other methods may be called from any thread.
    """

    time_us: Annotated[int, Ge(0)]

    def __init__(
        self,
        mode: str = "lockstep",
        *,
        tick_rate: float = 1000.0,
        timeout: float = 1.0,
        fallback: str = "free_run",
        report: Callable[[str, str, str], None] = lambda kind, subject, detail: None,
        running: Callable[[], bool] = lambda: True,
        while_waiting: Sequence[Callable[[], None]] = (),
    ) -> None:
        """`mode`: lockstep, scaled (the same) or free. `tick_rate`: ticks per simulated second.

        `timeout` s and `fallback` (free_run, hold, stop) apply to vehicles, and to adapters that give no other.
        `report(kind, subject, detail)` gets every event. While the ticking thread waits it calls each of
        `while_waiting`, and `running`, which ends the wait by returning False.
        """
        if mode not in MODES:
            raise unknown_name("time mode", str(mode), MODES)
        self.mode, self.tick_rate = mode, tick_rate
        self.policy = TimeoutPolicy(timeout, Fallback(fallback))
        self._on_event = report
        self.running = running
        self.while_waiting = list(while_waiting)
        self.after_exchange: list[Callable[[int], None]] = []  # called with the simulated time by the ticking thread
        self.lock = FairLock()  # held by the ticking thread during an exchange
        self.time_us = 0
        self._closed = threading.Event()
        self._resets = self._begun = 0  # in all, and when the present exchange began
        self.links: dict[str, AdapterLink] = {}  # by the name of the adapter, in order of registration
        self._vehicles: dict[int, BridgeVehicle] = {}
        self._schedule: list[VehicleGroup | BridgeVehicle] = []  # groups, and the vehicles without one
        self._grouped = True  # whether no vehicle could join a group
        self._alone = False  # whether a vehicle has no group
        self._next = 0, -1  # ticks: from the first on, the second is due
        self._stale = True  # whether the due times have changed since
        self._fresh: set[int] = set()  # system ids whose sensors were not offered yet
        self._state: BridgeState | None = None

    def _report(self, kind: str, subject: object, detail: str) -> None:
        self._on_event(kind, str(subject), detail)

    def register(self, adapter: SimulatorAdapter, timeout: float | None = None, fallback: str | None = None) -> None:
        """Add an adapter under its name and connect it; an unreachable one is retried as time passes.

        `timeout` (s of wall time) and `fallback` replace the bridge's.
        """
        policy = TimeoutPolicy(timeout or self.policy.timeout, Fallback(fallback or self.policy.fallback))
        with self.lock:
            if adapter.name in self.links:
                raise PaddockError(f"adapter {adapter.name!r} is registered already: give this one another name")
            link = self.links[adapter.name] = AdapterLink(adapter, policy, self._report)
            link.ensure_connected(self.time_us, lambda _: False)

    def spawn(self, placed: Placed, autopilot: Autopilot, adapter: str) -> BridgeVehicle:
        """Add a vehicle with its autopilot, which is opened."""
        vehicle = BridgeVehicle(placed, autopilot, adapter, was_live=autopilot.live)
        with self.lock:
            if adapter not in self.links:
                raise unknown_name("adapter", adapter, self.links, "bridge")
            if (taken := self._vehicles.get(vehicle.sysid)) is not None:
                raise PaddockError(f"id {vehicle.sysid} of {placed.name!r} is taken by {taken}: ids are unique")
            if (busy := next((v for v in self.vehicles if v.autopilot is autopilot), None)) is not None:
                raise PaddockError(f"{vehicle}: its autopilot flies {busy} already; each vehicle needs its own")
            autopilot.open()
            try:
                self.links[adapter].add(vehicle)
            except BaseException:
                autopilot.close()
                raise
            self._vehicles = dict(sorted({**self._vehicles, vehicle.sysid: vehicle}.items()))
            vehicle.set_due(self.time_us)
            self._fresh.discard(vehicle.sysid)
            self._ungroup()
            self._stale = True
        return vehicle

    def _ungroup(self) -> None:
        """Dissolve all groups; the next exchange forms new ones."""
        for each in self._schedule:
            if isinstance(each, VehicleGroup):
                each.dissolve()
        self._schedule, self._grouped = list(self.vehicles), False
        self._show_rows()

    def _group(self) -> None:
        """Put vehicles of one simulator into groups whose autopilots may answer together and are due together."""
        self._ungroup()
        groups: dict[tuple[str, Hashable, int], list[tuple[BridgeVehicle, int]]] = {}
        for link in self.links.values():
            link.rearranged = False
            for row, vehicle in enumerate(link.vehicles):
                key = vehicle.autopilot.group_key
                if key is not None and not vehicle.failed:
                    groups.setdefault((vehicle.adapter, key, vehicle.due_us), []).append((vehicle, row))
                    self._fresh.discard(vehicle.sysid)
        together = [
            VehicleGroup([vehicle for vehicle, _ in pairs], [row for _, row in pairs]) for pairs in groups.values()
        ]
        alone = [vehicle for vehicle in self.vehicles if vehicle.group is None]
        self._schedule, self._alone = [*together, *alone], bool(alone)
        self._grouped = len({key[:2] for key in groups}) == len(groups)  # later, those that are not due together yet

    @property
    def vehicles(self) -> tuple[BridgeVehicle, ...]:
        """All vehicles, by ascending id."""
        return tuple(self._vehicles.values())

    def status(self) -> list[StatusRow]:
        """Return a row per vehicle for the live table, by ascending id."""
        with self.lock:
            return [vehicle.status(self.links[vehicle.adapter].note) for vehicle in self.vehicles]

    def tick_time_us(self, tick: int) -> int:
        """Return the simulated time of a tick, to the nearest us."""
        return round(tick * 1e6 / self.tick_rate)

    @property
    def due_us(self) -> int:
        """The simulated time of the next exchange."""
        first = min((each.due_us for each in self._schedule), default=NEVER_US)
        return first if first < NEVER_US else (self.time_us // IDLE_PERIOD_US + 1) * IDLE_PERIOD_US

    def due(self, tick: int) -> int:
        """Return the first tick, from this one on, before which there is an exchange."""
        since, first = self._next
        if not self._stale and since <= tick <= first:
            return first
        self._stale, due_us = False, self.due_us  # in this order: another thread may add a vehicle
        first = tick  # also when the engine has gone back to an earlier tick
        if self.time_us <= self.tick_time_us(tick) < due_us:
            first = max(tick, int(due_us * self.tick_rate / 1e6))
            first = first if self.tick_time_us(first) >= due_us else first + 1
        self._next = tick, first
        return first

    def exchange(self, tick: int) -> None:
        """Exchange before that tick; HaltedError if the run stops before every awaited autopilot has answered.

        The same tick again continues the exchange: sensors are not offered twice.
        """
        with self.lock:
            try:
                finished = self._exchange(self.tick_time_us(tick))
            finally:
                self._stale = True
        if not finished:
            raise HaltedError

    def reset(self) -> None:
        """Restart simulators and autopilots at time 0; connections stay."""
        with self.lock:
            self.time_us = 0
            self._resets += 1
            for link in self.links.values():
                link.reset()
            self._ungroup()
            for vehicle in self.vehicles:
                vehicle.reset()
                try:
                    vehicle.autopilot.reset()
                except Exception as error:
                    self._fail(vehicle, error)
            self._fresh.clear()
            self._stale = True

    def new_state(self, live: bool) -> BridgeState:
        """Return its part in the state of a run: the present one if it is `live`, or one to be loaded."""
        state = fresh(BridgeState)
        state.bridge, state.vehicles = self, {str(vehicle.sysid): vehicle for vehicle in self.vehicles}
        for link in self.links.values():
            if link.adapter.hosted:
                rows = state.adapters[link.adapter.name] = fresh(AdapterRows, vehicle=len(link.ids))
                rows.n, rows.systems[:] = len(link.ids), link.ids
        if live:
            self._state = state
            self._show_rows()
        return state

    def _show_rows(self) -> None:
        """Let the state have the present rows of the simulators."""
        for name, rows in ({} if self._state is None else self._state.adapters).items():
            rows.sensors, rows.actuators = self.links[name].sensors, self.links[name].actuators

    def resume(self, state: BridgeState) -> None:
        """Continue from a state that is checked; groups form again at the next exchange."""
        self._resets += 1
        self._ungroup()
        self._fresh.clear()
        self._stale = True
        for vehicle in self.vehicles:
            vehicle.reset()
        adopt_fields(state)
        for name, rows in state.adapters.items():
            self.links[name].resume(rows.sensors, rows.actuators)
        self._state = state
        self._show_rows()

    def close(self) -> None:
        """End waiting, close all autopilots and disconnect all simulators."""
        self._closed.set()
        with self.lock:
            for vehicle in self.vehicles:
                try:
                    vehicle.autopilot.close()
                except Exception as error:
                    self._report("rejected", vehicle, f"cannot close its autopilot: {one_line(error)}")
            for link in self.links.values():
                link.close()
            self._vehicles, self._schedule, self._stale = {}, [], True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, time_us: int) -> bool:
        """Exchange at a simulated time; False if it was interrupted."""
        self._begun, waiting, wait = self._resets, self.mode != "free", self._wait
        if time_us < self.time_us:  # the engine has gone back
            for each in self._schedule:
                each.set_due(time_us)
            for link in self.links.values():
                link.rewind()
        for link in list(self.links.values()):
            if not (link.ensure_connected(self.time_us, wait) and link.advance(time_us, waiting, wait)):
                return False
            if link.rearranged:
                self._grouped = False
        self.time_us = time_us
        if not self._grouped:
            self._group()
        due = [each for each in self._schedule if each.due_us <= time_us]
        groups = [each for each in due if isinstance(each, VehicleGroup)]
        alone = [each for each in due if isinstance(each, BridgeVehicle)]
        used = [link for link in self.links.values() if link.connected] if due else []
        if len(used) > 1:
            names = {each.adapter for each in due}
            used = [link for link in used if link.adapter.name in names]
        for link in used:
            fresh = link.receive()
            if self._alone:
                self._fresh.update(fresh)
        if alone:
            self._offer(alone)
        started_ns, finished = perf_counter_ns(), True
        for group in groups:
            self._exchange_group(group, self.links[group.adapter])
        answered: list[BridgeVehicle] = []
        pending = [vehicle for vehicle in alone if not self._poll(vehicle, waiting, None, answered)]
        if pending:
            started = monotonic()
            while pending and finished:
                pending = [vehicle for vehicle in pending if not self._poll(vehicle, waiting, started, answered)]
                finished = not pending or wait(0.0)
        for link in used:
            if link.connected:
                link.send()
        now_ns = perf_counter_ns()
        for vehicle in answered:
            vehicle.note_answer(now_ns)
        for group in groups:
            group.note_answer(now_ns - started_ns)
        if finished:
            for call in self.after_exchange:
                call(time_us)
        return finished

    def _wait(self, seconds: float) -> bool:
        """Let other threads use the bridge; False when the run is to stop, or has been reset since."""
        begun = self._begun
        with self.lock.released():
            for call in self.while_waiting:
                call()
            self._closed.wait(max(seconds, 1e-4))
        return not self._closed.is_set() and self._resets == begun and self.running()

    def _exchange_group(self, group: VehicleGroup, link: AdapterLink) -> None:
        """Let the autopilots of a group answer, those with new sensor data."""
        updated = link.updated[group.rows]
        group.set_due(group.vehicles[0].autopilot.next_us(self.time_us))
        if not link.connected or not updated.any():
            return
        fresh = None if updated.all() else np.flatnonzero(updated)
        failed: list[tuple[int, Exception]] = []
        commands = group.autopilots.exchange(link.sensors[group.rows], fresh, lambda *what: failed.append(what))
        held = {row: link.actuators[group.rows][row].copy() for row, _ in failed}
        link.actuators[group.rows] = commands
        for row, error in failed:
            group.vehicles[row].actuators.row[:] = held[row]
            self._fail(group.vehicles[row], error)

    def _offer(self, vehicles: Sequence[BridgeVehicle]) -> None:
        """Offer new sensor data to each autopilot; those in other processes now work in parallel."""
        for vehicle in vehicles:
            if vehicle.sysid in self._fresh and not vehicle.failed:
                self._fresh.remove(vehicle.sysid)
                try:
                    vehicle.offer()
                except Exception as error:
                    self._fail(vehicle, error)

    def _poll(
        self, vehicle: BridgeVehicle, waiting: bool, started: float | None, answered: list[BridgeVehicle]
    ) -> bool:
        """Ask an autopilot for its commands, first or again since `started` (s); return whether it is done.

        waiting: the exchange waits for answers. answered: vehicles that have answered; it is added.
        """
        if vehicle.failed:
            return True
        try:
            if started is None:
                if vehicle.note_live():
                    detail = f"{vehicle.autopilot.kind} answers" if vehicle.was_live else vehicle.diagnosis()
                    self._report("connected" if vehicle.was_live else "lost", vehicle, detail)
                waiting = waiting and vehicle.awaited and not vehicle.free_running and vehicle.was_live
            commands = vehicle.autopilot.collect(min(self.policy.timeout, SLICE) if waiting else 0.0)
            waits = commands is None and waiting
            if waits and (started is None or vehicle.holding or not self._late(vehicle, started)):
                return False
            self._take(vehicle, commands)
        except BridgeStoppedError:
            raise
        except Exception as error:
            self._fail(vehicle, error)
            return True
        if commands is not None:
            answered.append(vehicle)
        return True

    def _late(self, vehicle: BridgeVehicle, started: float) -> bool:
        """Return whether it has missed its deadline and the run continues without it."""
        if monotonic() - started < self.policy.timeout and vehicle.autopilot.live:
            return False
        fallback = self.policy.fallback
        detail = f"no answer within {self.policy.timeout:g} s: {vehicle.diagnosis()}"
        self._report("timeout", vehicle, f"{detail}; {fallback}")
        if fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{vehicle} ({vehicle.autopilot.kind}): {detail}; stopped as configured")
        vehicle.note_timeout(holds=fallback is Fallback.HOLD)
        return vehicle.free_running

    def _take(self, vehicle: BridgeVehicle, commands: ActuatorCommands | None) -> None:
        """Set its actuators (None: they hold) and its next exchange."""
        vehicle.set_due(vehicle.autopilot.next_us(self.time_us))
        if commands is not None and vehicle.use(commands):
            self._report("recovered", vehicle, "its autopilot answers again")

    def _fail(self, vehicle: BridgeVehicle, error: Exception) -> None:
        """Stop calling an autopilot that raised an exception, until a reset; no other vehicle is affected."""
        vehicle.fail(one_line(error))
        self._grouped = self._grouped and vehicle.group is None
        detail = f"{vehicle.autopilot.kind} autopilot failed with {vehicle.failed}"
        self._report("lost", vehicle, f"{detail}; its actuators hold until a reset")
        if self.policy.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{vehicle}: {detail}; stopped as configured") from error
