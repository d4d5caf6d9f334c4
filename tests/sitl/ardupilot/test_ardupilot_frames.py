"""Channels to actuators, and how an ArduPilot is started."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.autopilot.vehicle_data import ACTUATOR_WIDTH, MOTORS
from paddock.sitl.ardupilot_frames import FRAMES, Launch, find_frame, json_port, launch_lines
from paddock.world.geodesy import Origin

CANBERRA = Origin(-35.363262, 149.165237, 584.0)
SHARE = st.floats(0.0, 1.0)


def row_of(frame: str, *pwm: int) -> list[float]:
    row = np.zeros(ACTUATOR_WIDTH)
    find_frame(frame).apply([*pwm, *[0] * (16 - len(pwm))], row)
    return row.tolist()


def test_a_copter_has_the_thrust_that_its_stock_curve_expects() -> None:
    assert row_of("copter", 0, 0, 0, 0)[:5] == [0, 0, 0, 0, 0]
    assert row_of("copter", 1000, 1000, 1000, 1000)[:5] == [0, 0, 0, 0, 0]
    row = row_of("copter", 1100, 2000, 2100, 900)
    assert row[0] == 1.0 and row[1:5] == pytest.approx([0.0415, 1.0, 1.0, 0.0])


def torques(front_right: float, rear_left: float, front_left: float, rear_right: float) -> list[float]:
    """Thrust, roll right, nose up, nose right of an X with arms of 1."""
    lever = np.sqrt(0.5)
    return [
        front_right + rear_left + front_left + rear_right,
        lever * (front_left + rear_left - front_right - rear_right),
        lever * (front_left + front_right - rear_left - rear_right),
        front_right + rear_left - front_left - rear_right,
    ]


@given(st.lists(st.integers(1450, 1650), min_size=4, max_size=4))
def test_a_plus_gives_an_x_the_same_torques(pwm: list[int]) -> None:
    right, left, front, rear = [0.35 * u + 0.65 * u * u for u in ((p - 1000) / 1000 for p in pwm)]
    own = [right + left + front + rear, left - right, front - rear, right + left - front - rear]
    row = row_of("copter-plus", *pwm)
    assert torques(*row[1:5]) == pytest.approx(own, abs=1e-12)
    back = FRAMES["copter-plus"].outputs(np.array([*row, *[0.0] * (ACTUATOR_WIDTH - len(row))]))
    assert back == pytest.approx(pwm, abs=1)


def test_rovers_steer_and_drive() -> None:
    row = row_of("rover", 1750, 0, 1400)
    assert row[0] == 1.0 and row[1] == pytest.approx(-0.2) and row[1 + MOTORS] == pytest.approx(0.5)
    assert row_of("rover", 0, 0, 0) == [0.0] * ACTUATOR_WIDTH
    assert row_of("rover-skid", 2000, 0, 1000)[:3] == [1.0, 1.0, -1.0]
    assert row_of("rover-skid", 1500, 0, 1500)[:3] == [1.0, 0.0, 0.0]
    assert row_of("rover-skid", 0, 0, 0) == [0.0] * ACTUATOR_WIDTH


def test_a_plane_has_four_channels() -> None:
    row = row_of("plane", 1600, 1400, 1250, 2000)
    assert row[:2] == [1.0, 0.25] and row[1 + MOTORS : 4 + MOTORS] == pytest.approx([0.2, -0.2, 1.0])


@given(SHARE, SHARE, SHARE, SHARE)
def test_outputs_invert_the_channels(a: float, b: float, c: float, d: float) -> None:
    for name in ("copter", "rover", "rover-skid", "plane"):
        row = np.zeros(ACTUATOR_WIDTH)
        row[0], row[1:5], row[1 + MOTORS : 4 + MOTORS] = 1.0, (a, b, c, d), (2 * a - 1, 2 * b - 1, 2 * c - 1)
        back = np.zeros(ACTUATOR_WIDTH)
        pwm = FRAMES[name].outputs(row)
        FRAMES[name].apply([*pwm, *[0] * (16 - len(pwm))], back)
        used = {"copter": [1, 2, 3, 4], "rover": [1, 9], "rover-skid": [1, 2], "plane": [1, 9, 10, 11]}[name]
        assert back[used] == pytest.approx(row[used], abs=0.0017)
        row[0] = 0.0
        at_rest = FRAMES[name].outputs(row)
        assert at_rest[0 if name == "copter" else 2] == {"copter": 1000, "plane": 1000}.get(name, 1500)


def test_the_command_lines_contain_the_home_of_the_world() -> None:
    start, binary, connect, note = launch_lines("copter", Launch(0, CANBERRA, np.pi / 2))
    assert start.startswith(
        "start:    sim_vehicle.py -v ArduCopter -f quad --model JSON:127.0.0.1 "
        "--custom-location=-35.3632620,149.1652370,584.00,90.0 --add-param-file="
    )
    assert "arducopter --model JSON:127.0.0.1 --home -35.3632620,149.1652370,584.00,90.0 " in binary
    assert "-I" not in start and connect == "connect:  tcp:127.0.0.1:5760"
    own = Path(start.rpartition("=")[2])
    assert own.read_text().split("\n")[1:3] == ["FRAME_CLASS 1", "FRAME_TYPE 1"]
    third = launch_lines("rover-skid", Launch(2, CANBERRA))
    assert "-f rover-skid --model JSON:127.0.0.1" in third[0] and "-I 2 --sysid 3" in third[1]
    assert third[1].endswith(
        "--defaults Tools/autotest/default_params/rover.parm,Tools/autotest/default_params/rover-skid.parm"
    )
    assert third[2:] == ["connect:  tcp:127.0.0.1:5780"] and json_port(2) == 9022
    assert "FRAME_TYPE 0" in note and "use copter-plus" in note
    assert "FRAME_TYPE 1" in launch_lines("copter-plus", Launch(0, CANBERRA))[3]


def test_a_plane_gets_the_parameters_that_arduplane_has() -> None:
    """ArduPilot 4.4 to 4.7 have `models/plane.parm`, and no `default_params/plane.parm`."""
    _, binary, *_ = launch_lines("plane", Launch(0, CANBERRA))
    assert " --defaults Tools/autotest/models/plane.parm," in binary and "default_params/plane.parm" not in binary


def test_over_the_radio_nothing_passes_it_by() -> None:
    start, binary, *more = launch_lines("copter", Launch(1, CANBERRA, relay=14650))
    assert '--no-mavproxy -A "--serial0 none --serial1 udpclient:127.0.0.1:14650"' in start
    assert " --serial0 none --serial1 udpclient:127.0.0.1:14650 " in binary
    assert not any("tcp:" in line for line in (start, binary, *more))


def test_the_pace_is_that_of_ardupilots_own_clock() -> None:
    assert "--speedup" not in launch_lines("rover", Launch(0, CANBERRA))[0]
    paced = launch_lines("rover", Launch(0, CANBERRA, pace=5.0))[:2]
    assert all("--speedup 5 " in f"{line} " for line in paced)
    assert "--speedup 100 " in launch_lines("rover", Launch(0, CANBERRA, pace=0.0))[1]


@pytest.mark.parametrize(("heading", "shown"), [(-1e-9, "0.0"), (2.0 * np.pi - 1e-4, "0.0"), (-0.5 * np.pi, "270.0")])
def test_a_heading_is_below_360_degrees(heading: float, shown: str) -> None:
    assert f"584.00,{shown} " in launch_lines("rover", Launch(0, CANBERRA, heading))[0] + " "


def test_frames_are_found_by_name() -> None:
    assert sorted(FRAMES) == ["copter", "copter-plus", "plane", "rover", "rover-skid"]
    assert {frame.craft for frame in FRAMES.values()} == {"copter", "rover", "rover_ackermann", "plane"}


def test_the_table_of_frames_gives_each_its_own_flag() -> None:
    lines = (Path(__file__).parents[3] / "docs" / "sitl.md").read_text().splitlines()
    rows = [[cell.strip(" `") for cell in line.split("|")] for line in lines if "`--ardupilot " in line and "|" in line]
    flags = {row[1]: row[3] for row in rows}
    assert flags == {frame: f"--ardupilot {frame}" for frame in FRAMES}
