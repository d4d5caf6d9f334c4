"""`paddock sitl`: vehicles with autopilots, built in or real, for ground stations to talk to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from paddock.cli.options import Flag, RunOptions, Whole
from paddock.cli.serving import ServeOptions
from paddock.cli.sitl_options import SitlOptions
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
    no_lockstep: Flag = False,
    autopilots: SitlOptions | None = None,
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
    no_lockstep
        Real ArduPilots run on a clock of their own.
    """
    own = type_ if vehicles is None else vehicles
    sources = [source for source in (scenario, own, ardupilot, px4) if source is not None]
    if len(sources) != 1:
        raise PaddockError(f"{ONE_OF}, e.g. paddock sitl --vehicles 10 --type rover")
    if (instances is not None or first_instance is not None) and not (ardupilot or px4):
        raise PaddockError("--instances and --first-instance go with --ardupilot or --px4")
    if no_lockstep and not ardupilot:
        raise PaddockError("--no-lockstep goes with --ardupilot; a PX4 says itself whether it is built for lockstep")
    from paddock.cli.session import conduct
    from paddock.cli.sitl_source import chosen

    what = {"vehicles": vehicles, "craft": type_, "ardupilot": ardupilot, "px4": px4}
    real: dict[str, Any] = {"instances": instances, "first": first_instance or 0, "lockstep": not no_lockstep}
    settings = (autopilots or SitlOptions()).section()
    return conduct(chosen(scenario, what, real, settings), options or RunOptions(), serve)
