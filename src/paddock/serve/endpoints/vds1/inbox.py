"""Received datagrams: which cars their senders may drive; checked, counted and forwarded together."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import PaddockError, UnknownNameError
from paddock.serve.hub import Endpoint, Hub
from paddock.serve.protection.admission import LimitedLog
from paddock.serve.protection.datagram_senders import Address, Senders
from paddock.wire import WireError
from paddock.wire.vds1 import STATE_RECORD, CarCommand, Subscribe, decode, encode_cookie
from paddock.world.columns import Floats
from paddock.world.layout import Layout

CLIENT = "vds1"  # the client name of VDS1 commands
INPUTS = ("steer", "throttle", "brake", "gear", "handbrake")
"""The inputs of a CMD, in the order of paddock.wire.vds1.CarCommand."""
EXTERNAL = "external"  # the override to take commands
PATIENCE = 0.2  # s between two requests while the fleet keeps changing


class CarFleet(NamedTuple):
    """Facts about a fleet of cars that snapshots do not contain."""

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
        self.layout = layout
        self.ask_again()

    def ask_again(self) -> None:
        """Request the facts again."""
        self._changes += 1
        if not self.asking and self.layout is not None:
            self.asking = True
            self._task = self._hub.loop.create_task(self._ask())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def radii(self) -> dict[str, Floats]:
        """Return fleet -> (n,) radius of the wheels in m, for known fleets of cars."""
        radius_of = {}
        for layout in self.layout.fleets if self.layout is not None else ():
            fleet = self._fleets.get(layout.name)
            if layout.kind == "car" and fleet is not None and np.shape(fleet.radius) in ((), (layout.n,)):
                radius_of[layout.name] = np.broadcast_to(np.asarray(fleet.radius, np.float64), layout.n)
        return radius_of

    def trouble(self, vehicle: int) -> str:
        """Return why commands cannot drive this vehicle; empty if they can."""
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
        """Return the inputs of a car that commands can drive."""
        assert self.layout is not None
        fleet = self._fleets.get(self.layout.fleets[self.layout.find(vehicle)[0]].name)
        return INPUTS if fleet is None else fleet.inputs

    async def _ask(self) -> None:
        """Request the facts, again if they have changed meanwhile."""
        while True:
            changes = self._changes
            with suppress(PaddockError):  # the simulation is ending
                fleets = (await self._hub.request("metadata", CLIENT, fresh=True)).result["fleets"]
                self._fleets = {tree["name"]: await self._fleet(tree) for tree in fleets if tree["kind"] == "car"}
                overrides = (await self._hub.request("overrides", CLIENT, fresh=True)).result
                self._overrides = {id: order["behaviour"] for order in overrides for id in order["ids"].tolist()}
            self.asking = changes != self._changes
            self._changed()
            if not self.asking:
                return
            await asyncio.sleep(PATIENCE)

    async def _fleet(self, tree: dict[str, Any]) -> CarFleet:
        radius = tree["parameters"].get("wheel_radius") or 0.0
        if "wheel_radius" in tree["varying"]:
            request = self._hub.request("parameter", CLIENT, fresh=True, target=tree["name"], name="wheel_radius")
            radius = (await request).result
        known = {column["name"] for column in tree["inputs"]}
        return CarFleet(tree["driven_by"] or "", tuple(name for name in INPUTS if name in known), radius)


AT_ONCE = 256  # datagrams read at a time, which takes 1 to 2 ms
LONGEST = STATE_RECORD.size + 1  # bytes read of a datagram: one more than the longest valid one
APART = 0.001  # s between two messages to the simulation, so that a flood of commands does not reach it
INPUT_FIELDS = slice(CarCommand._fields.index(INPUTS[0]), CarCommand._fields.index(INPUTS[-1]) + 1)
"""The positions of INPUTS in a CarCommand."""


class Inbox:
    """Receives datagrams from a non-blocking socket."""

    def __init__(self, endpoint: Endpoint, cars: Cars, clients: Senders, timeout: float) -> None:
        """`timeout`: simulated s until a command expires."""
        self.hub, self.cars, self.clients = endpoint.hub, cars, clients
        self._count = endpoint.count
        self.log = LimitedLog("paddock.vds1")
        self._timeout = timeout
        self._waiting: dict[int, CarCommand] = {}  # car -> its last command
        self._next = 0.0  # time of the next message to the simulation, monotonic s
        self._timer: asyncio.TimerHandle | None = None

    def drain(self, source: socket.socket) -> None:
        """Read waiting datagrams, up to a limit, and forward them."""
        now, count = monotonic(), 0
        for count in range(1, AT_ONCE + 1):
            try:
                datagram, address = source.recvfrom(LONGEST)
            except OSError:  # no more data, or an error of an earlier datagram
                count -= 1
                break
            if self._take(datagram, address, now):
                self._challenge(source, address, now)
        self._count("datagrams_received", count)
        self.flush()

    def close(self) -> None:
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _challenge(self, source: socket.socket, address: Address, now: float) -> None:
        """Send a cookie: at most as many bytes as were received."""
        with suppress(OSError):
            source.sendto(encode_cookie(self.clients.cookies.fresh(address, now)), address)
            self._count("cookies_sent")

    def _take(self, datagram: bytes, address: Address, now: float) -> bool:
        """Handle a datagram; return whether its sender is due to receive a cookie."""
        sender = f"{address[0]}:{address[1]}"
        try:
            message = decode(datagram)
        except WireError as error:
            self._refuse(error.reason, f"{sender}: {error}")
            return False
        if not isinstance(message, CarCommand | Subscribe):
            self._refuse("type", f"{sender}: STATE and COOKIE are sent by the server, not to it")
        elif isinstance(message, CarCommand) and (trouble := self.cars.trouble(message.vehicle)):
            self._misdirected(f"{sender}: {trouble}")
        elif (client := self.clients.receive(address, message, now)) is None:
            self._refuse("full", f"{sender}: the limit of {self.clients.most} subscribers is reached")
        elif not client.allowance.take(now):
            self._refuse("rate", f"{sender}: more than {self.clients.rate:g} datagrams per second")
        else:
            if isinstance(message, CarCommand) and not client.takes(message.vehicle, message.sequence, now):
                self._refuse("stale", f"{sender}: sequence number {message.sequence} is old or a duplicate")
            elif isinstance(message, CarCommand):
                self._wait(message, sender)
            if not client.challenge_due(now):
                return False
            if not client.proven_until:
                self.log.warn("cookie", f"{sender}: it receives states as soon as it echoes the cookie sent to it")
            return True
        return False

    def _wait(self, command: CarCommand, sender: str) -> None:
        """Keep a valid command until the next message to the simulation."""
        if command.aux_accel is not None or command.aux_speed is not None:
            self._count("aux_unsupported")
            self.log.warn("aux", f"{sender}: aux_accel and aux_speed are not supported and must be NaN")
        self._waiting[command.vehicle] = command

    def flush(self) -> None:
        """Forward waiting commands; later, if the last message is too recent or facts about cars are missing."""
        if not self._waiting or self._timer is not None or self.cars.asking:
            return
        now = monotonic()
        if now < self._next:
            self._timer = self.hub.loop.call_later(self._next - now, self._flush_late)
            return
        self._next = now + APART
        waiting, self._waiting = self._waiting, {}
        alike: dict[tuple[str, ...], list[CarCommand]] = {}  # inputs of the cars, usually the same -> commands
        for vehicle, command in waiting.items():
            trouble = self.cars.trouble(vehicle)  # again: it may have been removed meanwhile
            if not trouble and self.cars.inputs(vehicle):
                alike.setdefault(self.cars.inputs(vehicle), []).append(command)
            else:
                self._misdirected(trouble or f"vehicle {vehicle} takes none of {', '.join(INPUTS)}")
        for names, commands in alike.items():
            ids = np.array([command.vehicle for command in commands])
            values = np.array([command[INPUT_FIELDS] for command in commands], np.float64)
            inputs: dict[str, Any] = {name: values[:, INPUTS.index(name)] for name in names}
            arguments = {"ids": ids, "inputs": inputs, "timeout": self._timeout}
            self.hub.ask("command_many", CLIENT, arguments, lambda outcome: None)

    def _flush_late(self) -> None:
        self._timer = None
        self.flush()

    def _refuse(self, reason: str, message: str) -> None:
        self._count("datagrams_refused", reason=reason)
        self.log.warn(reason, message)

    def _misdirected(self, message: str) -> None:
        self._count("misdirected")
        self.log.warn("misdirected", message)
