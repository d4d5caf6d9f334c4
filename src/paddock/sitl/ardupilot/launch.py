"""How to start an ArduPilot for a vehicle of ours: the command lines, to be copied."""

from __future__ import annotations

from math import degrees
from pathlib import Path
from typing import NamedTuple

from paddock.sitl.ardupilot.frames import find_frame
from paddock.world.geodesy import Origin

JSON_PORT = 9002
MAVLINK_PORT = 5760
PORT_STEP = 10
"""Ports of one ArduPilot instance lie this far above those of the one before."""

PARAMETERS = "Tools/autotest/default_params"


class LaunchHint(NamedTuple):
    """What to type, and where to connect."""

    home: str  # --home: latitude, longitude, altitude, heading in deg
    sim_vehicle: str  # in a checkout of ArduPilot
    binary: str  # the same without sim_vehicle.py
    mavlink: str  # where a ground station connects
    caution: str = ""  # what else has to fit

    def lines(self) -> list[str]:
        """For people."""
        return [
            f"start:    {self.sim_vehicle}",
            f"or:       {self.binary}",
            f"connect:  {self.mavlink}",
            *([f"mind:     {self.caution}"] if self.caution else []),
        ]


def json_port(instance: int) -> int:
    """The UDP port at which that instance looks for its physics."""
    return JSON_PORT + PORT_STEP * instance


def home_of(origin: Origin, heading: float) -> str:
    """The --home of the world's origin: positions are metres from there, whatever place the vehicle has.

    `heading` (rad, clockwise from north) only serves until the first state arrives.
    """
    return f"{origin.latitude_deg:.7f},{origin.longitude_deg:.7f},{origin.height_m:.2f},{degrees(heading) % 360.0:.1f}"


def launch_hint(
    frame: str, instance: int, origin: Origin, heading: float = 0.0, physics: str = "127.0.0.1"
) -> LaunchHint:
    """The command lines for one instance; `physics` is the address of the machine that Paddock runs on."""
    found = find_frame(frame)
    home = home_of(origin, heading)
    own = str(Path(__file__).with_name(found.own_parameters)) if found.own_parameters else ""
    number = f" -I {instance} --sysid {instance + 1}" if instance else ""
    files = ",".join([*(f"{PARAMETERS}/{name}" for name in found.defaults), *([own] if own else [])])
    extra = f" --add-param-file={own}" if own else ""
    return LaunchHint(
        home=home,
        sim_vehicle=f"sim_vehicle.py -v {found.vehicle} -f {found.sim_frame} --model JSON:{physics} "
        f"--custom-location={home}{number}{extra}",
        binary=f"build/sitl/bin/{found.binary} --model JSON:{physics} --home {home}{number} --defaults {files}",
        mavlink=f"tcp:127.0.0.1:{MAVLINK_PORT + PORT_STEP * instance}",
        caution=found.caution,
    )
