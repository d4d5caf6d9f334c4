"""Servos, relays, the camera trigger and calibration, by command."""

from __future__ import annotations

from itertools import pairwise
from math import nan
from typing import Any

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.mission_items import MissionItem, check_mission_item
from paddock.autopilot.telemetry import CommandResult, PictureTaken

SET_RELAY, REPEAT_RELAY, SET_SERVO, REPEAT_SERVO = 181, 182, 183, 184
DIGICAM, TRIGGER_DISTANCE, START_CAPTURE, STOP_CAPTURE, CALIBRATE = 203, 206, 2000, 2001, 241


def order(craft: Any, number: int, *p: float) -> CommandResult:
    return craft.pilot.command(number, [*p, *[0.0] * 7][:7]).result


def test_a_free_servo_channel_is_set_and_one_in_use_refused() -> None:
    for craft, used in (("copter", (1, 2, 3, 4)), ("rover", (1, 3)), ("plane", (1, 2, 3, 4))):
        autopilot = BuiltInAutopilot(1, craft)
        for channel in range(1, 17):
            ack = autopilot.command(SET_SERVO, (channel, 1234.0))
            assert ack.accepted is (channel not in used), ack.text
            refused = check_mission_item(MissionItem(SET_SERVO, 2, float(channel), 1234.0), craft)
            assert bool(refused) is (channel in used)
        outputs = autopilot.vehicle.outputs(autopilot.commands)
        assert [k for k, width in enumerate(outputs, 1) if width == 1234] == [k for k in range(1, 17) if k not in used]
        text = f"Servo: channel {used[0]} is already in use"
        assert autopilot.command(SET_SERVO, (used[0], 1500.0)).text.startswith(text)
    for channel, width in ((0.0, 1500.0), (17.0, 1500.0), (9.5, 1500.0), (9.0, 100.0), (9.0, 3000.0), (nan, 1500.0)):
        assert autopilot.command(SET_SERVO, (channel, width)).result == CommandResult.DENIED


def test_a_repeated_servo_alternates_with_its_trim(copter: Any) -> None:
    copter.run(0.1)
    assert order(copter, REPEAT_SERVO, 9, 1900, 2, 1.0) == CommandResult.ACCEPTED
    seen = []
    for _ in range(60):
        seen.append(copter.pilot.servos.widths[8])
        copter.run(0.04)
    changes = [width for k, width in enumerate(seen) if k == 0 or width != seen[k - 1]]
    assert changes == [1900, 1500, 1900, 1500]  # two cycles
    assert seen[:12] == [1900] * 12 and seen[14:24] == [1500] * 10  # half a second each
    assert not copter.pilot.servos.repetitions


def test_relays_switch_and_repeat(copter: Any) -> None:
    assert order(copter, SET_RELAY, 1, 1) == CommandResult.ACCEPTED
    assert copter.pilot.servos.relays == [False, True, False, False]
    assert order(copter, SET_RELAY, 4, 1) == CommandResult.DENIED
    assert order(copter, SET_RELAY, 1, 2) == CommandResult.DENIED
    copter.pilot.parameters.set("RELAY3_FUNCTION", 0)
    assert copter.pilot.command(SET_RELAY, (2.0, 1.0)).text == "Relay 2 does not exist; there are 0, 1, 3"
    assert order(copter, REPEAT_RELAY, 1, 1, 0.4) == CommandResult.ACCEPTED
    assert copter.pilot.servos.relays[1] is False
    copter.run(0.3)
    assert copter.pilot.servos.relays[1] is True
    assert order(copter, REPEAT_RELAY, 1, 0, 0.4) == CommandResult.DENIED


def pictures(craft: Any) -> list[PictureTaken]:
    taken = [notice for notice in craft.pilot.outbox if isinstance(notice, PictureTaken)]
    craft.pilot.outbox.clear()
    return taken


def test_pictures_are_triggered_by_distance_interval_and_command(copter: Any) -> None:
    events: list[tuple[str, str]] = []
    copter.pilot.on_event.append(lambda *event: events.append(event))
    assert order(copter, TRIGGER_DISTANCE, 10.0, 0.0, 1.0) == CommandResult.ACCEPTED
    assert copter.pilot.parameters.value("CAM_TRIGG_DIST") == 10.0
    taken = [0.0]
    pictures(copter)
    for metre in range(1, 36):
        copter.believe(north=float(metre), roll=0.1, yaw=1.5)
        copter.run(0.02)
        for picture in pictures(copter):
            taken.append(float(metre))
            assert picture.attitude == (0.1, 0.0, 1.5)
            assert picture.position[0] == pytest.approx(
                47.0 + metre / 111_170.0, abs=1e-6
            )  # m per degree at 47 degrees
    assert taken == [0.0, 10.0, 20.0, 30.0]
    assert order(copter, TRIGGER_DISTANCE, 0.0) == CommandResult.ACCEPTED
    assert order(copter, START_CAPTURE, 0.0, 0.5, 3.0) == CommandResult.ACCEPTED
    copter.run(5.0)
    by_interval = pictures(copter)
    assert [p.number for p in by_interval] == [5, 6, 7]
    assert [b.time_us - a.time_us for a, b in pairwise(by_interval)] == [500_000, 500_000]
    assert order(copter, START_CAPTURE, 0.0, 0.2, 0.0) == CommandResult.ACCEPTED
    copter.run(1.0)
    assert order(copter, STOP_CAPTURE) == CommandResult.ACCEPTED
    assert len(pictures(copter)) == 6  # at once, and five times a second
    before = copter.pilot.camera.taken
    copter.run(1.0)
    assert copter.pilot.camera.taken == before
    assert order(copter, DIGICAM, 0, 0, 0, 0, 1) == CommandResult.ACCEPTED
    assert len(events) == copter.pilot.camera.taken and events[0][0] == "picture"
    assert events[1][1].startswith("2 at 47.0000899, ") and events[1][1].endswith(", 0.0 m")


def test_calibration_is_refused_where_nothing_would_be_done(copter: Any) -> None:
    # compass, RC, six positions, board level, airspeed, ESC; gyro with compass
    for values in ((0, 1), (0, 0, 0, 1), (0, 0, 0, 0, 1), (0, 0, 0, 0, 2), (0, 0, 0, 0, 0, 1), (0,) * 6 + (1,), (1, 1)):
        copter.texts()
        assert order(copter, CALIBRATE, *values) == CommandResult.UNSUPPORTED
        assert copter.texts()[0].startswith("Calibration not supported: ")


def test_gyros_of_a_vehicle_that_rotates_are_not_calibrated(copter: Any) -> None:
    copter.sense(gyro_x=0.3)
    copter.run(0.1)
    assert order(copter, CALIBRATE, 1) == CommandResult.IN_PROGRESS
    copter.texts()
    copter.run(1.2)
    assert copter.texts() == ["Calibration failed: vehicle rotates"]
    assert copter.pilot.parameters.value("INS_GYROFFS_X") == 0.0
