"""How to start a PX4 for a vehicle of ours: the command lines, to be copied."""

from __future__ import annotations

from typing import NamedTuple

from paddock.errors import InvalidValueError

SIMULATOR_PORT = 4560
GROUND_STATION_PORT = 18570
OFFBOARD_PORT = 14540
LAST_OFFBOARD = 9
"""PX4's start script gives all instances from this one on the same port."""
AIRFRAME = 10016
"""SYS_AUTOSTART of the iris quadrotor without a simulator of PX4's own."""


class LaunchHint(NamedTuple):
    """What to type, and where to connect."""

    make: str  # in a checkout of PX4
    binary: str  # the same without make, for any instance
    mavlink: str  # where ground stations and MAVSDK find it

    def lines(self) -> list[str]:
        """For people."""
        return [f"start:    {self.make}", f"or:       {self.binary}", f"connect:  {self.mavlink}"]


def simulator_port(instance: int) -> int:
    """The TCP port at which that instance looks for its simulator."""
    if instance < 0:
        raise InvalidValueError(f"PX4: instance counts from 0, not {instance}")
    return SIMULATOR_PORT + instance


def launch_hint(instance: int, simulator: str = "127.0.0.1") -> LaunchHint:
    """The command lines for one instance; `simulator` is the address of the machine that Paddock runs on."""
    host = f"PX4_SIM_HOSTNAME={simulator} "
    binary = f"{host}PX4_SYS_AUTOSTART={AIRFRAME} build/px4_sitl_default/bin/px4 -i {instance}"
    shared = f" (shared by all instances from {LAST_OFFBOARD} on)" if instance > LAST_OFFBOARD else ""
    return LaunchHint(
        make=f"{host}make px4_sitl none_iris" if instance == 0 else binary,  # make starts instance 0 only
        binary=binary,
        mavlink=f"udp:127.0.0.1:14550 (it sends from {GROUND_STATION_PORT + instance}), "
        f"MAVSDK udpin://0.0.0.0:{OFFBOARD_PORT + min(instance, LAST_OFFBOARD)}{shared}",
    )
