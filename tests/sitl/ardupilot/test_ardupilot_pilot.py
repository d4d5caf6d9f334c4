"""The pilot against a stand-in of ArduPilot, packet by packet."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.ardupilot import pilot as module
from paddock.sitl.ardupilot.pilot import ArduPilotPilot
from paddock.sitl.sensor_data import SensorData

Make = Callable[..., ArduPilotPilot]
Sensors = Callable[..., SensorData]
DT = 1.0 / 1000.0


@pytest.fixture
def pilot() -> Iterator[Make]:
    opened: list[ArduPilotPilot] = []

    def make(frame: str = "copter", dt: float = DT, **options: Any) -> ArduPilotPilot:
        opened.append(ArduPilotPilot(frame, dt, port=0, **options))
        opened[-1].open()
        return opened[-1]

    yield make
    for one in opened:
        one.close()


class World:
    """The bridge's part: time, and an exchange at every period."""

    def __init__(self, pilot: ArduPilotPilot, sensors: Sensors) -> None:
        self.pilot, self.sensors, self.time_us = pilot, sensors, 0

    def turn(self, timeout: float = 1.0) -> list[float] | None:
        commands = self.pilot.collect(timeout)
        if commands is None:
            return None
        self.time_us = self.pilot.next_us(self.time_us)
        self.pilot.offer(self.sensors(self.time_us))
        return commands.row.tolist()


def test_a_frame_takes_the_world_one_period_and_is_answered(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    assert not one.live and one.collect(0.0) is None and "waiting for ArduPilot copter" in one.status.note
    peer, world = stand_in(one.port), World(one, sensors)
    peer.send([1500, 1000, 2000, 0])
    row = world.turn()
    assert row is not None and row[:5] == pytest.approx([1.0, 0.35 * 0.5 + 0.65 * 0.25, 0.0, 1.0, 0.0])
    assert one.live and one.status.connected and one.status.armed and world.time_us == 1000
    state = peer.receive()
    assert state["timestamp"] == [0.001] and state["accel_body"] == [0.0, 0.0, -9.81]
    assert state["quaternion"] == [1.0, 0.0, 0.0, 0.0] and state["position"] == [0.0, 0.0, 0.0]
    for _ in range(50):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    assert peer.steps == 51 and peer.time_s == pytest.approx(0.051) and peer.pending() == 0
    assert one.status.exchanges == 51 and one.status.duplicates == one.status.restarts == one.status.rejected == 0


@pytest.mark.parametrize(
    ("dt", "rate", "period"),
    [(0.001, 1200, 1000), (0.001, 100, 10_000), (0.001, 400, 2000), (0.01, 1200, 10_000), (1 / 1200, 1200, 833)],
)
def test_the_packet_says_how_far(pilot: Make, stand_in: Any, dt: float, rate: int, period: int) -> None:
    one = pilot("rover", dt)
    peer = stand_in(one.port, rate_hz=rate)
    peer.send([1500] * 4)
    assert one.collect(1.0) is not None
    assert one.period_us == period


def test_time_follows_the_ticks_exactly_and_a_late_answer_does_not_slow_the_peer_down(
    pilot: Make, stand_in: Any, sensors: Sensors
) -> None:
    """ArduPilot takes the step of an answer for the pace of the physics, and asks for that pace from then on."""
    one = pilot("copter", 1 / 1200)
    peer, world = stand_in(one.port), World(one, sensors)
    for k in range(1, 2501):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
        assert world.time_us == round(k * 1e6 / 1200)
    world.time_us += 50_000  # it was too late once: the bridge went on without it
    for _ in range(20):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    assert peer.time_s == pytest.approx(2520 / 1200, abs=1e-4) and 1195.0 < peer.rate_hz < 1205.0


def test_steps_of_the_peer_stay_below_a_tenth_of_a_second(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot("rover")
    peer, world = stand_in(one.port, rate_hz=2, wish_hz=2), World(one, sensors)
    for _ in range(5):
        peer.rate_hz = 2
        peer.send([1500] * 4)
        world.turn()
        peer.receive()
    assert peer.steps == 5 and peer.time_s == pytest.approx(5 * 0.099) and "too slow" in one.status.note


def test_thirty_two_channels(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot("rover-skid")
    peer, world = stand_in(one.port, channels=32), World(one, sensors)
    peer.send([1750, 0, 1250])
    row = world.turn()
    assert row is not None and row[:3] == [1.0, 0.5, -0.5]


def test_a_repeated_frame_gets_the_same_answer_and_no_step(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    peer, world = stand_in(one.port), World(one, sensors)
    peer.send([1100] * 4)
    world.turn()
    first = peer.socket.recv(65000)
    peer.send([1100] * 4)  # the answer got lost
    assert one.collect(0.05) is None and world.time_us == 1000
    assert peer.socket.recv(65000) == first
    assert one.status.duplicates == 1 and one.status.exchanges == 1


def test_a_frame_repeated_before_its_answer_is_answered_once(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    peer, world = stand_in(one.port), World(one, sensors)
    peer.send([1100] * 4)
    peer.send([1100] * 4)
    peer.send([1100] * 4)
    world.turn()
    peer.receive()
    assert peer.pending() == 0 and one.status.duplicates == 2


def test_an_autopilot_that_starts_again_begins_at_time_zero(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    begun: list[int] = []
    one = pilot(on_restart=lambda: begun.append(1))
    peer, world = stand_in(one.port), World(one, sensors)
    for _ in range(3):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    peer.frame = peer.timestamp = peer.time_s = 0  # same socket, as after a soft reboot
    peer.send([1000] * 4)
    world.turn()
    assert peer.receive()["timestamp"] == [0.001]
    assert one.status.restarts == 1 and begun == [1] and world.time_us == 4000 and peer.resets == 0


def test_a_restarted_process_is_taken_once_the_old_one_is_silent(
    pilot: Make, stand_in: Any, sensors: Sensors, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = pilot()
    peer, world = stand_in(one.port), World(one, sensors)
    peer.send([1100] * 4)
    world.turn()
    peer.receive()
    peer.restart()
    peer.send([1000] * 4)
    assert one.collect(0.02) is None  # it might be a second ArduPilot with the same instance
    assert one.status.rejected == 1 and "belongs to another ArduPilot" in one.status.note
    monkeypatch.setattr(module, "TAKEOVER_AFTER", 0.0)
    peer.send([1000] * 4)  # as it does after a second
    assert world.turn() is not None
    assert peer.receive()["timestamp"] == [0.001] and one.status.restarts == 1


def test_a_second_autopilot_is_refused_while_the_first_is_there(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    first, second, world = stand_in(one.port), stand_in(one.port), World(one, sensors)
    for _ in range(3):
        first.send([1100] * 4)
        second.send([2000] * 4)
        row = world.turn()
        assert row is not None and row[1] < 0.1
        first.receive()
    assert second.pending() == 0 and 2 <= one.status.rejected <= 3


def test_rubbish_is_counted_and_dropped(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    peer, world = stand_in(one.port), World(one, sensors)
    for rubbish in (b"", b"{}", bytes(40), struct.pack("<HHI16H", 18459, 1200, 0, *[1000] * 16), bytes(5000)):
        peer.socket.sendto(rubbish, ("127.0.0.1", one.port))
    peer.send([1100] * 4)
    assert world.turn() is not None
    assert one.status.rejected == 5 and one.status.exchanges == 1
    assert peer.receive()["timestamp"] == [0.001]


def test_a_silent_autopilot_is_missed_and_may_come_back(
    pilot: Make, stand_in: Any, sensors: Sensors, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = pilot()
    peer, world = stand_in(one.port), World(one, sensors)
    peer.send([1100] * 4)
    world.turn()
    peer.receive()
    assert one.collect(0.01) is None and one.live  # the bridge decides how long to wait
    monkeypatch.setattr(module, "SILENT_AFTER", 0.0)
    one.offer(sensors(30_000_000.0))  # the bridge goes on without it
    assert not one.live and not one.status.connected and one.period_us == 10_000
    assert "silent" in one.status.note and "after frame 0" in one.diagnosis()
    monkeypatch.undo()
    world.time_us = 30_000_000
    peer.send([1100] * 4)
    assert world.turn() is not None and one.live
    peer.receive()
    assert peer.time_s == pytest.approx(0.002) and peer.resets == 0  # the half minute was no time to it


def test_a_world_that_begins_anew_is_a_physics_reset(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    peer, world = stand_in(one.port), World(one, sensors)
    for _ in range(5):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    one.reset()
    world.time_us = 0
    for _ in range(5):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    assert peer.resets == 1 and peer.steps == 9 and one.status.restarts == 0


def test_without_lockstep_nobody_waits(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot(lockstep=False, time_sync=False)
    peer = stand_in(one.port)
    one.offer(sensors(1000))
    assert one.collect(10.0) is None  # returns at once
    peer.send([1500] * 4)
    assert one.collect(10.0) is not None
    state = peer.receive()
    assert state["no_lockstep"] == [1.0] and state["no_time_sync"] == [1.0]
    one.offer(sensors(21_000))
    held = one.collect(10.0)  # nothing new: the last commands count
    assert held is not None and held.armed and peer.pending() == 0
    peer.send([1600] * 4)
    assert one.collect(0.0) is not None
    assert peer.receive()["timestamp"][0] == pytest.approx(peer.time_s) and peer.steps == 2


def test_what_else_is_measured_is_sent_and_what_is_not_is_left_out(
    pilot: Make, stand_in: Any, sensors: Sensors
) -> None:
    one = pilot()
    peer = stand_in(one.port)
    rows = [
        sensors(1000),
        sensors(2000, range_1=1.5, airspeed=12.0, battery_voltage=12.4, battery_current=8.0),
        sensors(3000),
    ]
    seen = []
    for row in rows:
        peer.send([1100] * 4)
        one.collect(1.0)
        one.offer(row)
        seen.append(peer.receive())
    assert not {"rng_1", "rng_2", "airspeed", "voltage"} & set(seen[0])
    assert seen[1]["rng_1"] == [1.5] and seen[1]["airspeed"] == [12.0] and seen[1]["voltage"] == [12.4]
    assert seen[2]["rng_1"] == [10_000.0] and "rng_2" not in seen[2]  # sees nothing now, but is there


def test_a_state_that_is_not_finite_is_not_sent(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    one = pilot()
    peer = stand_in(one.port)
    peer.send([1100] * 4)
    one.collect(1.0)
    one.offer(sensors(1000, true_vn=math.nan))
    assert peer.pending() == 0 and "velocity must be 3 finite numbers" in one.status.note
    assert one.collect(1.0) is not None  # the world may go on
    one.offer(sensors(2000))
    assert peer.receive()["velocity"] == [0.0, 0.0, 0.0]


def test_several_instances_start_in_any_order(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    pilots = [pilot(frame) for frame in ("copter", "rover", "rover-skid")]
    worlds = [World(one, sensors) for one in pilots]
    peers = [stand_in(one.port) for one in pilots]
    for turn in range(6):
        for k, (peer, world) in enumerate(zip(peers, worlds, strict=True)):
            if turn >= k:
                peer.send([1500, 1500, 1600 + 100 * k, 1500])
                assert world.turn() is not None
                peer.receive()
            else:
                assert world.turn(0.0) is None
    assert [peer.frame for peer in peers] == [6, 5, 4]
    assert [one.status.exchanges for one in pilots] == [6, 5, 4]


def test_a_peer_may_be_there_first(stand_in: Any, sensors: Sensors) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    peer = stand_in(port)
    peer.send([1000] * 4)  # into the void
    one = ArduPilotPilot("copter", DT, port=port)
    one.open()
    try:
        peer.send([1000] * 4)  # a second later
        assert World(one, sensors).turn() is not None
        assert peer.receive()["timestamp"] == [0.001] and one.status.duplicates == 0
    finally:
        one.close()


def test_a_port_that_is_taken_is_one_line(pilot: Make) -> None:
    taken = pilot()
    second = ArduPilotPilot("copter", DT, port=taken.port)
    with pytest.raises(PaddockError, match=rf"udp 127.0.0.1:{taken.port} cannot be bound .*another instance"):
        second.open()


def test_a_world_too_slow_for_a_copter_is_refused() -> None:
    ArduPilotPilot("copter", 1.0 / 720.0)
    ArduPilotPilot("rover", 0.02)
    with pytest.raises(InvalidValueError, match=r"500 IMU samples per second, too few to arm; .* at least 720 Hz"):
        ArduPilotPilot("copter", 0.002)
    with pytest.raises(InvalidValueError, match=r"shorter than 0.1 s"):
        ArduPilotPilot("rover", 0.1)
    with pytest.raises(PaddockError, match="unknown ArduPilot frame 'copterr'; did you mean 'copter'"):
        ArduPilotPilot("copterr", DT)
    assert ArduPilotPilot("rover", 0.02, instance=3).port == 9032
