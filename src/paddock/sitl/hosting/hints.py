"""How to connect ground stations, and how to start real autopilots: lines to be copied."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.scenario import Scenario
from paddock.sitl.hosting.crew import ARDUPILOT_FRAME, Seat
from paddock.world.geodesy import Origin

SHOWN = 3
"""Instances whose command lines are shown; the others are like them."""


def connection_hints(scenario: Scenario, seats: Sequence[Seat]) -> list[str]:
    """All lines."""
    assert scenario.sitl is not None
    own = [seat for seat in seats if seat.pilots.autopilot == "builtin"]
    lines = _stations(scenario, own) if own else []
    real = [seat for seat in seats if seat.pilots.autopilot != "builtin"]
    for seat in real[:SHOWN]:
        lines += ["", f"system {seat.placed.id} {seat.placed.name}, waiting for {seat.pilots.autopilot}:"]
        lines += [f"  {line}" for line in _launch(scenario, seat)]
    if len(real) > SHOWN:
        lines.append(f"and likewise {len(real) - SHOWN} more, each with its own instance (-I)")
    return lines


def _stations(scenario: Scenario, seats: Sequence[Seat]) -> list[str]:
    assert scenario.sitl is not None
    links = scenario.sitl.mavlink
    first, last = seats[0].placed.id, seats[-1].placed.id
    port = links.station + first - 1
    several = f" (systems up to {last}: up to {links.station + last - 1})" if last > first else ""
    lines = [
        "",
        f"QGroundControl   finds UDP 14550 by itself; for others add a UDP link that listens at {port}{several}",
        f"Mission Planner  UDP, port {port}",
        f"MAVProxy         mavproxy.py --master=udpin:{links.host}:{port}",
        f"MAVSDK           udpin://{links.host}:{port}",
        f"pymavlink        mavutil.mavlink_connection('udpin:{links.host}:{port}')",
    ]
    if links.shared is not None:
        lines.append(f"all systems      at one link: speak to udp {links.shared} (udpout:{links.host}:{links.shared})")
    return lines


def _launch(scenario: Scenario, seat: Seat) -> list[str]:
    if seat.pilots.autopilot == "px4":
        from paddock.sitl.px4 import launch as px4

        return px4.launch_hint(seat.instance).lines()
    from paddock.sitl.ardupilot import launch as ardupilot

    frame, origin = seat.pilots.frame or ARDUPILOT_FRAME[seat.placed.craft], Origin(*scenario.world.origin)
    return ardupilot.launch_hint(frame, seat.instance, origin, seat.placed.heading).lines()
