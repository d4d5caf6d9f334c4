"""Datagrams that come in: each is checked, counted, and what counts goes to the simulation in one message."""

from __future__ import annotations

import asyncio
import socket
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.serve.counters import LimitedLog
from paddock.serve.endpoints.vds1.cars import CLIENT, INPUTS, Cars
from paddock.serve.endpoints.vds1.publisher import Address
from paddock.wire.error import WireError
from paddock.wire.vds1 import STATE_RECORD, Command, Subscribe, decode

if TYPE_CHECKING:
    from paddock.serve.hub import Hub


AT_ONCE = 256
"""Datagrams read before others have their turn, a millisecond or two."""
LONGEST = STATE_RECORD.size + 1
"""Bytes that are read of a datagram: one more than any valid one has."""
APART = 0.001
"""s between two messages to the simulation at least: a flood of commands is thinned out here, not there."""
INPUT_FIELDS = slice(Command._fields.index(INPUTS[0]), Command._fields.index(INPUTS[-1]) + 1)
"""Where INPUTS stand in a Command."""


class Inbox:
    """Reads a non-blocking socket."""

    def __init__(self, hub: Hub, cars: Cars, clients: Clients, timeout: float, rate: float) -> None:
        """`timeout`: simulated s that a command holds; `rate`: datagrams per second of one client at most."""
        self.hub, self.cars, self.clients = hub, cars, clients
        self.log = LimitedLog("paddock.vds1")
        self._timeout, self._rate = timeout, rate
        self._waiting: dict[int, Command] = {}  # car -> what it was told last; no more entries than there are cars
        self._next = 0.0  # when the simulation may be told again, monotonic s
        self._timer: asyncio.TimerHandle | None = None

    def drain(self, source: socket.socket) -> None:
        """Read what is there, up to a limit, and pass it on."""
        now, count = monotonic(), 0
        for count in range(1, AT_ONCE + 1):
            try:
                datagram, address = source.recvfrom(LONGEST)
            except OSError:  # nothing more, or an error that an earlier datagram has left on the socket
                count -= 1
                break
            self._take(datagram, address, now)
        self.hub.counters.add("datagrams_received", count, endpoint="vds1")
        self.flush()

    def close(self) -> None:
        """Pass nothing on any more."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _take(self, datagram: bytes, address: Address, now: float) -> None:
        try:
            message = decode(datagram)
        except WireError as error:
            self._refuse(error.reason, f"{_told(address)}: {error}")
            return
        if not isinstance(message, Command | Subscribe):
            self._refuse("type", f"{_told(address)}: VDS1 STATE is sent by the server, not to it")
            return
        trouble = self.cars.trouble(message.vehicle) if isinstance(message, Command) else ""
        if trouble:
            self._misdirected(f"{_told(address)}: {trouble}")
        else:
            self._hear(message, address, now)

    def _hear(self, message: Command | Subscribe, address: Address, now: float) -> None:
        client = self.clients.hear(address, now)
        if client is None:
            self._refuse("full", f"{_told(address)}: there are {self.clients.most} subscribers, which is the limit")
        elif not client.within(self._rate, now):
            self._refuse("rate", f"{_told(address)}: more than {self._rate:g} datagrams per second")
        elif isinstance(message, Command):
            self._command(client, message, address, now)

    def _command(self, client: Client, command: Command, address: Address, now: float) -> None:
        if not client.takes(command.vehicle, command.sequence, now):
            self._refuse("stale", f"{_told(address)}: sequence number {command.sequence} is old or used already")
            return
        if command.aux_accel is not None or command.aux_speed is not None:
            self.hub.counters.add("aux_unsupported", endpoint="vds1")
            self.log.warn("aux", f"{_told(address)}: aux_accel and aux_speed are not supported and must be NaN")
        self._waiting[command.vehicle] = command

    def flush(self) -> None:
        """Tell the simulation what waits; later, if it was told just now or not all is known of the cars."""
        if not self._waiting or self._timer is not None or self.cars.asking:
            return
        now = monotonic()
        if now < self._next:
            self._timer = self.hub.loop.call_later(self._next - now, self._flush_late)
            return
        self._next = now + APART
        waiting, self._waiting = self._waiting, {}
        for inputs, commands in self._by_inputs(waiting).items():
            self._tell(inputs, commands)

    def _flush_late(self) -> None:
        self._timer = None
        self.flush()

    def _by_inputs(self, waiting: dict[int, Command]) -> dict[tuple[str, ...], list[Command]]:
        """Commands for cars that take the same inputs; usually all of them do."""
        alike: dict[tuple[str, ...], list[Command]] = {}
        for vehicle, command in waiting.items():
            trouble = self.cars.trouble(vehicle)  # again: it may have left while this waited
            if not trouble and self.cars.inputs(vehicle):
                alike.setdefault(self.cars.inputs(vehicle), []).append(command)
            else:
                self._misdirected(trouble or f"vehicle {vehicle} takes none of {', '.join(INPUTS)}")
        return alike

    def _tell(self, names: tuple[str, ...], commands: list[Command]) -> None:
        ids = np.array([command.vehicle for command in commands])
        values = np.array([command[INPUT_FIELDS] for command in commands], np.float64)
        inputs: dict[str, Any] = {name: values[:, INPUTS.index(name)] for name in names}
        self.hub.tell("command_many", CLIENT, ids=ids, inputs=inputs, timeout=self._timeout)

    def _refuse(self, reason: str, message: str) -> None:
        self.hub.counters.add("datagrams_refused", endpoint="vds1", reason=reason)
        self.log.warn(reason, message)

    def _misdirected(self, message: str) -> None:
        self.hub.counters.add("misdirected", endpoint="vds1")
        self.log.warn("misdirected", message)


def _told(address: Address) -> str:
    return f"{address[0]}:{address[1]}"


SILENCE = 2.0
"""s of wall time without a word after which a client is forgotten."""
PAUSE = 1.0
"""s after which any sequence number counts as a new beginning."""
WINDOW = 1000
"""Sequence numbers that a late datagram may be behind; further back, its sender has begun again."""
IN_A_ROW = 3
"""Datagrams that count up, one by one, from an older number: their sender has begun again."""
HALF = 1 << 31


class Track:
    """The sequence numbers of one client for one car."""

    __slots__ = ("at", "last", "older", "row")

    def __init__(self, sequence: int, now: float) -> None:
        self.last, self.at = sequence, now
        self.older, self.row = 0, 0  # the old number that came last, and how many of them counted up to it

    def takes(self, sequence: int, now: float) -> bool:
        """Whether a datagram counts; a duplicate, a replayed or a late one does not. `now` in s.

        A client that has begun again is taken at once after a pause or from far back, else with its third datagram.
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


class Client:
    """One address."""

    __slots__ = ("heard", "said", "since", "tracks")

    def __init__(self, now: float) -> None:
        self.heard = self.since = now  # s: last heard; when counting `said` began
        self.said = 0  # datagrams in this second
        self.tracks: dict[int, Track] = {}  # car -> its sequence numbers

    def within(self, rate: float, now: float) -> bool:
        """Whether it keeps to so many datagrams per second."""
        if now - self.since >= 1.0:
            self.since, self.said = now, 0
        self.said += 1
        return self.said <= rate

    def takes(self, vehicle: int, sequence: int, now: float) -> bool:
        """Whether its datagram for a car counts."""
        track = self.tracks.get(vehicle)
        if track is None:
            self.tracks[vehicle] = Track(sequence, now)
            return True
        return track.takes(sequence, now)


class Clients:
    """All that were heard lately, up to a number."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: dict[Address, Client] = {}

    def hear(self, address: Address, now: float) -> Client | None:
        """The client at an address, which has just been heard; None if there is no room for one more."""
        client = self.known.get(address)
        if client is None:
            if len(self.known) >= self.most:
                self.forget(now)
            if len(self.known) >= self.most:
                return None
            client = self.known[address] = Client(now)
        client.heard = now
        return client

    def forget(self, now: float) -> int:
        """Drop those that have been silent for too long; how many."""
        silent = [address for address, client in self.known.items() if now - client.heard > SILENCE]
        for address in silent:
            del self.known[address]
        return len(silent)
