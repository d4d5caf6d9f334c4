"""The Gazebo adapter against a stand-in of the ardupilot_gazebo plugin: binds a port, one step per servo packet."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.vehicle_data import ActuatorCommands
from paddock.errors import InvalidValueError
from paddock.sitl.adapter import AdapterError, Placed, find_adapter
from paddock.sitl.adapters.ardupilot_gazebo import ArduPilotGazeboAdapter

HOME = (-35.363262, 149.165237, 584.0)


class Plugin(threading.Thread):
    """One model in a world with a step of 1 ms: moves north at 2 m/s and turns right at 0.5 rad/s."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.05)
        self.port = self.socket.getsockname()[1]
        self.frames: list[int] = []
        self.pwm: tuple[int, ...] = ()
        self.tick = 2500  # Gazebo has been running for a while
        self.mute = False
        self.answer: Callable[[float], bytes] = self.state
        self.ended = threading.Event()
        self.start()

    def state(self, time: float) -> bytes:
        moved = time - 2.5
        yaw = 0.5 * moved
        state = {
            "timestamp": time,
            "imu": {"gyro": [0.0, 0.0, 0.5], "accel_body": [0.0, 0.0, -9.8]},
            "position": [2.0 * moved, 0.0, -1.0],
            "quaternion": [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)],
            "velocity": [2.0, 0.0, 0.0],
        }
        return b"\n" + json.dumps(state).encode() + b"\n"  # with spaces, as rapidjson does not write them, but could

    def run(self) -> None:
        while not self.ended.is_set():
            try:
                data, source = self.socket.recvfrom(100)
            except TimeoutError:
                continue
            magic, _, frame, *pwm = struct.unpack("<HHI16H", data)
            assert magic == 18458
            if self.mute or (self.frames and frame == self.frames[-1]):
                continue  # a duplicate is dropped without an answer
            self.frames.append(frame)
            self.pwm = tuple(pwm)
            self.tick += 1
            self.socket.sendto(self.answer(self.tick * 1e-3), source)

    def end(self) -> None:
        self.ended.set()
        self.join()
        self.socket.close()


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    made = Plugin()
    yield made
    made.end()


@pytest.fixture
def gazebo(plugin: Plugin) -> Iterator[Callable[..., ArduPilotGazeboAdapter]]:
    made: list[ArduPilotGazeboAdapter] = []

    def make(craft: str = "copter", **options: Any) -> ArduPilotGazeboAdapter:
        made.append(ArduPilotGazeboAdapter(port=plugin.port, origin=HOME, **options))
        made[-1].connect()
        made[-1].add_vehicle(Placed(1, "iris", craft))
        return made[-1]

    yield make
    for world in made:
        world.disconnect()


def test_it_steps_by_packets_until_the_time_is_reached(gazebo: Any, plugin: Plugin) -> None:
    adapter = gazebo(truth=True)
    assert adapter.supports_lockstep and adapter.sim_time_us == 0 and adapter.receive_sensors() is None
    assert adapter.step(20_000, 5.0) and adapter.sim_time_us == 20_000
    assert len(plugin.frames) == 21 and plugin.frames == list(range(21))  # one more to say hello
    assert adapter.step(4_000, 5.0) and adapter.sim_time_us == 24_000
    data = adapter.receive_sensors()
    assert data is not None and adapter.receive_sensors() is None
    assert data.time_us == data.imu_time_us == 24_000
    assert data.gyro.tolist() == [0.0, 0.0, 0.5] and data.accel.tolist() == [0.0, 0.0, -9.8]
    assert [data.true_north, data.true_east, data.true_down] == pytest.approx([0.05, 0.0, -1.0])
    assert data.true_vn == 2.0 and data.true_qz == pytest.approx(np.sin(0.25 * 0.025))


def test_sensors_measure_gazebos_truth(gazebo: Any) -> None:
    adapter = gazebo(noise=0.0)
    assert adapter.step(400_000, 20.0)
    data = adapter.receive_sensors()
    assert data is not None and np.isnan(data.true_north)
    assert data.gnss_time_us == 400_000 and data.gnss_fix == 3
    assert data.latitude == pytest.approx(HOME[0] + 0.802 / 110_947.0, abs=1e-8)  # m per deg of latitude there
    assert data.longitude == pytest.approx(HOME[1], abs=1e-8) and data.altitude == pytest.approx(585.0, abs=1e-3)
    assert data.velocity.tolist() == pytest.approx([2.0, 0.0, 0.0])
    assert data.pressure == pytest.approx(101325.0 * (1 - 0.0065 * 585.0 / 288.15) ** 5.2559, rel=1e-4)
    assert 4e-5 < np.linalg.norm(data.mag) < 7e-5 and data.mag[2] < 0  # the field points up in the south


def test_noise_depends_on_the_seed(gazebo: Any, plugin: Plugin) -> None:
    seen = []
    for seed in (1, 1, 2):
        plugin.tick = 2500
        adapter = gazebo(seed=seed)
        adapter.step(50_000, 5.0)
        seen.append(adapter.receive_sensors().latitude)
        adapter.disconnect()
    assert seen[0] == seen[1] != seen[2]


def test_actuators_become_pwm(gazebo: Any, plugin: Plugin) -> None:
    adapter = gazebo()
    adapter.send_actuators(ActuatorCommands(armed=True, motors=(0.0, 1.0, 0.3375, 2.0)))
    adapter.step(2000, 5.0)
    assert plugin.pwm == (1000, 2000, 1500, 2000, *[0] * 12)
    adapter.send_actuators(ActuatorCommands(armed=False, motors=(1.0, 1.0, 1.0, 1.0)))
    adapter.step(2000, 5.0)
    assert plugin.pwm[:4] == (1000,) * 4
    with pytest.raises(AdapterError, match="vehicle 1 is NaN"):
        adapter.send_actuators(ActuatorCommands(armed=True, motors=(np.nan,)))


def test_a_rover_is_skid_steered(gazebo: Any, plugin: Plugin) -> None:
    adapter = gazebo("rover")
    adapter.send_actuators(ActuatorCommands(armed=True, motors=(0.5, -0.5)))
    adapter.step(2000, 5.0)
    assert plugin.pwm[:4] == (1750, 0, 1250, 0)


def test_a_silent_plugin_times_out_and_is_asked_again(
    gazebo: Any, plugin: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.sitl.adapters.ardupilot_gazebo.RESEND_AFTER", 0.05)
    adapter = gazebo()
    assert adapter.step(3000, 5.0) and adapter.diagnosis() == ""
    plugin.mute = True
    assert not adapter.step(1000, 0.2) and adapter.sim_time_us == 3000
    assert "stopped answering" in adapter.diagnosis()
    plugin.mute = False
    assert adapter.step(1000, 5.0) and adapter.sim_time_us == 4000


def test_a_lost_answer_does_not_stop_the_world(gazebo: Any, plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.sitl.adapters.ardupilot_gazebo.RESEND_AFTER", 0.05)
    adapter = gazebo()
    assert adapter.step(3000, 5.0)
    lost = [b"\n{}\n", b"\n{nonsense\n"]
    plugin.answer = lambda time: lost.pop() if lost else plugin.state(time)
    assert adapter.step(3000, 5.0) and adapter.sim_time_us >= 6000  # a duplicate would never be answered


def test_an_unused_port_is_reported(plugin: Plugin) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    adapter = ArduPilotGazeboAdapter(port=port)
    adapter.connect()
    adapter.add_vehicle(Placed(1, "iris", "copter"))
    assert not adapter.step(1000, 0.3)
    assert f"no Gazebo plugin at udp 127.0.0.1:{port}" in adapter.diagnosis()
    adapter.disconnect()


def test_a_reset_of_gazebo_does_not_decrease_time(gazebo: Any, plugin: Plugin) -> None:
    adapter = gazebo()
    assert adapter.step(10_000, 5.0)
    plugin.tick = 0
    assert adapter.step(10_000, 5.0) and adapter.sim_time_us == 20_000
    adapter.reset()
    assert adapter.sim_time_us == 0 and adapter.step(5000, 5.0) and adapter.sim_time_us == 5000


def test_each_vehicle_has_its_own_port() -> None:
    base = 0
    plugins = [Plugin(), Plugin()]
    try:
        adapter = ArduPilotGazeboAdapter(port=plugins[0].port)
        adapter.connect()
        adapter.add_vehicle(Placed(3, "a", "copter"))
        adapter.port = plugins[1].port
        adapter.add_vehicle(Placed(2, "b", "rover"))
        base = adapter.vehicles[0]
        assert adapter.vehicles == (2, 3) and adapter.step(5000, 5.0)
        assert all(plugin.tick >= 2506 for plugin in plugins)  # the first plugin is asked until the second answers
        blocks = np.zeros((2, len(adapter.receive_sensors(3).row)))
        assert adapter.step(5000, 5.0)
        adapter.receive_block((2, 3), blocks)
        assert blocks[:, 0].tolist() == [10_000.0, 10_000.0]
        adapter.remove_vehicle(3)
        assert adapter.step(5000, 5.0) and adapter.vehicles == (base,)
        data = adapter.receive_sensors(2)
        assert data is not None and data.time_us == 15_000
        adapter.disconnect()
    finally:
        for plugin in plugins:
            plugin.end()


def test_invalid_calls_are_refused(gazebo: Any) -> None:
    adapter = gazebo()
    for placed, words in (
        (Placed(1, "again", "copter"), "has a vehicle 1 already"),
        (Placed(255, "gcs", "copter"), "1 to 254"),
        (Placed(2, "sub", "submarine"), "supports craft 'copter', .* only, not 'submarine'"),
    ):
        with pytest.raises(AdapterError, match=words):
            adapter.add_vehicle(placed)
    with pytest.raises(AdapterError, match="has no vehicle 9; it has: 1"):
        adapter.receive_sensors(9)
    with pytest.raises(AdapterError, match="step back"):
        adapter.step(-1)
    adapter.disconnect()
    assert not adapter.is_connected
    with pytest.raises(AdapterError, match=r"not connected: call connect\(\) first"):
        adapter.step(1000)
    with pytest.raises(InvalidValueError, match=r"adapter 'ardupilot_gazebo': rate must be 1 to 65535 Hz, not 0\.5"):
        ArduPilotGazeboAdapter(rate=0.5)
    assert find_adapter("ardupilot_gazebo") is ArduPilotGazeboAdapter
