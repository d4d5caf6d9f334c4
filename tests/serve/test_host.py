"""The hub process may die, hang or fail to start; the simulation continues."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from prometheus_client.parser import text_string_to_metric_families

import paddock
from paddock.errors import PaddockError
from paddock.serve.endpoints.metrics import exposition
from paddock.serve.host import Host, Silence, ThreadTime, thread_times
from paddock.serve.link import operate
from paddock.world.ring import RingReader, RingWriter

CAR = {"name": "red", "model": "car.kinematic", "speed": 10.0}
SCENARIO = {"clock": {"rate": 1000, "pace": 1.0}, "vehicles": [CAR]}


@pytest.fixture
def served() -> Iterator[tuple[paddock.Simulation, Host, list[str]]]:
    """A simulation that runs in real time, served with metrics; and the lines of its log."""
    log: list[str] = []
    with (
        paddock.load(SCENARIO) as sim,
        paddock.share(sim, log.append, metrics={"port": 0}) as host,
        sim.clock.running(),
    ):
        yield sim, host, log


def test_a_jump_of_the_wall_clock_does_not_affect_health(
    monkeypatch: pytest.MonkeyPatch, eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    """The simulation's clock is an hour behind that of its hub, as after a correction by NTP."""
    monkeypatch.setattr("paddock.serve.describe.time", lambda: time.time() - 3600.0)
    with (
        paddock.load(SCENARIO) as sim,
        paddock.share(sim, lambda line: None, metrics={"port": 0}) as host,
        sim.clock.running(),
    ):
        assert eventually(lambda: get(host, "/readyz")[0] == 200)
        assert eventually(lambda: get(host, "/healthz") == (200, "healthy\n"))


def test_a_published_snapshot_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two threads that publish the same one, as at the start, neither returns before it is in the ring."""
    publish, begun, second = RingWriter.publish, threading.Event(), threading.Event()
    with paddock.load(SCENARIO) as sim, paddock.share(sim, lambda line: None, metrics={"port": 0}) as host:
        sim.step(1)
        snapshot, reader, newest = sim.snapshot(), RingReader(host._ring.name), list[int]()
        before = reader.newest

        def publish_slowly(ring: RingWriter, present: Any) -> int:
            begun.set()
            second.wait(0.5)
            return publish(ring, present)

        def publish_beside() -> None:
            begun.wait()
            host._publish(snapshot)
            newest.append(reader.newest)
            second.set()

        monkeypatch.setattr(RingWriter, "publish", publish_slowly)
        threads = [threading.Thread(target=host._publish, args=(snapshot,)), threading.Thread(target=publish_beside)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert newest == [before + 1] == [reader.newest]
        reader.close()


def get(host: Host, path: str, token: str = "") -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{host.addresses['metrics']['port']}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def eventually(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


def values(page: str) -> dict[str, float]:
    samples = [s for family in text_string_to_metric_families(page) for s in family.samples]
    return {s.name + "".join(s.labels.values()): s.value for s in samples}


def test_metrics_are_the_simulations_own_figures(served: tuple[paddock.Simulation, Host, list[str]]) -> None:
    sim, host, _ = served
    assert eventually(lambda: values(get(host, "/metrics")[1]).get("paddock_tick", 0) > 0)
    page = values(get(host, "/metrics")[1])
    assert page["paddock_rate"] == 1000 and page["paddock_vehicles"] == 1 and page["paddock_pace"] == 1
    assert 0 < page["paddock_tick"] <= sim.tick
    assert page["paddock_stage_calls_totalmove"] > 0
    assert 0 < page["paddock_stage_seconds_totalmove"] < 60
    assert 0 < page["paddock_tick_seconds"] < 60 and 0 <= page["paddock_lag_seconds"] < 60
    assert get(host, "/healthz") == (200, "healthy\n")
    assert eventually(lambda: get(host, "/readyz")[0] == 200)
    assert get(host, "/nothing")[0] == 404


def test_counters_have_help_texts_and_no_empty_labels() -> None:
    counts = {
        ("groups", (("endpoint", "shm"),)): 3,
        ("ignored", (("endpoint", "zmq"), ("reason", ""))): 2,
        ("ignored", (("endpoint", "zmq"), ("reason", "full"))): 1,
    }
    slow = SimpleNamespace(clients_now=1, subscribers_now=[{"name": "ann", "skipped": 5}])
    idle = SimpleNamespace(clients_now=0, subscribers_now=[])
    hub = SimpleNamespace(
        mirror=SimpleNamespace(figures={}), restarts=0, endpoints={"stream": slow, "shm": idle}, counts=counts
    )
    lines = exposition(cast(Any, hub)).splitlines()
    assert "# HELP paddock_hub_groups_total Groups of frames written, one per tick." in lines
    assert 'paddock_hub_ignored_total{endpoint="zmq"} 2.0' in lines
    assert 'paddock_hub_ignored_total{endpoint="zmq",reason="full"} 1.0' in lines
    assert 'paddock_subscriber_skipped_total{client="ann",endpoint="stream"} 5.0' in lines


def test_a_killed_hub_is_replaced_on_the_same_port_and_the_run_continues(
    served: tuple[paddock.Simulation, Host, list[str]],
) -> None:
    sim, host, log = served
    before, tick = host.hub_pid, sim.tick
    os.kill(before, signal.SIGKILL)
    assert eventually(lambda: host.restarts == 1 and host.hub_pid != before)
    assert eventually(lambda: _answers(host))
    assert sim.tick > tick
    assert log == ["the hub process ended with code -9; restarting it"]


def test_a_spare_process_becomes_the_hub_at_once(
    served: tuple[paddock.Simulation, Host, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has been started and has imported the endpoints: on a busy machine that takes seconds."""
    _, host, _ = served
    monkeypatch.setattr("paddock.serve.host.SPARE_AFTER", 0.0)
    assert eventually(lambda: host._spare is not None)
    spare, first = host._spare, host.hub_pid
    assert spare is not None and spare.waits
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: host.hub_pid != first)
    assert host.hub_pid == spare.process.pid
    assert eventually(lambda: _answers(host))
    assert eventually(lambda: host._spare is not None)
    second, other = host.hub_pid, host._spare
    assert other is not None
    os.kill(other.process.pid, signal.SIGKILL)  # one that has died is of no use
    assert eventually(lambda: not other.waits)
    os.kill(second, signal.SIGKILL)
    assert eventually(lambda: host.hub_pid not in (second, other.process.pid))
    assert eventually(lambda: _answers(host))
    assert eventually(lambda: host._spare is not None)
    last = host._spare
    host.close()
    assert last is not None and not last.waits


SERVED = """
import sys, time, paddock
sim = paddock.load({"vehicles": [{"name": "dots", "model": "point", "count": 200, "spawn": {"grid": {"spacing": 3}}}]})
host = paddock.share(sim, metrics={"port": 0}, web={"port": 0}, stream={"port": 0})
print(host._ring.name, host.hub_pid, flush=True)
sim.run()
"""


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="where shared memory cannot be listed")
def test_nothing_remains_of_a_simulation_that_was_killed() -> None:
    """Its hub removes the shared memory and ends, though no other simulation starts and cleans up."""
    child = subprocess.Popen([sys.executable, "-c", SERVED], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    name, hub = child.stdout.readline().split()
    segments = [path for path in Path("/dev/shm").iterdir() if path.name.split(".")[:2] == ["paddock", name]]
    assert len(segments) == 2
    child.kill()
    assert eventually(lambda: not thread_times(int(hub)))
    assert not any(path.exists() for path in segments)
    child.communicate()


def test_a_hub_that_hangs_is_replaced(
    served: tuple[paddock.Simulation, Host, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sim, host, log = served
    monkeypatch.setattr("paddock.serve.host.HANG", 1.0)
    os.kill(host.hub_pid, signal.SIGSTOP)
    tick = sim.tick
    assert eventually(lambda: host.restarts == 1)
    assert eventually(lambda: _answers(host))
    assert sim.tick - tick > 900  # it took a second to be noticed, in which the run went on
    assert "has not answered for 1 s" in log[0]


def test_a_hub_that_waits_for_a_processor_is_not_replaced_until_it_could_run(
    served: tuple[paddock.Simulation, Host, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    """The hub is stopped; the scheduler's report says that it waits for its turn, as on a starved machine."""
    _, host, log = served
    monkeypatch.setattr("paddock.serve.host.HANG", 1.0)
    looked, real = [], thread_times

    def starved(pid: int) -> dict[str, ThreadTime]:
        looked.append(pid)
        return {"1": ThreadTime(1.0, 0.0, True)}

    monkeypatch.setattr("paddock.serve.host.thread_times", starved)
    assert eventually(lambda: bool(looked))
    os.kill(host.hub_pid, signal.SIGSTOP)
    before = len(looked)
    assert eventually(lambda: len(looked) > before + 5)  # more than 2 s
    assert host.restarts == 0 and not log
    monkeypatch.setattr("paddock.serve.host.thread_times", real)
    assert eventually(lambda: host.restarts == 1)
    assert "has not answered for 1 s" in log[0]


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="the system has no such priority")
def test_the_time_in_which_a_process_waits_for_a_processor_does_not_count_as_silence(
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    """A process of lowest priority beside a busy one, on the same processor; then it is stopped."""
    processor = {min(os.sched_getaffinity(0))}
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for process in busy:
            os.sched_setaffinity(process.pid, processor)
        os.sched_setscheduler(busy[0].pid, os.SCHED_IDLE, os.sched_param(0))
        silence = Silence(busy[0].pid)
        for _ in range(4):
            time.sleep(0.25)
            silence.observe(False)
        assert silence.in_all > 1.0 and silence.seconds < 0.5 * silence.in_all
        busy[1].kill()
        os.kill(busy[0].pid, signal.SIGSTOP)
        assert eventually(lambda: not any(time.runnable for time in thread_times(busy[0].pid).values()))
        silence.observe(True)
        assert silence.seconds == silence.in_all == 0.0
        time.sleep(0.5)
        silence.observe(False)
        assert silence.seconds > 0.9 * silence.in_all
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _answers(host: Host) -> bool:
    try:
        return get(host, "/healthz")[0] == 200
    except OSError:
        return False


def test_a_port_in_use_gives_a_one_line_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, paddock.load(SCENARIO) as sim:
        port = taken.getsockname()[1]
        with pytest.raises(PaddockError, match=rf"metrics cannot listen on 127.0.0.1:{port}: .*in use"):
            paddock.share(sim, metrics=port)


def test_metrics_require_the_token() -> None:
    with paddock.load(SCENARIO) as sim, paddock.share(sim, metrics={"port": 0}, token="open sesame") as host:
        assert get(host, "/metrics")[0] == 401
        assert get(host, "/metrics", "open simsim")[0] == 401
        assert get(host, "/metrics", "open sesame")[0] == 200
        assert get(host, "/healthz")[0] in (200, 503)


def test_other_addresses_need_a_token_or_insecure() -> None:
    with paddock.load(SCENARIO) as sim:
        with pytest.raises(PaddockError, match=r"serve.bind: listening on 0.0.0.0 needs a token"):
            paddock.share(sim, metrics={"port": 0}, bind="0.0.0.0")
        with pytest.raises(PaddockError, match="vds1 cannot check a token"):
            paddock.share(sim, vds1={"port": 0}, bind="0.0.0.0", token="long enough")
        with paddock.share(sim, metrics={"port": 0}, bind="0.0.0.0", insecure=True) as host:
            assert host.addresses["metrics"]["port"] > 0
        with pytest.raises(PaddockError, match="name at least one endpoint"):
            paddock.share(sim)


def test_garbage_at_the_metrics_port_does_no_harm(
    served: tuple[paddock.Simulation, Host, list[str]],
) -> None:
    _, host, log = served
    address = ("127.0.0.1", host.addresses["metrics"]["port"])
    for garbage in (
        b"\x00" * 100,
        b"GET " + b"a" * 20_000 + b"\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\n\r\n",
        b"\r\n\r\n",
    ):
        with socket.create_connection(address, 5) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    assert get(host, "/metrics")[0] == 200
    assert log == []


def test_operations_run_while_no_thread_drives() -> None:
    with paddock.load(SCENARIO) as sim, paddock.share(sim, metrics={"port": 0}) as host:
        stepped = operate(host.source, "step", "ann", {"ticks": 5})
        assert isinstance(stepped, Future) and stepped.result(10) == 5
        with pytest.raises(PaddockError, match="step refused: the clock belongs to ann"):
            operate(host.source, "step", "bob", {"ticks": 1})
        with pytest.raises(PaddockError, match="unknown operation 'stepp'; did you mean 'step'"):
            operate(host.source, "stepp", "ann", {})
        host.source.gone("ann")
        assert operate(host.source, "step", "bob", {"ticks": 1}).result(10) == 6


def test_serving_does_not_change_the_run_and_cleans_up() -> None:
    with paddock.load(SCENARIO) as plain:
        plain.step(500)
        expected = plain.state_hash()
    threads = threading.active_count()
    with paddock.load(SCENARIO) as sim:
        with paddock.share(sim, metrics={"port": 0}):
            sim.step(500)
        assert sim.state_hash() == expected
    end = time.monotonic() + 20.0
    while threading.active_count() > threads and time.monotonic() < end:  # threads of executors end by themselves
        time.sleep(0.01)
    assert threading.active_count() <= threads
