"""Received datagrams: their senders, which cars they may drive; checked, counted and forwarded together.

Source addresses of UDP can be forged. Where other machines can connect, states therefore go only to senders that have
echoed a cookie: 64 bits that only a program at their address can know. Until then a sender is a stranger: its commands
count, and it is sent no more bytes than it sends.
"""

import asyncio
import hashlib
import secrets
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import PaddockError, UnknownNameError
from paddock.scenario.serve import is_loopback
from paddock.serve.hub import Endpoint, Hub
from paddock.serve.protection.admission import Allowance, LimitedLog
from paddock.wire import WireError
from paddock.wire.vds1 import STATE_RECORD, CarCommand, Cookie, Subscribe, decode, encode_cookie
from paddock.world.columns import Floats
from paddock.world.layout import Layout

Address = tuple[Any, ...]  # as in the socket module: (host, port), and two more numbers for IPv6
LIFE = 30.0  # s: a cookie is valid until the end of the period after its own


class AddressCookies:
    """Makes and checks cookies without remembering them: a hash of address, period and a secret of this process."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def cookie(self, address: Address, period: int) -> Cookie:
        """Return the cookie of an address in a period."""
        text = f"{address[0]} {address[1]} {period}".encode()
        return Cookie(*struct.unpack("<II", hashlib.blake2b(text, key=self._secret, digest_size=8).digest()))

    def fresh(self, address: Address, now: float) -> Cookie:
        """Return the cookie to send at a time, s."""
        return self.cookie(address, int(now // LIFE))

    def valid_until(self, address: Address, message: CarCommand | Subscribe, now: float) -> float:
        """Return until when (s) a message proves that its sender receives at its address; 0: it does not."""
        if isinstance(message, Subscribe):
            for period in (int(now // LIFE), int(now // LIFE) - 1):
                if self.cookie(address, period)[:2] == message[:2]:
                    return (period + 2) * LIFE
        return 0.0


SILENCE = 2.0  # s of silence after which a sender is forgotten
PAUSE = 1.0  # s after which any sequence number counts as a restart
WINDOW = 1000  # how far a late datagram may be behind; further back counts as a restart of its sender
IN_A_ROW = 3  # datagrams that count up one by one from an older number and count as a restart
HALF = 1 << 31


class SequenceTrack:
    """The sequence numbers of one sender for one car."""

    __slots__ = ("at", "last", "older", "row")

    def __init__(self, sequence: int, now: float) -> None:
        self.last, self.at = sequence, now
        self.older, self.row = 0, 0  # the last old number, and how many counted up to it

    def takes(self, sequence: int, now: float) -> bool:
        """Return whether to accept a datagram; duplicates, replays and late ones are refused. `now` in s.

        A restarted sender is accepted after a pause or from far back, otherwise with its third datagram.
        """
        behind = (self.last - sequence) % (1 << 32)
        if behind < HALF and behind <= WINDOW and now - self.at <= PAUSE and not self._begins_again(sequence):
            return False
        self.last, self.at, self.row = sequence, now, 0
        return True

    def _begins_again(self, sequence: int) -> bool:
        counts_up = self.row > 0 and sequence == (self.older + 1) % (1 << 32)
        self.row = self.row + 1 if counts_up else 1
        self.older = sequence
        return self.row >= IN_A_ROW


class Vds1Sender:
    """The sender at one address."""

    __slots__ = ("allowance", "challenged_at", "last_seen", "proven_until", "tracks")

    def __init__(self, rate: float, now: float) -> None:
        self.allowance = Allowance(rate, now)  # datagrams per second
        self.last_seen = now  # s
        self.proven_until: float | None = None  # s; None: it needs no proof
        self.challenged_at = -CHALLENGE_EVERY  # s
        self.tracks: dict[int, SequenceTrack] = {}  # car -> its sequence numbers

    def subscribed(self, now: float) -> bool:
        """Return whether it still receives states: it is neither silent nor without proof."""
        return now - self.last_seen <= SILENCE and (self.proven_until is None or now < self.proven_until)

    def challenge_due(self, now: float) -> bool:
        """Return whether to send it a cookie: it has no proof, or one that expires soon."""
        if self.proven_until is None or self.proven_until - now > 0.5 * LIFE:
            return False
        due = now - self.challenged_at >= CHALLENGE_EVERY
        self.challenged_at = now if due else self.challenged_at
        return due

    def takes(self, vehicle: int, sequence: int, now: float) -> bool:
        """Return whether to accept its datagram for a car."""
        track = self.tracks.get(vehicle)
        if track is None:
            self.tracks[vehicle] = SequenceTrack(sequence, now)
            return True
        return track.takes(sequence, now)


CHALLENGE_EVERY = 0.2  # s between two cookies for one sender
STRANGERS = 256  # unproven senders that are remembered; a new one replaces the one that has been silent longest


class Senders:
    """The recent senders, up to a limit, each with a limit of datagrams per second.

    `known` are the subscribers. With `everyone`, senders on this machine must echo cookies, too.
    """

    def __init__(self, most: int, rate: float, everyone: bool = False) -> None:
        self.most, self.rate, self.everyone = most, rate, everyone
        self.cookies = AddressCookies()
        self.known: dict[Address, Vds1Sender] = {}
        self.strangers: dict[Address, Vds1Sender] = {}  # the one that has been silent longest first

    def receive(self, address: Address, message: CarCommand | Subscribe, now: float) -> Vds1Sender | None:
        """Return the sender of a datagram; None if the limit of subscribers is reached."""
        client = self.known.get(address)
        if client is None and not self.everyone and is_loopback(address[0]):
            client = self._joined(address, now)
        elif client is None or client.proven_until is not None:
            until = self.cookies.valid_until(address, message, now)
            if client is None:
                client = self._joined(address, now) if until else self._stranger(address, now)
            if client is not None and until:
                client.proven_until = until
        if client is not None:
            client.last_seen = now
        return client

    def _stranger(self, address: Address, now: float) -> Vds1Sender:
        client = self.strangers.pop(address, None) or Vds1Sender(self.rate, now)
        client.proven_until = 0.0
        self.strangers[address] = client  # last
        if len(self.strangers) > STRANGERS:
            del self.strangers[next(iter(self.strangers))]
        return client

    def _joined(self, address: Address, now: float) -> Vds1Sender | None:
        """Return a new subscriber, with what is known of it as a stranger; None if the limit is reached."""
        if len(self.known) >= self.most:
            self.forget(now)
        if len(self.known) >= self.most:
            return None
        client = self.strangers.pop(address, None) or Vds1Sender(self.rate, now)
        self.known[address] = client
        return client

    def forget(self, now: float) -> int:
        """Remove silent senders and those whose proof has expired; return how many subscribers."""
        gone = [address for address, client in self.known.items() if not client.subscribed(now)]
        for address in gone:
            del self.known[address]
        for address in [stranger for stranger, client in self.strangers.items() if now - client.last_seen > SILENCE]:
            del self.strangers[address]
        return len(gone)


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
