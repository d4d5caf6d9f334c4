"""The hub: ports, stations, the shared port, the log, a paused simulation, 254 vehicles."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")
mavutil = pytest.importorskip("pymavlink.mavutil", reason="pymavlink is not installed")

from paddock.autopilot.autopilot import BuiltInAutopilot  # noqa: E402
from paddock.errors import PaddockError  # noqa: E402
from paddock.mavlink.hub import MavlinkHub  # noqa: E402
from paddock.mavlink.link import MAX_PEERS, Ports, UdpLink  # noqa: E402
from paddock.sitl.adapters.lightweight import LightweightAdapter  # noqa: E402

PATIENCE = 60.0
DATE = 1_767_225_600  # 1 January 2026, 00:00 UTC: simulated time 0


def test_without_pymavlink_the_error_names_the_extra() -> None:
    program = "import sys; sys.modules['pymavlink'] = None; import paddock.mavlink.hub"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr.splitlines()[-1].endswith("MAVLink needs pymavlink: pip install 'paddock[mavlink]'")


def test_default_ports() -> None:
    ports = Ports()
    assert (ports.own(1), ports.station(1)) == (18570, ("127.0.0.1", 14550))
    assert (ports.own(254), ports.station(254)) == (18823, ("127.0.0.1", 14803))
    with pytest.raises(PaddockError, match="vehicle 200: port 65699 exceeds 65535; choose a lower --base-port"):
        Ports(base_port=65500).own(200)


def test_a_port_in_use_is_named_with_a_remedy(rover: Any) -> None:
    with (
        closing(MavlinkHub(rover.ports)) as hub,
        pytest.raises(PaddockError, match=rf"vehicle 1: UDP port {rover.ports.own(1)} is in use .*--base-port"),
    ):
        hub.add(BuiltInAutopilot(1, "rover"))
    rover.pass_time(0.1)  # without affecting others


def test_system_ids_are_unique(rover: Any) -> None:
    with pytest.raises(PaddockError, match="system id 1 is in use"):
        rover.hub.add(BuiltInAutopilot(1, "rover"))


def test_a_closed_hub_frees_its_ports(rover: Any) -> None:
    rover.hub.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
        again.bind(("127.0.0.1", rover.ports.own(1)))
        assert again.getsockname() == ("127.0.0.1", rover.ports.own(1))


def test_it_sends_about_25_messages_per_second_unasked(rover: Any) -> None:
    station = rover.listener()
    rover.pass_time(10.0)
    station.forget()
    rover.pass_time(10.0)
    assert 200 <= len(station.received) <= 300
    beats = [m for m in station.received if m.get_type() == "HEARTBEAT"]
    assert 9 <= len(beats) <= 11
    assert (beats[-1].type, beats[-1].autopilot, beats[-1].custom_mode) == (10, 3, 0)
    assert {m.get_srcSystem() for m in station.received} == {1}


def test_every_peer_sees_an_unbroken_sequence(rover: Any) -> None:
    first, two = rover.listener(), rover.station(system=245)
    two.greet()
    rover.pass_time(0.1)
    two.send(mavlink.MAVLink_param_request_list_message(1, 1))  # answered to one of them only
    rover.pass_time(3.0)
    for station in (first, two):
        numbers = [m.get_seq() for m in station.received]
        assert numbers == [(numbers[0] + k) % 256 for k in range(len(numbers))]
    assert not any(m.get_type() == "PARAM_VALUE" for m in first.received)


def test_peers_are_added_by_valid_packets_and_time_out() -> None:
    link = UdpLink(opened := socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", 14550))
    opened.close()
    link.peer(("10.0.0.7", 5000), wall=100.0)
    link.evict(129.0)
    assert list(link.peers) == [("127.0.0.1", 14550), ("10.0.0.7", 5000)]
    link.evict(131.0)
    assert list(link.peers) == [("127.0.0.1", 14550)]
    for k in range(MAX_PEERS + 5):
        link.peer(("10.0.0.8", 5000 + k), wall=200.0 + k)
    assert len(link.peers) == MAX_PEERS
    assert ("127.0.0.1", 14550) in link.peers


def test_invalid_bytes_do_not_affect_others(make_fleet: Any) -> None:
    fleet = make_fleet(2)
    vandal, honest = fleet.station(1), fleet.station(2)
    for data in (b"\xfd" * 300, b"GET / HTTP/1.1\r\n", bytes(range(256)), b"", b"\xfd\x09\x00"):
        vandal.send_bytes(data)
    fleet.arrived(1)
    fleet.pass_time(0.5)
    assert vandal.port not in [port for _, port in fleet.hub.links[1].peers]
    assert fleet.hub.links[1].counters.rejected > 0
    assert fleet.hub.links[2].counters.rejected == 0
    reported, end = [vehicle.autopilot.status for vehicle in fleet.hub.vehicles.values()], time.monotonic() + PATIENCE
    while not reported[0].rejected and time.monotonic() < end:  # housekeeping runs in wall time
        fleet.pass_time(0.02)
    assert [status.rejected for status in reported[:2]] == [fleet.hub.links[1].counters.rejected, 0]
    honest.command(400, 0.0, target=2)
    assert fleet.expect(honest, "COMMAND_ACK").get_srcSystem() == 2


def test_one_port_for_all_vehicles(make_fleet: Any) -> None:
    fleet = make_fleet(3, ports={"shared": True})
    station = fleet.listener(1)  # the shared port sends to the first station's port unasked
    station.to = ("127.0.0.1", fleet.ports.shared_port)
    fleet.pass_time(3.0)
    assert {m.get_srcSystem() for m in station.received} == {1, 2, 3}
    for sysid in (1, 2, 3):
        numbers = [m.get_seq() for m in station.received if m.get_srcSystem() == sysid]
        assert numbers == [(numbers[0] + k) % 256 for k in range(len(numbers))]
    station.forget()
    station.command(176, 1.0, 4.0, target=2)
    assert fleet.expect(station, "COMMAND_ACK").get_srcSystem() == 2
    assert [pilot.mode.number for pilot in fleet.autopilots] == [0, 4, 0]
    station.forget()
    station.command(176, 1.0, 4.0, target=0)
    fleet.pass_time(0.1)
    assert sorted(m.get_srcSystem() for m in station.received if m.get_type() == "COMMAND_ACK") == [1, 2, 3]


def test_a_paused_simulation_still_sends_heartbeats_and_replies(make_fleet: Any, logs: Path) -> None:
    fleet = make_fleet(log_folder=logs)
    station = fleet.listener()
    fleet.pass_time(1.5)
    station.forget()
    station.command(512, 148.0)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and not (beats(station) >= 2 and station.next(("AUTOPILOT_VERSION",), lambda _: True)):
        fleet.hub.idle()
        time.sleep(0.01)
    assert beats(station) >= 2
    numbers = [m.get_seq() for m in station.received]
    assert numbers == [(numbers[0] + k) % 256 for k in range(len(numbers))]
    fleet.close()
    logged = [m for m in read_log(logs / "vehicle_1.tlog") if m.get_type() == "HEARTBEAT"]
    assert len(logged) == 2  # at 0 and at 1 s of simulated time: those by the clock on the wall are not part of a run


def read_log(path: Path) -> list[Any]:
    log = mavutil.mavlink_connection(str(path), dialect="ardupilotmega")
    messages = []
    while (message := log.recv_msg()) is not None:
        messages.append(message)
    log.close()
    return messages


def beats(station: Any) -> int:
    station.listen()
    station.read = 0
    return sum(m.get_type() == "HEARTBEAT" for m in station.received)


def test_streams_restart_with_the_simulation(rover: Any) -> None:
    station = rover.listener()
    rover.pass_time(5.0)
    rover.bridge.reset()
    station.forget()
    rover.pass_time(2.0)
    times = [m.time_boot_ms for m in station.received if m.get_type() == "ATTITUDE"]
    assert len(times) >= 6 and max(times) <= 2100


def fly_logged(make_fleet: Callable[..., Any], folder: Path, seed: int) -> bytes:
    """Two rovers, one of which is commanded at given simulated times."""
    fleet = make_fleet(2, adapter=LightweightAdapter(seed=seed), log_folder=folder)
    station = fleet.station()
    fleet.pass_time(12.0)
    for number, values in ((176, (1.0, 0.0)), (400, (1.0,)), (511, (30.0, 100000.0))):
        station.command(number, *values)
        fleet.arrived()
        fleet.pass_time(0.5)
    station.send(mavlink.MAVLink_rc_channels_override_message(1, 1, 1600, 0, 1800, 0, 0, 0, 0, 0))
    fleet.arrived()
    fleet.pass_time(3.0)
    fleet.close()
    return (folder / "vehicle_1.tlog").read_bytes() + (folder / "vehicle_2.tlog").read_bytes()


def test_the_same_seed_is_the_same_log_byte_for_byte(make_fleet: Any, logs: Path) -> None:
    first = fly_logged(make_fleet, logs / "a", 3)
    assert first == fly_logged(make_fleet, logs / "b", 3)
    assert first != fly_logged(make_fleet, logs / "c", 4)


def test_requested_rates_are_not_logged(make_fleet: Any, logs: Path) -> None:
    fleet = make_fleet(log_folder=logs)
    station = fleet.listener()
    assert fleet.order(station, 511, 30.0, 20_000.0) == 0
    fleet.pass_time(5.0)
    assert sum(m.get_type() == "ATTITUDE" for m in station.received) > 200
    fleet.close()
    sent = [m for m in read_log(logs / "vehicle_1.tlog") if m.get_srcSystem() == 1]
    assert sum(m.get_type() == "ATTITUDE" for m in sent) == pytest.approx(20, abs=1)
    assert [m.get_seq() for m in sent] == [k % 256 for k in range(len(sent))]


def test_pymavlink_reads_the_log(make_fleet: Any, logs: Path) -> None:
    fly_logged(make_fleet, logs, 3)
    messages = read_log(logs / "vehicle_1.tlog")
    assert not any(m.get_type() == "BAD_DATA" for m in messages)
    assert [m.command for m in messages if m.get_type() == "COMMAND_LONG"] == [176, 400, 511]
    assert [m.result for m in messages if m.get_type() == "COMMAND_ACK"] == [0, 0, 0]
    assert messages[-1]._timestamp == pytest.approx(DATE + 16.5, abs=0.2)
    (clock,) = [m for m in messages if m.get_type() == "SYSTEM_TIME"][-1:]
    assert clock._timestamp == pytest.approx(clock.time_unix_usec * 1e-6, abs=0.2)


@pytest.mark.parametrize("count", [8, pytest.param(254, marks=pytest.mark.soak)])
def test_many_vehicles_each_reply_to_their_ground_station(make_fleet: Any, count: int) -> None:
    fleet = make_fleet(count)
    stations = [fleet.station(k) for k in range(1, count + 1)]
    for station in stations:
        station.greet()
    fleet.pass_time(1.2)
    for sysid, station in enumerate(stations, 1):
        station.command(512, 148.0, target=sysid)
        fleet.arrived(sysid)
    fleet.pass_time(0.2)
    for sysid, station in enumerate(stations, 1):
        assert {m.get_srcSystem() for m in station.received} == {sysid}
        (version,) = [m for m in station.received if m.get_type() == "AUTOPILOT_VERSION"]
        assert version.uid == sysid
        assert any(m.get_type() == "HEARTBEAT" for m in station.received)
