"""The page inside a notebook."""

import json
import struct
import urllib.error
import urllib.request
from socket import create_connection
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

import paddock
from paddock.errors import InvalidValueError, PaddockError

SCENARIO = {"clock": {"rate": 100}, "vehicles": [{"name": "red", "model": "point", "pose": [3, 4, 5, 0]}]}
TICK, POSES = 0x10, 0x14


def subscribed(socket: ClientConnection) -> None:
    params = {"rate": 30, "kinds": ["poses"]}
    socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": params}))


def socket_of(url: str) -> str:
    return f"ws://{urlsplit(url).netloc}/ws"


def authenticated(socket: ClientConnection, url: str) -> None:
    token = parse_qs(urlsplit(url).query)["token"][0]
    assert len(token) >= 20
    socket.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "authenticate", "params": {"token": token}}))


def next_poses(socket: ClientConnection, after: int = -1) -> tuple[int, tuple[float, ...]]:
    """(tick, x, y, z of the only vehicle) of the first group after a tick, taken apart by hand."""
    while True:
        message = socket.recv(timeout=30)
        if isinstance(message, str):
            continue
        poses: dict[int, bytes] = {}
        while message:
            kind, size = struct.unpack_from("<BI", message)
            poses[kind], message = message[5 : 5 + size], message[5 + size :]
        if TICK in poses and POSES in poses and (tick := struct.unpack_from("<Q", poses[TICK])[0]) > after:
            assert struct.unpack_from("<I", poses[POSES]) == (1,)
            return tick, struct.unpack_from("<3f", poses[POSES], 4)


def test_poses_arrive_while_the_notebook_steps() -> None:
    with paddock.load(SCENARIO) as sim:
        shown = sim.show(height=400)
        html = shown._repr_html_()
        assert f'<iframe src="{shown.url}&amp;embed=1"' in html and "height: 400px" in html
        assert f'port = "{urlsplit(shown.url).port}"' in html and "jupyter-server-proxy" in html
        with urllib.request.urlopen(shown.url, timeout=30) as answer:
            assert answer.status == 200
        with connect(socket_of(shown.url), compression=None, max_size=None) as page:
            authenticated(page, shown.url)
            subscribed(page)
            assert next_poses(page) == (0, (3.0, 4.0, 5.0))
            sim.step(10)
            assert next_poses(page, after=0)[0] <= 10


def test_the_page_is_served_through_jupyter_of_another_machine() -> None:
    """jupyter-server-proxy passes on the browser's Host and Origin, and its base URL is not the page's."""
    with paddock.load(SCENARIO) as sim:
        shown = sim.show()
        port = urlsplit(shown.url).port
        asked = urllib.request.Request(shown.url, headers={"Host": "hub.example.org"}, method="HEAD")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert answer.status == 200
            assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        raw = create_connection(("127.0.0.1", port))
        browser = {"origin": Origin("https://hub.example.org"), "compression": None, "max_size": None}
        with connect("ws://hub.example.org/ws", sock=raw, **browser) as page:  # Host: hub.example.org
            subscribed(page)
            assert "token" in json.loads(page.recv(timeout=30))["error"]["message"]
            authenticated(page, shown.url)
            subscribed(page)
            assert next_poses(page) == (0, (3.0, 4.0, 5.0))
        raw = create_connection(("127.0.0.1", port))
        with (
            pytest.raises(InvalidStatus, match="403"),
            connect("ws://hub.example.org/ws", sock=raw, origin=Origin("https://evil.example.org")),
        ):
            pass


def test_one_page_for_a_simulation_until_it_is_closed() -> None:
    with paddock.load(SCENARIO) as sim:
        first, again = sim.show(), sim.show(height=300)
        assert first is again and again.height == 300
        first.close()
        assert "closed" in first._repr_html_() and "closed" in repr(first)
        second: Any = sim.show()
        assert second is not first and not second.closed
    assert second.closed
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(second.url, timeout=5)
    with pytest.raises(PaddockError, match="show\\(\\) refused: the simulation is closed"):
        sim.show()


@pytest.mark.parametrize("height", [0, 99, 10_001, 4.5, True, "600"])
def test_invalid_heights(height: Any) -> None:
    with paddock.load(SCENARIO) as sim, pytest.raises(InvalidValueError, match="height is a whole number of pixels"):
        sim.show(height=height)
