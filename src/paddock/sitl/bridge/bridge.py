"""The bridge: brings sensors from simulators to pilots and actuators back, all in one simulated time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter_ns
from types import TracebackType
from typing import Self

from paddock.sitl.bridge.checks import from_zero, whole_count
from paddock.sitl.bridge.patience import patience
from paddock.sitl.bridge.roster import NEVER_US, Roster
from paddock.sitl.bridge.rounds import Round
from paddock.sitl.bridge.station import Station
from paddock.sitl.bridge.timing import Pace, TimeMode, checked_scale, time_mode
from paddock.sitl.bridge.vehicle import Vehicle

IDLE_PERIOD_US = 20_000
"""Simulated time from one exchange to the next while there are no vehicles."""
NAP = 0.005
"""s of wall time between looks around while time is paced."""


class Bridge(Roster):
    """Adapters, vehicles and pilots with one time. One thread lets time pass; the other verbs may come from any."""

    def __init__(
        self,
        mode: str = TimeMode.LOCKSTEP,
        scale: float = 1.0,
        timeout: float = 1.0,
        fallback: str = "free_run",
        report: Callable[[str, str, str], None] | None = None,
    ) -> None:
        """`mode`: lockstep, free or scaled (by `scale`); `timeout` s and `fallback` (free_run, hold, stop) are those
        of adapters and vehicles that do not say otherwise; `report(kind, subject, detail)` is told every event."""
        super().__init__(patience(timeout, fallback), report)
        self.after_exchange: list[Callable[[int], None]] = []  # called with the simulated time, by the ticking thread
        self.meanwhile: list[Callable[[], None]] = []  # called while the ticking thread waits or sleeps
        self.go_on: Callable[[], bool] = lambda: True  # False ends a wait, as `stop` does
        self._stop = threading.Event()
        self._beginnings = 0  # resets so far
        self._begun = 0  # of those, known to the exchange under way
        self.set_mode(mode, scale)

    def set_mode(self, mode: str, scale: float = 1.0) -> None:
        """How time passes, from now on."""
        with self.lock:
            self.mode, self.scale = time_mode(mode), checked_scale(scale)
            self._pace = Pace(self.mode, self.scale, self.time_us)

    @property
    def due_us(self) -> int:
        """The simulated time of the next exchange."""
        first = min(self._due.values(), default=NEVER_US)
        return first if first < NEVER_US else (self.time_us // IDLE_PERIOD_US + 1) * IDLE_PERIOD_US

    # time ------------------------------------------------------------------------------------------------------------

    def exchange(self, time_us: int) -> bool:
        """Bring the simulators to that time, then sensors to the pilots that are due, and their actuators back.

        False when `stop` or `go_on` ended it before everybody had answered: the same time again goes on with it.
        """
        with self.lock:
            self._begin()
            return self._exchange(time_us)

    def step(self, count: int = 1) -> bool:
        """So many exchanges, each with the simulated time until the next; False when stopped before."""
        exchanges = whole_count(count)
        with self.lock:
            self._begin()
            for _ in range(exchanges):
                if not (self._exchange(self.time_us) and self._pass(self.due_us)):
                    return False
                self.lock.give_way()
        return True

    def run(self, duration: float | None = None, until_us: int | None = None) -> None:
        """Let time pass, paced by the mode: for `duration` s of simulated time, or up to a time, or until `stop`."""
        end = self._end(duration, until_us)
        with self.lock:
            self._begin()
            self._pace = Pace(self.mode, self.scale, self.time_us)
            while self.time_us < end and not self._stop.is_set() and self.go_on():
                if not self._go(end) and self._begun == self._beginnings:
                    return
                self.lock.give_way()

    def stop(self) -> None:
        """Have the ticking thread return soon, whatever it waits for; from any thread."""
        self._stop.set()

    def reset(self) -> None:
        """Everything begins anew at time 0, without a restart: simulators and pilots; connections stay."""
        with self.lock:
            self.time_us = 0
            self._beginnings += 1
            for station in self._stations.values():
                station.reset()
                self._due.update(dict.fromkeys(station.ids, 0))
            for vehicle in self.vehicles:
                vehicle.forget()
                self._reset_pilot(vehicle)
                self.latency.forget(vehicle.sysid)
            self._fresh.clear()
            self._pace = Pace(self.mode, self.scale, 0)

    def close(self) -> None:
        """Take everything off the bridge: pilots are closed, simulators disconnected."""
        self.stop()
        with self.lock:
            self._closed = True
            for vehicle in self.vehicles:
                self.despawn(vehicle.sysid)
            for name in self.adapters:
                self.unregister(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # inside ----------------------------------------------------------------------------------------------------------

    @property
    def _waiting(self) -> bool:
        return self.mode is not TimeMode.FREE

    def _begin(self) -> None:
        self._refuse_closed()
        self._stop.clear()

    def _go(self, end_us: int) -> bool:
        """An exchange, and the time until the next, on the wall and in the simulators."""
        if not self._exchange(self.time_us):
            return False
        target = min(self.due_us, end_us)
        return self._wait_until(target) and self._pass(target)

    def _exchange(self, time_us: int) -> bool:
        self._begun = self._beginnings
        if time_us < self.time_us:  # the host of a hosted world has gone back
            self._due = dict.fromkeys(self._due, time_us)
            for station in self._stations.values():
                station.rewind()
        if not self._pass(time_us):
            return False
        due = [self._vehicles[sysid] for sysid in sorted(k for k, due_us in self._due.items() if due_us <= time_us)]
        now = Round(self, due, time_us, self._waiting)
        used = self._receive(due)
        now.offer(self._fresh)
        finished = now.collect(self._breathe)
        for station in used:
            if station.here:
                station.send()
        self.latency.add(now.answered, perf_counter_ns())
        if finished:
            for call in self.after_exchange:
                call(time_us)
        return finished

    def _receive(self, due: list[Vehicle]) -> list[Station]:
        """The newest sensors of the simulators that these vehicles are in; which simulators those are."""
        names = {vehicle.adapter for vehicle in due}
        used = [station for name, station in self._stations.items() if name in names and station.here]
        for station in used:
            station.receive()
            self._fresh.update(station.fresh())
        return used

    def _pass(self, time_us: int) -> bool:
        """Simulated time goes on in every simulator that is not moved by somebody else."""
        for station in list(self._stations.values()):
            if not station.settle(self.time_us, self._breathe):
                return False
            if not station.advance(time_us, self._waiting, self._breathe):
                return False
        self.time_us = time_us
        return True

    def _wait_until(self, time_us: int) -> bool:
        """Sleep until that time may begin on the wall clock."""
        slips = self._pace.slips
        while (early := self._pace.early(time_us)) > 0.0:
            if not self._breathe(min(early, NAP)):
                return False
        if self._pace.slips > slips:
            self.events.add("slipped", "bridge", "slower than its pace: it no longer tries to catch up")
        return True

    def _breathe(self, seconds: float) -> bool:
        """Let other threads at the roster for a moment; False when the run is to stop, or has begun anew meanwhile."""
        for call in self.meanwhile:
            call()
        self.lock.give_way(self._stop, max(seconds, 1e-4))
        return not self._stop.is_set() and self._begun == self._beginnings and self.go_on()

    def _end(self, duration: float | None, until_us: int | None) -> int:
        ends = [NEVER_US]
        if duration is not None:
            ends.append(
                self.time_us + round(from_zero(duration, "duration must be a number of seconds from 0 on") * 1e6)
            )
        if until_us is not None:
            ends.append(round(from_zero(until_us, "until_us must be a number of us from 0 on")))
        return min(ends)
