"""A small ground station for `paddock sitl --type rover`. `python 10_autopilots.py [udpin:127.0.0.1:14550]`."""

import socket
import sys
from math import cos, radians

from pymavlink import mavutil

import paddock

POINTS = [(12.0, 0.0), (12.0, 10.0), (0.0, 10.0), (0.0, 2.0)]  # m north, east of home
WAYPOINT, AUTO, ARM, SET_MODE, START = 16, 10, 400, 176, 300  # MAV_CMDs, and the number of a rover's mode


def ask(link: mavutil.mavfile, command: int, *values: float) -> None:
    """Repeat a command until it is accepted: the autopilot may not have a position yet."""
    accepted = f"COMMAND_ACK.command=={command} and COMMAND_ACK.result==0"
    link.mav.command_long_send(1, 1, command, 0, *values, *[0.0] * (7 - len(values)))
    while not link.recv_match(type="COMMAND_ACK", condition=accepted, blocking=True, timeout=0.5):
        link.mav.command_long_send(1, 1, command, 0, *values, *[0.0] * (7 - len(values)))


def upload(link: mavutil.mavfile, home: tuple[float, float]) -> None:
    """Upload the mission: item 0 is home, then the points; the vehicle requests them in sequence."""
    north, east = 1e7 / 111_195.0, 1e7 / (111_195.0 * cos(radians(home[0])))
    places = [(round(home[0] * 1e7 + n * north), round(home[1] * 1e7 + e * east)) for n, e in [(0, 0), *POINTS]]
    link.mav.mission_count_send(1, 1, len(places), 0)
    answers = ["MISSION_REQUEST_INT", "MISSION_ACK"]
    while (asked := link.recv_match(type=answers, blocking=True)).get_type() != "MISSION_ACK":
        link.mav.mission_item_int_send(1, 1, asked.seq, 6, WAYPOINT, 0, 1, 0, 0, 0, 0, *places[asked.seq], 0, 0)
    print(f"mission of {len(POINTS)} points: {'accepted' if asked.type == 0 else f'refused with {asked.type}'}")


def drive(link: mavutil.mavfile) -> None:
    """Run the mission, from the first heartbeat to the last point."""
    link.wait_heartbeat()
    home = link.recv_match(type="HOME_POSITION", blocking=True)
    upload(link, (home.latitude / 1e7, home.longitude / 1e7))
    for command in ((SET_MODE, 1, AUTO), (ARM, 1), (START,)):
        ask(link, *command)
    reached = 0
    while reached < len(POINTS):
        reached = link.recv_match(type="MISSION_ITEM_REACHED", blocking=True).seq
        here = link.recv_match(type="LOCAL_POSITION_NED", blocking=True)
        print(f"{here.time_boot_ms / 1000:5.1f} s: point {reached} reached, ({here.x:5.1f}, {here.y:5.1f}) m")


if len(sys.argv) > 1:
    drive(mavutil.mavlink_connection(sys.argv[1]))
else:  # no server running: run a rover with the built-in autopilot here, at ten times real time
    link = mavutil.mavlink_connection("udpin:127.0.0.1:0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))  # a free port
        ports = {"station": link.port.getsockname()[1], "port": probe.getsockname()[1]}
    scenario = {"clock": {"rate": 50, "pace": 10}, "vehicles": [{"name": "rover", "model": "rover", "preset": "skid"}]}
    scenario["sitl"] = {"pilots": [{"vehicles": "rover"}], "mavlink": ports}
    with paddock.load(scenario) as sim, sim.clock.running():
        drive(link)
    link.close()
