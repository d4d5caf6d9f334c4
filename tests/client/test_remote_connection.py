from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import pytest

import paddock
from paddock.client.session import NoAnswerError

OWNER = """
import sys, paddock
sim = paddock.connect(sys.argv[1], name="owner")
sim.control.on_request("red", handler=lambda request: {})
sim.hold()
print("held", flush=True)
sys.stdin.read()
"""


def free_port() -> int:
    """A TCP port without a listener, nor on the one after it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_missing_server_times_out() -> None:
    port = free_port()
    with pytest.raises(NoAnswerError) as caught:
        paddock.connect(f"tcp://127.0.0.1:{port}", timeout=0.3)
    assert str(caught.value) == (
        f"no answer from tcp://127.0.0.1:{port} within 0.3 s: is the server running? "
        "start one with `paddock run SCENARIO --serve zmq`"
    )


@pytest.mark.parametrize("url", ["127.0.0.1:5556", "tcp://nowhere", "http://127.0.0.1:80"])
def test_an_invalid_address(url: str) -> None:
    with pytest.raises(paddock.PaddockError, match=r"is not a valid address: .* e\.g\. tcp://127\.0\.0\.1:5556"):
        paddock.connect(url, timeout=0.3)


def test_the_token_is_needed(serve: Any) -> None:
    served = serve(token="a-long-secret", metrics={"port": 0})
    for wrong in (None, "a-long-secreT", ""):
        with pytest.raises(paddock.PaddockError, match="the token is wrong"):
            paddock.connect(served.url, token=wrong, timeout=30)
    with paddock.connect(served.url, token="a-long-secret", timeout=30) as sim:
        seen: list[Any] = []
        sim.clock.watch(seen.append)  # subscribers have to know it, too
        deadline = monotonic() + 10
        while not seen and monotonic() < deadline:
            sim.step(8)
            sleep(0.02)
        assert seen


def test_a_server_that_closes_every_connection_is_named() -> None:
    """As one that needs a token does when it is faster than the client reads why."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def close_all() -> None:
            with suppress(OSError):
                while True:
                    listening.accept()[0].close()

        threading.Thread(target=close_all, daemon=True).start()
        with pytest.raises(paddock.PaddockError, match="the token is wrong, or this is no Paddock server"):
            paddock.connect(f"tcp://127.0.0.1:{listening.getsockname()[1]}", timeout=30)
        listening.shutdown(socket.SHUT_RDWR)


def test_a_token_for_a_server_without_one_is_ignored(shared: Any) -> None:
    with paddock.connect(shared.url, token="a-long-secret", timeout=30) as sim:
        seen: list[Any] = []
        sim.clock.watch(seen.append)
        sim.step(1)
        assert sim.session.channel._token is None


def test_an_unreachable_port_of_published_states_is_reported(shared: Any) -> None:
    with paddock.connect(shared.url, timeout=0.5) as sim:
        port = free_port()
        sim.session.welcome = sim.session.welcome._replace(publish=port)
        with pytest.raises(NoAnswerError) as caught:
            sim.clock.watch(lambda snapshot: None)
        assert str(caught.value) == (
            f"no answer to a subscription within 0.5 s: is port {port} of {shared.url} reachable? "
            "It is serve.zmq.publish, by default the next port"
        )


def test_the_clock_has_one_owner_until_it_disconnects(serve: Any) -> None:
    served = serve(drive=True)
    command = [sys.executable, "-c", OWNER, served.url]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner,
        paddock.connect(served.url, name="second") as sim,
    ):
        assert owner.stdout is not None and owner.stdout.readline() == "held\n"
        before = sim.tick
        for refused in (lambda: sim.step(1), lambda: setattr(sim.clock, "pace", 2.0), lambda: sim.reset()):
            with pytest.raises(paddock.PaddockError, match=r"refused: the clock belongs to owner \(zmq \d\)"):
                refused()
        assert sim.tick == before
        with pytest.raises(paddock.PaddockError, match=r"'owner \(zmq \d\)' has already claimed red"):
            sim.control.claim("red")
        os.kill(owner.pid, signal.SIGKILL)
        deadline = monotonic() + 15
        while sim.metadata["owner"] is not None and monotonic() < deadline:
            sleep(0.1)
        sim.step(1)
        assert sim.metadata["owner"] == "second (zmq 2)" or sim.metadata["owner"].startswith("second")
        sim.control.claim("red")


def test_leaving_releases_claims_and_clock_immediately(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url, name="first") as first:
        first.hold()
        first.control.on_request("red", handler=lambda request: None)
    with paddock.connect(served.url, name="second") as second:
        second.step(3)
        second.control.claim("red")
        assert second.tick == 3 and second.metadata["owner"].startswith("second")
    run, deadline = served.host.source, monotonic() + 2.0  # the farewell is answered before it takes effect
    while (run.claims or run.owner.client) and monotonic() < deadline:
        sleep(0.01)
    assert run.claims == {} and run.owner.client is None


def test_a_restarted_server_is_reconnected(serve: Any) -> None:
    served = serve(drive=True)
    with paddock.connect(served.url, timeout=8.0) as sim:
        seen: list[int] = []
        sim.clock.watch(lambda snapshot: seen.append(snapshot.tick))
        sim.control.on_request("red", handler=lambda request: {"red": {"throttle": 0.5}})
        sim.step(8)
        first = served.host.hub_pid
        os.kill(first, signal.SIGKILL)
        deadline = monotonic() + 20
        while served.host.hub_pid == first and monotonic() < deadline:
            sleep(0.05)
        with suppress(NoAnswerError):  # pending requests fail with an error
            sim.step(8)
        sim.step(8)
        sim.step(8)
        assert list(served.sim.engine.claims.active[-1].vehicles) == ["red"]  # claimed again
        assert sim.vehicles.inspect("red")["command"]["throttle"] == 0.5
        seen.clear()
        while not seen and monotonic() < deadline:
            sim.step(8)
            sleep(0.02)
        assert seen


def test_a_pending_request_fails_when_the_server_ends(serve: Any) -> None:
    port = free_port()
    served = serve(drive=True, zmq={"port": port})
    sim = paddock.connect(served.url, timeout=1.0)
    sim.clock.pace = 0.05
    caught: list[Exception] = []

    def run() -> None:
        try:
            sim.run(until=1e6)
        except Exception as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    sleep(1.5)  # longer than the timeout: the server still sends heartbeats
    assert not caught
    served.host.close()
    thread.join(20)
    assert isinstance(caught[0], paddock.PaddockError)
    with pytest.raises(NoAnswerError, match=f"no answer from tcp://127.0.0.1:{port} within 1 s"):
        sim.step(1)
    again = serve(zmq={"port": port})
    deadline = monotonic() + 20
    while monotonic() < deadline:
        with suppress(NoAnswerError):  # a busy machine may take longer than the timeout
            sim.state_hash()
            break
    sim.step(5)  # a server is there again: no new connection is needed
    assert again.sim.tick == 5
    sim.close()


def test_requests_are_thread_safe(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim:
        hashes: list[str] = []

        def look() -> None:
            hashes.extend(sim.state_hash() for _ in range(30))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(hashes) == 120 and len(set(hashes)) == 1
