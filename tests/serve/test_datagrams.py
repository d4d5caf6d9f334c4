"""Rows of bytes as datagrams, with the kernel's segmentation and without."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from paddock.serve.endpoints.vds1.endpoint import DatagramSender


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    """One that sends, two that receive."""
    made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
    for bound in made:
        bound.bind(("127.0.0.1", 0))
        bound.settimeout(5.0)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
    made[0].setblocking(False)
    yield made
    for bound in made:
        bound.close()


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("count", [1, 64, 65, 150])
def test_every_address_gets_every_row_in_order(sockets: list[socket.socket], together: bool, count: int) -> None:
    sender = DatagramSender(sockets[0], 436, together)
    assert sender.together <= together
    rows = np.random.default_rng(count).integers(0, 256, (count, 436), np.uint8)
    assert sender.send(rows, [receiver.getsockname() for receiver in sockets[1:]]) == 2 * count
    for receiver in sockets[1:]:
        assert [receiver.recv(2048) for _ in range(count)] == [bytes(row) for row in rows]


@pytest.mark.parametrize("together", [True, False])
def test_an_unreachable_address_does_not_affect_the_others(sockets: list[socket.socket], together: bool) -> None:
    sender = DatagramSender(sockets[0], 100, together)
    rows = np.full((70, 100), 7, np.uint8)
    beyond = ("192.0.2.1", 9)  # a loopback socket cannot send there
    assert sender.send(rows, [beyond, sockets[1].getsockname(), beyond, sockets[2].getsockname()]) == 140
    for receiver in sockets[1:]:
        assert {receiver.recv(2048) for _ in range(70)} == {b"\7" * 100}


def test_nothing_to_send(sockets: list[socket.socket]) -> None:
    sender = DatagramSender(sockets[0], 436)
    assert sender.send(np.zeros((0, 436), np.uint8), [sockets[1].getsockname()]) == 0
    assert sender.send(np.zeros((3, 436), np.uint8), []) == 0
