"""`paddock sitl`: vehicles with autopilots, built in or real, for ground stations to talk to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from paddock.cli.options import Flag, RunOptions, Whole
from paddock.cli.serving import ServeOptions
from paddock.errors import PaddockError

ONE_OF = "give a scenario, --vehicles, --ardupilot or --px4: one of them"


def sitl(
    scenario: str | None = None,
    /,
    *,
    vehicles: Whole = None,
    type_: Annotated[str | None, Parameter(name="--type")] = None,
    ardupilot: Literal["copter", "copter-plus", "rover", "rover-skid"] | None = None,
    px4: Literal["copter"] | None = None,
    instances: Whole = None,
    first_instance: Whole = None,
    time: Literal["lockstep", "free", "scaled"] | None = None,
    no_lockstep: Flag = False,
    timeout: float | None = None,
    on_timeout: Literal["free_run", "hold", "stop"] | None = None,
    listen: str | None = None,
    station_host: str | None = None,
    station_port: Whole = None,
    base_port: Whole = None,
    shared_port: Whole = None,
    log: str | None = None,
    parameters: str | None = None,
    truth: Flag = False,
    options: RunOptions | None = None,
    serve: ServeOptions | None = None,
) -> int:
    """Run vehicles with autopilots: built in, or as the physics of real ArduPilots and PX4s.

    Parameters
    ----------
    scenario
        A scenario file (YAML) with a sitl section, or the name of a demo.
    vehicles
        Instead of a scenario: so many vehicles with the built-in autopilot, at most 254.
    type_
        What they are: rover (the default), rover_ackermann, copter or plane.
    ardupilot
        Instead of a scenario: be the physics of a real ArduPilot: copter (X), copter-plus, rover or rover-skid.
    px4
        Instead of a scenario: be the physics of a real PX4.
    instances
        How many real autopilots; 1 by default.
    first_instance
        Instance number of the first of them (its -I); 0 by default.
    time
        Whether time waits for autopilots: lockstep, free, or scaled (lockstep at --pace).
    no_lockstep
        Real autopilots run on a clock of their own.
    timeout
        Seconds that an autopilot may take to answer.
    on_timeout
        What happens then: free_run, hold or stop.
    listen
        Address at which autopilots can be reached; 0.0.0.0 for other machines.
    station_host
        Where ground stations are; 127.0.0.1 by default.
    station_port
        UDP port of the ground station of system 1; 14550 by default.
    base_port
        UDP port that system 1 binds; 18570 by default.
    shared_port
        One more UDP port, on which all systems speak.
    log
        Folder for a .tlog file of each system.
    parameters
        Folder in which the built-in autopilots keep their parameters.
    truth
        The built-in autopilots know the truth instead of estimating it.
    """
    own = type_ if vehicles is None else vehicles
    sources = [source for source in (scenario, own, ardupilot, px4) if source is not None]
    if len(sources) != 1:
        raise PaddockError(f"{ONE_OF}, e.g. paddock sitl --vehicles 10 --type rover")
    if (instances is not None or first_instance is not None or no_lockstep) and not (ardupilot or px4):
        raise PaddockError("--instances, --first-instance and --no-lockstep go with --ardupilot or --px4")
    links = {
        "host": station_host,
        "station": station_port,
        "port": base_port,
        "shared": shared_port,
        "log": log,
    }
    section: dict[str, Any] = {"time": time, "timeout": timeout, "on_timeout": on_timeout, "parameters": parameters}
    section["listen"] = listen
    given: dict[str, Any] = {key: value for key, value in section.items() if value is not None}
    if truth:
        given["truth"] = True
    if mavlink := {key: value for key, value in links.items() if value is not None}:
        given["mavlink"] = mavlink
    from paddock.cli.session import conduct
    from paddock.cli.sitl_source import chosen

    what = {"vehicles": vehicles, "craft": type_, "ardupilot": ardupilot, "px4": px4}
    real: dict[str, Any] = {"instances": instances, "first": first_instance or 0, "lockstep": not no_lockstep}
    return conduct(chosen(scenario, what, real, given), options or RunOptions(), serve)
