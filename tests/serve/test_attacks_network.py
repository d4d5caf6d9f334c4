"""Attacks over the network: forged addresses, connections without a token, idle connections, too many checks."""

from __future__ import annotations

import socket
import struct
import zlib
from collections.abc import Callable
from typing import Any

import paddock

RED = {"name": "red", "id": 1, "model": "car.kinematic"}
SUBSCRIBE_TYPE, COOKIE_TYPE = 3, 16


def vds1_header(kind: int, sequence: int = 0, vehicle: int = 0) -> bytes:
    """A datagram of 28 bytes, packed by hand."""
    packed = struct.pack("<IHHIId", 0x56445331, 4, kind, sequence, vehicle, 0.0)
    return packed + struct.pack("<I", zlib.crc32(packed))


def received(link: socket.socket, seconds: float) -> list[bytes]:
    """All datagrams until none has come for a while."""
    link.settimeout(seconds)
    found = []
    while True:
        try:
            found.append(link.recv(2048))
        except TimeoutError:
            return found


def test_vds1_sends_a_forged_address_no_more_than_was_sent_in_its_name(
    metrics: Callable[..., list[Any]], eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    """28 bytes with the address of a victim gave 350 kB for two cars; now at most 28, and no answer to answers."""
    cars = {"name": "cars", "id": 1, "count": 2, "model": "car.kinematic", "spawn": {"grid": {"spacing": 9}}}
    vds1 = {"port": 0, "state": None, "cookie": "all"}  # as for senders on other machines
    with (
        paddock.load({"clock": {"rate": 200}, "vehicles": [cars]}) as sim,
        paddock.share(sim, lambda line: None, vds1=vds1, metrics={"port": 0}) as host,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link,
    ):
        server = ("127.0.0.1", host.addresses["vds1"]["port"])

        def count(name: str) -> float:
            return sum(sample.value for sample in metrics(host, f"paddock_hub_{name}_total"))

        link.bind(("127.0.0.1", 0))
        sim.step(10)
        link.sendto(vds1_header(SUBSCRIBE_TYPE), server)
        assert eventually(lambda: count("cookies_sent") == 1)
        sim.step(400)
        [cookie] = received(link, 0.5)
        assert len(cookie) == 28 and struct.unpack_from("<IHH", cookie) == (0x56445331, 4, COOKIE_TYPE)
        assert count("datagrams_sent") == 0

        link.sendto(cookie, server)  # as another server would: answers to answers could go on for ever
        assert eventually(lambda: count("datagrams_refused") == 1)
        sequence, vehicle = struct.unpack_from("<II", cookie, 8)
        for wrong in (
            vds1_header(SUBSCRIBE_TYPE, sequence, vehicle ^ 1),
            vds1_header(SUBSCRIBE_TYPE, sequence ^ 1, vehicle),
        ):
            link.sendto(wrong, server)
        sim.step(200)
        assert sum(map(len, received(link, 0.5))) <= 2 * 28 and count("datagrams_sent") == 0

        link.sendto(vds1_header(SUBSCRIBE_TYPE, sequence, vehicle), server)  # the victim itself asks for states
        assert eventually(lambda: (sim.step(1), count("datagrams_sent"))[1] > 0)
        assert {len(state) for state in received(link, 0.5)} == {436}
