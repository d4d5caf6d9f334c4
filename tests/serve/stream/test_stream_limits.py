"""Bad peers are disconnected with a reason, and other clients are not affected."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.wire import rpc
from paddock.wire.stream.columns import encode_commands

SCOUTS = {"name": "scouts", "id": 0, "count": 10, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
SCENARIO = {"clock": {"rate": 240}, "vehicles": [SCOUTS]}
TOKEN = "open sesame"


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    return serve(SCENARIO, running=True, stream={"port": 0, "connections": 8, "requests": 300})


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any]) -> Any:
    served = serve(SCENARIO, running=True, token=TOKEN)
    served.silent = served.connect()
    return served


@pytest.mark.parametrize(
    ("data", "reason", "word"),
    [
        (b"\x99garbage", "a message starts with", "type"),
        (b"\x01" + bytes(4), "a message starts with", "type"),  # clients send no positions
        (b"\x20" + struct.pack("<I", 5 << 20), "a payload has at most 4194304 bytes", "length"),
        (b"{" + b"x" * (1 << 20), "a line of JSON has at most 1048576 bytes", "length"),
    ],
)
def test_garbage_disconnects_with_a_reason(served: Any, data: bytes, reason: str, word: str) -> None:
    good, bad = served.connect(), served.connect()
    good.call("subscribe")
    first = good.tick()[0]
    before = served.count("cut_off", endpoint="stream", reason=word)
    bad.socket.sendall(data)
    assert reason in bad.ending()
    bad.close()
    while good.tick()[0] < first + 60:
        pass
    assert good.call("ping")
    assert served.count("cut_off", endpoint="stream", reason=word) == before + 1
    good.close()


def test_malformed_commands_change_nothing(served: Any) -> None:
    peer = served.connect()
    peer.socket.sendall(b"\x20" + struct.pack("<IIB", 5, 1, 1))
    assert "commands" in peer.notification("command_refused")["reason"]
    assert peer.call("ping")
    peer.close()


def test_too_many_requests_get_one_warning_then_a_disconnect(served: Any) -> None:
    peer = served.connect()
    burst = b"".join(rpc.request(k, "ping", {}) for k in range(1, 1001))
    peer.socket.sendall(burst)
    codes: list[int] = []

    def collect(message: dict[str, Any]) -> Any:
        codes.extend([message["error"]["code"]] if "error" in message else [])
        return message.get("params")

    ended = peer.until(collect)
    assert ended["reason"] == "more than 300 requests per second"
    assert codes in ([-32002], [])  # queued answers are not sent to a disconnected client
    peer.close()


def test_a_burst_of_one_second_of_requests_is_accepted(served: Any) -> None:
    peer = served.connect()
    numbers = [peer.send("ping") for _ in range(250)]
    for number in numbers:
        assert "result" in peer.answer(number)
    peer.close()


def test_the_limit_of_connections(served: Any, eventually: Callable[[Callable[[], bool]], bool]) -> None:
    assert eventually(lambda: _clients(served) == 0)
    peers = [served.connect() for _ in range(8)]
    for peer in peers:
        peer.call("ping")
    assert served.connect().ending() == "the limit of 8 connections is reached"
    for peer in peers:
        assert peer.call("ping")
        peer.close()
    assert eventually(lambda: _clients(served) == 0)


def _clients(served: Any) -> float:
    import urllib.request

    url = f"http://127.0.0.1:{served.host.addresses['metrics']['port']}/metrics"
    with urllib.request.urlopen(url, timeout=5) as page:
        lines = page.read().decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith('paddock_clients{endpoint="stream"}'))


def test_a_client_that_does_not_read_is_disconnected(
    served: Any, eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    """Markers are never dropped: they pile up until there are too many."""
    sleeper = served.connect(receive_buffer=4096)
    sleeper.call("subscribe", kinds=["markers"])
    for _ in range(8):
        served.sim.world.markers.put(paddock.Marker.points("big", 1, np.zeros((200_000, 3))))  # 2.4 MB each
    assert eventually(lambda: served.count("cut_off", endpoint="stream", reason="does_not_read") == 1)
    served.sim.world.markers.remove()
    sleeper.close()


# the token -----------------------------------------------------------------------------------------------------------


def test_only_ping_is_answered_without_the_token(guarded: Any) -> None:
    peer = guarded.connect()
    assert peer.call("ping")
    for method in ("get_roster", "subscribe", "pause", "clear_all_robots"):
        assert peer.refused(method) == (-32001, f"{method}: call authenticate with the token first")
    peer.socket.sendall(bytes.fromhex("20 0c000000 00000000 01 02 7678") + bytes(4))
    assert "call authenticate with the token first" in peer.notification("command_refused")["reason"]
    peer.call("authenticate", token=TOKEN)
    assert peer.call("get_roster")["fleets"]


def test_a_request_may_carry_the_token(guarded: Any) -> None:
    peer = guarded.connect()
    peer.call("subscribe", token=TOKEN)
    assert len(peer.poses()) == 10


def test_three_wrong_tokens(guarded: Any) -> None:
    peer = guarded.connect()
    assert peer.refused("authenticate", token="sesame open") == (-32001, "the token is wrong")
    assert peer.refused("subscribe", token="")[0] == -32001
    peer.send("authenticate", token="ünïcode")
    assert peer.ending() == "3 wrong tokens"


def test_five_seconds_without_the_token(guarded: Any) -> None:
    assert guarded.silent.ending() == "no token within 5 s; call authenticate"


def test_half_closed_and_vanished_peers_are_removed(
    served: Any, eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    rude = served.connect()
    rude.call("subscribe")
    rude.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a goodbye
    rude.close()
    half = served.connect()
    half.call("subscribe")
    half.socket.shutdown(socket.SHUT_WR)
    assert eventually(lambda: _clients(served) == 0)


def test_random_bytes_never_stop_the_hub(served: Any, eventually: Callable[[Callable[[], bool]], bool]) -> None:
    """Broken pieces of valid messages, cut anywhere; a subscriber beside them sees every kind of frame all the time."""
    good = served.connect()
    good.call("subscribe", kinds=["positions", "telemetry", "lines"])
    pid, random = served.host.hub_pid, np.random.default_rng(5)
    whole = [
        rpc.request(1, "subscribe", {"kinds": ["markers", "events"], "vehicles": ["scouts"]}),
        rpc.request(2, "put_markers", {"markers": [{"namespace": "n", "id": 1, "kind": "points"}]}),
        bytes(encode_commands([0, 1], ["vx", "vy"], [0.0, 0.0])),
    ]
    for _ in range(60):
        message = bytearray(b"".join(whole[k] for k in random.integers(0, 3, 4)))
        for at in random.integers(0, len(message), 3):
            message[at] = random.integers(0, 256)
        bad = served.connect()
        bad.socket.sendall(message[: random.integers(1, len(message))])
        bad.close()
    tick = good.tick()[0]
    while good.tick()[0] < tick + 30:
        pass
    assert served.host.hub_pid == pid and good.call("ping")
    good.close()
    served.sim.world.markers.remove()
    assert eventually(lambda: _clients(served) == 0)
