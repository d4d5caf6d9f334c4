"""The PX4 pilot against a stand-in of PX4's simulator module."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import ardupilotmega as mav

from paddock.autopilot.vehicle_data import ACTUATOR_WIDTH, TRUTH, SensorData
from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.external_autopilot import PX4_PORT
from paddock.sitl.px4 import FRAMES, Px4Autopilot, launch_lines
from paddock.world.geodesy import Origin

ORIGIN = Origin(47.397742, 8.545594, 488.0)
DT = 1.0 / 1000.0


class StandIn:
    """One PX4: connects, identifies itself, and answers every HIL_SENSOR with controls."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(1.0)
        self.encoder = mav.MAVLink(None, srcSystem=1, srcComponent=1)
        self.parser = mav.MAVLink(None)

    def send(self, message: Any) -> None:
        self.socket.sendall(message.pack(self.encoder))

    def hello(self) -> None:
        self.send(mav.MAVLink_heartbeat_message(2, 12, 0, 0, 0, 3))
        self.send(mav.MAVLink_command_long_message(0, 0, 511, 0, 115, 5000, 0, 0, 0, 0, 0))

    def controls(self, *outputs: float, armed: bool = True, lockstep: bool = True, time_usec: int = 0) -> None:
        values = [*outputs, *[0.0] * (16 - len(outputs))]
        self.send(mav.MAVLink_hil_actuator_controls_message(time_usec, values, 1 | 128 * armed, int(lockstep)))

    def receive(self) -> dict[str, Any]:
        """The last message of each kind that has come in."""
        return {message.get_type(): message for message in self.parser.parse_buffer(self.socket.recv(65536)) or []}


@pytest.fixture
def pilot() -> Iterator[Px4Autopilot]:
    autopilot = Px4Autopilot("copter", DT, ORIGIN, port=0)
    autopilot.open()
    yield autopilot
    autopilot.close()


@pytest.fixture
def px4(pilot: Px4Autopilot) -> Iterator[Callable[[], StandIn]]:
    made: list[StandIn] = []

    def connect() -> StandIn:
        made.append(StandIn(pilot.port))
        return made[-1]

    yield connect
    for autopilot in made:
        autopilot.socket.close()


def sensors(time_us: int, **values: Any) -> SensorData:
    row = SensorData(
        time_us=time_us, imu_time_us=time_us, gyro=(0.1, 0.2, 0.3), accel=(0.5, -0.5, -9.75),
        compass_time_us=time_us // 20_000 * 20_000, mag=(2.1e-5, 1e-6, 4.2e-5),
        baro_time_us=time_us // 20_000 * 20_000, pressure=95_000.0, temperature=285.15,
        gnss_time_us=time_us // 200_000 * 200_000, gnss_fix=3, gnss_satellites=12, gnss_eph=0.5, gnss_epv=1.0,
        latitude=47.3977421, longitude=-8.5455939, altitude=489.25, velocity=(3.0, -4.0, 0.5),
    )  # fmt: skip
    row.row[TRUTH] = (100.0, 0.0, -10.0, 3.0, -4.0, 0.5, 1.0, 0.0, 0.0, 0.0)
    return SensorData(row.row, **values)


def test_sensors_run_freely_until_the_first_controls_then_in_lockstep(pilot: Px4Autopilot, px4: Any) -> None:
    pilot.offer(sensors(0))
    assert pilot.collect(0.0) is None and not pilot.live and "waiting for PX4" in pilot.status.note
    peer = px4()
    peer.hello()
    for k in range(1, 4):
        assert pilot.collect(10.0) is None  # not connected yet: no wait
        pilot.offer(sensors(4000 * k))
    received = peer.receive()
    assert received["HIL_SENSOR"].time_usec == 1_012_000 and pilot.status.connected and not pilot.live
    peer.controls(0.1, 0.2, 1.5, math.nan, armed=True)
    commands = pilot.collect(1.0) or pilot.collect(1.0)
    assert commands is not None and commands.armed and pilot.status.armed
    assert commands.motors[:4].tolist() == pytest.approx([0.1, 0.2, 1.0, 0.0])
    assert pilot.live
    pilot.offer(sensors(16_000))
    assert pilot.collect(0.05) is None and "--on-timeout hold" in pilot.diagnosis()  # now it is waited for
    peer.controls(0.5, 0.5, 0.5, 0.5, armed=False)
    commands = pilot.collect(1.0)
    assert commands is not None and not commands.armed and pilot.status.exchanges == 2


def test_earlier_controls_are_no_answer(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    for k in range(1, 3):
        peer.controls(0.1 * k, 0, 0, 0)
        pilot.offer(sensors(4000 * k))
    pilot.offer(sensors(12_000))
    assert pilot.live and pilot.collect(0.02) is None
    peer.controls(0.9, 0, 0, 0)
    commands = pilot.collect(1.0)
    assert commands is not None and commands.motors[0] == pytest.approx(0.9)


def test_the_sensor_message_has_px4s_units_and_marks_new_readings(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    pilot.offer(sensors(0))
    pilot.offer(sensors(20_000))
    first = peer.receive()
    message = first["HIL_SENSOR"]
    assert message.fields_updated == 0x7 | 0x38 | 0x1C0 | 0x1A00 and message.id == 0
    assert [message.xacc, message.yacc, message.zacc] == pytest.approx([0.5, -0.5, -9.75])
    assert [message.xgyro, message.ygyro, message.zgyro] == pytest.approx([0.1, 0.2, 0.3])
    assert [message.xmag, message.ymag, message.zmag] == pytest.approx([0.21, 0.01, 0.42])  # gauss
    assert message.abs_pressure == pytest.approx(950.0) and message.temperature == pytest.approx(12.0)
    assert message.pressure_alt == pytest.approx(540.3, abs=0.5)  # 950 hPa in the standard atmosphere
    assert {"HEARTBEAT", "HIL_GPS", "HIL_STATE_QUATERNION"} <= set(first)
    pilot.offer(sensors(24_000, airspeed=20.0))
    second = peer.receive()
    assert second["HIL_SENSOR"].fields_updated == 0x7 | 0x38 | 0x400
    assert second["HIL_SENSOR"].diff_pressure == pytest.approx(2.45)  # hPa: 0.5 * 1.225 * 20^2 = 245 Pa
    assert "HIL_GPS" not in second and "HEARTBEAT" not in second


def test_position_and_truth(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    pilot.offer(sensors(0))
    pilot.offer(sensors(200_000))
    received = peer.receive()
    gps, truth = received["HIL_GPS"], received["HIL_STATE_QUATERNION"]
    assert (gps.lat, gps.lon, gps.alt) == (473977421, -85455939, 489250)
    assert (gps.vn, gps.ve, gps.vd, gps.vel) == (300, -400, 50, 500)
    assert gps.cog == pytest.approx(30687, abs=1)  # 306.87 deg
    assert (gps.eph, gps.epv, gps.satellites_visible, gps.fix_type) == (50, 100, 12, 3)
    assert truth.attitude_quaternion == [1.0, 0.0, 0.0, 0.0]
    assert truth.lat * 1e-7 == pytest.approx(47.397742 + 100.0 / 111_180.0, abs=2e-6)
    assert truth.alt == pytest.approx(498_000, abs=2) and (truth.vx, truth.vy, truth.vz) == (300, -400, 50)


def test_the_truth_has_no_sensor_noise(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    half = 0.5 * 0.02 * 0.5  # a turn to the right by 0.5 rad/s for 20 ms, about the down axis
    east = {"true_qw": math.sqrt(0.5), "true_qz": math.sqrt(0.5)}
    pilot.offer(sensors(20_000, true_vn=3.0, true_ve=-4.0, **east))
    turned = {"true_qw": math.cos(math.pi / 4 + half), "true_qz": math.sin(math.pi / 4 + half)}
    pilot.offer(sensors(40_000, true_vn=3.0, true_ve=-4.0 + 0.02 * 9.80665, true_vd=0.5 - 0.02 * 4.903325, **turned))
    truth = peer.receive()["HIL_STATE_QUATERNION"]
    assert [truth.rollspeed, truth.pitchspeed, truth.yawspeed] == pytest.approx([0.0, 0.0, 0.5], abs=1e-6)
    assert [truth.xacc, truth.yacc, truth.zacc] == pytest.approx([1000, 0, -500], abs=11)  # mG; facing east by now


def test_commands_are_answered(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    results = {}
    for command, first in ((511, 115), (511, 30), (400, 1)):
        peer.send(mav.MAVLink_command_long_message(0, 0, command, 0, first, -1, 0, 0, 0, 0, 0))
        while "COMMAND_ACK" not in (received := _served(pilot, peer)):
            pass
        results[command, first] = received["COMMAND_ACK"].result
    assert results == {(511, 115): 0, (511, 30): 2, (400, 1): 3}
    pilot.offer(sensors(8000))
    assert "HIL_STATE_QUATERNION" not in peer.receive()  # an interval of -1 switches it off


def _served(pilot: Px4Autopilot, peer: StandIn) -> dict[str, Any]:
    pilot.collect(0.0)
    peer.socket.settimeout(0.02)
    try:
        return peer.receive()
    except TimeoutError:
        return {}
    finally:
        peer.socket.settimeout(1.0)


def test_px4_disconnects_and_reconnects(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    peer.controls(0.2, 0.2, 0.2, 0.2)
    pilot.offer(sensors(4000))
    pilot.offer(sensors(8000))
    assert pilot.live
    peer.socket.close()
    assert pilot.collect(1.0) is None and not pilot.live and "no PX4 at tcp" in pilot.diagnosis()
    begun: list[int] = []
    pilot.on_restart.append(lambda: begun.append(1))
    again = px4()
    pilot.offer(sensors(12_000))
    pilot.offer(sensors(16_000))
    assert pilot.status.restarts == len(begun) == 1 and not pilot.live  # free until its first controls
    assert again.receive()["HIL_SENSOR"].time_usec == 1_016_000
    again.controls(0.3, 0, 0, 0)
    assert (pilot.collect(1.0) or pilot.collect(1.0)) is not None and pilot.live


def test_a_second_px4_is_refused(pilot: Px4Autopilot, px4: Any) -> None:
    px4().controls(0.2)
    pilot.offer(sensors(4000))
    pilot.offer(sensors(8000))
    second = px4()
    pilot.collect(0.02)
    assert pilot.status.rejected == 1 and "refused a second PX4" in pilot.status.note
    assert second.socket.recv(10) == b""


def test_a_silent_connection_does_not_keep_px4_out(pilot: Px4Autopilot, px4: Any) -> None:
    silent = px4()
    pilot.offer(sensors(4000))
    assert pilot.status.connected
    px4().controls(0.2)
    commands = pilot.collect(1.0) or pilot.collect(1.0)
    pilot.offer(sensors(8000))
    commands = commands or pilot.collect(1.0)
    assert commands is not None and commands.motors[0] == pytest.approx(0.2) and pilot.status.rejected == 0
    silent.socket.settimeout(10.0)
    while silent.socket.recv(4096):  # it is closed
        pass


def test_malformed_bytes_are_counted_and_skipped(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    good = mav.MAVLink_hil_actuator_controls_message(0, [0.25] * 16, 129, 1).pack(peer.encoder)
    broken = bytearray(good)
    broken[20] ^= 0xFF
    unknown = b"\xfd\x04\x00\x00\x00\x01\x01" + struct.pack("<I", 55555)[:3] + bytes(6)
    peer.socket.sendall(b"rubbish" + bytes(broken) + unknown + good[:30])
    pilot.offer(sensors(4000))
    pilot.offer(sensors(8000))
    assert pilot.status.rejected == 3 and "cannot decode data from PX4" in pilot.status.note and not pilot.live
    peer.socket.sendall(good[30:])
    commands = pilot.collect(1.0) or pilot.collect(1.0)
    assert commands is not None and commands.motors[0] == pytest.approx(0.25)


def test_px4s_clock_never_decreases(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    pilot.offer(sensors(0))
    pilot.offer(sensors(400_000))
    before = peer.receive()["HIL_SENSOR"].time_usec
    pilot.reset()
    pilot.offer(sensors(4000))
    assert peer.receive()["HIL_SENSOR"].time_usec == before + 4000 == 1_404_000


def test_a_px4_without_lockstep_is_not_waited_for(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    peer.controls(0.2, 0.2, 0.2, 0.2, lockstep=False)
    pilot.offer(sensors(4000))
    pilot.offer(sensors(8000))
    held = pilot.collect(10.0)
    assert held is not None and held.motors[0] == pytest.approx(0.2) and "without lockstep" in pilot.status.note


def test_an_imu_reading_that_is_not_finite_is_not_sent(pilot: Px4Autopilot, px4: Any) -> None:
    peer = px4()
    pilot.offer(sensors(0))
    pilot.offer(sensors(4000, gyro=(math.nan, 0.0, 0.0)))
    assert peer.receive()["HIL_SENSOR"].time_usec == 1_000_000 and "no finite reading" in pilot.status.note


def test_ports_and_periods(pilot: Px4Autopilot) -> None:
    with pytest.raises(PaddockError, match="cannot bind tcp"):
        Px4Autopilot("copter", DT, ORIGIN, port=pilot.port).open()
    assert pilot.period_us == 4000 and Px4Autopilot("copter", 1 / 1200, ORIGIN).period_us == 4167
    assert [Px4Autopilot("copter", 1 / 1200, ORIGIN).next_us(time) for time in (0, 4167, 8333)] == [4167, 8333, 12_500]
    assert PX4_PORT == 4560
    assert launch_lines("copter", 0)[0] == "start:    PX4_SIM_HOSTNAME=127.0.0.1 make px4_sitl none_iris"
    assert launch_lines("copter", 3)[0].endswith("bin/px4 -i 3") and launch_lines("copter", 3)[1].endswith(":14543")
    # px4-rc.mavlink: "use the same ports for more than 10 instances to avoid port overlaps"
    assert launch_lines("copter", 9)[1].endswith("MAVSDK udpin://0.0.0.0:14549")
    assert "MAVSDK udpin://0.0.0.0:14549 (shared" in launch_lines("copter", 12)[1]


def test_the_outputs_of_a_plane_are_those_of_px4s_airframe() -> None:
    """Airframe 1030: rudder on output 3, motor 5, left and right aileron 6 and 7, elevator 8, both ailerons opposed."""
    row = np.zeros(ACTUATOR_WIDTH)
    controls = [0.0, 0.0, 0.25, 0.0, 0.6, -0.3, 0.5, -0.75, 0.0] + [0.0] * 7
    message = mav.MAVLink_hil_actuator_controls_message(0, controls, 128, 1)
    FRAMES["plane"].apply(message, row)
    assert row[:2].tolist() == [1.0, 0.6] and row[9:12].tolist() == pytest.approx([0.4, -0.75, 0.25])
    message.controls[4], message.controls[7] = math.nan, 3.0
    FRAMES["plane"].apply(message, row)
    assert (row[1], row[10]) == (0.0, 1.0)
    with pytest.raises(InvalidValueError, match="copter and plane"):
        Px4Autopilot("rover", DT, ORIGIN)


def test_a_plane_starts_with_the_speeds_of_the_mapper() -> None:
    start, _ = launch_lines("plane", 0)
    assert "PX4_SYS_AUTOSTART=1030 PX4_PARAM_FW_AIRSPD_TRIM=17.5 " in start and "none_iris" not in start
    # PX4 ignores a value that equals its own default: the airframe's FW_THR_MAX 0.6 would stay, and it cannot climb
    assert "PX4_PARAM_FW_THR_MAX=0.99" in start and "PX4_PARAM_FW_LND_USETER=0 " in start
    relayed = launch_lines("copter", 1, relay=14650, pace=5.0)
    assert "PX4_SIM_SPEED_FACTOR=5 " in relayed[0] and "-o 14650" in relayed[1] and len(relayed) == 2
