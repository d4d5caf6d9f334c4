"""How to connect ground stations, and how to start real autopilots: lines to be copied."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.scenario import Scenario
from paddock.sitl.hosting.crew import ARDUPILOT_FRAME, Seat
from paddock.world.geodesy import Origin

QGROUNDCONTROL = 14550
"""The UDP port at which it listens without being told."""
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
    shared = links.shared is not None  # then whoever listens at the first port hears everybody
    port, whom = (links.station, "all systems") if shared else (links.station + first - 1, f"system {first}")
    how = "start it: it connects by itself" if port == QGROUNDCONTROL else f"add a UDP link with port {port}"
    lines = [
        "",
        f"To talk to {whom}:",
        f"  QGroundControl   {how}",
        f"  Mission Planner  choose UDP, Connect, port {port}",
        f"  MAVProxy         mavproxy.py --master=udpin:{links.host}:{port}",
        f"  MAVSDK           udpin://{links.host}:{port}",
        f"  pymavlink        mavutil.mavlink_connection('udpin:{links.host}:{port}')",
    ]
    if shared:
        lines.append(f"A program may also speak to all of them itself: udpout:{links.host}:{links.shared}")
    if last > first:
        others = "Each system from 2 on also has" if shared else "Each other system has"
        lines.append(f"{others} a port of its own, see the table: up to {links.station + last - 1}.")
    return lines


def _launch(scenario: Scenario, seat: Seat) -> list[str]:
    if seat.pilots.autopilot == "px4":
        from paddock.sitl.px4 import launch as px4

        return px4.launch_hint(seat.instance).lines()
    from paddock.sitl.ardupilot import launch as ardupilot

    frame, origin = seat.pilots.frame or ARDUPILOT_FRAME[seat.placed.craft], Origin(*scenario.world.origin)
    return ardupilot.launch_hint(frame, seat.instance, origin, seat.placed.heading).lines()
