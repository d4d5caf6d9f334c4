"""Commands, modes, sticks and targets, over a socket, with their effect on the autopilot."""

from __future__ import annotations

from math import cos, isnan, nan, pi, sin
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")

GUIDED = 15
POSITION_ONLY, VELOCITY_ONLY = 0xDF8, 0xDC7


@pytest.fixture
def ready(make_fleet: Any) -> Any:
    """A rover that knows where it is, in GUIDED, armed."""
    fleet = make_fleet().settle()
    fleet.autopilots[0].set_mode(GUIDED)
    fleet.autopilots[0].arm()
    return fleet


def local(frame: int, mask: int, position: Any = (0, 0, 0), velocity: Any = (0, 0, 0), yaw: Any = (0, 0)) -> Any:
    return mavlink.MAVLink_set_position_target_local_ned_message(
        0, 1, 1, frame, mask, *position, *velocity, 0, 0, 0, *yaw
    )


def test_arming_is_acknowledged_to_the_sender(make_fleet: Any) -> None:
    fleet = make_fleet().settle()
    station, other = fleet.station(), fleet.station(system=245)
    other.greet()
    station.command(400, 1.0)
    answer = fleet.expect(station, "COMMAND_ACK")
    assert (answer.command, answer.result, answer.target_system, answer.target_component) == (400, 0, 255, 190)
    assert fleet.expect(other, "HEARTBEAT", lambda m: m.base_mode & 128)
    assert not any(m.get_type() == "COMMAND_ACK" for m in other.received)
    assert fleet.order(station, 400, 0.0) == 0


def test_refusals_have_their_own_results(rover: Any) -> None:
    station = rover.station()
    assert rover.order(station, 30999) == 3  # unsupported
    assert rover.order(station, 519, 1.0) == 3  # stations probe this and others
    assert rover.order(station, 22, 0, 0, 0, 0, 0, 0, 10.0) == 3  # a rover does not take off
    rover.pass_time(0.1)
    assert not any(m.get_type() == "STATUSTEXT" for m in station.received)
    assert rover.order(station, 176, 1.0, 77.0) == 2  # no such mode: denied
    rover.expect(station, "STATUSTEXT", lambda m: "77" in m.text)
    assert rover.order(station, 400, float("inf")) == 2


def test_commands_for_other_systems_are_ignored(rover: Any) -> None:
    station = rover.station()
    station.command(400, 1.0, target=2)
    rover.pass_time(0.5)
    assert not any(m.get_type() == "COMMAND_ACK" for m in station.received)
    assert not rover.autopilots[0].armed


def test_commands_for_a_component_that_it_does_not_have_are_answered(rover: Any) -> None:
    """ArduPilot handles itself what it cannot forward: a station that asks a camera or a gimbal gets an answer."""
    station = rover.station()
    station.send(mavlink.MAVLink_command_long_message(1, 154, 30999, 0, 1, 0, 0, 0, 0, 0, 0))
    answer = rover.expect(station, "COMMAND_ACK")
    assert (answer.command, answer.result) == (30999, 3)


def test_status_texts_show_control_characters_of_a_client_escaped(rover: Any) -> None:
    station, other = rover.station(), rover.station(system=245)
    other.greet()
    name = b"BAD\x1b[2J\x07"
    station.send(mavlink.MAVLink_param_set_message(1, 1, name, 1.0, 9))
    text = rover.expect(other, "STATUSTEXT", lambda m: "BAD" in m.text).text
    assert text.isprintable() and "BAD\\x1b[2J\\x07" in text


def test_a_repeated_command_is_acknowledged_but_not_repeated(rover: Any, monkeypatch: Any) -> None:
    station, pilot = rover.station(), rover.autopilots[0]
    calls: list[int] = []
    real = pilot.command
    monkeypatch.setattr(pilot, "command", lambda c, p, f=3: calls.append(c) or real(c, p, f))
    assert rover.order(station, 30999, nan) == 3
    assert rover.order(station, 30999, nan, confirmation=1) == 3
    assert calls == [30999]
    assert rover.order(station, 30999, 5.0, confirmation=1) == 3  # not the same
    assert rover.order(station, 30999, nan) == 3  # a new request
    assert calls == [30999, 30999, 30999]


def test_modes_by_message_and_by_command(rover: Any) -> None:
    station = rover.station()
    answer = rover.ask(station, mavlink.MAVLink_set_mode_message(1, 1, 4), "COMMAND_ACK")
    assert (answer.command, answer.result) == (11, 0)
    rover.expect(station, "HEARTBEAT", lambda m: m.custom_mode == 4)
    assert rover.ask(station, mavlink.MAVLink_set_mode_message(1, 0, 4), "COMMAND_ACK").result == 2
    assert rover.order(station, 176, 1.0, 0.0) == 0
    rover.expect(station, "HEARTBEAT", lambda m: m.custom_mode == 0)


def test_integer_positions_are_degrees(ready: Any) -> None:
    station = ready.station()
    station.send(mavlink.MAVLink_command_int_message(1, 1, 6, 192, 0, 0, -1, 1, 0, nan, 356814000, 1397673000, 0.0))
    assert ready.expect(station, "COMMAND_ACK").result == 0
    frame, target = ready.autopilots[0].frame, ready.autopilots[0].guided.position
    assert frame.to_geodetic(*target)[:2] == pytest.approx((35.6814, 139.7673), abs=1e-7)
    station.send(mavlink.MAVLink_command_int_message(1, 1, 1, 192, 0, 0, -1, 1, 0, nan, 10, 20, 0.0))
    assert ready.expect(station, "COMMAND_ACK").result == 2  # a local frame


def test_home_can_be_set_and_is_reported(ready: Any) -> None:
    station = ready.station()
    station.send(mavlink.MAVLink_command_int_message(1, 1, 0, 179, 0, 0, 0, 0, 0, 0, 356820000, 1397680000, 55.0))
    assert ready.expect(station, "COMMAND_ACK").result == 0
    home = ready.expect(station, "HOME_POSITION")
    assert (home.latitude, home.longitude, home.altitude) == (356820000, 1397680000, 55000)
    q = (1.0, 0.0, 0.0, 0.0)
    station.send(mavlink.MAVLink_set_home_position_message(1, 356830000, 1397690000, 60000, 0, 0, 0, q, 0, 0, 0))
    ready.expect(station, "HOME_POSITION", lambda m: m.latitude == 356830000 and m.altitude == 60000)


# targets -----------------------------------------------------------------------------------------------------------


def test_a_target_in_the_local_frame(ready: Any) -> None:
    ready.station().send(local(1, POSITION_ONLY, (10.0, -5.0, 0.0)))
    ready.pass_time(0.1)
    guided = ready.autopilots[0].guided
    assert guided.position == (10.0, -5.0, 0.0)
    assert guided.velocity is None and isnan(guided.yaw) and isnan(guided.yaw_rate)


@pytest.mark.parametrize("frame", [7, 8, 9, 12])
def test_a_target_relative_to_the_vehicle(ready: Any, frame: int) -> None:
    pilot = ready.autopilots[0]
    before = pilot.estimate
    ready.station().send(local(frame, POSITION_ONLY, (10.0, 2.0, 0.0)))
    ready.arrived()
    ready.step()
    yaw = 0.0 if frame == 7 else before.yaw
    north = before.north + 10.0 * cos(yaw) - 2.0 * sin(yaw)
    east = before.east + 10.0 * sin(yaw) + 2.0 * cos(yaw)
    assert pilot.guided.position[:2] == pytest.approx((north, east), abs=0.3)


def test_a_body_velocity_and_a_yaw_rate(ready: Any) -> None:
    pilot = ready.autopilots[0]
    ready.station().send(local(8, VELOCITY_ONLY & ~0x800, velocity=(1.0, 0.0, 0.0), yaw=(0.0, 0.25)))
    ready.arrived()
    ready.step()
    yaw = pilot.estimate.yaw
    assert pilot.guided.velocity[:2] == pytest.approx((cos(yaw), sin(yaw)), abs=0.05)
    assert pilot.guided.position is None
    assert pilot.guided.yaw_rate == 0.25


def test_a_global_target(ready: Any) -> None:
    pilot = ready.autopilots[0]
    ready.station().send(
        mavlink.MAVLink_set_position_target_global_int_message(
            0, 1, 1, 6, POSITION_ONLY, 356814000, 1397673000, 3.0, 0, 0, 0, 0, 0, 0, 0, 0
        )
    )
    ready.pass_time(0.1)
    latitude, longitude, _ = pilot.frame.to_geodetic(*pilot.guided.position)
    assert (latitude, longitude) == pytest.approx((35.6814, 139.7673), abs=1e-7)
    assert pilot.guided.position[2] == pytest.approx(pilot.home_position.ned()[2] - 3.0)


def test_invalid_targets_are_reported(ready: Any) -> None:
    station = ready.station()
    for message in (local(4, POSITION_ONLY), local(1, 0xFFF), local(1, POSITION_ONLY, (nan, 0, 0))):
        station.send(message)
        ready.expect(station, "STATUSTEXT", lambda m: "rejected" in m.text)
        ready.pass_time(5.5)  # it is sent every five seconds at most
    assert ready.autopilots[0].guided.position is None


def test_an_attitude_target(make_fleet: Any) -> None:
    fleet = make_fleet()
    orders: list[Any] = []
    fleet.autopilots[0].set_guided_target = orders.append
    q = (2.0 * cos(pi / 8), 2.0 * sin(pi / 8), 0.0, 0.0)  # not of length 1
    fleet.station().send(mavlink.MAVLink_set_attitude_target_message(0, 1, 1, 0b011, q, 0, 0, 0.5, 0.6))
    fleet.pass_time(0.1)
    (order,) = orders
    assert order.attitude == pytest.approx((cos(pi / 8), sin(pi / 8), 0.0, 0.0), abs=1e-6)
    assert order.thrust == pytest.approx(0.6)
    assert order.yaw_rate == 0.5


# sticks ------------------------------------------------------------------------------------------------------------


def test_rc_channels(rover: Any) -> None:
    station = rover.station()
    override = mavlink.MAVLink_rc_channels_override_message
    station.send(override(1, 1, 1600, 0, 1750, 0, 0, 0, 0, 0, 1234))
    rover.pass_time(0.1)
    sticks = rover.autopilots[0].rc.sticks
    assert (sticks.roll, sticks.throttle) == (0.2, 0.5)
    assert sticks.pwm[8] == 1234
    station.send(override(1, 1, 65535, 0, 1500, 0, 0, 0, 0, 0, 0, 65535))
    shown = rover.expect(station, "RC_CHANNELS", lambda m: m.chan3_raw == 1500)
    assert (shown.chan1_raw, shown.chan9_raw) == (1600, 1234)  # 65535, and 0 above 8: left as they are
    station.send(override(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 65534))
    rover.expect(station, "RC_CHANNELS", lambda m: m.chancount == 0)


def test_manual_control_is_for_its_target_only(rover: Any) -> None:
    station = rover.station()
    station.send(mavlink.MAVLink_manual_control_message(2, 0, 900, 900, 0, 0))
    station.send(mavlink.MAVLink_manual_control_message(1, 0, 500, 250, 0, 0))
    rover.pass_time(0.1)
    sticks = rover.autopilots[0].rc.sticks
    assert (sticks.roll, sticks.throttle) == (0.5, 0.25)


def test_only_sysid_mygcs_may_send_rc(rover: Any) -> None:
    station, stranger = rover.station(), rover.station(system=245)
    sticks = mavlink.MAVLink_manual_control_message(1, 500, 500, 250, 0, 0)
    channels = mavlink.MAVLink_rc_channels_override_message(1, 1, 1600, 0, 1750, 0, 0, 0, 0, 0)
    for message in (sticks, channels):
        stranger.send(message)
        rover.pass_time(0.1)
    assert rover.autopilots[0].rc.sticks.roll == rover.autopilots[0].rc.sticks.throttle == 0.0
    rover.expect(stranger, "STATUSTEXT", lambda m: "SYSID_MYGCS is 255" in m.text)
    assert rover.ask(station, mavlink.MAVLink_param_set_message(1, 1, b"SYSID_MYGCS", 245, 4), "PARAM_VALUE")
    stranger.send(channels)
    station.send(mavlink.MAVLink_manual_control_message(1, 0, 0, 0, 0, 0))
    rover.pass_time(0.1)
    assert rover.autopilots[0].rc.sticks.throttle == 0.5


# anything ----------------------------------------------------------------------------------------------------------

SENT = [id for id in sorted(mavlink.mavlink_map) if id < 400]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SENT), st.binary(max_size=255))
def test_no_message_raises(rover: Any, msgid: int, payload: bytes) -> None:
    """Any payload in a valid packet for this vehicle: never a fault of ours, and it goes on answering."""
    station = rover.stations[0] if rover.stations else rover.station()
    kind = mavlink.mavlink_map[msgid]
    values = kind.unpacker.unpack((payload + bytes(255))[: kind.unpacker.size])
    packet = raw(station, kind, kind.unpacker.pack(*values))
    station.send_bytes(packet)
    rover.arrived()
    rover.step()
    station.listen()
    assert rover.hub.vehicles[1].failures == 0


def raw(station: Any, kind: Any, payload: bytes) -> bytes:
    """The packet with that payload, whatever it means, addressed to vehicle 1 where it has an address."""
    data = bytearray(payload)
    offset = 0
    for name, length, size in fields_of(kind):
        if name in ("target_system", "target_component", "target"):
            data[offset] = 1
        offset += max(length, 1) * size
    message = mavlink.MAVLink_message(kind.id, kind.msgname)
    return bytes(message._pack(station.out, kind.crc_extra, bytes(data)))


def fields_of(kind: Any) -> list[tuple[str, int, int]]:
    """Names, array lengths and sizes of the fields in the order in which they lie in the payload."""
    sizes = {"u": 0, "i": 0, "f": 4, "d": 8, "c": 1}
    rows = []
    for index, name in enumerate(kind.ordered_fieldnames):
        given_as = kind.fieldtypes[kind.fieldnames.index(name)]
        bits = "".join(c for c in given_as if c.isdigit())
        size = int(bits) // 8 if bits else sizes[given_as[0]]
        rows.append((name, kind.array_lengths[index], size))
    return rows
