"""MAVLink over the simulated radio: a copter that loses its link comes home; delay, rate and loss of packets."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import hypot, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pymavlink", reason="pymavlink is not installed")

import itertools

import paddock
from paddock.engine.actions import PacketAction
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.mavlink.link import MavlinkPeer
from paddock.mavlink.packets import mav
from paddock.mavlink.radio_path import RadioEnds, RadioPath
from paddock.record import Recorder, verify
from paddock.scenario import ScenarioError, load_scenario
from paddock.sitl.host import SitlHost
from paddock.world.archive import pack, unpack

Links = Callable[[int], dict[str, Any]]


def flight(links: dict[str, Any], on: list[list[float]], **via: Any) -> dict[str, Any]:
    """A copter on a mission to a point 40 m north at 8 m; a jammer beside it."""
    jammer = {"name": "red", "kind": "barrage", "position": [20.0, 30.0, 8.0], "power": 45.0, "on": on}
    radio = {"stations": [{"name": "base", "position": [0.0, -5.0, 2.0]}], "jammers": [jammer]}
    parameters = {"FS_GCS_ENABLE": 1, "FS_GCS_TIMEOUT": 3, "LAND_SPEED": 150, "LAND_ALT_LOW": 300, "RTL_LOIT_TIME": 0}
    pilots = [{"vehicles": "scout", "mission": [[0, 40, 8], [5, 40, 8], [0, 40, 8]], "parameters": parameters}]
    return {
        "seed": 3,
        "clock": {"rate": 250},
        "radio": radio,
        "vehicles": [{"name": "scout", "model": "quad", "preset": "iris", "pose": [0, 0, 1.5708], "radio": "default"}],
        "sitl": {"mavlink": {**links, "via": {"radio": "base", **via}}, "pilots": pilots},
    }


def host_of(sim: Any) -> Any:
    return next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))


def pilot_of(sim: Any) -> Any:
    return host_of(sim).vehicles[0].autopilot


@pytest.mark.parametrize("landed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_copter_that_loses_its_link_comes_home(own_links: Links, tmp_path: Path, landed: bool) -> None:
    """It turns back; with `landed`, the run goes on until it is at home."""
    scenario = flight(own_links(1), [[16.0, 1000.0]], heartbeat=1.0)
    with paddock.load(scenario) as sim, Recorder(sim, tmp_path / "run.mcap"):
        pilot = pilot_of(sim)
        sim.step(15 * 250)
        assert pilot.mode.name == "AUTO" and pilot.armed and sim.vehicles.autopilots.failsafes() == []
        sim.step(3 * 250)  # without heartbeats for 2 s
        assert pilot.mode.name == "AUTO"
        state = sim.save()
        sim.step(2 * 250)
        after, position = sim.state_hash(), sim.snapshot()["scout"].position
        events = {event.kind: event for event in sim.events.since()}
        assert events["link_down"].tick / 250 == pytest.approx(16.0, abs=0.1)
        assert "GCS failsafe: RTL" in events["autopilot"].detail
        # the last heartbeat came between 15 and 16 s; 3 s later, at the next of ten checks per second
        assert events["autopilot"].tick / 250 == pytest.approx(18.6, abs=0.6)
        assert pilot.mode.name == "RTL" and hypot(*position[:2]) > 15.0
        assert sim.vehicles.autopilots.failsafes() == [sim.snapshot()["scout"].id]  # health 0.5 in telemetry
        for _ in range(40 if landed else 0):
            sim.step(250)
            if not pilot.armed:
                break
        x, y, z = sim.snapshot()["scout"].position
        assert not landed or (not pilot.armed and hypot(x, y) < 1.5 and z < 0.3)
    assert verify(tmp_path / "run.mcap").same
    with paddock.load(scenario) as sim:  # heartbeats on their way are part of the state
        sim.restore(state)
        sim.step(2 * 250)
        assert sim.state_hash() == after
        tree = unpack(state)
        tree["autopilots"]["paths"]["1"]["beats"] = -1
        with pytest.raises(PaddockError, match=r"autopilots\.paths\.1\.beats: -1 is out of its limits"):
            sim.restore(pack(tree))
        tree = unpack(state)
        tree["fleets"]["scout"]["tables"]["heartbeats"][1, 0] = 99.0
        with pytest.raises(PaddockError, match="saved heartbeats of 'scout' are not valid"):
            sim.restore(pack(tree))


def test_heartbeats_reach_the_failsafe_after_a_reset_and_a_reboot(own_links: Links) -> None:
    with paddock.load(flight(own_links(1), [], heartbeat=2.0)) as sim:
        pilot = pilot_of(sim)
        sim.step(500)
        sim.reset()
        sim.step(500)
        assert pilot.failsafes.gcs_us == pytest.approx(1.75e6, abs=0.26e6)
        assert pilot.command(246, (1.0, 0.0, 0.0, 0.0, 0.0, 20190226.0)).accepted  # PREFLIGHT_REBOOT_SHUTDOWN
        sim.step(250)
        assert pilot.failsafes.gcs_us == pytest.approx(2.75e6, abs=0.26e6)


def test_a_follower_hears_the_heartbeats_of_the_ground_station(own_links: Links) -> None:
    """It tunes to the channel of the radios, which transmit these and the telemetry of the autopilot."""
    scenario = flight(own_links(1), [[0.0, 100.0]], heartbeat=10.0)
    [jammer] = scenario["radio"]["jammers"]
    jammer |= {"kind": "follower", "frequency": 5e9, "power": -60.0, "reaction": 0.1}
    scenario["radio"]["types"] = {"default": {"duty": 0.0}}
    with paddock.load(scenario) as sim:
        sim.step(250)
        services = sim.radio.services()
        assert sim.radio.jammers()[0].frequency == 2.4e9
        assert services["heartbeats"].delivered == pytest.approx(10, abs=1) and services["mavlink"].delivered > 10


def test_programs_receive_and_send_over_the_radio(own_links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats each second, of a connected program and of the autopilot; the jammer is on from 2 s to 4 s.

    No wall time passes for the hub: it sends no heartbeats beside the radio, which come before earlier packets.
    """
    wall = SimpleNamespace(monotonic=lambda: 0.0, thread_time=lambda: 0.0)
    monkeypatch.setattr("paddock.mavlink.hub.time", wall)
    links = own_links(1)
    scenario = flight(links, [[2.0, 4.0]], retries=0)
    scenario["sitl"]["pilots"][0]["parameters"]["RC_OVERRIDE_TIME"] = 1.0
    scenario["radio"]["jammers"][0]["position"] = [0.0, -2.0, 1.0]
    with (
        paddock.load(scenario) as sim,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station,
    ):
        station.bind(("127.0.0.1", links["station"]))
        station.setblocking(False)
        parser, out = mav.MAVLink(None), mav.MAVLink(None, srcSystem=255, srcComponent=190)
        pilot, heard = pilot_of(sim), []
        arrived: list[tuple[float, int]] = []
        rc: list[tuple[float, bool]] = []
        for tick in range(0, 6 * 250, 25):
            beat = mav.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)
            station.sendto(beat.pack(out), ("127.0.0.1", links["port"]))
            sticks = mav.MAVLink_rc_channels_override_message(1, 1, *[1500] * 8)
            station.sendto(sticks.pack(out), ("127.0.0.1", links["port"]))
            sim.step(25)
            rc.append((tick / 250, pilot.rc.lost))
            heard.append(pilot.failsafes.gcs_us / 1e6)
            while True:
                try:
                    data = station.recv(4096)
                except BlockingIOError:
                    break
                for message in parser.parse_buffer(data) or []:
                    if message.get_srcSystem() == 1:
                        arrived.append((tick / 250, message.get_seq()))
        before = [time for time in heard if time >= 0.0]
        assert max(time for time in before if time < 3.5) == pytest.approx(2.0, abs=0.2)  # none while it is jammed
        assert heard[-1] == pytest.approx(6.0, abs=0.25)
        lost = [time for time, gone in rc if gone]  # RC_OVERRIDE_TIME after the last one, until they are back
        assert lost[0] == pytest.approx(3.0, abs=0.25) and lost[-1] == pytest.approx(4.0, abs=0.25)
        times = [time for time, _ in arrived]
        assert not [time for time in times if 2.2 < time < 3.9] and len(times) > 30
        gaps = [(b - a) % 256 - 1 for (_, a), (_, b) in itertools.pairwise(arrived)]
        assert max(gaps) > 15 and sorted(gaps)[-2] <= 1  # lost packets are missing in the numbers, in one block


def test_a_mission_is_uploaded_when_there_is_a_link(own_links: Links) -> None:
    scenario = flight(own_links(1), [[0.0, 4.0]])
    scenario["radio"]["jammers"][0]["position"] = [0.0, -2.0, 1.0]
    with paddock.load(scenario) as sim:
        pilot = pilot_of(sim)
        sim.step(4 * 250)
        assert not pilot.armed and sim.engine.claims.autopilots.describe[0]()[0]["note"] == "no radio link"
        sim.step(3 * 250)
        assert pilot.armed and pilot.mode.name == "AUTO"


RATE = 1e4  # bit/s
SIZE = {"packet_bits": 200, "sensitivity": -150.0}  # with the header
STILL = {"slot": 1e-5, "window": [1, 1], "ack_bits": 40}  # no random waits: a packet begins 3 slots after the last one


def ends_of(sim: Simulation, **options: int) -> RadioEnds:
    return RadioEnds(sim.engine.applier, "dot", "base", **{"queue": 1000, "retries": 0, "header_bits": 40, **options})


def two_radios(distance: float = 3000.0, rate: int = 50, **messages: Any) -> Simulation:
    """A vehicle and a station with radios of 10 kbit/s whose links lose nothing."""
    radio = {
        "types": {"slow": {"bandwidth": 2e4, "bit_rate": RATE, "power": 40.0, "modulation": "bpsk", **SIZE}},
        "stations": [{"name": "base", "position": [0, 0, 10], "radio": "slow"}],
        "messages": {**STILL, "queue": 1000, **messages},
    }
    vehicle = {"name": "dot", "model": "point", "pose": [distance, 0, 10], "radio": "slow"}
    return paddock.load({"clock": {"rate": rate}, "radio": radio, "vehicles": [vehicle]})


def mavlink_counts(sim: Simulation) -> tuple[int, ...]:
    """Sent, delivered, lost, dropped, waiting."""
    return tuple(sim.radio.services()["mavlink"])


def test_packets_take_their_airtime_one_after_the_other() -> None:
    """160 bits and a header at 10 kbit/s take 20 ms, their acknowledgement 4 ms; then a few slots of 10 us."""
    with two_radios(rate=1000) as sim:
        ends, arrivals = ends_of(sim), deque[int]()
        assert all(ends.send_down(20, arrivals, k) for k in range(100))
        sim.step(20)
        assert not arrivals
        sim.step(1)
        assert list(arrivals) == [0]
        sim.step(979)
        assert len(arrivals) == pytest.approx(1.0 / 0.02406, abs=1) and list(arrivals) == [*range(len(arrivals))]


@pytest.mark.parametrize("retries", [0, 2])
def test_lost_packets_follow_the_error_rate(retries: int) -> None:
    with two_radios(1e6, lifetime=1e4) as sim:
        links, base = sim.radio.links(), sim.radio.number("base")
        error = float(links.per[links.start[base]])  # of 200 bits
        assert 0.02 < error < 0.1
        ends, arrivals, n = ends_of(sim, retries=retries), deque[int](), 2000
        for k in range(n):
            assert ends.send_down(20, arrivals, k)
            sim.step(10)
        sim.step(500)
        lost = error ** (retries + 1)
        assert 1.0 - len(arrivals) / n == pytest.approx(lost, abs=4.0 * sqrt(lost / n) + 1e-3)


def test_a_full_queue_drops_packets_and_no_route_loses_them() -> None:
    with two_radios() as sim:
        ends, arrivals = ends_of(sim, queue=5), deque[int]()
        sent = [ends.send_down(13, arrivals, k) != 0 for k in range(7)]
        assert sent == [True] * 5 + [False] * 2 and sim.radio.traffic()["queue_full"] == 2
        assert mavlink_counts(sim) == (7, 0, 0, 2, 5)
        assert ends.connected and not ends._replace(vehicle="ghost").connected
        sim.remove("dot")
        sim.step(50)
        assert sim.radio.traffic()["lost"] == 5 and not arrivals and not ends.send_down(1, arrivals, 9)


def test_messages_and_mavlink_packets_delay_each_other() -> None:
    """One queue and one channel: what comes later waits for the airtime of what came before, in both orders."""

    def times(first: str, later: str) -> dict[str, float]:
        """The times (s) at which a message of 800 bits and a MAVLink packet of 800 bits arrive at the station."""
        with two_radios(rate=1000, header_bits=40) as sim:
            ends, arrivals, arrived = ends_of(sim), deque[int](), dict[str, float]()
            for kind in (first, later):
                if kind == "mavlink":
                    assert ends.send_down(100, arrivals, 1)
                elif kind == "message":
                    sim.radio.send("dot", "base", b"", bits=800)
                    sim.step(1)
            while sim.time < 0.5:
                sim.step(1)
                if arrivals:
                    arrived.setdefault("mavlink", sim.time)
                    arrivals.clear()
                if sim.radio.received("base"):
                    arrived.setdefault("message", sim.time)
            return arrived

    airtime, answered = 0.084, 0.088  # s, with the header; and with the acknowledgement
    assert times("mavlink", "") == {"mavlink": pytest.approx(airtime, abs=2e-3)}
    assert times("message", "") == {"message": pytest.approx(airtime, abs=2e-3)}
    both = times("mavlink", "message")
    assert both["mavlink"] == pytest.approx(airtime, abs=2e-3)
    assert both["message"] == pytest.approx(answered + airtime, abs=3e-3)
    both = times("message", "mavlink")
    assert both["message"] == pytest.approx(airtime, abs=2e-3)
    assert both["mavlink"] == pytest.approx(answered + airtime, abs=3e-3)


def test_packets_are_replayed_by_their_sizes(tmp_path: Path) -> None:
    """The log has no bytes; a replay without programs has the same packets on the channel, and the same hashes."""
    hashes = set[str]()
    for _ in range(2):
        path = tmp_path / "run.mcap"
        path.unlink(missing_ok=True)
        with two_radios(5e5) as sim, Recorder(sim, path):
            ends, arrivals = ends_of(sim), deque[int]()
            for k in range(20):
                ends.send_down(100, arrivals, k)
                if k % 3 == 0:
                    sim.radio.send("base", "dot", [k])
                sim.step(5)
            assert 5 < len(arrivals) < 20  # some still wait
            hashes.add(sim.state_hash())
        assert verify(path).same
    assert len(hashes) == 1


def test_queued_packets_are_saved_without_their_bytes() -> None:
    with two_radios() as sim:
        ends, arrivals = ends_of(sim), deque[int]()
        assert all(ends.send_down(100, arrivals, k) for k in range(3))
        sim.step(2)
        saved = sim.save()
        sim.step(50)
        after = sim.state_hash()
        assert list(arrivals) == [0, 1, 2]
        arrivals.clear()
        sim.restore(saved)
        sim.step(50)
        assert sim.state_hash() == after and not arrivals
        assert mavlink_counts(sim) == (3, 3, 0, 0, 0)
        assert ends.send_down(20, arrivals, 4)
        sim.step(50)
        assert list(arrivals) == [4]
    with two_radios() as other:
        other.restore(saved)
        other.step(50)
        assert other.state_hash() == after


def test_packets_under_way_are_restored_with_their_bytes(own_links: Links) -> None:
    """A program's request for telemetry is on its way to the vehicle, and the vehicle's packets are to the program."""
    links = own_links(1)
    scenario = flight(links, [[20.0, 21.0]], retries=3)
    with (
        paddock.load(scenario) as sim,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station,
    ):
        station.bind(("127.0.0.1", links["station"]))
        station.setblocking(False)
        out, pilot = mav.MAVLink(None, srcSystem=255, srcComponent=190), pilot_of(sim)
        sim.step(250)
        disarm_delay = mav.MAVLink_param_set_message(1, 1, b"DISARM_DELAY", 77.0, 9)
        station.sendto(disarm_delay.pack(out), ("127.0.0.1", links["port"]))
        path = next(iter(host_of(sim).hub.vehicles.values())).path
        while not path.packets.uplinks or not path.packets.downlinks:
            sim.step(1)
        state, before = sim.save(), pilot.parameters.value("DISARM_DELAY")

        def received() -> list[bytes]:
            """Ids and contents of all packets but heartbeats, some of which are sent by wall time."""
            datagrams = []
            with suppress(BlockingIOError):
                while True:
                    datagrams.append(station.recv(4096)[7:-2])
            return [data for data in datagrams if data[:3] != bytes(3)]

        received()
        sim.step(250)
        after, telemetry = sim.state_hash(), received()
        assert pilot.parameters.value("DISARM_DELAY") == 77.0 != before
        pilot.parameters.set("DISARM_DELAY", before)
        sim.restore(state)
        assert pilot.parameters.value("DISARM_DELAY") == before
        sim.step(250)
        assert pilot.parameters.value("DISARM_DELAY") == 77.0 and sim.state_hash() == after
        assert received() == telemetry and len(telemetry) > 20
        tree = unpack(state)
        packets = tree["autopilots"]["mavlink"]["packets"]["1"]
        (packet,) = packets["uplinks"]
        for wrong in (np.frombuffer(b"no packet", np.uint8), 7):
            packet[1][0] = wrong
            with pytest.raises(
                PaddockError, match=r"autopilots\.mavlink(: a packet|\.packets\.1\.uplinks\[0\]\.data: is 7)"
            ):
                sim.restore(pack(tree))


def test_packets_that_no_program_can_send_are_refused() -> None:
    valid = {"source": "dot", "to": "base", "bits": 8, "header_bits": 0, "retries": 0, "queue": 1}
    for change in ({"bits": -1}, {"bits": 1.0}, {"retries": 101}, {"queue": 1025}, {"to": "dot"}, {"source": ["dot"]}):
        with pytest.raises(PaddockError, match="packet: "):
            PacketAction(**valid | change)


def test_a_packet_for_two_programs_is_sent_once() -> None:
    taken: list[tuple[str, bytes]] = []

    peers = {(name, 14550): MavlinkPeer((name, 14550), 0.0) for name in "ab"}
    link: Any = SimpleNamespace(number=0, peers=peers)
    link.queue = lambda peer, packet: taken.append((peer.address[0], packet))

    with two_radios() as sim:
        vehicle: Any = SimpleNamespace(links=[link])
        path = RadioPath(ends_of(sim), vehicle)
        first, second = b"packet one", b"packet two"
        for packet, peer in ((first, "a"), (first, "b"), (second, "a")):
            path.send(link, peers[peer, 14550], packet, packet + peer.encode())
        path.end()
        sim.step(25)
        path.end()
        assert sim.radio.traffic()["transmitted"] == 4  # two packets, each with its acknowledgement
    assert taken == [("a", b"packet onea"), ("b", b"packet oneb"), ("a", b"packet twoa")]


def test_a_real_autopilot_sends_through_a_relay(own_links: Links) -> None:
    """A stand-in of PX4 sends a numbered packet every 0.1 s to the relay; the jammer is on from 1 s to 2 s."""
    links = own_links(2)
    scenario = flight({**links}, [[1.0, 2.0]])
    scenario["radio"]["jammers"][0]["position"] = [0.0, -2.0, 1.0]
    del scenario["sitl"]["mavlink"]["via"]
    via = {"radio": "base", "relay": links["port"]}
    scenario["sitl"]["pilots"] = [{"vehicles": "scout", "autopilot": "px4", "instance": 37, "via": via}]
    with (
        paddock.load(scenario) as sim,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as px4,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station,
    ):
        station.bind(("127.0.0.1", links["station"]))
        for each in (px4, station):
            each.setblocking(False)
        got: list[int] = []
        back: list[bytes] = []
        for k in range(30):
            px4.sendto(bytes([k]) * 30, ("127.0.0.1", links["port"]))
            sim.step(25)
            try:
                while True:
                    data, address = station.recvfrom(4096)
                    got.append(data[0])
                    station.sendto(b"reply", address)
            except BlockingIOError:
                pass
            try:
                while True:
                    back.append(px4.recv(4096))
            except BlockingIOError:
                pass
        assert got == [*range(10), *range(20, 29)] or got == [*range(10), *range(20, 30)]
        assert len(back) >= 16 and set(back) == {b"reply"}


@pytest.mark.parametrize(
    ("pilots", "mavlink", "message"),
    [
        ("{vehicles: dot}", "{via: radio}", "7:18: its vehicles have no radio: add `radio: default`"),
        ("{vehicles: scout}", "{via: {radio: bse}}", "7:26: unknown station 'bse'; did you mean 'base'"),
        ("{vehicles: scout, autopilot: px4, via: radio}", "{}", "8:51: px4 sends its MAVLink packets from its own"),
        ("{vehicles: scout, via: {heartbeat: 0}}", "{}", "8:47: sitl.pilots[0].via.heartbeat must be > 0"),
        ("{vehicles: piped}", "{}", "8:23: 'piped' is flown by an autopilot: set via of its entry in sitl.pilots"),
    ],
)
def test_mistakes_are_reported_at_their_place(tmp_path: Path, pilots: str, mavlink: str, message: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "radio: {stations: [{name: base, position: [0, 0, 2]}]}\n"
        "vehicles:\n"
        "- {name: dot, model: quad}\n"
        "- {name: scout, model: quad, radio: default}\n"
        "- {name: piped, model: quad, radio: default, via: radio}\n"
        "sitl:\n"
        f"  mavlink: {mavlink}\n"
        f"  pilots: [{pilots}]\n"
    )
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    assert message in str(error.value), str(error.value)
