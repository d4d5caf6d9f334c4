"""Hostile ground stations: neither a packet, nor a stream, nor a flood of them stops a run or keeps others out."""

from __future__ import annotations

import math
import select
import socket
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pymavlink.dialects.v20 import ardupilotmega as mavlink
from tests.mavlink.test_mavlink_files import request
from tests.mavlink.test_mavlink_tcp import free_tcp

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.log import OnboardLog
from paddock.mavlink import file_transfer
from paddock.mavlink.file_transfer import FileContent, packed_parameters
from paddock.mavlink.link import MAX_CLIENTS, MAX_PEERS, MAX_WAITING, MavlinkPeer, Sender, UdpLink
from paddock.mavlink.packets import PacketWriter, Signing, int32, uint16

KEY = bytes(range(32))
LAST = 2**48 - 1


def heartbeat(timestamp: int, link: int = 3) -> Any:
    """Return a heartbeat signed by pymavlink."""
    out = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    out.signing.secret_key, out.signing.sign_outgoing = KEY, True
    out.signing.timestamp, out.signing.link_id = timestamp, link
    packet = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(out)
    return mavlink.MAVLink(None).decode(bytearray(packet))


def setup_signing(timestamp: int) -> Any:
    return mavlink.MAVLink_setup_signing_message(1, 1, list(KEY), timestamp)


def local() -> Sender:
    link: Any = None
    return Sender(link, MavlinkPeer(("127.0.0.1", 5), 0.0), 255, 190)


def test_a_time_stamp_beyond_48_bits_is_refused(rover: Any) -> None:
    station = rover.station()
    for timestamp in (2**48, 2**64 - 1):
        station.send(setup_signing(timestamp))
        text = rover.expect(station, "STATUSTEXT").text
        assert text.startswith("Signing rejected")
    station.send(setup_signing(LAST))
    rover.expect(station, "STATUSTEXT", lambda m: m.text == "Signing enabled")
    rover.pass_time(0.5)
    assert rover.hub.vehicles[1].signing.sent == LAST and not rover.hub.vehicles[1].failed


def test_a_stored_time_stamp_is_limited(tmp_path: Path) -> None:
    Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).set_up(setup_signing(5), local())
    (path,) = tmp_path.glob("*.signing")
    path.write_text(path.read_text().replace('"timestamp": 5', f'"timestamp": {2**70}'))
    assert Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).newest == LAST


def test_a_stamp_from_the_far_future_does_not_lock_others_out() -> None:
    signing = Signing(BuiltInAutopilot(1, "rover"))
    signing.key = KEY
    assert signing.accepts(heartbeat(LAST - 10, link=1))
    assert signing.newest < LAST // 2  # 2^47 is in the year 2059


def test_a_packet_from_before_a_restart_is_a_replay(tmp_path: Path) -> None:
    signing = Signing(BuiltInAutopilot(4, "rover", folder=tmp_path))
    signing.set_up(setup_signing(1_000_000), local())
    packets = [heartbeat(1_000_000 + 100 * k) for k in range(5)]
    assert signing.accepts(packets[0]) and signing.accepts(packets[1])
    signing.service(1_000_000)
    assert signing.accepts(packets[2])
    signing.service(20_000_000)  # not yet
    assert not Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).accepts(packets[1])
    assert Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).accepts(packets[2])
    signing.service(32_000_000)
    assert not Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).accepts(packets[2])
    assert signing.accepts(packets[3])
    signing.close()
    again = Signing(BuiltInAutopilot(4, "rover", folder=tmp_path))
    assert not again.accepts(packets[3]) and not again.accepts(heartbeat(1_000_200, link=7))
    assert again.accepts(packets[4])


def test_values_that_no_field_can_hold_are_limited() -> None:
    assert [int32(value, 1e7) for value in (1e308, -1e308, math.nan, math.inf)] == [2**31 - 1, 1 - 2**31, 0, 0]
    assert [uint16(value, 100.0) for value in (1e308, -5.0, math.nan)] == [65534, 0, 65535]
    largest = struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]
    writer, reader = PacketWriter(1, 1), mavlink.MAVLink(None)
    fields = 5, 1e308, -1e308, math.nan, math.inf, 0.0, 1.0
    for packet in (writer.pack_fields(30, fields), writer.pack(mavlink.MAVLink_attitude_message(*fields))):
        attitude = reader.decode(bytearray(packet))
        assert (attitude.roll, attitude.pitch, attitude.rollspeed) == (largest, -largest, math.inf)
        assert math.isnan(attitude.yaw)


def test_a_vehicle_that_cannot_be_served_does_not_affect_others(make_fleet: Any, monkeypatch: Any) -> None:
    fleet = make_fleet(2)
    events: list[tuple[str, str]] = []
    fleet.autopilots[0].on_event.append(lambda kind, detail: events.append((kind, detail)))
    other = fleet.listener(2)
    monkeypatch.setattr(fleet.hub.vehicles[1], "fields", lambda id: (math.nan,) * 6)
    fleet.pass_time(2.0)
    assert events == [("lost", f"MAVLink failed with {fleet.hub.vehicles[1].failed}; no telemetry until a reset")]
    assert sum(m.get_type() == "HEARTBEAT" for m in other.received) >= 2
    monkeypatch.undo()
    fleet.bridge.reset()
    fleet.pass_time(0.5)
    assert not fleet.hub.vehicles[1].failed and len(events) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_log_and_not_the_run(rover: Any) -> None:
    events: list[tuple[str, str]] = []
    rover.autopilots[0].on_event.append(lambda kind, detail: events.append((kind, detail)))
    rover.hub.vehicles[1].log = Path("/dev/full").open("wb")  # noqa: SIM115
    rover.pass_time(30.0)
    assert events == [("autopilot", "/dev/full: logging stopped: No space left on device")]
    assert rover.hub.vehicles[1].log is None
    rover.hub.vehicles[1].log = Path("/dev/full").open("wb")  # noqa: SIM115
    rover.hub.vehicles[1].log.write(b"x")
    rover.hub.vehicles[1].close()
    assert len(events) == 2


def packed(message: Any, times: int = 1) -> bytes:
    return bytes(message.pack(mavlink.MAVLink(None, srcSystem=255, srcComponent=190))) * times


def decoded(message: Any) -> Any:
    return mavlink.MAVLink(None).decode(bytearray(packed(message)))


BEAT = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)
ASK = mavlink.MAVLink_param_request_read_message(1, 1, b"WP_SPEED", -1)
SET = mavlink.MAVLink_param_set_message(1, 1, b"WP_SPEED", 7.0, 9)


def settled(fleet: Any, client: socket.socket) -> bytes:
    """Run until the client has been disconnected; return what it has received."""
    client.setblocking(False)
    received = b""
    for _ in range(10_000):
        fleet.step()
        if select.select([client], [], [], 0)[0]:
            try:
                data = client.recv(1 << 16)
            except ConnectionResetError:
                return received
            if not data:
                return received
            received += data
    raise AssertionError("still connected")


def test_a_request_of_a_browser_is_not_read(make_fleet: Any) -> None:
    base = free_tcp(1)
    fleet = make_fleet(1, ports={"tcp_port": base})
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 42\r\n\r\n"
    with socket.create_connection(("127.0.0.1", base)) as browser:
        browser.sendall(head + packed(SET))
        settled(fleet, browser)
    assert fleet.autopilots[0].parameters.value("WP_SPEED") == 2.0
    with socket.create_connection(("127.0.0.1", base)) as client:  # closes after its last packet
        client.sendall(packed(BEAT, 300) + packed(SET))
        client.shutdown(socket.SHUT_WR)
        settled(fleet, client)
    assert fleet.autopilots[0].parameters.value("WP_SPEED") == 7.0


def test_a_flood_over_udp_is_limited_and_others_are_served(make_fleet: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("paddock.mavlink.hub.BUDGET", 1e9)  # the limit of messages alone: no clocks in tests
    fleet = make_fleet(1)
    vandal, honest = fleet.station(), fleet.station(system=254)
    link = fleet.hub.links[1]
    honest.send(BEAT)
    fleet.pass_time(0.1)
    for _ in range(MAX_WAITING + 20):
        vandal.send_bytes(packed(BEAT, 100))
    honest.send(ASK)
    fleet.arrived()
    before = link.counters.received
    fleet.hub._work(fleet.bridge.time_us, 1e9, False)
    assert link.counters.received - before == 101  # 100 of one, and all of the other
    assert link.counters.dropped == 20
    assert fleet.expect(honest, "PARAM_VALUE").param_value == 2.0


def test_a_poll_ends_with_its_budget(make_fleet: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("paddock.mavlink.hub.BUDGET", -1.0)
    fleet = make_fleet(1)
    stations = [fleet.station(system=200 + k) for k in range(4)]
    for station in stations:
        station.send_bytes(packed(BEAT, 5))
    fleet.arrived()
    counters = fleet.hub.links[1].counters
    for polls in range(1, 21):
        fleet.hub._work(fleet.bridge.time_us, 1e9, False)
        assert counters.received == polls  # one message each, from one sender after the other
        assert len(fleet.hub.links[1].peers) == 1 + min(polls, 4)


def test_a_flood_over_tcp_waits_in_the_socket(make_fleet: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("paddock.mavlink.hub.BUDGET", 1e9)
    base = free_tcp(1)
    fleet = make_fleet(1, ports={"tcp_port": base})
    link = fleet.hub.tcp_links[1]
    with socket.create_connection(("127.0.0.1", base)) as client:
        while not link.peers:
            fleet.step()
        client.sendall(packed(BEAT, 3000))
        received = [0]
        while received[-1] < 3000:
            fleet.hub._work(fleet.bridge.time_us, 1e9, False)
            received.append(link.counters.received)
        assert max(b - a for a, b in pairwise(received)) == 100


def test_idle_clients_give_way_and_active_ones_stay(make_fleet: Any) -> None:
    base = free_tcp(1)
    fleet = make_fleet(1, ports={"tcp_port": base})
    link, clients = fleet.hub.tcp_links[1], []
    try:
        for _ in range(MAX_CLIENTS):
            clients.append(socket.create_connection(("127.0.0.1", base)))
            while len(link.peers) < len(clients):
                fleet.step()
        peers = list(link.peers.values())
        for peer in peers[1:]:
            peer.last_seen -= 11.0
        peers[3].last_seen -= 5.0
        clients.append(socket.create_connection(("127.0.0.1", base)))
        settled(fleet, clients[3])
        assert len(link.peers) == MAX_CLIENTS and peers[3].address not in link.peers
        for peer in link.peers.values():
            peer.last_seen += 20.0
        clients.append(socket.create_connection(("127.0.0.1", base)))
        settled(fleet, clients[-1])
        assert peers[0].address in link.peers
    finally:
        for client in clients:
            client.close()


def test_new_addresses_do_not_displace_an_active_ground_station() -> None:
    link = UdpLink(opened := socket.socket(socket.AF_INET, socket.SOCK_DGRAM), None)
    opened.close()
    active, silent = ("127.0.0.1", 14550), ("10.0.0.9", 14550)
    link.peer(silent, wall=85.0)
    for second in range(100):
        link.peer(active, wall=float(second))
    for port in range(20_000, 20_100):
        link.peer(("127.0.0.1", port), wall=99.9)
    assert active in link.peers and silent not in link.peers and len(link.peers) == MAX_PEERS


HEADERS = 28  # bytes of IPv4 and UDP


@pytest.mark.parametrize("answer", ["TIMESYNC", "PING"])
def test_an_address_gets_little_until_it_has_shown_that_it_receives(
    make_fleet: Any, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    """The source of a datagram can be forged: at most three times its bytes are sent there, as RFC 9000 has it."""
    monkeypatch.setattr("paddock.mavlink.link.is_local", lambda address: False)
    monkeypatch.setattr("paddock.mavlink.link.CHALLENGE_PERIOD", 0.0)
    fleet = make_fleet(1, ports={"station_host": "127.0.0.2"})
    station, asked = fleet.station(), 0
    messages = [
        mavlink.MAVLink_param_request_list_message(1, 1),
        mavlink.MAVLink_request_data_stream_message(1, 1, 0, 50, 1),
        *(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3) for _ in range(6)),
    ]
    for message in messages:
        station.send(message)
        asked += len(message.get_msgbuf()) + HEADERS
        fleet.arrived()
        fleet.pass_time(0.5)
    sent = sum(len(m.get_msgbuf()) + HEADERS for m in station.received)
    assert 0.5 * asked < sent <= 3 * asked
    assert fleet.hub.links[1].counters.withheld > 100  # 27 messages per second, and 700 parameters
    fleet.expect(station, "HEARTBEAT")
    station.greet()
    challenge = fleet.expect(station, answer)
    if answer == "TIMESYNC":
        wrong, right = (mavlink.MAVLink_timesync_message(5, challenge.ts1 + k) for k in (1, 0))
    else:
        wrong, right = (mavlink.MAVLink_ping_message(5, challenge.seq + k, 1, 1) for k in (1, 0))
    station.send(wrong)
    fleet.arrived()
    fleet.pass_time(0.1)
    peer = fleet.hub.links[1].peers[("127.0.0.1", station.port)]
    assert not peer.confirmed
    station.send(right)
    fleet.arrived()
    fleet.pass_time(0.1)
    assert peer.confirmed
    station.forget()
    fleet.pass_time(2.0)
    assert len(station.received) > 100  # 50 Hz of several


def test_addresses_of_this_machine_and_named_hosts_need_no_confirmation() -> None:
    link = UdpLink(opened := socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("10.0.0.9", 14550))
    opened.close()
    for host, confirmed in (("127.0.0.1", True), ("127.8.0.1", True), ("10.0.0.9", True), ("10.0.0.8", False)):
        assert link.peer((host, 5000), wall=1.0).confirmed is confirmed


OPEN, LIST, CRC = 4, 3, 14
ACK, NAK = 128, 129


def ftp(fleet: Any, station: Any, opcode: int, data: bytes, number: int, session: int = 0) -> tuple[int, bytes]:
    """Return opcode and data of the reply to a file transfer request."""
    station.send(request(opcode, data, session=session, number=number))
    reply = bytes(fleet.expect(station, "FILE_TRANSFER_PROTOCOL").payload)
    assert int.from_bytes(reply[:2], "little") == number + 1
    return reply[3], reply[12 : 12 + reply[4]]


def test_the_checksum_of_a_large_log_is_computed_piece_by_piece(rover: Any, tmp_path: Path, monkeypatch: Any) -> None:
    pilot = rover.autopilots[0]
    pilot.log = OnboardLog(pilot, tmp_path / "logs")
    data = bytes(range(256)) * 12_000
    (tmp_path / "logs" / "00000001.BIN").write_bytes(data)
    reads: list[tuple[int, int]] = []
    read = FileContent.read

    def counted(self: FileContent, offset: int, count: int) -> bytes:
        reads.append((rover.bridge.time_us, count))
        return read(self, offset, count)

    monkeypatch.setattr(FileContent, "read", counted)
    stations = [rover.station(system=200 + k) for k in range(12)]
    for station in stations:
        station.send(request(CRC, b"APM/LOGS/00000001.BIN", number=1))
    replies = [bytes(rover.expect(station, "FILE_TRANSFER_PROTOCOL").payload) for station in stations]
    assert sorted(reply[3] for reply in replies) == [ACK] * 8 + [NAK] * 4
    expected = zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF
    assert {int.from_bytes(r[12:16], "little") for r in replies if r[3] == ACK} == {expected}
    assert len(reads) == math.ceil(len(data) / 2**18)  # once for all of them
    assert len({time for time, _ in reads}) == len(reads)  # one piece per poll
    assert ftp(rover, stations[0], CRC, b"APM/LOGS/00000001.BIN", 7) == (ACK, expected.to_bytes(4, "little"))


def test_one_address_has_two_sessions_and_the_busiest_gives_way(rover: Any) -> None:
    stations = [rover.station(system=200 + k) for k in range(7)]
    sessions = rover.hub.vehicles[1].transfer.sessions
    for station in stations[:4]:
        for k in range(3):
            assert ftp(rover, station, OPEN, b"@PARAM/param.pck", 10 + 2 * k, session=k)[0] == ACK
    owners = [address[1] for (address, _, _), _ in sessions]
    assert sorted(owners) == sorted([station.port for station in stations[:4]] * 2)
    for station in stations[4:]:
        assert ftp(rover, station, OPEN, b"@PARAM/param.pck", 20)[0] == ACK
    owners = [address[1] for (address, _, _), _ in sessions]
    assert sorted(map(owners.count, (station.port for station in stations))) == [1] * 6 + [2]


def test_files_are_packed_once_until_they_change(rover: Any, monkeypatch: Any) -> None:
    files, calls = rover.hub.vehicles[1].transfer.files, []
    monkeypatch.setattr(file_transfer, "packed_parameters", lambda *a: calls.append(a) or packed_parameters(*a))
    first = files.open("@PARAM/param.pck").data
    for _ in range(50):
        files.names("@PARAM")
    assert len(calls) == 1
    assert rover.autopilots[0].parameters.set("WP_SPEED", 3.0)
    assert files.open("@PARAM/param.pck").data != first and len(calls) == 2
    for start in range(100):
        files.open(f"@PARAM/param.pck?start={start}")
    assert len(files._packed) <= 16


def test_lists_of_parameters_are_limited(rover: Any) -> None:
    vehicle = rover.hub.vehicles[1]
    for system in range(1, 200):
        vehicle.handle(
            decoded(mavlink.MAVLink_param_request_list_message(1, 1)),
            Sender(rover.hub.links[1], local().peer, system, 1),
        )
    assert len(vehicle.parameters._lists) == 16
