"""The VDS1 endpoint: one UDP socket that receives commands and sends the states of all cars, encoded together."""

import asyncio
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from time import monotonic, time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.scenario.serve import split_address
from paddock.serve.endpoints.vds1.inbox import Cars, Inbox
from paddock.serve.hub import Endpoint, Hub, Send
from paddock.serve.protection.datagram_senders import Address, Senders
from paddock.wire.vds1 import STATE_NAMES, STATE_RECORD, STATE_VALUES, encode_states
from paddock.world.columns import Floats
from paddock.world.frames import euler_from_quaternion, quaternion_conjugate, rotate
from paddock.world.layout import Ints, Layout
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY, Snapshot

BUFFER = 4 << 20  # bytes of the kernel's queues, if granted: enough for some 10 ms of a flood
SWEEP = 0.25  # s between checks for silent senders


class Vds1Server(Endpoint):
    """Sends one datagram per car and tick to every recent sender."""

    name = "vds1"
    latest = False

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, every)
        self.port = options["port"]
        cookie = options["cookie"] or ("remote" if hub.options.local else "all")
        self.clients = Senders(options["subscribers"], options["datagrams"], cookie == "all")
        self.cars = Cars(hub, self._roster_known)
        self.inbox = Inbox(self, self.cars, self.clients, options["timeout"])
        self.publisher = StatePublisher(options["vehicles"])
        self._state = options["state"]
        self._period = max(every / hub.rate, 1.0 / options["rate"])  # simulated s
        self._always: list[Address] = []  # subscribers by configuration
        self._socket: socket.socket | None = None
        self._sender: DatagramSender | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def clients_now(self) -> int:
        return len(self.clients.subscribers)

    async def open(self) -> dict[str, Any]:
        bound = await self._bound()
        self._socket = bound
        if self._state is not None:
            self._always = [await self._reachable(self._state, bound)]
        self._sender = DatagramSender(bound, STATE_RECORD.size)
        encode_states([0], [0], 0.0, np.zeros((len(STATE_VALUES), 1)))  # compiles the encoder
        self._sweep()
        self.port = bound.getsockname()[1]
        return {"port": self.port}

    async def _bound(self) -> socket.socket:
        addresses = await self.hub.loop.getaddrinfo(self.hub.options.bind, self.port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, address = min(addresses, key=lambda resolved: resolved[0] != socket.AF_INET)
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setblocking(False)
            for queue in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                bound.setsockopt(socket.SOL_SOCKET, queue, BUFFER)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        return bound

    async def _reachable(self, state: str, bound: socket.socket) -> Address:
        """Return the configured address of states; PaddockError if it cannot be reached from the bound one."""
        host, port = split_address(state)
        try:
            addresses = await self.hub.loop.getaddrinfo(host, port, family=bound.family, type=socket.SOCK_DGRAM)
            address: Address = addresses[0][4]
            with socket.socket(bound.family, socket.SOCK_DGRAM) as probe:
                probe.bind((bound.getsockname()[0], 0))
                probe.connect(address)
        except OSError as error:
            bound.close()
            what = f"vds1 cannot send states to {state} from {self.hub.options.bind}"
            raise PaddockError(f"{what}: {error.strerror or error}; bind to an address that reaches it") from None
        return address

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Update the cars when overrides change."""
        if kind == "restart" or (kind == "event" and content["kind"] in ("ordered", "order_ended")):
            self.cars.ask_again()

    async def close(self) -> None:
        self.cars.close()
        self.inbox.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._socket is not None:
            self.hub.loop.remove_reader(self._socket)
            self._socket.close()

    def _show(self, layout: Layout) -> None:
        """Use a layout. Before the first one, datagrams wait in the kernel's queue, because they cannot be checked."""
        assert self._socket is not None
        if self.cars.layout is None:
            self.hub.loop.add_reader(self._socket, self.inbox.drain, self._socket)
        self.cars.show(layout)
        self._plan()

    def _sweep(self) -> None:
        if self.cars.layout is None:  # use the layout of a run that is paused between two publishes
            with suppress(PaddockError):  # the simulation is ending
                if (newest := self.hub.ring.latest()) is not None:
                    self._show(newest.layout)
        if evicted := self.clients.forget(monotonic()):
            self.count("subscribers_evicted", evicted)
        self._sweeper = self.hub.loop.call_later(SWEEP, self._sweep)

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        if snapshot.layout is not self.cars.layout:
            self._show(snapshot.layout)
        addresses = list(dict.fromkeys([*self._always, *self.clients.subscribers]))
        if not addresses or not len(self.publisher.ids):
            return None
        rows = self.publisher.encode(snapshot)
        return lambda: self._send(rows, addresses, wall_time)

    def _send(self, rows: NDArray[np.uint8], addresses: list[Address], wall_time: float) -> None:
        assert self._sender is not None
        sent = self._sender.send(rows, addresses)
        self.publisher.sent()
        self.count("publishes", 1)
        self.count("datagrams_sent", sent)
        self.count("datagrams_unsent", len(rows) * len(addresses) - sent)
        pace = self.hub.mirror.figures.get("pace") or 1.0
        self.count("publishes_late", int(time() - wall_time > self._period / pace))
        if self.publisher.not_finite:
            self.count("values_not_finite", self.publisher.not_finite)
            self.inbox.log.warn("not finite", "values of a car are not finite; they are sent as 0")
            self.publisher.not_finite = 0

    def _roster_known(self) -> None:
        self._plan()
        self.inbox.flush()

    def _plan(self) -> None:
        if self.cars.layout is None:
            return
        self.publisher.plan(self.cars.layout, self.cars.radii())
        if self.publisher.left_out:
            most, more = self.publisher.most, self.publisher.left_out
            self.inbox.log.warn("vehicles", f"the limit of {most} cars is reached; states of {more} more are not sent")


Source = tuple[str, float]  # A column of a snapshot, and a factor

AXLES = {"fl": "front", "fr": "front", "rl": "rear", "rr": "rear"}
PLAIN: dict[str, tuple[Source, ...]] = {
    "ax": (("ax", 1.0),),
    "ay": (("ay", 1.0),),
    "steer_applied": (("steer", 1.0),),
    "rack_torque": (("rack_torque", 1.0),),
}
WHEELS: dict[str, tuple[tuple[str, float], ...]] = {
    "wheel_spin": (("wheel_spin_{wheel}", 1.0), ("wheel_speed", 1.0)),
    "load": (("load_{wheel}", 1.0), ("load_{axle}", 0.5)),
    "slip_ratio": (("slip_ratio_{wheel}", 1.0), ("slip_ratio_{axle}", 1.0)),
    "slip_angle": (("slip_angle_{wheel}", 1.0), ("slip_angle_{axle}", 1.0)),
    "suspension": (("suspension_{wheel}", 1.0),),
    "force_x": (("force_x_{wheel}", 1.0), ("force_x_{axle}", 0.5)),
    "force_y": (("force_y_{wheel}", 1.0), ("force_y_{axle}", 0.5)),
}
"""Quantity -> possible columns, the best first: of the wheel, else of its axle, which has two wheels."""
MEASURED = {
    "measured_ax": ("imu.ax", "ax"),
    "measured_ay": ("imu.ay", "ay"),
    "measured_yaw_rate": ("imu.wz", "yaw_rate"),
    "measured_steer": ("", "steer_applied"),
    "measured_x": ("gnss.x", "x"),
    "measured_y": ("gnss.y", "y"),
}
"""Value -> a sensor's reading, and the true value used without the sensor."""

ROW = {name: row for row, name in enumerate(STATE_NAMES)}
PLACE = slice(ROW["x"], ROW["z"] + 1)
ANGLES = slice(ROW["roll"], ROW["yaw"] + 1)
SPEEDS = slice(ROW["vx"], ROW["vz"] + 1)
RATES = slice(ROW["roll_rate"], ROW["yaw_rate"] + 1)


def sources(columns: tuple[str, ...]) -> dict[str, Source]:
    """Value -> its source among these columns, without pose and sensors."""
    candidates = dict(PLAIN)
    for quantity, patterns in WHEELS.items():
        for wheel, axle in AXLES.items():
            named = tuple((pattern.format(wheel=wheel, axle=axle), factor) for pattern, factor in patterns)
            candidates[f"{quantity}_{wheel}"] = named
    source_of = {
        name: next((candidate for candidate in named if candidate[0] in columns), None)
        for name, named in candidates.items()
    }
    return {name: source for name, source in source_of.items() if source is not None}


class StateMapping:
    """Converts blocks of certain columns to STATE values; missing ones are 0."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        source_of = sources(columns)
        self._targets = np.array([ROW[name] for name in source_of], np.intp)
        self._columns = np.array([columns.index(column) for column, _ in source_of.values()], np.intp)
        self._factors = np.array([factor for _, factor in source_of.values()], np.float64)[:, None]
        self._measured = [ROW[name] for name in MEASURED]
        self._true = [ROW[true] for _, true in MEASURED.values()]
        readings = {name: reading for name, (reading, _) in MEASURED.items() if reading in columns}
        self._readings = [(ROW[name], columns.index(reading)) for name, reading in readings.items()]

    def values(self, block: Floats, radius: Floats) -> NDArray[np.float64]:
        """Return the values (51, n) of a block (columns, n), given the wheels' radius (n,) in m."""
        values = np.zeros((len(STATE_NAMES), block.shape[1]))
        orientation = block[ORIENTATION].T
        values[PLACE] = block[POSITION]
        values[ANGLES] = euler_from_quaternion(orientation)
        values[SPEEDS] = rotate(quaternion_conjugate(orientation), block[VELOCITY].T).T
        values[RATES] = block[ANGULAR_VELOCITY]
        values[self._targets] = block[self._columns] * self._factors
        values[ROW["wheel_radius"]] = radius
        values[self._measured] = values[self._true]
        for row, column in self._readings:  # a sensor that has not sampled yet reads NaN
            np.copyto(values[row], block[column], where=np.isfinite(block[column]))
        return values


NO_CARS = np.empty(0, np.int64)


class CarGroup(NamedTuple):
    """Cars with the same columns, of one fleet or of several."""

    mapping: StateMapping
    where: NDArray[np.intp]  # (columns, n) words of a snapshot's buffer
    radius: Floats  # (n,) m


class StatePublisher:
    """Encodes datagrams from a snapshot's buffer; counts the sequence numbers of each car."""

    def __init__(self, most: int) -> None:
        """Encode at most `most` cars; `left_out` counts the others."""
        self.most = most
        self.left_out = 0
        self.not_finite = 0  # values sent as 0
        self.ids: Ints = NO_CARS
        self._sequences = np.zeros(0, np.uint32)
        self._groups: list[CarGroup] = []

    def plan(self, layout: Layout, radii: Mapping[str, Floats]) -> None:
        """Prepare for the cars of these fleets, with the radii (n,) of their wheels in m."""
        alike: dict[tuple[str, ...], list[int]] = {}
        for k, fleet in enumerate(layout.fleets):
            if fleet.name in radii and fleet.n:
                alike.setdefault(fleet.columns, []).append(k)
        chosen = [k for fleets in alike.values() for k in fleets]
        ids = np.concatenate([layout.fleets[k].ids for k in chosen]) if chosen else NO_CARS
        self.left_out = max(0, len(ids) - self.most)
        groups, room = [], self.most
        for fleets in alike.values():
            where = np.concatenate([_words(layout, k) for k in fleets], axis=1)[:, :room]
            radius = np.concatenate([radii[layout.fleets[k].name] for k in fleets])[:room]
            groups.append(CarGroup(StateMapping(layout.fleets[fleets[0]].columns), where, radius))
            room -= where.shape[1]
        self._groups = [group for group in groups if group.where.shape[1]]
        ids = ids[: self.most]
        sequences = np.zeros(len(ids), np.uint32)  # cars that stay keep their counts
        _, before, now = np.intersect1d(self.ids, ids, return_indices=True)
        sequences[now] = self._sequences[before]
        self.ids, self._sequences = ids, sequences

    def encode(self, snapshot: Snapshot) -> NDArray[np.uint8]:
        """Return (n, 436) bytes: a datagram for every car of a snapshot with the prepared layout."""
        words = snapshot.buffer.view(np.float64)
        parts = [group.mapping.values(words[group.where], group.radius) for group in self._groups]
        values = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        finite = np.isfinite(values)
        if not finite.all():
            self.not_finite += int(np.size(finite) - np.count_nonzero(finite))
            values[~finite] = 0.0
        return encode_states(self.ids, self._sequences, snapshot.time, values)

    def sent(self) -> None:
        """Count the last datagrams as sent."""
        self._sequences += np.uint32(1)  # wraps at 2^32


def _words(layout: Layout, k: int) -> NDArray[np.intp]:
    """Return the positions of a fleet's columns in a snapshot, (columns, n), in words of 8 bytes."""
    shape = len(layout.fleets[k].columns), layout.fleets[k].n
    return layout.offsets[k] // 8 + np.arange(shape[0] * shape[1], dtype=np.intp).reshape(shape)


UDP_SEGMENT = 103  # Linux option (since 4.18) that splits one send into datagrams of a size; Python has no name for it
TOGETHER = 64
"""Datagrams per send: the limit of such kernels, and less than 64 KiB with up to 1,000 bytes each.

Measured on loopback with 436 bytes each: 0.4 us per datagram, against 2.5 us with sendmmsg and 3.6 us with sendto.
"""


class DatagramSender:
    """Sends rows of bytes through a non-blocking UDP socket; what cannot be sent now is lost."""

    def __init__(self, sender: socket.socket, size: int, together: bool = True) -> None:
        """Rows of `size` bytes, at most 1,000; `together`: use the kernel's segmentation where there is one."""
        self.socket = sender
        self.together = False
        if together:
            with suppress(OSError):
                sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
                self.together = True

    def send(self, rows: NDArray[np.uint8], addresses: Iterable[Address]) -> int:
        """Send every row (n, size) as a datagram to each address in turn; return the number of datagrams sent.

        An unreachable address does not affect the others.
        """
        flat = np.ascontiguousarray(rows).reshape(-1).data
        return sum(self._send(flat, rows.shape[1], address) for address in addresses)

    def _send(self, flat: memoryview, size: int, address: Address) -> int:
        sent, piece = 0, TOGETHER * size if self.together else size
        while sent * size < len(flat):
            try:
                sent += self.socket.sendto(flat[sent * size : sent * size + piece], address) // size
            except BlockingIOError:
                break
            except OSError:
                if piece == size:
                    break
                piece = size  # the path does not support segmentation: send one at a time
        return sent
