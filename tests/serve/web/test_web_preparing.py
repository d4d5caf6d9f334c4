"""Pages that connect while kernels compile see the status, and are answered when it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import paddock
from paddock.serve.host import Host
from paddock.serve.live import LiveSource, serve_options

WORDS = "kernels are compiled"
Serving = tuple[paddock.Simulation, LiveSource, int]


@pytest.fixture
def serving() -> Iterator[Serving]:
    options = serve_options({"web": {"port": 0}, "token": "open sesame"})
    with paddock.load({"vehicles": [{"name": "red", "model": "point"}]}) as sim:
        source = LiveSource(sim, preparing=WORDS)
        with Host(source, options) as host:
            yield sim, source, host.addresses["web"]["port"]


def test_an_early_page_is_notified_and_waits(serving: Serving, open_page: Callable[[int], Any]) -> None:
    sim, source, port = serving
    begun, done = threading.Event(), threading.Event()

    def compiling() -> None:
        with sim.engine.thread.driving("step"):
            begun.set()
            done.wait(30)

    thread = threading.Thread(target=compiling)
    thread.start()
    assert begun.wait(10)
    page = open_page(port)
    assert page.notification("preparing") == {"text": WORDS}  # before any token
    assert page.call("ping") == {"tick": 0, "time": 0.0, "preparing": WORDS}
    page.call("authenticate", token="open sesame")
    page.send("metadata")
    assert page.call("ping")["preparing"] == WORDS  # which is answered first
    done.set()
    thread.join()
    answer = page.until(lambda tree: tree.get("result", {}).get("fleets"))
    assert [fleet["name"] for fleet in answer] == ["red"]
    source.prepared()
    assert page.notification("preparing") == {"text": ""}
    assert page.call("ping")["preparing"] == ""


def test_a_page_that_comes_later_is_not_notified(serving: Serving, open_page: Callable[[int], Any]) -> None:
    _, source, port = serving
    early = open_page(port)
    assert early.notification("preparing") == {"text": WORDS}
    source.prepared()
    assert early.notification("preparing") == {"text": ""}
    page = open_page(port)
    assert page.call("ping")["preparing"] == "" and page.notifications == []
