"""The vehicles that an adapter has bound: what each was placed as, what is special about it, where it stands."""

from __future__ import annotations

from paddock.engine.simulation import Simulation
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.physics.lineup import Lineup, Part

CAPACITY = 254


class Bindings:
    """Vehicles by their ids. Refusals begin with the name of the adapter."""

    def __init__(self, adapter: str, truth: bool) -> None:
        """`truth`: everybody's sensor data has the ground truth."""
        self.adapter = adapter
        self.truth = truth
        self.placed: dict[int, Placed] = {}
        self.spawned: set[int] = set()
        self.told: set[int] = set()  # who gets the truth
        self.jammed: set[int] = set()  # who has no GNSS
        self._lineup: Lineup | None = None

    def clear(self) -> None:
        """Nobody is bound."""
        for known in (self.placed, self.spawned, self.told, self.jammed):
            known.clear()
        self.forget()

    def check_free(self, vehicle: Placed) -> None:
        """Neither its id nor its name is taken."""
        if not 1 <= vehicle.id <= CAPACITY:
            raise AdapterError(f"adapter {self.adapter!r}: a vehicle's id lies in 1 to {CAPACITY}, not {vehicle.id}")
        if vehicle.id in self.placed:
            raise AdapterError(f"adapter {self.adapter!r} has a vehicle {vehicle.id} already")
        same = [other.id for other in self.placed.values() if other.name == vehicle.name]
        if same:
            raise AdapterError(f"adapter {self.adapter!r}: {vehicle.name!r} is vehicle {same[0]} already")

    def add(self, vehicle: Placed) -> None:
        """One more."""
        self.placed[vehicle.id] = vehicle
        self.forget()

    def remove(self, vehicle: int) -> None:
        """One less."""
        del self.placed[vehicle]
        for known in (self.spawned, self.told, self.jammed):
            known.discard(vehicle)
        self.forget()

    def find(self, vehicle: int) -> Placed:
        """What it was placed as; AdapterError if it is not bound."""
        if vehicle not in self.placed:
            known = ", ".join(map(str, sorted(self.placed))) or "none"
            raise AdapterError(f"adapter {self.adapter!r} has no vehicle {vehicle}; it has: {known}")
        return self.placed[vehicle]

    def set_truth(self, vehicle: int, on: bool) -> None:
        """Whether its sensor data has the ground truth."""
        self.find(vehicle)
        (self.told.add if on else self.told.discard)(vehicle)
        self._remark(vehicle)

    def set_gnss(self, vehicle: int, on: bool) -> None:
        """Whether it has satellite navigation."""
        self.find(vehicle)
        (self.jammed.discard if on else self.jammed.add)(vehicle)
        self._remark(vehicle)

    # where they stand ------------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Work out anew who stands where, and show everything again."""
        self._lineup = None

    def parts(self, sim: Simulation, vehicles: tuple[int, ...]) -> list[Part]:
        """Who of these stands where."""
        lineup = self._lineup
        known = None if lineup is None or lineup.stale else lineup.known.get(vehicles)
        return self._line_up(sim, vehicles) if known is None else known

    def _line_up(self, sim: Simulation, vehicles: tuple[int, ...]) -> list[Part]:
        for vehicle in vehicles if self._lineup is None or vehicles not in self._lineup.known else ():
            self.find(vehicle)
        if self._lineup is None or self._lineup.stale:
            self._lineup = Lineup(sim, {vehicle: placed.name for vehicle, placed in self.placed.items()})
            for vehicle in self.placed:
                self._mark(self._lineup, vehicle)
        return self._lineup.parts(vehicles)

    def _remark(self, vehicle: int) -> None:
        if self._lineup is not None and not self._lineup.stale:
            self._mark(self._lineup, vehicle)

    def _mark(self, lineup: Lineup, vehicle: int) -> None:
        lineup.mark(vehicle, self.truth or vehicle in self.told, vehicle in self.jammed)
