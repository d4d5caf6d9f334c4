"""The built-in autopilot under false satellite signals: a jump is rejected, a slow pull leads it astray; jamming."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pymavlink", reason="pymavlink is not installed")

import paddock
from paddock.mavlink.messages import fields_of
from paddock.mavlink.packets import mav
from paddock.sitl.host import SitlHost

Links = Callable[[int], dict[str, Any]]


def flight(links: dict[str, Any], **radio: Any) -> dict[str, Any]:
    """A copter that flies north along x = 0, at 5 m/s; the spoofer or jammer comes on after 13 s."""
    pilots = [{"vehicles": "scout", "mission": [[0, 150, 8]], "parameters": {"WPNAV_SPEED": 500}}]
    return {
        "seed": 3,
        "clock": {"rate": 250},
        "radio": radio,
        "vehicles": [{"name": "scout", "model": "quad", "preset": "iris", "pose": [0, 0, 1.5708]}],
        "sitl": {"mavlink": links, "pilots": pilots},
    }


def liar(**how: Any) -> list[dict[str, Any]]:
    position = {"name": "liar", "position": [0.0, 60.0, 0.0], "power": -40.0, "on": [[13.0, 1000.0]], "capture": 1.0}
    return [{**position, **how}]


def pilot_of(sim: Any) -> Any:
    host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
    return host.vehicles[0].autopilot


def error_of(sim: Any, pilot: Any) -> float:
    """Horizontal distance of the estimated place from the true one, m."""
    x, y, _ = sim.snapshot()["scout"].position
    position = pilot.estimator.frame.to_geodetic(pilot.estimate.north, pilot.estimate.east, 0.0)
    from paddock.world.geodesy import Origin

    east, north, _ = Origin(*sim.scenario.world.origin).to_local(*np.array(position)[:, None])[0]
    return hypot(x - east, y - north)


def texts(sim: Any) -> dict[str, float]:
    return {event.detail: event.tick / 250 for event in sim.events.since() if event.kind == "autopilot"}


def test_a_jump_is_rejected_and_the_position_is_lost(own_links: Links) -> None:
    with paddock.load(flight(own_links(1), spoofers=liar(offset=[100.0, 0.0, 0.0]))) as sim:
        pilot = pilot_of(sim)
        sim.step(14 * 250 + 1)
        captured = next(e.tick / 250 for e in sim.events.since() if e.kind == "gnss_spoofed")
        worst = 0.0
        while sim.tick / 250 < captured + 8.0:
            sim.step(50)
            worst = max(worst, error_of(sim, pilot))
        said = texts(sim)
        assert worst < 4.0  # dead reckoning for 8 s; the fixes are 100 m away
        assert said["GPS glitch"] == pytest.approx(captured + 0.7, abs=0.3)
        assert said["EKF failsafe: LAND"] == pytest.approx(captured + 5.0, abs=0.4)  # 4 s of dead reckoning, 1 s later
        assert pilot.mode.name == "LAND" and not pilot.estimate.position_ok
        sim.step(5 * 250)  # 10 s after the last good fix the filter takes the false position; the copter lands on
        assert error_of(sim, pilot) == pytest.approx(100.0, abs=4.0) and pilot.mode.name == "LAND"


def test_a_jump_after_jamming_is_rejected_too(own_links: Links) -> None:
    """A strong spoofer jams the receiver until it captures it: the first fix after the outage is 100 m away."""
    with paddock.load(flight(own_links(1), spoofers=liar(power=0.0, offset=[100.0, 0.0, 0.0]))) as sim:
        pilot, worst = pilot_of(sim), 0.0
        sim.step(13 * 250)
        while sim.tick / 250 < 20.0:
            sim.step(50)
            worst = max(worst, error_of(sim, pilot))
        said = texts(sim)
        assert "GPS glitch" in said and worst < 4.0
        assert said["EKF failsafe: LAND"] == pytest.approx(13.0 + 5.0, abs=0.4)
        assert pilot.mode.name == "LAND"


def test_a_slow_pull_leads_the_vehicle_away(own_links: Links) -> None:
    with paddock.load(flight(own_links(1), spoofers=liar(pull={"velocity": [0.5, 0.0, 0.0]}))) as sim:
        pilot = pilot_of(sim)
        sim.step(17 * 250)
        begin = float(sim.snapshot()["scout"].position[0])
        sim.step(10 * 250)
        end = float(sim.snapshot()["scout"].position[0])
        assert (end - begin) / 10.0 == pytest.approx(-0.5, abs=0.07)
        east = pilot.estimate.east
        assert abs(east) < 1.0 and pilot.estimate.position_ok and pilot.mode.name == "AUTO"  # on the route, it thinks
        assert not [text for text in texts(sim) if "glitch" in text or "EKF" in text]


def test_a_jammer_takes_the_fix_and_telemetry_shows_it(own_links: Links) -> None:
    red = {"name": "red", "kind": "barrage", "position": [0.0, 30.0, 0.0], "frequency": 1575.42e6, "bandwidth": 2e6}
    with paddock.load(flight(own_links(1), jammers=[{**red, "power": 0.0, "on": [[3.0, 6.0]]}])) as sim:
        pilot, rows = pilot_of(sim), []
        for _ in range(10):
            sim.step(250)
            gps = mav.mavlink_map[24](*fields_of(24, pilot))
            rows.append((gps.fix_type, gps.satellites_visible))
        assert rows[1] == (3, 12) and rows[4][0] == 0 and rows[4][1] == 0 and rows[9] == (3, 12)
        gps = [pilot.estimator.health.gps]
        assert gps == [True]
