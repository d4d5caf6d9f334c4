"""Latest wins: a slow reader skips ticks, sees no half tick, and delays no other client."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paddock.serve.endpoints.stream import TcpConnection
from paddock.serve.subscribers.subscription import Subscription, View
from paddock.wire.stream.frames import StreamFrame

COUNT = 10_000
SWARM = {"name": "swarm", "id": 0, "count": COUNT, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
SCENARIO = {"clock": {"rate": 60}, "vehicles": [SWARM]}


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    return serve(SCENARIO, running=True)


def client_name(peer: Any) -> str:
    host, port = peer.socket.getsockname()
    return f"stream client {host}:{port}"


def test_a_slow_reader_skips_ticks_but_never_sees_half_of_one(
    served: Any, eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    slow, quick = served.connect(receive_buffer=4096), served.connect()
    for peer in (slow, quick):
        peer.call("subscribe", kinds=["positions", "telemetry"])
    ticks = [quick.tick()[0] for _ in range(90)]  # meanwhile the other one reads nothing
    assert max(np.diff(ticks)) <= 30  # the machine may be busy, but it is not held up for long
    seen = []
    for _ in range(12):
        seen.append(slow.tick()[0])
        kinds = [slow.next() for _ in range(2)]
        assert [frame.type for frame in kinds if isinstance(frame, StreamFrame)] == [0x01, 0x02]
        records = np.frombuffer(kinds[0].payload, np.dtype([("id", "<i4"), ("rest", "V28")]), offset=4)
        assert np.array_equal(records["id"], np.arange(COUNT))
        assert len(kinds[1].payload) == 4 + 17 * COUNT
    steps = np.diff(seen)
    assert (steps > 0).all() and steps.max() > 20  # it was asleep for about 90 ticks
    assert served.count("stream_skipped", endpoint="stream") >= 20
    assert served.skipped()[client_name(slow)] >= 20
    names = client_name(slow), client_name(quick)
    slow.close()
    assert eventually(lambda: names[0] not in served.skipped() and names[1] in served.skipped())


def test_answers_arrive_while_much_is_streamed(served: Any) -> None:
    """10,000 vehicles, and a reader too slow for them: every call is answered all the same."""
    peer = served.connect(receive_buffer=4096)
    peer.call("subscribe")
    numbers = [peer.send("get_state", vehicle_id=k) for k in range(200)]
    answers: dict[int, int] = {}
    while len(answers) < len(numbers):
        peer.until(lambda message: answers.setdefault(message["id"], message["result"]["id"]))
    assert answers == {number: k for k, number in enumerate(numbers)}
    peer.close()


def test_the_rate_does_not_exceed_the_request(served: Any) -> None:
    peer = served.connect()
    assert peer.call("subscribe", rate=5)["rate"] == 5.0
    moments = [peer.tick() for _ in range(6)]
    # the first comes at once; 5 more at 5 Hz take 1 s, 0.9 s with the slack that snapshots need; all 60 Hz take 0.08 s
    assert moments[-1][2] - moments[0][2] > 0.5  # s of wall time, as the simulation has stamped them


def test_more_than_the_server_allows_is_not_granted(served: Any) -> None:
    assert served.connect().call("subscribe", rate=5000)["rate"] == 60.0


# the parts, without sockets of a server ------------------------------------------------------------------------------


def test_the_mean_rate_is_kept_despite_jitter() -> None:
    subscription = Subscription(View(), rate=10.0)
    early_and_late = 0.1 * np.arange(100) + 0.02 * np.resize([1, -1], 100)
    assert sum(subscription.take(100.0 + t) for t in early_and_late) == 100
    often = Subscription(View(), rate=10.0)
    assert sum(often.take(100.0 + 0.001 * k) for k in range(10_000)) in (100, 101)


def test_a_missed_snapshot_makes_a_subscription_late() -> None:
    subscription = Subscription(View(), rate=10.0)
    assert subscription.take(100.0)
    subscription.behind = False
    assert not subscription.take(100.01) and not subscription.late(100.02)
    assert subscription.late(100.5)
    assert not Subscription(View(kinds=("events",)), 10.0).late(1e9)


@pytest.fixture
def pair() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as server:
        other = socket.create_connection(server.getsockname())
        connection, _ = server.accept()
    other.setblocking(False)
    with connection, other:
        yield connection, other


def test_a_group_that_has_begun_is_finished_and_messages_go_between(pair: Any) -> None:
    first, second, third = ((bytes([k]) * 10_000_000, bytes([k + 10]) * 1000) for k in (1, 2, 3))

    async def exchange() -> bytes:
        loop = asyncio.get_running_loop()
        connection = TcpConnection(loop, pair[0], lambda message: None, lambda reason: None)
        assert not connection.offer(first)  # more than the socket takes
        assert not connection.offer(second)
        assert connection.offer(third)  # instead of the second, of which nothing was sent
        assert connection.skipped == 1
        connection.put(b"answer")
        received = b""
        while len(received) < 20_002_006:
            received += await loop.sock_recv(pair[1], 1 << 20)
        connection.close()
        return received

    assert asyncio.run(exchange()) == b"".join(first) + b"answer" + b"".join(third)


def test_the_queue_is_bounded_but_one_large_message_passes(pair: Any) -> None:
    async def stuff() -> tuple[bool, bool]:
        connection = TcpConnection(asyncio.get_running_loop(), pair[0], lambda message: None, lambda reason: None)
        connection.put(bytes(10_000_000))  # begun, but more than the socket takes
        connection.put(bytes(connection.most_waiting + 1))
        passed = connection.open
        connection.put(b"x")
        return passed, connection.open

    assert asyncio.run(stuff()) == (True, False)
