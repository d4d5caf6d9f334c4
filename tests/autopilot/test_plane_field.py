"""A field day of planes: take-off, circles, failsafes of Plane, landing sequences and go-arounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import hypot, pi
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pymavlink import DFReader

import paddock
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.contract import find_vehicle
from paddock.autopilot.estimate import Estimate, LocalFrame
from paddock.autopilot.log import OnboardLog
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.modes.plane_auto import TakeoffRun
from paddock.autopilot.parameter_tables import make_parameters
from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import Landed
from paddock.autopilot.vehicle_data import Floats
from paddock.errors import PaddockError
from paddock.sitl.ground_station import mission_file, point_mission
from paddock.sitl.host import SitlHost

MANUAL, CIRCLE, STABILIZE, FBWB, CRUISE, AUTO, RTL, LOITER, TAKEOFF, GUIDED = 0, 1, 2, 6, 7, 10, 11, 12, 13, 15
RATE = 100
CENTRED = [1500, 1500, 1500, 1500]
Links = Callable[[int], dict[str, Any]]


class Rig:
    """One plane, its autopilot and its true track: rows of time, east, north, up, velocity."""

    def __init__(self, sim: Any) -> None:
        self.sim, self.texts = sim, []  # type: ignore[var-annotated]
        host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
        pilot = host.vehicles[0].autopilot
        assert isinstance(pilot, BuiltInAutopilot)
        self.autopilot = pilot
        pilot.on_text.append(lambda _, text: self.texts.append(text))

    def fly(
        self, seconds: float, each: Callable[[], Any] | None = None, until: Callable[[], Any] | None = None
    ) -> Floats:
        rows = []
        for _ in range(round(seconds * 5)):
            if each is not None:
                each()
            self.sim.step(RATE // 5)
            plane = self.sim.snapshot()["plane"]
            rows.append([self.sim.time, *plane.position, *plane.velocity])
            if until is not None and until():
                break
        return np.array(rows)

    def begin(self, mode: int) -> None:
        self.fly(2.0)
        assert self.autopilot.arm().accepted
        assert self.autopilot.set_mode(mode).accepted

    def plan(self, *places: tuple[int, float, float, float, dict[str, float]]) -> None:
        """Command, m north and east of the local origin, m above home, and other parameters."""
        assert self.autopilot.frame is not None
        items = [MissionItem(16, 3)]
        for command, north, east, z, more in places:
            latitude, longitude, _ = self.autopilot.frame.to_geodetic(north, east, 0.0)
            items.append(MissionItem(command, 3, x=latitude, y=longitude, z=z, **more))
        assert self.autopilot.set_plan(PlanKind.MISSION, items) == (0, 0)


@contextmanager
def plane(links: dict[str, Any], model: str = "fixed_wing", height: float = 60.0, **parameters: float) -> Iterator[Rig]:
    vehicle = {"name": "plane", "model": model, "preset": "mapper", "pose": [0.0, 0.0, height, pi / 2]}
    pilots = {"vehicles": "plane", "parameters": parameters}
    scenario = {"seed": 5, "clock": {"rate": RATE}, "vehicles": [vehicle]}
    with paddock.load({**scenario, "sitl": {"pilots": [pilots], "mavlink": links}}) as sim:
        yield Rig(sim)


def test_takeoff_mode_climbs_from_the_runway_and_circles_ahead(own_links: Links) -> None:
    with plane(own_links(1), "plane", 0.0, TKOFF_ALT=40) as rig:
        rig.fly(2.0)
        assert rig.autopilot.telemetry.landed is Landed.ON_GROUND
        assert np.array_equal(rig.fly(0.4)[-1, 1:4], [0.0, 0.0, 0.0])  # it stands exactly where it was put
        rig.begin(TAKEOFF)
        run = rig.fly(15.0)
        assert rig.autopilot.mode.stage is Landed.TAKEOFF or run[-1, 3] > 35.0
        low = run[run[:, 3] < 10.0]  # below TKOFF_LVL_ALT it flies straight ahead
        assert np.abs(low[:, 1]).max() < 3.0 and low[-1, 2] > 10.0
        rig.fly(25.0)
        circle = rig.fly(15.0)
        assert np.abs(circle[:, 3] - 40.0).max() < 3.0
        away = np.hypot(circle[:, 1], circle[:, 2] - 200.0)  # TKOFF_DIST ahead, WP_LOITER_RAD
        assert np.abs(away - 120.0).max() < 15.0
        assert rig.autopilot.battery.consumed > 20.0  # mAh: the battery is that of the model


def test_a_takeoff_in_a_crosswind_stays_above_the_line_of_the_runway(own_links: Links) -> None:
    """With the heading held instead, a wind of 6 m/s carries it 60 m off in 10 s."""
    vehicle = {"name": "plane", "model": "fixed_wing", "preset": "mapper", "pose": [0.0, 0.0, 0.0, pi / 2]}
    pilots = [{"vehicles": "plane", "parameters": {"TKOFF_ALT": 80, "TKOFF_DIST": 500}}]
    scenario = {"seed": 5, "clock": {"rate": RATE}, "world": {"wind": [6, 0, 0]}, "vehicles": [vehicle]}
    with paddock.load({**scenario, "sitl": {"pilots": pilots, "mavlink": own_links(1)}}) as sim:
        rig = Rig(sim)
        rig.begin(TAKEOFF)
        run = rig.fly(20.0)
    assert np.abs(run[:, 1]).max() < 35.0
    assert np.abs(run[run[:, 2] > 300.0][0, 1]) < 8.0


def test_a_plane_refuses_airspeeds_beyond_its_limits(own_links: Links) -> None:
    """As ArduPlane: FAILED outside of AIRSPEED_MIN to AIRSPEED_MAX (12 to 25 m/s), and in modes that do not use it."""
    with plane(own_links(1)) as rig:
        rig.begin(GUIDED)
        for mode, speed, result in ((GUIDED, 100.0, 4), (GUIDED, 5.0, 4), (LOITER, 20.0, 4), (GUIDED, 20.0, 0)):
            assert rig.autopilot.set_mode(mode).accepted
            assert rig.autopilot.command(178, [0.0, speed]).result == result
        assert rig.autopilot.guided.speed == 20.0
        assert rig.autopilot.command(178, [0.0, -2.0]).accepted
        assert np.isnan(rig.autopilot.guided.speed)


def test_a_plane_without_a_throw_keeps_its_motor_off(own_links: Links) -> None:
    with plane(own_links(1), "plane", 0.0, TKOFF_THR_MINACC=15) as rig:
        rig.begin(TAKEOFF)
        standing = rig.fly(2.0)
        assert not standing[:, 1:4].any() and rig.autopilot.commands[1] == 0.0
        assert rig.autopilot.set_mode(LOITER).accepted  # nor does any other mode start it on the ground
        standing = rig.fly(2.0)
        assert not standing[:, 1:4].any() and rig.autopilot.commands[1] == 0.0
        assert "Motor off on the ground: take off first" in rig.texts
        rig.autopilot.parameters.set("TKOFF_THR_MINACC", 0.0)
        assert rig.autopilot.set_mode(TAKEOFF).accepted
        assert rig.fly(6.0)[-1, 3] > 1.0


def test_the_motor_of_a_thrown_plane_starts_after_its_delay() -> None:
    values = {"TKOFF_THR_MINACC": 15.0, "TKOFF_THR_DELAY": 3.0, "TKOFF_THR_MINSPD": 4.0}
    texts: list[str] = []
    still = Estimate(*[0.0] * len(Estimate._fields))
    autopilot = SimpleNamespace(
        estimate=still, sensors=SimpleNamespace(accel_x=0.0), send_text=lambda _, text: texts.append(text)
    )
    mode: Any = SimpleNamespace(autopilot=autopilot, value=values.__getitem__, plane=SimpleNamespace(suppressed=True))
    run = TakeoffRun((0.0, 0.0, 0.0), 0.0)
    for k in range(100):
        autopilot.sensors.accel_x = 20.0 if k == 10 else 0.0
        autopilot.estimate = still._replace(vn=8.0 if k >= 10 else 0.0)
        run._detect_launch(mode, 0.02)
        if run.launched:
            break
    assert k == 10 + 15 and not mode.plane.suppressed  # 0.3 s after the throw


def test_pilots_modes_follow_the_sticks(own_links: Links) -> None:
    with plane(own_links(1)) as rig:
        rig.begin(FBWB)
        climbed = rig.fly(10.0, lambda: rig.autopilot.rc.manual(Sticks(pitch=1.0, throttle=0.5)))
        assert climbed[-1, 3] == pytest.approx(60.0 + 10.0 * 2.0, abs=6.0)  # FBWB_CLIMB_RATE 2 m/s
        rig.fly(5.0, lambda: rig.autopilot.rc.manual(Sticks(throttle=1.0)))
        assert rig.autopilot.vehicle.setpoint.speed == 25.0  # type: ignore[attr-defined]
        assert rig.autopilot.set_mode(CIRCLE).accepted
        hands = lambda: rig.autopilot.rc.manual(Sticks())  # noqa: E731
        before = rig.fly(3.0, hands)[-1]
        after = rig.fly(20.0, hands)[-1]
        assert after[3] == pytest.approx(before[3], abs=3.0)
        assert hypot(after[1] - before[1], after[2] - before[2]) < 250.0  # 350 m straight ahead
        assert rig.autopilot.set_mode(STABILIZE).accepted
        rig.fly(3.0, lambda: rig.autopilot.rc.manual(Sticks(throttle=0.4)))
        assert abs(rig.autopilot.estimate.roll) < 0.06


def test_rc_failsafes_circle_first_and_return_later(own_links: Links) -> None:
    parameters = {"RC_OVERRIDE_TIME": 1.0, "FS_SHORT_TIMEOUT": 1.5, "FS_LONG_TIMEOUT": 5.0}
    with plane(own_links(1), **parameters) as rig:
        rc, autopilot = rig.autopilot.rc, rig.autopilot
        rig.begin(FBWB)
        rig.fly(1.0, lambda: rc.override(CENTRED))
        rig.fly(2.2)  # RC counts as lost after 1 s, the failsafe follows 1.5 s later
        assert autopilot.mode.number == FBWB
        rig.fly(0.8)
        assert autopilot.mode.number == CIRCLE and any("Short failsafe" in text for text in rig.texts)
        rig.fly(2.0, lambda: rc.override(CENTRED))  # RC is back: so is the mode
        assert autopilot.mode.number == FBWB
        rig.fly(5.6)
        assert autopilot.mode.number == CIRCLE
        rig.fly(1.0)  # 1 s + 5 s after the last input
        assert autopilot.mode.number == RTL
        rig.fly(3.0, lambda: rc.override(CENTRED))
        assert autopilot.mode.number == RTL  # the pilot decides
        # an autonomous mode continues with the actions of 0, and circles with 1
        assert autopilot.set_mode(LOITER).accepted
        rig.fly(7.0)
        assert autopilot.mode.number == LOITER
        rig.fly(2.5, lambda: rc.override(CENTRED))
        autopilot.parameters.set("FS_SHORT_ACTN", 1)
        rig.fly(3.2, lambda: rc.override([1500, 1500, 930, 1500]))  # the receiver's signal without a transmitter
        assert autopilot.mode.number == CIRCLE


LANDING = (
    (16, 400.0, 0.0, 60.0, {}),
    (189, 0.0, 0.0, 0.0, {}),
    (16, 0.0, 0.0, 30.0, {}),
    (21, 300.0, 0.0, 0.0, {"p1": 25.0}),
)


def test_ground_station_and_battery_failsafes(own_links: Links) -> None:
    with plane(
        own_links(1), FS_GCS_ENABL=1, FS_LONG_ACTN=1, BATT_FS_LOW_ACT=2, BATT_LOW_VOLT=14, BATT_LOW_TIMER=1
    ) as rig:
        autopilot = rig.autopilot
        rig.begin(LOITER)
        beat = lambda: autopilot.failsafes.note_gcs_heartbeat(autopilot.now_us)  # noqa: E731
        rig.fly(2.0, beat)
        rig.fly(4.6)
        assert autopilot.mode.number == LOITER
        rig.fly(0.8)
        assert autopilot.mode.number == RTL
        rig.fly(2.0, beat)
        rig.plan(*LANDING)
        autopilot.parameters.set("SIM_BATT_VOLTAGE", 13.0)
        rig.fly(2.0, beat)
        assert autopilot.mode.number == AUTO and autopilot.executor.current == 3  # the waypoint after DO_LAND_START
        assert any("landing sequence" in text for text in rig.texts)


def test_a_lost_link_does_not_interrupt_a_take_off(own_links: Links, tmp_path: Path) -> None:
    parameters = {"RC_OVERRIDE_TIME": 1.0, "FS_SHORT_TIMEOUT": 1.0, "FS_SHORT_ACTN": 1.0}
    with plane(own_links(1), height=0.0, **parameters) as rig:
        rig.fly(2.0)
        rig.plan((22, 0.0, 0.0, 40.0, {"p1": 15.0}), (16, 2000.0, 0.0, 40.0, {}))
        rig.autopilot.log = OnboardLog(rig.autopilot, tmp_path)
        rig.begin(AUTO)
        rig.autopilot.rc.override(CENTRED)
        modes: list[tuple[float, int]] = []
        seen = lambda: modes.append((rig.autopilot.telemetry.relative_altitude, rig.autopilot.mode.number))  # noqa: E731
        rig.fly(30.0, seen, until=lambda: rig.autopilot.mode.number == CIRCLE)
        assert max(height for height, _ in modes) > 36.0
        assert all(mode == AUTO for height, mode in modes if height < 35.0)
        assert rig.autopilot.mode.number == CIRCLE  # it acts after the take-off
        assert rig.autopilot.disarm(force=True).accepted
        rig.fly(0.4)
    reader = DFReader.DFReader_binary(str(tmp_path / "00000001.BIN"))
    errors = [(m.Subsys, m.ECode) for m in iter(lambda: reader.recv_match(type="ERR"), None)]
    reader.data_map.close()
    reader.filehandle.close()
    assert errors == [
        (5, 1),
        (5, 1),
        (5, 0),
        (5, 0),
    ]  # FAILSAFE_RADIO: short and long one occurred; both cleared by disarming


@pytest.mark.slow
def test_a_plane_returns_into_the_fence_and_circles_inside(own_links: Links) -> None:
    with plane(own_links(1), FENCE_TYPE=2, FENCE_RADIUS=115, WP_LOITER_RAD=90) as rig:
        autopilot, texts = rig.autopilot, rig.texts
        rig.begin(CRUISE)
        north, east, down = autopilot.home_position.ned()
        autopilot.home_position.set(autopilot.frame.to_geodetic(north - 220.0, east, down))  # type: ignore[union-attr]
        home = rig.sim.snapshot()["plane"].position[:2] - np.array([0.0, 220.0])
        away = lambda rows: np.hypot(*(rows[:, 1:3] - home).T)  # noqa: E731
        assert autopilot.parameters.set("FENCE_ENABLE", 1)
        rig.fly(0.4)
        assert away(rig.fly(0.2))[-1] > 115.0 + 100.0 and autopilot.mode.number == RTL  # it does not give up
        assert autopilot.set_mode(CRUISE).accepted and autopilot.parameters.set("FENCE_ACTION", 6)
        rig.fly(6.0, until=lambda: autopilot.mode.number == GUIDED)
        assert autopilot.mode.number == GUIDED
        back = rig.fly(50.0, until=lambda: not autopilot.fence.breached)
        assert away(back).max() > 280.0  # while it turns, more than 20 m further
        lap = rig.fly(25.0)
        assert away(lap).max() < 115.0
        assert autopilot.fence.count == 1
        assert [text for text in texts if "Fence breach" in text] == ["Fence breach: RTL", "Fence breach: GUIDED"]
        assert sum("outside" in text for text in texts) == 1  # when it acted again


def test_the_circle_of_a_return_is_inside_the_fence(own_links: Links) -> None:
    with plane(own_links(1), FENCE_TYPE=5, FENCE_ALT_MAX=90, WP_LOITER_RAD=-100) as rig:
        rig.begin(LOITER)
        rig.fly(0.4)
        autopilot, frame = rig.autopilot, rig.autopilot.frame
        assert frame is not None
        north, east, down = autopilot.home_position.ned()

        def place(command: int, n: float, e: float, p1: float) -> MissionItem:
            latitude, longitude, _ = frame.to_geodetic(north + n, east + e, 0.0)
            return MissionItem(command, 3, p1, x=latitude, y=longitude)

        corners = ((-50.0, -500.0), (450.0, -500.0), (450.0, 500.0), (-50.0, 500.0))
        square = [place(5001, *corner, 4.0) for corner in corners]
        assert autopilot.set_plan(PlanKind.FENCE, square) == (0, 0)
        # 100 m of the circle and 10 m more from the southern edge; below 90 m, not at RTL_ALTITUDE
        assert autopilot.fence.return_circle() == pytest.approx((north + 60.0, east, down - 80.0), abs=0.1)
        assert autopilot.set_plan(PlanKind.FENCE, [*square, place(5000, 200.0, 300.0, 0.0)]) == (0, 0)
        assert autopilot.fence.return_circle() == pytest.approx((north + 200.0, east + 300.0, down - 80.0), abs=0.1)


def test_the_capacity_of_the_battery_is_that_of_the_model(own_links: Links) -> None:
    with plane(own_links(1)) as rig:
        value, capacity = rig.autopilot.parameters.value, rig.sim.scenario.vehicles[0].parameters.get("capacity", 4900)
        assert value("BATT_CAPACITY") == capacity
        assert (value("BATT_LOW_MAH"), value("BATT_CRT_MAH")) == (0.2 * capacity, 0.1 * capacity)
        rig.begin(CRUISE)
        drawn = [(rig.autopilot.battery.consumed, 0.0)]
        rig.fly(5.0, lambda: drawn.append((rig.autopilot.battery.consumed, rig.autopilot.sensors.battery_current)))
        integral = sum(current for _, current in drawn[1:]) * 0.2 / 3.6  # mAh
        assert drawn[-1][0] - drawn[0][0] == pytest.approx(integral, rel=0.1)
    with plane(own_links(1), BATT_CAPACITY=2000) as rig:
        assert rig.autopilot.parameters.value("BATT_CAPACITY") == 2000


def test_rtl_lands_if_rtl_autoland_asks_for_it(own_links: Links) -> None:
    with plane(own_links(1), RTL_AUTOLAND=2) as rig:
        rig.begin(LOITER)
        assert rig.autopilot.command(189, [0.0] * 7).text == "Land: no DO_LAND_START in the mission"
        rig.plan(*LANDING)
        assert rig.autopilot.command(191, [0.0] * 7).text == "Go around: not landing"
        assert rig.autopilot.set_mode(RTL).accepted
        rig.fly(0.4)
        assert rig.autopilot.mode.number == AUTO and rig.autopilot.executor.current >= 3
        assert rig.autopilot.set_mode(LOITER).accepted
        assert rig.autopilot.executor.set_current(1).accepted
        assert rig.autopilot.command(21, [0.0] * 7).accepted  # NAV_LAND
        assert rig.autopilot.mode.number == AUTO and rig.autopilot.executor.current == 3


def test_a_landing_is_aborted_and_repeated(own_links: Links) -> None:
    with plane(own_links(1), height=30.0, WP_RADIUS=60) as rig:
        autopilot = rig.autopilot
        rig.begin(LOITER)
        rig.plan(*((command, n + 150.0, e, z - 30.0, more) for command, n, e, z, more in LANDING))  # home is 30 m up
        assert autopilot.executor.set_current(3).accepted and autopilot.set_mode(AUTO).accepted
        rig.fly(40.0, until=lambda: autopilot.executor.current == 4 and autopilot.telemetry.relative_altitude < -12.0)
        assert autopilot.telemetry.landed is Landed.LANDING
        assert autopilot.command(191, [0.0] * 7).accepted  # DO_GO_AROUND
        lowest = rig.fly(4.0)[:, 3].min()
        assert lowest > 8.0
        up = rig.fly(30.0, until=lambda: autopilot.executor.current == 3)
        assert up[-1, 3] == pytest.approx(30.0 + 25.0, abs=2.0)  # p1 of NAV_LAND, above home
        assert autopilot.executor.current == 3  # the landing sequence begins again


def test_items_of_planes_are_refused_by_others() -> None:
    def known(kind: str) -> list[bool]:
        autopilot = BuiltInAutopilot(1, kind)
        items = (MissionItem(31, 3, z=50.0), MissionItem(30, 3, z=50.0))
        return [autopilot.check_item(PlanKind.MISSION, item) == 0 for item in items]

    assert known("plane") == [True, True] and known("copter") == [True, False]
    assert known("rover") == [False, False]


def test_parameters_have_planes_names_and_defaults() -> None:
    names = make_parameters(find_vehicle("plane"), 1, None, print)
    expected = {"FS_SHORT_ACTN": 0, "FS_SHORT_TIMEOUT": 1.5, "FS_LONG_ACTN": 0, "FS_LONG_TIMEOUT": 5, "FS_GCS_ENABL": 0}
    expected |= {"THR_FAILSAFE": 1, "THR_FS_VALUE": 950, "TKOFF_ALT": 50, "TKOFF_LVL_ALT": 10, "TKOFF_DIST": 200}
    expected |= {"LAND_FLARE_ALT": 3, "LAND_FLARE_SEC": 2, "LAND_DISARMDELAY": 20, "NAVL1_PERIOD": 17}
    expected |= {"TECS_TIME_CONST": 5, "TECS_SPDWEIGHT": 1, "TECS_LAND_SINK": 0.25, "RTL_AUTOLAND": 0}
    assert {name: names.value(name) for name in expected} == expected
    refused = {"FS_LONG_ACTN": (3, 5), "FS_GCS_ENABL": (2,), "FENCE_ACTION": (2, 3, 4, 5, 7), "FS_EKF_ACTION": (2, 3)}
    assert not any(names.set(name, value) for name, values in refused.items() for value in values)
    with pytest.raises(PaddockError, match="parameter FS_GCS_ENABL: 2 is not in 0, 1, 3"):
        names.override({"FS_GCS_ENABL": 2})
    assert "FS_THR_ENABLE" not in names and "FS_THR_ENABLE" in make_parameters(find_vehicle("copter"), 1, None, print)


def test_a_plan_file_with_a_landing_pattern_becomes_its_commands(tmp_path: Path) -> None:
    """The keys of QGroundControl's FixedWingLandingComplexItem, and the commands that it uploads for them."""
    pattern = {
        "type": "ComplexItem",
        "complexItemType": "fwLandingPattern",
        "version": 2,
        "altitudesAreRelative": True,
        "landCoordinate": [47.1, 8.1, 0],
        "landingApproachCoordinate": [47.2, 8.2, 40],
        "loiterClockwise": False,
        "loiterRadius": 75,
        "stopTakingPhotos": True,
        "stopVideoPhotos": False,
        "useLoiterToAlt": True,
        "valueSetIsDistance": True,
    }
    file = tmp_path / "field.plan"
    mission = {"version": 2, "plannedHomePosition": [47.0, 8.0, 400.0], "items": [pattern]}
    file.write_text(json.dumps({"fileType": "Plan", "version": 1, "mission": mission}))
    items = mission_file(file, "plane")
    assert [item.command for item in items] == [16, 189, 206, 2001, 31, 21]
    circle, land = items[-2:]
    assert (circle.frame, circle.p1, circle.p2, circle.p4) == (3, 1.0, -75.0, 1.0)
    assert (circle.x, circle.y, circle.z) == pytest.approx((47.2, 8.2, 40.0), abs=1e-5)
    assert (land.x, land.y, land.z) == pytest.approx((47.1, 8.1, 0.0), abs=1e-5)
    wrong = {**mission, "items": [{**pattern, "landCoordinate": [1]}]}
    file.write_text(json.dumps({"fileType": "Plan", "version": 1, "mission": wrong}))
    with pytest.raises(PaddockError, match="landCoordinate is"):
        mission_file(file, "plane")


def test_points_of_a_plane_on_the_ground_begin_with_a_take_off() -> None:
    start = LocalFrame(47.0, 8.0, 400.0)
    assert [item.command for item in point_mission([(0.0, 100.0, 50.0)], start, "plane")] == [16, 22, 16, 20]
    assert [item.command for item in point_mission([(0.0, 100.0, 50.0)], start, "plane", False)] == [16, 16, 20]


def test_an_item_changes_the_altitude_straight_ahead(own_links: Links) -> None:
    with plane(own_links(1)) as rig:
        rig.begin(LOITER)
        rig.plan((30, 0.0, 0.0, 25.0, {"p1": 1.0}), (16, 0.0, 900.0, 25.0, {}))
        assert rig.autopilot.set_mode(AUTO).accepted
        rows = rig.fly(20.0, until=lambda: rig.autopilot.executor.current == 2)
        assert rig.autopilot.executor.current == 2
        assert rows[-1, 3] == pytest.approx(60.0 + 25.0 - 5.0, abs=1.5)  # within 5 m of it, as in ArduPlane
        assert np.abs(rows[:, 1] - rows[0, 1]).max() < 10.0  # to the north, as it flew
