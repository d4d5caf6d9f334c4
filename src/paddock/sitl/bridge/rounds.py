"""One exchange: sensors to every pilot that is due, then their answers, with deadlines."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic, perf_counter_ns

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.bridge.patience import BridgeStoppedError, Fallback
from paddock.sitl.bridge.roster import Roster
from paddock.sitl.bridge.station import Breathe
from paddock.sitl.bridge.vehicle import Vehicle

SLICE = 0.02
"""s of wall time that one pilot is waited for before the others are looked at."""


class Round:
    """The exchange of some vehicles at one simulated time, in the order of their ids."""

    def __init__(self, roster: Roster, vehicles: Sequence[Vehicle], time_us: int, waiting: bool) -> None:
        self.roster = roster
        self.vehicles = [vehicle for vehicle in vehicles if not vehicle.failed]
        self.time_us = time_us
        self.waiting = waiting
        self.answered: list[int] = []  # system ids

    def offer(self, fresh: set[int]) -> None:
        """Hand the sensors over where there are new ones, which they are no longer then.

        Pilots in other processes now work at the same time.
        """
        offered = self.roster.latency.offered
        for vehicle in self.vehicles:
            sysid = vehicle.sysid
            if sysid in fresh:
                offered[sysid] = perf_counter_ns()
                fresh.remove(sysid)
                try:
                    vehicle.pilot.offer(vehicle.sensors)
                except Exception as error:
                    self.roster.lose_pilot(vehicle, error)
                vehicle.awaited = not vehicle.failed

    def collect(self, breathe: Breathe) -> bool:
        """Take the answers; False when the run is to stop before all those waited for have come."""
        started = monotonic()
        pending = [vehicle for vehicle in self.vehicles if not self._done(vehicle, None)]
        while pending:
            pending = [vehicle for vehicle in pending if not self._done(vehicle, started)]
            if pending and not breathe(0.0):
                return False
        return True

    def _done(self, vehicle: Vehicle, started: float | None) -> bool:
        """Ask a pilot, for the first time or since `started`; whether it is done with. One that fails is."""
        if vehicle.failed:
            return True
        try:
            return self._ask(vehicle) if started is None else self._ask_again(vehicle, started)
        except BridgeStoppedError:
            raise
        except Exception as error:
            self.roster.lose_pilot(vehicle, error)
            return True

    def _ask(self, vehicle: Vehicle) -> bool:
        pilot = vehicle.pilot
        if pilot.live != vehicle.was_live:
            self._notice(vehicle)
        wait = self.waiting and vehicle.awaited and not vehicle.free_running and vehicle.was_live
        commands = pilot.collect(_slice(vehicle) if wait else 0.0)
        if commands is None and wait:
            return False
        self._take(vehicle, commands)
        return True

    def _ask_again(self, vehicle: Vehicle, started: float) -> bool:
        if not vehicle.present:  # taken off the bridge meanwhile
            return True
        commands = vehicle.pilot.collect(_slice(vehicle))
        if commands is None and (vehicle.holding or not self._late(vehicle, started)):
            return False
        self._take(vehicle, commands)
        return True

    def _late(self, vehicle: Vehicle, started: float) -> bool:
        """Whether it has missed its deadline and the world goes on without it."""
        if monotonic() - started < vehicle.patience.timeout and vehicle.pilot.live:
            return False
        fallback = vehicle.patience.fallback
        detail = f"no answer within {vehicle.patience.timeout:g} s: {vehicle.diagnosis()}"
        self.roster.events.add("timeout", str(vehicle), f"{detail}; {fallback}")
        if fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{vehicle} ({vehicle.pilot.kind}): {detail}; stopped as configured")
        vehicle.holding = fallback is Fallback.HOLD
        vehicle.free_running = not vehicle.holding
        return vehicle.free_running

    def _take(self, vehicle: Vehicle, commands: ActuatorCommands | None) -> None:
        """Its actuators from now on (None: they hold), and when it is due next."""
        self.roster.plan(vehicle.sysid, vehicle.pilot.next_us(self.time_us))
        if commands is None:
            return
        vehicle.actuators.row[...] = commands.row
        vehicle.awaited = False
        self.answered.append(vehicle.sysid)
        if vehicle.free_running or vehicle.holding:
            vehicle.free_running = vehicle.holding = False
            self.roster.events.add("recovered", str(vehicle), "its pilot answers again")

    def _notice(self, vehicle: Vehicle) -> None:
        """A pilot has come or gone."""
        vehicle.was_live = live = vehicle.pilot.live
        detail = f"{vehicle.pilot.kind} answers" if live else vehicle.diagnosis()
        self.roster.events.add("connected" if live else "lost", str(vehicle), detail)


def _slice(vehicle: Vehicle) -> float:
    """s of wall time of one wait for its pilot."""
    timeout = vehicle.patience.timeout
    return timeout if timeout < SLICE else SLICE
