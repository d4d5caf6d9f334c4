"""Built-in autopilots that run together: the same flight as alone, and no vehicle affects another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.autopilot import group, kalman
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.host import SitlHost

GUIDED, TAKEOFF, REBOOT = 4, 22, 246  # mode, MAV_CMD


def world(others: int, craft: str = "copter") -> dict[str, Any]:
    """One vehicle with a name of its own, and some others 50 m away."""
    model = {"copter": {"model": "quad", "preset": "iris"}, "rover": {"model": "rover", "preset": "skid"}}[craft]
    crowd = {"name": "crowd", **model, "count": others, "spawn": {"line": {"start": [50, 0, 0], "end": [90, 0, 0]}}}
    vehicles = [{"name": "solo", **model, "pose": [0, 0, 0, 0.3]}, *([crowd] if others else [])]
    pilots = [{"vehicles": entry["name"], "craft": craft} for entry in vehicles]
    links = {"port": 0, "station": 1}
    return {"seed": 5, "clock": {"rate": 250}, "vehicles": vehicles, "sitl": {"pilots": pilots, "mavlink": links}}


def host_of(sim: Any) -> SitlHost:
    return next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))


def pilots_of(sim: Any) -> list[BuiltInAutopilot]:
    return [vehicle.autopilot for vehicle in host_of(sim).vehicles]  # type: ignore[misc]


def flown(others: int, links: dict[str, Any]) -> tuple[bytes, list[np.ndarray], float]:
    """Take off after 3 s: the pose of the first vehicle, all its numbers, and its height."""
    scenario = world(others)
    scenario["sitl"]["mavlink"] = links
    with paddock.load(scenario) as sim:
        sim.step(750)
        pilots = pilots_of(sim)
        for pilot in pilots:
            assert pilot.set_mode(GUIDED).accepted and pilot.arm().accepted
            assert pilot.command(TAKEOFF, (0, 0, 0, 0, 0, 0, 10)).accepted
        sim.step(750)
        solo, shot = pilots[0], sim.snapshot()["solo"]
        assert len(solo.controls.status) == 1 + others  # they share the arrays
        arrays = [array[solo.index].copy() for array in (*solo.estimator.arrays, *solo.controls)]
        return shot.position.tobytes() + shot.orientation.tobytes(), arrays, float(shot.position[2])


@pytest.mark.parametrize("others", [3, pytest.param(31, marks=pytest.mark.slow)])  # 32 use all threads
def test_a_copter_flies_the_same_alone_and_in_a_group(others: int, own_links: Any) -> None:
    alone, numbers, height = flown(0, own_links(1))
    together, same, _ = flown(others, own_links(1 + others))
    assert height > 0.3  # it has taken off
    assert alone == together
    for first, other in zip(numbers, same, strict=True):
        np.testing.assert_array_equal(first, other)


def test_an_exception_of_one_autopilot_fails_its_vehicle_only(own_links: Any) -> None:
    scenario = world(2)
    scenario["sitl"]["mavlink"] = own_links(3)
    with paddock.load(scenario) as sim:
        sim.step(50)
        first, second, _ = pilots_of(sim)
        second.mode.update = lambda dt: 1 / 0  # type: ignore[method-assign]
        sim.step(50)
        rows = host_of(sim).status()
        assert [row.connected for row in rows] == [True, False, True]
        assert "ZeroDivisionError" in rows[1].note
        assert rows[0].exchanges == 100 and rows[1].exchanges < 60
        assert first.now_us == 99 * 4000 and len(first.controls.status) == 2  # the others form a group without it


def test_a_reboot_restarts_one_vehicle_of_a_group(own_links: Any) -> None:
    scenario = world(2)
    scenario["sitl"]["mavlink"] = own_links(3)
    with paddock.load(scenario) as sim:
        sim.step(1000)
        first, second, third = pilots_of(sim)
        before = [pilot.frame for pilot in (first, second, third)]
        assert None not in before and all(pilot.estimate.position_ok for pilot in (first, second, third))
        assert second.command(REBOOT, (1, 0, 0, 0, 0, 0, 0)).accepted
        sim.step(1)
        assert not second.estimate.position_ok and second.frame is not before[1] and not second.status_row[group.REBOOT]
        assert second.estimator._memory[kalman.JUMPS] == 1.0  # one origin, set once
        assert (first.frame, third.frame) == (before[0], before[2])
        sim.step(1000)
        assert second.frame is not None and second.estimate.position_ok


def test_parameters_reach_the_compiled_control_of_one_vehicle(own_links: Any) -> None:
    scenario = world(2)
    scenario["sitl"]["mavlink"] = own_links(3)
    with paddock.load(scenario) as sim:
        sim.step(500)
        first, second, _ = pilots_of(sim)
        assert second.parameters.set("PSC_POSXY_P", 1.5) and second.parameters.set("SIM_GPS_DISABLE", 1)
        sim.step(25)
        assert second.controls.gains[:, 0].tolist() == [1.0, 1.5, 1.0]
        assert (first.sensors.gnss_fix, second.sensors.gnss_fix) == (3.0, 0.0)
        assert first.sensors.latitude == first.sensors.latitude and second.sensors.latitude != second.sensors.latitude
