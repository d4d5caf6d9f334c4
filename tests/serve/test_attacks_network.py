"""Attacks over the network: forged addresses, connections without a token, idle connections, too many checks."""

from __future__ import annotations

import http.client
import json
import os
import resource
import select
import socket
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from websockets.sync.client import connect

import paddock
from paddock.scenario.serve import Serve
from paddock.serve.host import Host
from paddock.serve.protection.admission import Slots, is_named

RED = {"name": "red", "id": 1, "model": "car.kinematic"}
TOKEN = "a-long-secret"
SUBSCRIBE_TYPE, COOKIE_TYPE = 3, 16


def vds1_header(kind: int, sequence: int = 0, vehicle: int = 0) -> bytes:
    """A datagram of 28 bytes, packed by hand."""
    packed = struct.pack("<IHHIId", 0x56445331, 4, kind, sequence, vehicle, 0.0)
    return packed + struct.pack("<I", zlib.crc32(packed))


def received(link: socket.socket, seconds: float) -> list[bytes]:
    """All datagrams until none has come for a while."""
    link.settimeout(seconds)
    rows = []
    while True:
        try:
            rows.append(link.recv(2048))
        except TimeoutError:
            return rows


def test_vds1_sends_a_forged_address_no_more_than_was_sent_in_its_name(
    metrics: Callable[..., list[Any]], eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    """28 bytes with the address of a victim gave 350 kB for two cars; now at most 28, and no answer to answers."""
    cars = {"name": "cars", "id": 1, "count": 2, "model": "car.kinematic", "spawn": {"grid": {"spacing": 9}}}
    vds1 = {"port": 0, "state": None}
    with (
        paddock.load({"clock": {"rate": 200}, "vehicles": [cars]}) as sim,
        paddock.share(sim, lambda line: None, vds1=vds1, metrics={"port": 0}, bind="0.0.0.0", insecure=True) as host,
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

        link.sendto(cookie, server)  # as another server would: answers to answers would never end
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


@contextmanager
def serving(**fields: Any) -> Iterator[Host]:
    options = {"metrics": {"port": 0}, **fields}
    with paddock.load({"vehicles": [RED]}) as sim, paddock.share(sim, lambda line: None, **options) as host:
        yield host


def idle_connections(stack: ExitStack, port: int, count: int, first: bytes = b"") -> list[socket.socket]:
    """Connections that send a few bytes, if any, and then nothing."""
    links = []
    for _ in range(count):
        links.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)))
        if first:
            with suppress(ConnectionError):
                links[-1].sendall(first)
    return links


def descriptors(host: Host) -> int:
    return len(os.listdir(f"/proc/{host.hub_pid}/fd"))


def get(host: Host, endpoint: str, path: str = "/", **headers: str) -> int:
    """The status of a GET request."""
    link = http.client.HTTPConnection("127.0.0.1", host.addresses[endpoint]["port"], timeout=20)
    try:
        link.request("GET", path, headers=headers)
        return link.getresponse().status
    finally:
        link.close()


def line(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


@pytest.mark.parametrize("endpoint", ["stream", "web"])
def test_connections_without_the_token_do_not_keep_out_its_owner(endpoint: str) -> None:
    """100 of them, of which 64 may wait for their token, beside a limit of two clients."""
    with serving(**{endpoint: {"port": 0, "connections": 2}}, token=TOKEN) as host, ExitStack() as stack:
        port, before = host.addresses[endpoint]["port"], descriptors(host)

        def client() -> Callable[[str], Any]:
            """A new connection: the function that sends a line and returns the answer."""
            if endpoint == "web":
                page = stack.enter_context(connect(f"ws://127.0.0.1:{port}/ws", compression=None, close_timeout=0.1))
                return lambda text: (page.send(text), json.loads(page.recv(20)))[1]
            link = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            lines = stack.enter_context(link.makefile("rb"))
            return lambda text: (link.sendall(text.encode() + b"\n"), json.loads(lines.readline()))[1]

        strangers = [client() for _ in range(100)]
        assert "result" in strangers[-1](line("ping"))
        assert descriptors(host) - before <= 64 + 8
        owners = [client() for _ in range(2)]
        for owner in owners:
            assert owner(line("authenticate", token=TOKEN))["result"] == {}
        for _ in range(70):
            client()
        assert all("result" in owner(line("get_roster")) for owner in owners)  # no stranger displaces them
        assert "limit of 2 connections" in str(client()(line("get_roster", token=TOKEN)))


REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    "first", [b"", REQUEST, REQUEST + b"Content-Length: 9\r\n\r\n"], ids=["silent", "half", "body"]
)
def test_idle_http_connections_are_limited(first: bytes) -> None:
    with serving(web={"port": 0}) as host, ExitStack() as stack:
        pid, before = host.hub_pid, descriptors(host)
        for endpoint, limit in (("web", 64), ("metrics", 32)):
            idle_connections(stack, host.addresses[endpoint]["port"], 150, first)
            assert get(host, endpoint, "/metrics" if endpoint == "metrics" else "/") == 200
            assert descriptors(host) - before <= limit + 8
            before = descriptors(host)
        assert host.hub_pid == pid


@pytest.mark.parametrize("endpoint", ["stream", "zmq"])
def test_idle_connections_of_other_endpoints_are_limited(
    endpoint: str, metrics: Callable[..., list[Any]], eventually: Callable[..., bool]
) -> None:
    """Without a token: the limits of clients (4) and of connections that have not sent anything yet."""
    option = {"zmq": "clients", "stream": "connections"}[endpoint]
    with serving(**{endpoint: {"port": 0, option: 4}}) as host, ExitStack() as stack:
        before, limit = descriptors(host), 4 + {"zmq": 128, "stream": 64}[endpoint]
        links = idle_connections(stack, host.addresses[endpoint]["port"], 250)

        def ended() -> float:
            samples = metrics(host, "paddock_hub_cut_off_total")
            return sum(sample.value for sample in samples if sample.labels["reason"] == "slots")

        assert eventually(lambda: ended() > 0)  # not by a timeout
        assert eventually(lambda: descriptors(host) - before <= limit)
        for link in links:
            link.close()
        if endpoint == "zmq":
            with paddock.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}") as remote:
                assert remote.snapshot().tick == 0


def zmtp(port: int, mechanism: bytes) -> socket.socket:
    """A raw connection after ZMTP's greetings of 64 bytes."""
    link = socket.create_connection(("127.0.0.1", port), timeout=20)
    link.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + mechanism.ljust(20, b"\0") + bytes(32))
    greeting = b""
    while len(greeting) < 64:
        greeting += link.recv(64 - len(greeting))
    return link


def send_until_closed(link: socket.socket, data: bytes, times: int) -> int:
    """Send some data many times; return the number of times before the other side received no more."""
    sent = 0
    link.settimeout(2.0)
    with suppress(ConnectionError, TimeoutError):
        while sent < times:
            link.sendall(data)
            sent += 1
    return sent


def memory(host: Host) -> int:
    """Resident memory of the hub, MB."""
    return int(Path(f"/proc/{host.hub_pid}/statm").read_text().split()[1]) * resource.getpagesize() >> 20


def test_zmq_ends_connections_that_send_much_before_their_handshake(
    metrics: Callable[..., list[Any]], eventually: Callable[..., bool]
) -> None:
    """Part of a command of 60 MB, of which libzmq would keep all, from connections that are not let in yet."""
    with serving(zmq={"port": 0}) as host, ExitStack() as stack:

        def ended() -> float:
            samples = metrics(host, "paddock_hub_cut_off_total")
            return sum(sample.value for sample in samples if sample.labels["reason"] == "size")

        port = host.addresses["zmq"]["port"]
        links = [stack.enter_context(zmtp(port, b"NULL")) for _ in range(4)]
        for link, size in zip(links, (4000, 20_000, 100_000, 1_000_000), strict=True):
            link.sendall(b"\x06" + struct.pack(">Q", 60 << 20) + bytes(size))
        assert eventually(lambda: ended() == 3)
        with paddock.connect(f"tcp://127.0.0.1:{port}") as remote:
            assert remote.snapshot().tick == 0
        assert ended() == 3


@pytest.mark.parametrize(("port", "kind", "size"), [("port", b"DEALER", 1 << 16), ("publish", b"SUB", 200)])
def test_zmq_ends_messages_of_many_frames_before_their_end(port: str, kind: bytes, size: int) -> None:
    """Every frame is within its limit, but the last one never comes."""
    with serving(zmq={"port": 0}) as host:
        before = memory(host)
        with zmtp(host.addresses["zmq"][port], b"NULL") as link:
            ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
            link.sendall(b"\x04" + bytes([len(ready)]) + ready)
            assert link.recv(1000)
            frame = b"\x03" + struct.pack(">Q", size) + bytes(size)
            assert send_until_closed(link, frame, (400 << 20) // len(frame)) < (400 << 20) // len(frame)
        assert memory(host) - before < 350


def test_zmq_limits_what_all_connections_together_send_without_an_end(
    metrics: Callable[..., list[Any]], eventually: Callable[..., bool]
) -> None:
    """Each subscriber is within its limit of 1 MiB; of 2 MiB in all, the one that sends least and two others fit."""
    kind, frame = b"SUB", b"\x03" + struct.pack(">Q", 200) + bytes(200)
    ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
    with serving(zmq={"port": 0}) as host, ExitStack() as stack:

        def ended() -> float:
            samples = metrics(host, "paddock_hub_cut_off_total")
            return sum(sample.value for sample in samples if sample.labels["reason"] == "size")

        links = [stack.enter_context(zmtp(host.addresses["zmq"]["publish"], b"NULL")) for _ in range(5)]
        for link in links:
            link.sendall(b"\x04" + bytes([len(ready)]) + ready)
            assert link.recv(1000)
            link.sendall(b"\x00\x02\x01a")  # a whole message: it subscribes to `a`
        time.sleep(0.5)  # some looks of the server
        for link, frames in zip(links, (500, 4000, 4100, 4200, 4300), strict=True):
            with suppress(OSError):  # it may be ended meanwhile
                link.sendall(frames * frame)
        assert eventually(lambda: ended() == 2)  # 10,034 frames fit
        assert not select.select(links[:1], [], [], 0.2)[0]


@pytest.mark.slow
def test_zmq_does_not_end_clients_that_send_much() -> None:
    """States of some MB, one after the other, and more than a limit's worth of small requests."""
    rovers = {"name": "rovers", "model": "rover", "count": 3000, "spawn": {"grid": {"spacing": 3}}}
    with (
        paddock.load({"vehicles": [rovers]}) as sim,
        paddock.share(sim, lambda line: None, zmq={"port": 0}) as host,
        paddock.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}") as remote,
    ):
        saved = remote.save()
        for _ in range(2 + (70 << 20) // len(saved)):
            remote.restore(saved)
        for _ in range(500):
            remote.vehicles.inspect("rovers[7]")
        assert remote.snapshot().tick == 0


def test_a_client_that_opens_many_connections_displaces_its_own() -> None:
    ended: list[str] = []
    slots: Slots[str] = Slots(4, ended.append)
    for name, address in (("ann", "192.0.2.1"), ("eve 1", "192.0.2.9"), ("eve 2", "192.0.2.9"), ("bob", "192.0.2.2")):
        slots.enter(name, address)
    for k in range(3, 10):
        slots.enter(f"eve {k}", "192.0.2.9")
    assert ended == [f"eve {k}" for k in range(1, 8)] and "ann" in slots and "bob" in slots
    slots.leave("ann")
    slots.enter("cat", "192.0.2.3")
    assert len(slots) == 4 and len(ended) == 7


def test_the_hub_may_open_as_many_files_as_the_system_permits() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(300, hard), hard))
    try:
        with serving() as host:
            limits = Path(f"/proc/{host.hub_pid}/limits").read_text().splitlines()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    [files] = [line.split()[3:5] for line in limits if line.startswith("Max open files")]
    assert files == [str(hard), str(hard)]


FEW_FILES = """
import resource, sys, paddock
resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
endpoints = {name: {"port": 0} for name in ("web", "stream", "zmq", "metrics")}
with paddock.load({"vehicles": []}) as sim, paddock.share(sim, lambda line: None, **endpoints) as host:
    ports = [host.addresses[name]["port"] for name in endpoints]
    print(host.addresses["zmq"]["publish"], *ports, host.hub_pid, flush=True)
    sys.stdin.read()
"""


def test_idle_connections_do_not_use_up_the_files_of_a_process_with_few(eventually: Callable[..., bool]) -> None:
    """400 files, and 150 idle connections at each of five ports."""
    with subprocess.Popen([sys.executable, "-c", FEW_FILES], stdin=PIPE, stdout=PIPE, text=True) as child:
        assert child.stdout is not None
        *ports, pid = map(int, child.stdout.readline().split())
        with ExitStack() as stack:
            for port in ports:
                idle_connections(stack, port, 150)
            link = http.client.HTTPConnection("127.0.0.1", ports[-1], timeout=20)
            link.request("GET", "/metrics")
            assert link.getresponse().status == 200
            link.close()
            assert eventually(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 400 - 100)
        child.communicate("")


def test_a_foreign_page_cannot_use_its_name_for_this_server() -> None:
    """DNS rebinding: the name of a foreign page resolves to this machine, so that it counts as of the same origin."""
    with serving(web={"port": 0}, bind="0.0.0.0", insecure=True, hosts=["sim.example"]) as host:
        for endpoint, path in (("web", "/"), ("metrics", "/metrics"), ("metrics", "/nothing")):
            for foreign in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", ""):
                assert get(host, endpoint, path, Host=foreign) == 421, (endpoint, foreign)
            for own in (
                "127.0.0.1",
                "192.0.2.2:8000",
                "[fd00::2]:8000",
                "localhost",
                "SIM.example:9",
                socket.gethostname(),
            ):
                assert get(host, endpoint, path, Host=own) == (404 if path == "/nothing" else 200), (endpoint, own)
    with serving() as host:  # for this machine only
        assert get(host, "metrics", "/metrics", Host="evil.example") == 421
        assert get(host, "metrics", "/metrics", Host="192.0.2.2") == 421
        assert get(host, "metrics", "/metrics", Host="localhost:1") == 200


def test_names_of_a_server() -> None:
    local, secret = Serve(), Serve(bind="0.0.0.0", token=TOKEN)
    assert is_named(Serve(hosts=("proxy.example",)), "proxy.example") and not is_named(local, "proxy.example")
    assert is_named(secret, "any.example")  # a page there does not know the token
    assert not is_named(Serve(bind="0.0.0.0", insecure=True), "[") and not is_named(local, None)


def test_a_client_with_many_checks_leaves_turns_to_others() -> None:
    with serving(stream={"port": 0}) as host, ExitStack() as stack:
        eve, bob = idle_connections(stack, host.addresses["stream"]["port"], 2)
        answers, others = eve.makefile("rb"), bob.makefile("rb")
        check = line("check_scenario", text="vehicles: []").encode() + b"\n"
        eve.sendall(20 * check)
        refused = [json.loads(answers.readline())["error"]["message"] for _ in range(16)]
        assert set(refused) == {"4 scenarios of this client are being checked already; try again"}
        bob.sendall(check)
        assert json.loads(others.readline())["result"] == {"problems": []}
        assert [json.loads(answers.readline())["result"] for _ in range(4)] == [{"problems": []}] * 4
