"""The built-in autopilot flies JSBSim's Cessna with noisy sensors; results are compared with the truth."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import atan2, degrees, hypot, radians

import numpy as np
import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.control.l1 import NavGains, roll_for_circle, roll_for_course, roll_for_line
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.modes.plane import PlaneCruise
from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import Landed
from paddock.autopilot.vehicle_data import COLUMN, Floats
from paddock.sitl.adapter import Placed
from paddock.sitl.adapters.jsbsim import JsbsimAdapter

CESSNA = {
    "AIRSPEED_CRUISE": 52.0,
    "AIRSPEED_MIN": 35.0,
    "AIRSPEED_MAX": 65.0,
    "TRIM_THROTTLE": 65.0,
    "TECS_CLMB_MAX": 3.0,
    "ROLL_LIMIT_DEG": 35.0,
    "SCALING_SPEED": 52.0,
    "RLL_RATE_FF": 0.7,
    "RLL_RATE_P": 0.3,
    "PTCH_RATE_FF": 1.0,
    "PTCH_RATE_P": 1.0,
    "PTCH_RATE_I": 0.6,
    "FBWB_CLIMB_RATE": 3.0,
    "WP_LOITER_RAD": 600.0,
    "WP_RADIUS": 200.0,
}
MANUAL, FBWA, CRUISE, AUTO, RTL, LOITER, GUIDED = 0, 5, 7, 10, 11, 12, 15


@dataclass
class Rig:
    """An aircraft in the air, its autopilot, and the true track."""

    seed: int = 3
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rows: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.adapter = JsbsimAdapter(truth=True, seed=self.seed, wind=self.wind, physics_rate=100.0)
        self.adapter.connect()
        self.adapter.add_vehicle(Placed(1, "cessna", "plane", (0.0, 0.0, -1000.0), 0.5))
        self.autopilot = BuiltInAutopilot(1, "plane", CESSNA)
        self.autopilot.open()

    def fly(self, seconds: float, each: Callable[[], None] | None = None) -> None:
        for _ in range(round(seconds * 50)):
            data = self.adapter.receive_sensors()
            assert data is not None
            if each is not None:
                each()
            self.autopilot.offer(data)
            self.adapter.send_actuators(self.autopilot.collect(0.0))
            self.adapter.step(20_000)
            self.rows.append(data.row)

    def begin(self, mode: int) -> None:
        """Armed in a mode as soon as it knows where it is."""
        self.fly(0.2)
        assert self.autopilot.arm(force=True).accepted
        assert self.autopilot.set_mode(CRUISE).accepted
        self.fly(3.0)
        assert self.autopilot.set_mode(mode).accepted

    def last(self, seconds: float) -> Floats:
        """The truth: time, heading (deg), height (m), airspeed (m/s), north, east (m), roll (deg)."""
        rows = np.array(self.rows[-round(seconds * 50) :])
        w, x, y, z = rows[:, -4:].T
        heading = np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
        roll = np.degrees(np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)))
        return np.column_stack(
            [rows[:, 0] * 1e-6, heading, -rows[:, -8], rows[:, COLUMN["airspeed"]], rows[:, -10], rows[:, -9], roll]
        )


def off(angles: Floats, wanted: float) -> Floats:
    return (angles - wanted + 180.0) % 360.0 - 180.0


@pytest.mark.slow
def test_it_holds_heading_height_and_airspeed_and_changes_them() -> None:
    rig = Rig()
    rig.begin(CRUISE)
    rig.fly(10.0)
    mode = rig.autopilot.mode
    assert isinstance(mode, PlaneCruise)
    heading, height = degrees(mode.heading), rig.last(0.02)[0, 2]
    down = mode.down
    mode.heading, mode.down = mode.heading + radians(90.0), down - 100.0
    rig.fly(50.0)  # 100 m at 3 m/s take 33 s
    rig.fly(60.0)
    held = rig.last(60.0)
    assert np.abs(off(held[:, 1], heading + 90.0)).max() < 2.0
    assert np.abs(held[:, 2] - (height + 100.0)).max() < 10.0
    assert np.abs(held[:, 3] - 52.0).max() < 0.05 * 52.0
    assert np.abs(held[:, 6]).max() < 5.0
    # it turned right, at a moderate bank
    turn = np.array(rig.last(110.0))[:, 6]
    assert turn.max() < 45.0 and turn.min() > -10.0
    assert rig.autopilot.telemetry.landed is Landed.IN_AIR


def test_sticks_turn_and_climb_in_cruise_and_released_hold() -> None:
    rig = Rig()
    rig.begin(CRUISE)
    before = rig.last(0.02)[0]
    rig.fly(10.0, lambda: rig.autopilot.rc.manual(Sticks(roll=0.5, pitch=1.0)))
    assert rig.last(1.0)[:, 6].mean() == pytest.approx(17.5, abs=3.0)
    rig.fly(20.0, lambda: rig.autopilot.rc.manual(Sticks()))
    after = rig.last(3.0)
    assert off(after[-1, 1], before[1]) > 20.0
    assert np.ptp(after[:, 1]) < 1.0
    assert after[-1, 2] == pytest.approx(before[2] + 30.0, abs=8.0)  # 10 s at 3 m/s


def test_fbwa_holds_the_attitude_of_the_sticks() -> None:
    rig = Rig()
    rig.begin(FBWA)
    rig.fly(8.0, lambda: rig.autopilot.rc.manual(Sticks(roll=-0.6, throttle=0.7)))
    assert rig.last(1.0)[:, 6].mean() == pytest.approx(-21.0, abs=3.0)
    rig.fly(8.0, lambda: rig.autopilot.rc.manual(Sticks(throttle=0.7)))
    assert rig.last(1.0)[:, 6].mean() == pytest.approx(0.0, abs=2.0)


def test_manual_passes_the_sticks_to_the_surfaces() -> None:
    rig = Rig()
    rig.begin(MANUAL)
    rig.fly(0.1, lambda: rig.autopilot.rc.manual(Sticks(roll=0.1, pitch=-0.2, yaw=0.3, throttle=0.4)))
    row = rig.autopilot.commands
    assert [row[1], *row[9:12]] == pytest.approx([0.4, 0.1, -0.2, 0.3])
    assert rig.autopilot.vehicle.outputs(rig.autopilot.commands)[:4] == [1550, 1400, 1400, 1650]


@pytest.mark.soak
def test_it_circles_in_wind() -> None:
    rig = Rig(wind=(0.0, 8.0, 0.0))
    rig.begin(LOITER)
    centre = rig.last(0.02)[0, 4:6]
    rig.fly(110.0)
    around = rig.last(40.0)
    distance = np.hypot(around[:, 4] - centre[0], around[:, 5] - centre[1])
    assert np.abs(distance - 600.0).max() < 60.0
    assert np.ptp(around[:, 2]) < 12.0
    bearing = np.unwrap(np.arctan2(around[:, 5] - centre[1], around[:, 4] - centre[0]))
    assert bearing[-1] > bearing[0] + 2.0  # clockwise


@pytest.mark.soak
def test_guided_flies_to_a_position_and_a_heading() -> None:
    rig = Rig()
    rig.begin(GUIDED)
    rig.autopilot.set_guided_target(GuidedTarget(yaw=radians(120.0)))
    rig.fly(25.0)
    assert np.abs(off(rig.last(2.0)[:, 1], 120.0)).max() < 4.0
    here = rig.last(0.02)[0]
    frame = rig.autopilot.estimate
    target = (frame.north, frame.east + 2500.0, frame.down)
    rig.autopilot.set_guided_target(GuidedTarget(position=target))
    rig.fly(60.0)
    there = rig.last(0.02)[0]
    assert hypot(there[4] - here[4], there[5] - here[5] - 2500.0) == pytest.approx(600.0, abs=150.0)


def test_it_flies_a_mission_and_returns() -> None:
    rig = Rig()
    rig.begin(CRUISE)
    frame, estimate = rig.autopilot.frame, rig.autopilot.estimate
    assert frame is not None
    corners = [(2000.0, 1000.0), (2000.0, 3000.0)]
    places = [frame.to_geodetic(estimate.north + n, estimate.east + e, estimate.down) for n, e in corners]
    start = rig.last(0.02)[0, 4:6]
    items = [MissionItem(16, 0, x=lat, y=lon, z=alt) for lat, lon, alt in (places[0], *places)]
    assert rig.autopilot.set_plan(PlanKind.MISSION, items) == (0, 0)
    assert rig.autopilot.set_mode(AUTO).accepted
    rig.fly(90.0)
    track = rig.last(90.0)[:, 4:6] - start
    for corner in corners:
        assert np.hypot(*(track - corner).T).min() < 220.0
    # between the corners it is on the line, once it has rounded the first
    between = track[(track[:, 1] > 2200.0) & (track[:, 1] < 2750.0)]
    assert len(between) > 100 and np.abs(between[:, 0] - 2000.0).max() < 40.0
    assert rig.autopilot.set_mode(RTL).accepted
    rig.fly(5.0)
    assert rig.autopilot.mode.name == "RTL"


def test_a_disarmed_plane_waits_with_zero_throttle() -> None:
    rig = Rig()
    rig.fly(1.0)
    assert not rig.autopilot.commands[:12].any()


NAV = NavGains(17.0, 0.75)


@pytest.mark.parametrize(("course", "side"), [(0.5, 1.0), (-0.5, -1.0), (0.0, 0.0)])
def test_the_roll_for_a_course_is_that_of_a_coordinated_turn(course: float, side: float) -> None:
    roll = roll_for_course(course, (30.0, 0.0), NAV)
    # Park: a = 4 zeta^2 v^2 / L1 sin(error), with L1 = zeta T v / pi
    assert np.tan(roll) == pytest.approx(side * 4.0 * 0.75 * np.pi * 30.0 / 17.0 * np.sin(0.5) / 9.80665)


def test_no_correction_on_the_line_and_on_the_circle() -> None:
    assert roll_for_line((50.0, 50.0), (10.0, 10.0), (0.0, 0.0), (100.0, 100.0), NAV) == pytest.approx((0.0, 0.0))
    assert roll_for_line((50.0, 60.0), (10.0, 10.0), (0.0, 0.0), (100.0, 100.0), NAV)[0] < 0.0  # right: turn left
    clockwise = roll_for_circle((200.0, 0.0), (0.0, 30.0), (0.0, 0.0), 200.0, NAV)
    assert clockwise == pytest.approx(atan2(30.0**2 / 200.0, 9.80665))
    assert roll_for_circle((200.0, 0.0), (0.0, -30.0), (0.0, 0.0), -200.0, NAV) == pytest.approx(-clockwise)
