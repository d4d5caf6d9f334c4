"""The cars: which vehicles are cars, whether commands drive them, and the radii of their wheels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddock.errors import PaddockError, UnknownNameError
from paddock.world.columns import Floats
from paddock.world.layout import Layout

if TYPE_CHECKING:
    from paddock.serve.hub import Hub

CLIENT = "vds1"  # the client name of VDS1 commands
INPUTS = ("steer", "throttle", "brake", "gear", "handbrake")
"""The inputs of a CMD, in the order of paddock.wire.vds1.Command."""
EXTERNAL = "external"  # the override to take commands
PATIENCE = 0.2  # s between two requests while the fleet keeps changing


class CarFleet(NamedTuple):
    """What snapshots do not contain about a fleet of cars."""

    driven_by: str  # a behaviour's name, or empty
    inputs: tuple[str, ...]  # of INPUTS
    radius: Any  # m, of the wheels: a number or (n,)


class Cars:
    """The layout of the newest snapshot; other facts about fleets are requested once per change."""

    def __init__(self, hub: Hub, changed: Callable[[], None]) -> None:
        """`changed` is called when all facts are known."""
        self.layout: Layout | None = None
        self.asking = False
        self._hub = hub
        self._changed = changed
        self._fleets: dict[str, CarFleet] = {}
        self._overrides: dict[int, str] = {}  # vehicle -> its override
        self._changes = 0  # of vehicles or overrides
        self._task: asyncio.Task[None] | None = None

    def show(self, layout: Layout) -> None:
        """Handle a changed layout."""
        self.layout = layout
        self.ask_again()

    def ask_again(self) -> None:
        """Request the facts again."""
        self._changes += 1
        if not self.asking and self.layout is not None:
            self.asking = True
            self._task = self._hub.loop.create_task(self._ask())

    def close(self) -> None:
        """Cancel the request."""
        if self._task is not None:
            self._task.cancel()

    def radii(self) -> dict[str, Floats]:
        """Fleet -> (n,) radius of the wheels in m, for known fleets of cars."""
        found = {}
        for layout in self.layout.fleets if self.layout is not None else ():
            fleet = self._fleets.get(layout.name)
            if layout.kind == "car" and fleet is not None and np.shape(fleet.radius) in ((), (layout.n,)):
                found[layout.name] = np.broadcast_to(np.asarray(fleet.radius, np.float64), layout.n)
        return found

    def trouble(self, vehicle: int) -> str:
        """Why commands cannot drive this vehicle; empty if they can."""
        if self.layout is None:
            return f"vehicle {vehicle}: no snapshot yet"
        try:
            fleet, row = self.layout.find(vehicle)
        except UnknownNameError as error:
            return str(error)
        layout = self.layout.fleets[fleet]
        if layout.kind != "car":
            return f"vehicle {vehicle} is {layout.vehicle_name(row)!r} ({layout.model}); only cars are driven by VDS1"
        known = self._fleets.get(layout.name)
        own = "" if known is None else known.driven_by
        order = self._overrides.get(vehicle)
        if order == EXTERNAL or not (order or own):
            return ""
        what = f"override {order!r}" if order else f"behaviour {own!r}"
        return f"vehicle {vehicle} is driven by its {what}, not by commands"

    def inputs(self, vehicle: int) -> tuple[str, ...]:
        """The inputs of a car that commands can drive."""
        assert self.layout is not None
        fleet = self._fleets.get(self.layout.fleets[self.layout.find(vehicle)[0]].name)
        return INPUTS if fleet is None else fleet.inputs

    async def _ask(self) -> None:
        """Repeat until nothing has changed meanwhile."""
        while True:
            changes = self._changes
            with suppress(PaddockError):  # the simulation is ending
                fleets = (await self._hub.request("metadata", CLIENT)).result["fleets"]
                self._fleets = {tree["name"]: await self._fleet(tree) for tree in fleets if tree["kind"] == "car"}
                found = (await self._hub.request("orders", CLIENT)).result
                self._overrides = {id: order["behaviour"] for order in found for id in order["ids"].tolist()}
            self.asking = changes != self._changes
            self._changed()
            if not self.asking:
                return
            await asyncio.sleep(PATIENCE)

    async def _fleet(self, tree: dict[str, Any]) -> CarFleet:
        radius = tree["parameters"].get("wheel_radius", 0.0)
        if "wheel_radius" in tree.get("varying", ()):
            request = self._hub.request("parameter", CLIENT, target=tree["name"], name="wheel_radius")
            radius = (await request).result
        known = {column["name"] for column in tree["inputs"]}
        return CarFleet(tree["driven_by"] or "", tuple(name for name in INPUTS if name in known), radius)
