"""Touchdown in wind from any side: the copter stands where it touches, level and still, as soon as in still air."""

from __future__ import annotations

from math import acos, degrees, radians
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.vehicle_data import Floats
from paddock.mavlink.messages import VibrationMeter
from paddock.scenario.loading import load_preset
from paddock.sitl.host import SitlHost

GUIDED, LAND, TAKEOFF = 4, 9, 22  # modes, MAV_CMD
HEADINGS = (0, 20, 45, 200)  # deg from east; the wind blows to the north-east
PERIOD = 0.02  # s between two samples


class Touchdown:
    """What one copter shows from 0.5 m above the ground until 1 s after it has disarmed, 50 times a second."""

    def __init__(self) -> None:
        self.place: list[Floats] = []
        self.tilt: list[float] = []  # deg
        self.force: list[Floats] = []  # m/s2, accelerometer
        self.shaking: list[Floats] = []  # m/s2, VIBRATION
        self.compass: list[float] = []  # compass variance of EKF_STATUS_REPORT
        self.armed: list[bool] = []
        self.meter = VibrationMeter()

    def note(self, position: Floats, quaternion: Floats, pilot: BuiltInAutopilot) -> None:
        s, (x, y) = pilot.sensors, quaternion[:2]
        self.meter.sample(pilot.telemetry.time_us, s)
        self.place.append(position.copy())
        self.tilt.append(degrees(acos(1.0 - 2.0 * (x * x + y * y))))
        self.force.append(np.array((s.accel_x, s.accel_y, s.accel_z)))
        fields = self.meter.fields()
        self.shaking.append(np.array((0.0, 0.0, 0.0) if fields is None else fields[1:4]))
        self.compass.append(pilot.estimate.compass_ratio)
        self.armed.append(pilot.armed)

    def figures(self, travel: float) -> dict[str, float]:
        """Return figures from the first contact on; tilt and creep after 0.5 s, shaking after 1 s."""
        position, force = np.array(self.place), np.array(self.force)
        first = int(np.argmax(position[:, 2] < travel))
        settled, later = first + round(0.5 / PERIOD), first + round(1.0 / PERIOD)
        off = first + self.armed[first:].index(False)
        return {
            "disarmed": (off - first) * PERIOD,
            "slide": float(np.hypot(*(position[first:, :2] - position[first, :2]).T).max()),
            "creep": float(np.ptp(position[settled:, :2], axis=0).max()),
            "tilt": max(self.tilt[settled:]),
            "load": float(np.abs(force).max()) / 9.80665,
            "shaking": float(force[later:off].std(axis=0).max()),
            "vibration": float(np.array(self.shaking)[first:].max()),
            "compass": max(self.compass[first:]),
        }


def landed(wind: float, links: dict[str, Any]) -> list[dict[str, float]]:
    """Copters with different headings take off and land."""
    vehicles = [
        {"name": f"c{k}", "model": "quad", "preset": "iris", "pose": [8.0 * k, 0.0, 0.0, radians(heading)]}
        for k, heading in enumerate(HEADINGS)
    ]
    names = [vehicle["name"] for vehicle in vehicles]
    settings = {"LAND_ALT_LOW": 100, "WPNAV_SPEED_DN": 100}
    pilots = [{"vehicles": name, "craft": "copter", "parameters": settings} for name in names]
    world = {"wind": [wind * np.sqrt(0.5), wind * np.sqrt(0.5), 0.0]}
    sitl = {"pilots": pilots, "mavlink": links}
    with paddock.load({"seed": 3, "clock": {"rate": 250}, "world": world, "vehicles": vehicles, "sitl": sitl}) as sim:
        host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
        crew: list[BuiltInAutopilot] = [each.autopilot for each in host.vehicles]  # type: ignore[misc]
        sim.step(750)
        for pilot in crew:
            assert pilot.set_mode(GUIDED).accepted and pilot.arm().accepted
            assert pilot.command(TAKEOFF, (0, 0, 0, 0, 0, 0, 2)).accepted
        sim.step(1750)
        shot = sim.snapshot()
        assert all(1.5 < shot[name].position[2] < 2.5 for name in names)
        assert all(pilot.set_mode(LAND).accepted for pilot in crew)
        logs, left = [Touchdown() for _ in crew], 50
        for _ in range(1000):
            sim.step(5)
            shot = sim.snapshot()
            for name, log, pilot in zip(names, logs, crew, strict=True):
                if shot[name].position[2] < 0.5:
                    log.note(shot[name].position, shot[name].orientation, pilot)
            left -= not any(pilot.armed for pilot in crew)
            if not left:
                break
    assert not left, "some never disarm"
    return [log.figures(load_preset("quad", "iris")["leg_travel"]) for log in logs]


@pytest.mark.parametrize("winds", [(12.0,), pytest.param((5.0, 8.0), marks=pytest.mark.slow)])
def test_a_landing_in_wind_from_any_side_is_one_in_still_air(own_links: Any, winds: tuple[float, ...]) -> None:
    calm, *others = (landed(wind, own_links(len(HEADINGS))) for wind in (0.0, *winds))
    for still, *windy in zip(calm, *others, strict=True):
        assert still["disarmed"] < 2.0 and still["load"] < 2.0
        assert still["slide"] < 0.02 and still["tilt"] < 0.1 and still["shaking"] < 0.3
        for case in windy:
            assert case["disarmed"] < still["disarmed"] + 0.5  # s
            assert case["slide"] < 0.02 and case["creep"] == 0.0  # m, in all and from 0.5 s after the contact
            assert case["tilt"] < 1.0 and case["load"] < 2.0  # deg, g
            assert case["shaking"] < still["shaking"] + 0.05  # m/s2
            assert case["vibration"] < still["vibration"] + 0.3 and case["compass"] < still["compass"] + 0.1
