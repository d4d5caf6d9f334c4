"""The built-in autopilot flies Paddock's fixed wing, which starts in the air; results are compared with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import degrees, pi, radians
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymavlink import DFReader

import paddock
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.log import OnboardLog
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.modes.plane import PlaneCruise
from paddock.autopilot.telemetry import Landed
from paddock.autopilot.vehicle_data import Floats
from paddock.sitl.from_scenario import quick_scenario
from paddock.sitl.host import SitlHost
from paddock.world.geodesy import Origin

CRUISE, AUTO, RTL, LOITER, GUIDED = 7, 10, 11, 12, 15
RATE = 100
HEIGHT = 100.0  # m, where it begins
RADIUS = 120.0  # m, WP_LOITER_RAD
ORIGIN = (35.6812, 139.7671, 40.0)  # deg, deg, m: the world's

Links = Callable[[int], dict[str, Any]]


class Rig:
    """One aircraft and its true track: rows of time, east, north, up, heading (deg), speed through the air."""

    def __init__(self, sim: Any) -> None:
        self.sim = sim
        host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
        pilot = host.vehicles[0].autopilot
        assert isinstance(pilot, BuiltInAutopilot)
        self.autopilot = pilot

    def fly(self, seconds: float) -> Floats:
        rows = []
        for _ in range(round(seconds * 5)):
            self.sim.step(RATE // 5)
            plane = self.sim.snapshot()["plane"]
            rows.append([self.sim.time, *plane.position, 90.0 - degrees(plane.yaw), *plane.velocity])
        return np.array(rows)

    def begin(self, mode: int) -> None:
        """Armed as anybody would, as soon as it knows where it is."""
        self.fly(2.0)
        assert self.autopilot.arm().accepted
        assert self.autopilot.set_mode(mode).accepted


@contextmanager
def plane(links: dict[str, Any], wind: tuple[float, float, float] = (0.0, 0.0, 0.0), **pilot: Any) -> Iterator[Rig]:
    scenario = quick_scenario("plane", 1, mavlink=links)
    flown = {"name": "plane", "model": "fixed_wing", "preset": "mapper", "pose": [0.0, 0.0, HEIGHT, pi / 2]}
    scenario["vehicles"] = [flown]
    scenario |= {"seed": 5, "clock": {"rate": RATE}, "world": {"wind": list(wind)}}
    scenario["sitl"]["pilots"][0] |= pilot
    with paddock.load(scenario) as sim:
        yield Rig(sim)


def read(path: Path, *types: str) -> dict[str, list[Any]]:
    """The records of an on-board log."""
    reader, columns = DFReader.DFReader_binary(str(path)), {name: [] for name in types}
    while (message := reader.recv_match(type=list(types))) is not None:
        columns[message.get_type()].append(message)
    reader.data_map.close()
    reader.filehandle.close()
    return columns


def off(headings: Floats, wanted: float) -> Floats:
    return np.abs((headings - wanted + 180.0) % 360.0 - 180.0)


def away(rows: Floats, centre: Floats) -> Floats:
    """m over the ground."""
    return np.linalg.norm(rows[:, 1:3] - centre, axis=1)


@pytest.mark.slow
def test_it_is_armed_in_the_air_and_holds_heading_and_height(own_links: Links, tmp_path: Path) -> None:
    with plane(own_links(1), wind=(4.0, 0.0, 0.0)) as rig:
        rig.autopilot.log = OnboardLog(rig.autopilot, tmp_path)
        rig.begin(CRUISE)
        held = rig.fly(20.0)
        assert rig.autopilot.telemetry.landed is Landed.IN_AIR
        assert off(held[:, 4], 0.0).max() < 2.0
        assert np.abs(held[:, 3] - HEIGHT).max() < 5.0
        mode = rig.autopilot.mode
        assert isinstance(mode, PlaneCruise)
        mode.heading, mode.down = radians(90.0), mode.down - 40.0
        rig.fly(25.0)  # 40 m at 4 m/s, and a quarter of a circle
        held = rig.fly(15.0)
        assert off(held[:, 4], 90.0).max() < 2.0
        assert np.abs(held[:, 3] - HEIGHT - 40.0).max() < 5.0
        # its cruise airspeed, 17.5 m/s, and the wind from behind
        assert held[:, 5].mean() == pytest.approx(21.5, abs=0.3)
        commands = rig.autopilot.commands.copy()
    logged = read(tmp_path / "00000001.BIN", "ARSP", "CTUN")
    assert len(logged["ARSP"]) == len(logged["CTUN"]) == pytest.approx(600, abs=3)  # 60 s at 10 Hz
    for air, control in zip(logged["ARSP"][-100:], logged["CTUN"][-100:], strict=True):
        assert air.H == air.U == 1 and air.DiffPress == pytest.approx(0.6125 * air.Airspeed**2, rel=1e-6)
        assert control.As == pytest.approx(17.5, abs=1.0) and control.AsT == 1
        assert pytest.approx(1.0, abs=0.03) == control.E2T  # 180 m above the sea
        assert abs(control.Roll - control.NavRoll) < 3.0 and abs(control.Pitch - control.NavPitch) < 3.0
        assert 10.0 < control.ThO < 90.0 and control.ThD == pytest.approx(control.ThO, abs=10.0)
    assert control.ThO == pytest.approx(100.0 * commands[1], abs=5.0)
    assert np.mean([air.Airspeed for air in logged["ARSP"][-100:]]) == pytest.approx(17.5, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("wind", [pytest.param((0.0, 0.0, 0.0), marks=pytest.mark.soak), (4.0, -3.0, 0.0)])
def test_it_circles_the_position_where_loiter_began(own_links: Links, wind: tuple[float, float, float]) -> None:
    with plane(own_links(1), wind) as rig:
        rig.begin(LOITER)
        centre = rig.fly(0.2)[-1, 1:3]
        rig.fly(45.0)
        circle = rig.fly(45.0)
        assert np.abs(away(circle, centre) / RADIUS - 1.0).max() < 0.1
        assert np.abs(circle[:, 3] - HEIGHT).max() < 5.0
        bearing = np.unwrap(np.arctan2(*(circle[:, 1:3] - centre).T))
        assert bearing[-1] - bearing[0] == pytest.approx(45.0 * 17.5 / RADIUS, rel=0.12)  # clockwise


@pytest.mark.slow
def test_guided_flies_to_a_position_and_rtl_returns_home(own_links: Links) -> None:
    with plane(own_links(1)) as rig:
        rig.begin(GUIDED)
        home = rig.fly(0.2)[-1, 1:3]
        rig.autopilot.set_guided_target(GuidedTarget(position=(400.0, -300.0, -20.0)))
        rig.fly(40.0)
        circle = rig.fly(20.0)
        assert np.abs(away(circle, np.array([-300.0, 400.0])) / RADIUS - 1.0).max() < 0.1
        assert np.abs(circle[:, 3] - HEIGHT - 20.0).max() < 5.0
        rig.autopilot.parameters.set("RTL_ALTITUDE", 30.0)
        assert rig.autopilot.set_mode(RTL).accepted
        way = rig.fly(45.0)
        flown = np.hypot(*np.diff(way[:, 1:3], axis=0).T).sum()
        assert flown - 17.5 * 45.0 == pytest.approx(0.0, abs=40.0)
        circle = rig.fly(20.0)
        assert np.abs(away(circle, home) / RADIUS - 1.0).max() < 0.1
        assert np.abs(circle[:, 3] - HEIGHT - 30.0).max() < 5.0


def test_guided_keeps_a_course_in_a_crosswind(own_links: Links) -> None:
    with plane(own_links(1), wind=(0.0, 5.0, 0.0)) as rig:
        rig.begin(GUIDED)
        rig.autopilot.set_guided_target(GuidedTarget(velocity=(0.0, 17.5, -2.0)))
        rig.fly(20.0)
        way = rig.fly(10.0)
        assert off(np.degrees(np.arctan2(way[:, 5], way[:, 6])), 90.0).max() < 2.5
        assert way[:, 7].mean() == pytest.approx(2.0, abs=0.3)


MISSION = [[0.0, 400.0, 20.0], [500.0, 400.0, 40.0], [500.0, -100.0, 10.0], [-200.0, 0.0, 20.0]]


@pytest.mark.slow
@pytest.mark.parametrize("wind", [pytest.param((0.0, 0.0, 0.0), marks=pytest.mark.soak), (5.0, 0.0, 0.0)])
def test_a_mission_that_the_station_uploads_is_flown(own_links: Links, wind: tuple[float, float, float]) -> None:
    with plane(own_links(1), wind, mission=MISSION) as rig:
        autopilot, times = rig.autopilot, []
        autopilot.parameters.set("RTL_ALTITUDE", 20.0)  # as the last point
        track = rig.fly(150.0)
        assert autopilot.mode.number == AUTO and autopilot.executor.current == 5  # on its way home
        places = [Origin(*ORIGIN).to_local(i.x, i.y, 40.0)[:2] for i in autopilot.plans[PlanKind.MISSION][1:5]]
        # around home
        assert np.linalg.norm(places - np.array(MISSION)[:, :2], axis=1).max() < 40.0
        for position, (_, _, height) in zip(places, MISSION, strict=True):
            distance = away(track, position)
            nearest = int(distance.argmin())
            assert distance[nearest] < autopilot.parameters.value("WP_RADIUS")
            assert track[nearest, 3] == pytest.approx(HEIGHT + height, abs=5.0)
            times.append(track[nearest, 0])
        assert times == sorted(times)
        # in the last third of a leg it is on its line
        leg = track[(track[:, 0] < times[1]) & (track[:, 1] > 330.0) & (track[:, 1] < 420.0)]
        assert len(leg) > 10 and np.abs(leg[:, 2] - places[1][1]).max() < 10.0


@pytest.mark.slow
def test_a_mission_waits_in_circles(own_links: Links) -> None:
    with plane(own_links(1)) as rig:
        rig.begin(CRUISE)
        assert rig.autopilot.frame is not None
        latitude, longitude, _ = rig.autopilot.frame.to_geodetic(300.0, 0.0, 0.0)
        item = MissionItem(16, 3, x=latitude, y=longitude, z=10.0)
        circle = MissionItem(17, 3, p3=-150.0, x=latitude, y=longitude, z=10.0)  # without end, counter-clockwise
        assert rig.autopilot.set_plan(PlanKind.MISSION, [item, item, circle]) == (0, 0)
        assert rig.autopilot.set_mode(AUTO).accepted
        rig.fly(50.0)
        rows = rig.fly(20.0)
        assert np.abs(away(rows, np.array([0.0, 300.0])) / 150.0 - 1.0).max() < 0.1
        bearing = np.unwrap(np.arctan2(*(rows[:, 1:3] - [0.0, 300.0]).T))
        assert bearing[-1] < bearing[0] - 1.0
