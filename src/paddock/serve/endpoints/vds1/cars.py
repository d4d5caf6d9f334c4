"""Which vehicles are cars, who may drive them, and how large their wheels are."""

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

CLIENT = "vds1"
"""The name under which commands enter the simulation."""
INPUTS = ("steer", "throttle", "brake", "gear", "handbrake")
"""What a CMD tells a car, in the order of paddock.wire.vds1.Command."""
EXTERNAL = "external"
"""The order to take commands."""
PATIENCE = 0.2
"""s between two questions while vehicles keep coming and going."""


class Fleet(NamedTuple):
    """What snapshots do not say about a fleet of cars."""

    driven_by: str  # a behaviour's name, or empty
    inputs: tuple[str, ...]  # of INPUTS
    radius: Any  # m, of the wheels: a number or (n,)


class Cars:
    """The roster as the newest snapshot has it; what else must be known of a fleet is asked once per change."""

    def __init__(self, hub: Hub, changed: Callable[[], None]) -> None:
        """`changed` is called when everything is known."""
        self.layout: Layout | None = None
        self.asking = False
        self._hub = hub
        self._changed = changed
        self._fleets: dict[str, Fleet] = {}
        self._orders: dict[int, str] = {}  # vehicle -> what it was told to do
        self._changes = 0  # of vehicles or orders
        self._task: asyncio.Task[None] | None = None

    def show(self, layout: Layout) -> None:
        """Vehicles have come or gone."""
        self.layout = layout
        self.ask_again()

    def ask_again(self) -> None:
        """Who drives what has changed."""
        self._changes += 1
        if not self.asking and self.layout is not None:
            self.asking = True
            self._task = self._hub.loop.create_task(self._ask())

    def close(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()

    def radii(self) -> dict[str, Floats]:
        """Fleet -> (n,) radius of the wheels in m, for the fleets of cars that are known."""
        found = {}
        for layout in self.layout.fleets if self.layout is not None else ():
            fleet = self._fleets.get(layout.name)
            if layout.kind == "car" and fleet is not None and np.shape(fleet.radius) in ((), (layout.n,)):
                found[layout.name] = np.broadcast_to(np.asarray(fleet.radius, np.float64), layout.n)
        return found

    def trouble(self, vehicle: int) -> str:
        """Why no datagram can drive this vehicle; empty if one may."""
        if self.layout is None:
            return f"vehicle {vehicle}: nothing has been simulated yet"
        try:
            fleet, row = self.layout.find(vehicle)
        except UnknownNameError as error:
            return str(error)
        layout = self.layout.fleets[fleet]
        if layout.kind != "car":
            return f"vehicle {vehicle} is {layout.vehicle_name(row)!r} ({layout.model}); only cars are driven by VDS1"
        known = self._fleets.get(layout.name)
        own = "" if known is None else known.driven_by
        order = self._orders.get(vehicle)
        if order == EXTERNAL or not (order or own):
            return ""
        what = f"order {order!r}" if order else f"behaviour {own!r}"
        return f"vehicle {vehicle} is driven by its {what}, not by commands"

    def inputs(self, vehicle: int) -> tuple[str, ...]:
        """What a car without trouble can be told."""
        assert self.layout is not None
        fleet = self._fleets.get(self.layout.fleets[self.layout.find(vehicle)[0]].name)
        return INPUTS if fleet is None else fleet.inputs

    async def _ask(self) -> None:
        """Until nothing has changed meanwhile."""
        while True:
            changes = self._changes
            with suppress(PaddockError):  # the simulation is ending, or gone
                self._fleets = await self._answer()
                orders = (await self._hub.request("orders", CLIENT)).result
                self._orders = {id: order["behaviour"] for order in orders for id in order["ids"].tolist()}
            self.asking = changes != self._changes
            self._changed()
            if not self.asking:
                return
            await asyncio.sleep(PATIENCE)

    async def _answer(self) -> dict[str, Fleet]:
        told = (await self._hub.request("metadata", CLIENT)).result["fleets"]
        return {tree["name"]: await self._fleet(tree) for tree in told if tree["kind"] == "car"}

    async def _fleet(self, tree: dict[str, Any]) -> Fleet:
        radius = tree["parameters"].get("wheel_radius", 0.0)
        if "wheel_radius" in tree.get("varying", ()):
            request = self._hub.request("parameter", CLIENT, target=tree["name"], name="wheel_radius")
            radius = (await request).result
        known = {column["name"] for column in tree["inputs"]}
        return Fleet(tree["driven_by"] or "", tuple(name for name in INPUTS if name in known), radius)
