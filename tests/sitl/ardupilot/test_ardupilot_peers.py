"""Peers at the autopilot's port: repeated frames, restarts, other senders, garbage, silence, several at once."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Any

import pytest

from paddock.autopilot.vehicle_data import SensorData
from paddock.errors import PaddockError
from paddock.sitl import ardupilot as module
from paddock.sitl.ardupilot import ArduPilotAutopilot

Make = Callable[..., ArduPilotAutopilot]
Sensors = Callable[..., SensorData]
DT = 1.0 / 1000.0


def test_a_repeated_frame_gets_the_same_answer_and_no_step(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot()
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    peer.send([1100] * 4)
    world.turn()
    first = peer.socket.recv(65000)
    peer.send([1100] * 4)  # the answer got lost
    assert autopilot.collect(0.05) is None and world.time_us == 1000
    assert peer.socket.recv(65000) == first
    assert autopilot.status.duplicates == 1 and autopilot.status.exchanges == 1


def test_a_frame_repeated_before_its_answer_is_answered_once(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot()
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    peer.send([1100] * 4)
    peer.send([1100] * 4)
    peer.send([1100] * 4)
    world.turn()
    peer.receive()
    assert peer.pending() == 0 and autopilot.status.duplicates == 2


def test_a_restarted_autopilot_starts_at_time_zero(pilot: Make, stand_in: Any, world_of: Any) -> None:
    begun: list[int] = []
    autopilot = pilot()
    autopilot.on_restart.append(lambda: begun.append(1))
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    for _ in range(3):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    peer.frame = peer.timestamp = peer.time_s = 0  # same socket, as after a soft reboot
    peer.send([1000] * 4)
    world.turn()
    assert peer.receive()["timestamp"] == [0.001]
    assert autopilot.status.restarts == 1 and begun == [1] and world.time_us == 4000 and peer.resets == 0


def test_a_restarted_process_replaces_a_silent_one(
    pilot: Make, stand_in: Any, monkeypatch: pytest.MonkeyPatch, world_of: Any
) -> None:
    autopilot = pilot()
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    peer.send([1100] * 4)
    world.turn()
    peer.receive()
    peer.restart()
    peer.send([1000] * 4)
    assert autopilot.collect(0.02) is None  # it might be a second ArduPilot with the same instance
    assert autopilot.status.rejected == 1 and "has another ArduPilot" in autopilot.status.note
    monkeypatch.setattr(module, "TAKEOVER_AFTER", 0.0)
    peer.send([1000] * 4)  # as it does after a second
    assert world.turn() is not None
    assert peer.receive()["timestamp"] == [0.001] and autopilot.status.restarts == 1


def test_a_second_autopilot_is_refused_while_the_first_is_connected(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot()
    first, second, world = stand_in(autopilot.port), stand_in(autopilot.port), world_of(autopilot)
    for _ in range(3):
        first.send([1100] * 4)
        second.send([2000] * 4)
        row = world.turn()
        assert row is not None and row[1] < 0.1
        first.receive()
    assert second.pending() == 0 and 2 <= autopilot.status.rejected <= 3


def test_malformed_packets_are_counted_and_dropped(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot()
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    for rubbish in (b"", b"{}", bytes(40), struct.pack("<HHI16H", 18459, 1200, 0, *[1000] * 16), bytes(5000)):
        peer.socket.sendto(rubbish, ("127.0.0.1", autopilot.port))
    peer.send([1100] * 4)
    assert world.turn() is not None
    assert autopilot.status.rejected == 5 and autopilot.status.exchanges == 1
    assert peer.receive()["timestamp"] == [0.001]


def test_a_silent_autopilot_is_lost_and_can_return(
    pilot: Make, stand_in: Any, sensors: Sensors, monkeypatch: pytest.MonkeyPatch, world_of: Any
) -> None:
    autopilot = pilot()
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    peer.send([1100] * 4)
    world.turn()
    peer.receive()
    assert autopilot.collect(0.01) is None and autopilot.live  # the bridge decides how long to wait
    monkeypatch.setattr(module, "SILENT_AFTER", 0.0)
    autopilot.offer(sensors(30_000_000.0))  # the bridge goes on without it
    assert not autopilot.live and not autopilot.status.connected and autopilot.period_us == 10_000
    assert "silent" in autopilot.status.note
    assert "after frame 0" in autopilot.diagnosis() and "--on-timeout hold" in autopilot.diagnosis()
    monkeypatch.undo()
    world.time_us = 30_000_000
    peer.send([1100] * 4)
    assert world.turn() is not None and autopilot.live
    peer.receive()
    assert peer.time_s == pytest.approx(0.002) and peer.resets == 0  # the half minute was no time to it


def test_several_instances_start_in_any_order(pilot: Make, stand_in: Any, world_of: Any) -> None:
    pilots = [pilot(frame) for frame in ("copter", "rover", "rover-skid")]
    worlds = [world_of(pilot) for pilot in pilots]
    peers = [stand_in(pilot.port) for pilot in pilots]
    for turn in range(6):
        for k, (peer, world) in enumerate(zip(peers, worlds, strict=True)):
            if turn >= k:
                peer.send([1500, 1500, 1600 + 100 * k, 1500])
                assert world.turn() is not None
                peer.receive()
            else:
                assert world.turn(0.0) is None
    assert [peer.frame for peer in peers] == [6, 5, 4]
    assert [pilot.status.exchanges for pilot in pilots] == [6, 5, 4]


def test_the_peer_can_start_first(stand_in: Any, world_of: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    peer = stand_in(port)
    peer.send([1000] * 4)  # into the void
    autopilot = ArduPilotAutopilot("copter", DT, port=port)
    autopilot.open()
    try:
        peer.send([1000] * 4)  # a second later
        assert world_of(autopilot).turn() is not None
        assert peer.receive()["timestamp"] == [0.001] and autopilot.status.duplicates == 0
    finally:
        autopilot.close()


def test_a_port_in_use_is_an_error_of_one_line(pilot: Make) -> None:
    taken = pilot()
    second = ArduPilotAutopilot("copter", DT, port=taken.port)
    with pytest.raises(PaddockError, match=rf"cannot bind udp 127.0.0.1:{taken.port} .*another instance"):
        second.open()
