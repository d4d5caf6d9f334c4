"""Robustness of VDS1: malformed datagrams, floods, too many subscribers, unreachable addresses."""

from __future__ import annotations

import math
import random
import socket
import struct
import threading
import zlib
from typing import Any

import pytest

import paddock
from paddock.errors import PaddockError
from paddock.wire.vds1 import CarCommand, CarState, decode, encode_command


def sealed(body: bytes) -> bytes:
    return body + struct.pack("<I", zlib.crc32(body))


def test_malformed_datagrams_are_counted_by_reason(serving: Any) -> None:
    good = encode_command(CarCommand(1, 1, 0.0, 0.0, 1.0, 0.0))
    head = struct.pack("<IHHIId", 0x56445331, 4, 1, 1, 1, 0.0)
    nan = struct.pack("<dddiB3xdd", math.nan, 0, 0, 1, 0, math.nan, math.nan)
    wrong = {
        "length": [b"", good[:-1], good + b"\0", b"x" * 5000, sealed(head)],
        "magic": [b"\0" + good[1:]],
        "version": [sealed(good[:4] + b"\5\0" + good[6:-4])],
        "type": [sealed(good[:6] + b"\7\0" + good[8:-4]), sealed(good[:6] + b"\2\0" + good[8:24] + bytes(408))],
        "crc": [good[:-1] + bytes([good[-1] ^ 1])],
        "value": [sealed(head + nan)],
    }
    client = serving.peer()
    for reason, datagrams in wrong.items():
        for datagram in datagrams:
            client.send(datagram)
        assert serving.eventually(lambda r=reason, sent=datagrams: serving.refused(r) == len(sent)), reason
    serving.sim.step(5)
    client.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):  # it has not become a subscriber
        client.states(1)
    assert serving.commands == 0


def test_a_flood_of_garbage_does_not_disturb_others(serving: Any) -> None:
    client, vandal = serving.peer(), serving.peer()
    flooding = threading.Event()

    def flood() -> None:
        noise = random.Random(3)
        good = encode_command(CarCommand(1, 1, 0.0, 0.0, 1.0, 0.0))
        while not flooding.is_set():
            vandal.send(noise.randbytes(noise.randrange(200)))
            vandal.send(good[: noise.randrange(75)] + noise.randbytes(2))

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        assert serving.eventually(lambda: serving.refused("length") > 1000)

        def arrives(steer: float) -> bool:
            """Send the command and step; an earlier one may be latched first, and a full queue drops datagrams."""
            client.drive(1, steer=steer)
            serving.sim.step(5)
            return abs(serving.command("red")["steer"] - steer) < 1e-6

        for k in range(1, 21):
            assert serving.eventually(lambda steer=0.01 * k: arrives(steer))
            client.states(3)
    finally:
        flooding.set()
        thread.join()
    assert serving.command("red")["throttle"] == 0


def test_subscribers_join_leave_and_are_limited(serve: type[Any]) -> None:
    with serve(subscribers=2) as serving:
        first, two, three = serving.peer(), serving.peer(), serving.peer()
        first.subscribe()
        two.drive(1)
        assert serving.eventually(lambda: serving.subscribers() == 2)
        three.drive(1, throttle=1.0)
        assert serving.eventually(lambda: serving.refused("full") == 1)
        serving.sim.step(1)
        assert serving.command("red")["throttle"] == 0 and serving.subscribers() == 2
        assert serving.eventually(
            lambda: (two.subscribe(), serving.subscribers())[1] == 1
        )  # `one` has been silent for 2 s
        assert serving.count("subscribers_evicted") == 1
        three.subscribe()
        assert serving.eventually(lambda: serving.subscribers() == 2)


def test_the_configured_address_needs_no_subscription(serve: type[Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as seat:
        seat.bind(("127.0.0.1", 0))
        seat.settimeout(10.0)
        cars = {"name": "cars", "count": 3, "model": "car.bicycle", "spawn": {"grid": {"spacing": 9}}}
        scenario = {"clock": {"rate": 100}, "vehicles": [{**cars, "spread": {"mass": 0.1, "wheel_radius": 0.2}}]}
        with serve(scenario, state=f"127.0.0.1:{seat.getsockname()[1]}", rate=100.0) as serving:
            assert serving.eventually(lambda: (serving.sim.step(1), serving.count("publishes"))[1] > 0)
            states = [decode(seat.recv(2048)) for _ in range(3)]
            radii = [state.named()["wheel_radius"] for state in states if isinstance(state, CarState)]
            ids = [state.vehicle for state in states]
            assert radii == [serving.sim.vehicles.inspect(k)["parameters"]["wheel_radius"] for k in ids]
            assert len(set(radii)) == 3 and serving.subscribers() == 0


def test_an_unreachable_state_address_gives_a_one_line_error() -> None:
    with (
        paddock.load({"vehicles": []}) as sim,
        pytest.raises(PaddockError, match=r"vds1 cannot send states to 192"),
    ):
        paddock.share(sim, vds1={"port": 0, "state": "192.0.2.1:7002"})
