"""MAVLink over TCP: ArduPilot's ports, several clients, and clients that misbehave."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from paddock.errors import PaddockError
from paddock.mavlink.link import MAX_CLIENTS, Ports
from paddock.mavlink.packets import PacketCounters, read_stream

PATIENCE = 120.0


def free_tcp(count: int) -> int:
    """Return a port such that it and those 10, 20, ... higher are free."""
    for base in range(20_000, 32_000, 97):
        opened: list[socket.socket] = []
        try:
            for k in range(count):
                opened.append(socket.socket())
                opened[-1].bind(("127.0.0.1", base + 10 * k))
            return base
        except OSError:
            continue
        finally:
            for each in opened:
                each.close()
    raise RuntimeError("no free TCP ports")


@pytest.fixture
def connect() -> Iterator[Callable[[int], Any]]:
    opened: list[Any] = []

    def open_one(port: int) -> Any:
        opened.append(mavutil.mavlink_connection(f"tcp:127.0.0.1:{port}", source_system=255, dialect="ardupilotmega"))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def test_ports_follow_ardupilots_numbers() -> None:
    assert [Ports(tcp_port=None).tcp(k) for k in (1, 2, 11)] == [5760, 5770, 5860]
    assert Ports(tcp_port=7000).tcp(3) == 7020
    assert Ports(tcp_port=0).tcp(3) == 0
    with pytest.raises(PaddockError, match=r"vehicle 200: TCP port 66990 exceeds 65535; choose a lower --tcp"):
        Ports(tcp_port=65_000).tcp(200)


def test_pymavlink_connects_to_each_vehicle_over_tcp(make_fleet: Any, connect: Any) -> None:
    base = free_tcp(2)
    fleet = make_fleet(2, ports={"tcp_port": base})
    fleet.run_aside(5.0)
    for sysid in (1, 2):
        link = connect(base + 10 * (sysid - 1))
        beat = link.wait_heartbeat(timeout=PATIENCE)
        assert beat is not None and beat.get_srcSystem() == sysid
        link.mav.param_request_read_send(sysid, 1, b"SYSID_THISMAV", -1)
        answer = link.recv_match(type="PARAM_VALUE", blocking=True, timeout=PATIENCE)
        assert answer is not None and answer.param_value == sysid


def test_two_clients_have_replies_and_rates_of_their_own(make_fleet: Any, connect: Any) -> None:
    base = free_tcp(1)
    fleet = make_fleet(1, ports={"tcp_port": base}).settle()
    fleet.run_aside(5.0)
    first, second = connect(base), connect(base)
    assert first.wait_heartbeat(timeout=PATIENCE) is not None and second.wait_heartbeat(timeout=PATIENCE) is not None
    first.mav.command_long_send(1, 1, 511, 0, 30, 20_000, 0, 0, 0, 0, 0)  # ATTITUDE at 50 Hz
    assert first.recv_match(type="COMMAND_ACK", blocking=True, timeout=PATIENCE).result == 0
    counts = []
    for link in (first, second):
        attitudes: list[Any] = []
        while len(attitudes) < 10:
            attitudes.append(link.recv_match(type="ATTITUDE", blocking=True, timeout=PATIENCE))
        counts.append((attitudes[-1].time_boot_ms - attitudes[-5].time_boot_ms) / 4)
        assert link.mav_loss == 0  # sequence numbers without gaps
    assert counts == [pytest.approx(20.0), pytest.approx(250.0)]


def test_a_configured_port_in_use_is_an_error_and_the_usual_one_is_skipped(
    make_fleet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = free_tcp(2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", base))
        taken.listen(1)
        with pytest.raises(PaddockError, match=rf"vehicle 1: TCP port {base} is in use by another program"):
            make_fleet(1, ports={"tcp_port": base})
        monkeypatch.setattr("paddock.mavlink.link.ARDUPILOT_TCP", base)
        assert list(make_fleet(2, ports={"tcp_port": None}).hub.tcp_links) == [2]  # that of system 1 is taken


def test_a_stream_may_be_cut_anywhere_and_hold_garbage() -> None:
    out = mavlink.MAVLink(None, srcSystem=255)
    packets = [mavlink.MAVLink_heartbeat_message(6, 8, 0, k, 4, 3).pack(out) for k in range(5)]
    stream = b"\xfd\x03" + packets[0] + b"garbage" + packets[1] + packets[2][:9] + packets[3] + packets[4]
    for size in (1, 2, 7, 50, 400):
        counters, rest, received = PacketCounters(), b"", []
        for at in range(0, len(stream), size):
            messages, rest = read_stream(rest + stream[at : at + size], counters)
            received += messages
        messages, rest = read_stream(rest + bytes(300), counters)  # what was held back by the damaged packet
        assert [m.custom_mode for m in received + messages] == [0, 1, 3, 4]
        assert counters.received == 4 and counters.rejected >= 1


def test_a_client_that_does_not_read_is_dropped_and_never_blocks(
    make_fleet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = free_tcp(1)
    monkeypatch.setattr("paddock.mavlink.link.MAX_UNSENT", 20_000)
    fleet = make_fleet(1, ports={"tcp_port": base})
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", base))
        while not fleet.hub.tcp_links[1].peers:
            fleet.step()
        out = mavlink.MAVLink(None, srcSystem=255)
        for message in (30, 32, 33, 74, 27):
            lazy.sendall(mavlink.MAVLink_command_long_message(1, 1, 511, 0, message, 20_000, 0, 0, 0, 0, 0).pack(out))
        end = time.monotonic() + PATIENCE
        while fleet.hub.tcp_links[1].peers and time.monotonic() < end:
            fleet.pass_time(1.0)
    assert fleet.hub.tcp_links[1].dropped == 1
    assert fleet.hub.tcp_links[1] not in fleet.hub.vehicles[1].links
    assert fleet.hub.vehicles[1].failures == 0


def test_there_is_a_limit_of_clients_and_closing_frees_a_place(make_fleet: Any) -> None:
    base = free_tcp(1)
    fleet = make_fleet(1, ports={"tcp_port": base})
    link, clients = fleet.hub.tcp_links[1], []
    try:
        for _ in range(MAX_CLIENTS + 1):
            clients.append(socket.create_connection(("127.0.0.1", base)))
            fleet.pass_time(0.1)
        assert len(link.peers) == MAX_CLIENTS
        clients[-1].settimeout(PATIENCE)
        assert clients[-1].recv(1) == b""  # refused
        clients[0].close()
        fleet.pass_time(0.1)
        assert len(link.peers) == MAX_CLIENTS - 1
    finally:
        for client in clients:
            client.close()


def test_hostile_bytes_neither_stop_the_vehicle_nor_other_clients(make_fleet: Any) -> None:
    base = free_tcp(1)
    fleet = make_fleet(1, ports={"tcp_port": base})
    generator = np.random.default_rng(3)
    out = mavlink.MAVLink(None, srcSystem=255)
    wanted = mavlink.MAVLink_param_request_read_message(1, 1, b"WP_SPEED", -1).pack(out)
    clients = [socket.create_connection(("127.0.0.1", base)) for _ in range(3)]
    try:
        clients[0].sendall(wanted)
        for attack in (bytes(5000), b"\xfd" * 5000, b"\xfe\xff" * 3000, generator.bytes(20_000), wanted[:-3] * 50):
            clients[0].sendall(attack)
            fleet.pass_time(0.1)
        clients[1].sendall(wanted[:7])  # half a packet, and never more
        clients[2].sendall(wanted)
        fleet.pass_time(0.3)
        received = mavlink.MAVLink(None)
        received.robust_parsing = True
        messages = received.parse_buffer(clients[2].recv(1 << 20)) or []
        assert [m.param_value for m in messages if m.get_type() == "PARAM_VALUE"] == [2.0]
        assert len(fleet.hub.tcp_links[1].peers) == 3
        assert fleet.hub.vehicles[1].failures == 0
    finally:
        for client in clients:
            client.close()
