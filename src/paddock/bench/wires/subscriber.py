"""Subscribers as processes of their own: how old is what they have decoded?"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from time import monotonic, sleep, time
from typing import Any

from paddock.wire import rpc
from paddock.wire.stream.frames import FrameType, Tick, decode_tick
from paddock.wire.stream.positions import decode_positions
from paddock.wire.stream.split import Frame, Splitter, frames_in

LIMIT = 1 << 26


class Subscriber:
    """Starts one; `result()` waits for what it has measured."""

    def __init__(self, wire: str, where: int | str, rate: float, seconds: float) -> None:
        """`wire` is stream, shm, or stalled (subscribes to the stream and never reads)."""
        command = [sys.executable, "-m", "paddock.bench.wires.subscriber", wire, str(where), str(rate), str(seconds)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def result(self) -> dict[str, Any]:
        """Ages in ms, groups and skipped ones."""
        out, _ = self.process.communicate(timeout=120)
        answer: dict[str, Any] = json.loads(out)
        return answer


def subscribed(port: int, rate: float) -> socket.socket:
    """A connection to which positions will be sent."""
    connection = socket.create_connection(("127.0.0.1", port), 10)
    connection.sendall(rpc.request(1, "subscribe", {"rate": rate, "kinds": ["positions"], "frame": "enu"}))
    return connection


def from_stream(port: int, rate: float, seconds: float) -> Iterator[tuple[Tick, int]]:
    """(moment, vehicles) of every group, once its positions are decoded."""
    splitter = Splitter(LIMIT, LIMIT)
    with subscribed(port, rate) as connection:
        moment, end = None, monotonic() + seconds
        while monotonic() < end:
            for message in splitter.feed(connection.recv(1 << 20)):
                if isinstance(message, Frame) and message.type is FrameType.TICK:
                    moment = decode_tick(message.payload)
                elif isinstance(message, Frame) and message.type is FrameType.POSITIONS and moment is not None:
                    yield moment, _used(message.payload)


def from_shm(name: str, seconds: float) -> Iterator[tuple[Tick, int]]:
    """The same from shared memory, read in place."""
    from paddock.world.frame_ring import FrameRingReader

    with FrameRingReader(name) as reader:
        last, end = 0, monotonic() + seconds
        while monotonic() < end:
            with reader.view() as frames:
                if frames.sequence != last:
                    for message in frames_in(frames.data):
                        if message.type is FrameType.POSITIONS:
                            moment = Tick(frames.tick, frames.time, frames.wall_time, frames.run, frames.roster)
                            yield moment, _used(message.payload)
                    last = frames.sequence
                    continue
            sleep(0.0005)


def _used(payload: memoryview) -> int:
    """Decode, and look at every vehicle."""
    records = decode_positions(payload)
    records["position"].sum()
    return len(records)


def main(wire: str, where: str, rate: float, seconds: float) -> None:
    """The other process."""
    if wire == "stalled":
        with subscribed(int(where), rate):
            sleep(seconds)
        print("{}")
        return
    groups = from_stream(int(where), rate, seconds) if wire == "stream" else from_shm(where, seconds)
    ages, vehicles, begun = [], 0, monotonic()
    for moment, count in groups:
        age = time() - moment.wall_time
        if monotonic() - begun > min(1.0, 0.2 * seconds):  # the first ones still warm things up
            ages.append(1000 * age)
            vehicles = count
    ages.sort()
    figures = {"groups": len(ages), "vehicles": vehicles, "seconds": seconds - min(1.0, 0.2 * seconds)}
    quantiles = {name: ages[int(q * (len(ages) - 1))] for name, q in (("p50", 0.5), ("p99", 0.99))} if ages else {}
    print(json.dumps({**figures, **quantiles}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
