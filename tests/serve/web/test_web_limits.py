"""Tokens, garbage, slow and disconnected pages: nothing is left behind, no other client is affected."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

RED = {"name": "red", "id": 7, "model": "car.kinematic"}
TOKEN = "correct horse"
POSES = 0x14


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    return serve({"vehicles": [RED]}, running=True, web={"port": 0, "rate": 500, "connections": 6})


def test_a_token_is_needed_where_there_is_one(serve: Callable[..., Any]) -> None:
    served = serve({"vehicles": [RED]}, token=TOKEN)
    page = served.connect()
    code, text = page.refused("metadata")
    assert code == -32001 and "authenticate" in text
    assert page.refused("authenticate", token="wrong")[0] == -32001
    assert page.call("authenticate", token=TOKEN) == {}
    assert page.call("metadata")["name"] == "scenario" and TOKEN not in json.dumps(page.call("metadata"))
    guesser = served.connect()
    for _ in range(3):
        guesser.send("authenticate", token="guess")
    assert guesser.ending() == "3 wrong tokens"
    page.call("subscribe", kinds=["figures"])
    assert page.notification("figures")["counts"]["wrong_tokens web"] == 4


def test_invalid_text_is_answered(served: Any) -> None:
    page = served.connect()
    for text in (
        "",
        "hello",
        "{",
        "[]",
        "\x00",
        '{"jsonrpc": "1.0"}',
        '{"jsonrpc":"2.0","id":1,"method":7}',
        "[" * 5000,
    ):
        page.socket.send(text)
        assert page.until(lambda tree: tree.get("error"))["code"] in (-32700, -32600)
    assert page.call("ping")["tick"] >= 0
    assert served.count("malformed", endpoint="web", reason="json") > 0
    page.close()


@pytest.mark.parametrize(
    "garbage",
    [b"\xff", b"\x20", b"\x20\xff\xff\xff\xff", b"\x10" + struct.pack("<I", 0), b"{}", b"\x20\0\0\0\0\x99"],
)
def test_invalid_bytes_disconnect_with_a_reason(served: Any, garbage: bytes) -> None:
    page = served.connect()
    page.socket.send(garbage)
    assert page.ending()
    page.close()


def test_commands_move_the_car_and_wrong_ones_are_reported(served: Any, eventually: Callable[..., bool]) -> None:
    page = served.connect()
    payload = struct.pack("<IB", 1, 1) + b"\x05steer" + struct.pack("<id", 7, 0.25)
    page.socket.send(struct.pack("<BI", 0x20, len(payload)) + payload)
    assert eventually(lambda: page.call("get_state", vehicle="red")["columns"]["command.steer"] == 0.25)
    page.socket.send(struct.pack("<BI", 0x20, 3) + b"abc")
    assert page.notification("command_refused")["count"] == 1
    page.close()


def test_a_message_that_is_too_large_disconnects(served: Any) -> None:
    page = served.connect()
    page.socket.send(b"\x20" * ((1 << 20) + 1))
    with pytest.raises(ConnectionClosed, match="1009"):
        page.socket.recv(20)
    page.close()


def test_disconnected_pages_leave_nothing(served: Any, eventually: Callable[..., bool]) -> None:
    assert eventually(lambda: served.clients() == 0)
    pages = [served.connect() for _ in range(5)]
    for page in pages:
        page.call("subscribe", kinds=["poses", "markers", "events", "figures"])
    pages[0].call("simulation_step", ticks=1)
    assert eventually(lambda: served.clients() == 5)
    for page in pages[:3]:
        page.socket.socket.shutdown(socket.SHUT_RDWR)  # without a word
    for page in pages:
        page.close()
    assert eventually(lambda: served.clients() == 0)
    watcher = served.connect()
    watcher.call("simulation_step", ticks=1)  # the clock is free again
    watcher.call("release_clock")
    assert watcher.call("metadata")["owner"] is None
    watcher.close()
    assert served.count("endpoint_errors", endpoint="web") == 0


def test_more_pages_than_allowed(served: Any, eventually: Callable[..., bool]) -> None:
    assert eventually(lambda: served.clients() == 0)
    pages = [served.connect() for _ in range(6)]
    assert served.connect().ending() == "the limit of 6 connections is reached"
    assert all(page.call("ping") for page in pages)
    for page in pages:
        page.close()


def slow_page(port: int) -> socket.socket:
    """A page that has subscribed and does not read; one that wanted to would, with a small buffer."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.settimeout(20)
    peer.connect(("127.0.0.1", port))
    peer.sendall(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    assert peer.recv(12) == b"HTTP/1.1 101"
    return peer


def send_text(peer: socket.socket, method: str, **params: Any) -> None:
    """A masked text frame, the mask being 0."""
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    peer.sendall(struct.pack(">BBH4x", 0x81, 0x80 | 126, len(text)) + text)


@pytest.fixture(scope="module")
def swarm(serve: Callable[..., Any]) -> Any:
    many = {"name": "many", "count": 8_000, "model": "point", "spawn": {"grid": {"spacing": 3}}}
    return serve({"clock": {"rate": 100}, "vehicles": [many]}, running=True, web={"port": 0, "rate": 100})


def test_a_slow_page_skips_groups_without_affecting_others(swarm: Any, eventually: Callable[..., bool]) -> None:
    with slow_page(swarm.port) as slow:
        send_text(slow, "subscribe", kinds=["poses"])
        page = swarm.connect()
        page.call("subscribe", kinds=["poses"])
        assert eventually(lambda: swarm.count("stream_skipped", endpoint="web") >= 20)
        ticks = [struct.unpack_from("<Q", page.frames()[0x10])[0] for _ in range(10)]
        assert ticks == sorted(ticks) and len(page.frames(POSES)[POSES]) == 4 + 16 * 8_000
    page.close()
    assert eventually(lambda: swarm.clients() == 0)


@pytest.mark.slow
def test_a_page_that_never_reads_its_answers_is_disconnected(swarm: Any, eventually: Callable[..., bool]) -> None:
    with slow_page(swarm.port) as slow:
        for _ in range(30):
            send_text(slow, "get_all_states")  # 0.6 MB each
            time.sleep(0.03)  # one at a time: the hub has others to serve
        assert eventually(lambda: swarm.count("cut_off", endpoint="web", reason="does_not_read") == 1)
        assert eventually(lambda: swarm.clients() == 0)
