"""A stand-in of PX4 takes off and hovers on our physics: through TCP, the bridge and the world."""

from __future__ import annotations

import socket
from math import atan2
from typing import Any

import pytest
from pymavlink.dialects.v20 import ardupilotmega as mav

from paddock.autopilot.vehicle_data import SensorData
from paddock.sitl.adapter import Placed
from paddock.sitl.bridge import Bridge
from paddock.sitl.px4 import Px4Autopilot
from paddock.world.geodesy import Origin

RATE = 500.0
HEIGHT = 40.0  # m, of the origin
WANTED = 3.0  # m above it
HEADING = -0.5  # rad


class Flown(Px4Autopilot):
    """The pilot with its PX4 in the same thread: each HIL_SENSOR is followed by controls."""

    peer: socket.socket
    parser: Any
    truth: Any = None
    answered = 0

    def connect(self) -> None:
        self.peer = socket.create_connection(("127.0.0.1", self.port))
        self.peer.settimeout(1.0)
        self.parser = mav.MAVLink(None, srcSystem=1, srcComponent=1)
        interval = mav.MAVLink_command_long_message(0, 0, 511, 0, 115, 4000, 0, 0, 0, 0, 0)
        self.peer.sendall(interval.pack(self.parser))

    def offer(self, sensors: SensorData) -> None:
        super().offer(sensors)
        received: dict[str, Any] = {}
        while self.status.connected and "HIL_SENSOR" not in received:
            for message in self.parser.parse_buffer(self.peer.recv(65536)) or []:
                received[message.get_type()] = message
        self.truth = received.get("HIL_STATE_QUATERNION", self.truth)
        if "HIL_SENSOR" in received and self.truth is not None:
            self.answered += 1
            self.peer.sendall(self.controls(received["HIL_SENSOR"].time_usec).pack(self.parser))

    def controls(self, time_usec: int) -> Any:
        truth = self.truth
        w, x, y, z = truth.attitude_quaternion
        climb = min(max(1.2 * (WANTED + HEIGHT - truth.alt * 1e-3), -1.5), 1.5) + truth.vz * 1e-2
        total = min(max(0.43 + 0.15 * climb, 0.2), 0.7)
        yaw = atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        a = 0.10 * (-6.0 * 2 * x * w - truth.rollspeed)
        b = 0.10 * (-6.0 * 2 * y * w - truth.pitchspeed)
        c = 0.15 * (1.5 * (HEADING - yaw) - truth.yawspeed)
        motors = [total - a + b + c, total + a - b + c, total + a + b - c, total - a - b - c]
        return mav.MAVLink_hil_actuator_controls_message(time_usec, motors + [0.0] * 12, 129, 1)


def test_it_takes_off_turns_and_hovers(standalone_world: Any, step: Any) -> None:
    world = standalone_world(
        scenario={"clock": {"rate": RATE}, "world": {"origin": [47.4, 8.5, HEIGHT]}, "vehicles": []},
        imu_rate=RATE,
        truth=True,
    )
    pilot = Flown("copter", 1.0 / RATE, Origin(47.4, 8.5, HEIGHT), port=0)
    pilot.open()
    pilot.connect()
    with Bridge(tick_rate=RATE, timeout=5.0, fallback="stop") as bridge:
        bridge.register(world)
        bridge.spawn(Placed(1, "iris", "copter"), pilot, "world")
        step(bridge, 1500)
        assert pilot.live and world.sim_time_us == 5_996_000
    pilot.peer.close()
    assert pilot.answered == pytest.approx(1500, abs=5) and pilot.status.exchanges == pytest.approx(1500, abs=5)
    w, x, y, z = pilot.truth.attitude_quaternion
    assert pilot.truth.alt * 1e-3 == pytest.approx(HEIGHT + WANTED, abs=0.3)
    assert atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) == pytest.approx(HEADING, abs=0.1)
    assert abs(x) < 0.05 and abs(y) < 0.05
