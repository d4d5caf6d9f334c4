"""`paddock sitl`: vehicles with autopilots, built in or real, for ground stations to talk to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from paddock.cli.options import Flag, RunOptions, ServeOptions, Whole
from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.scenario import Scenario


@Parameter(name="*")
@dataclass(frozen=True)
class SitlOptions:
    """Settings that override the scenario's `sitl` section."""

    time: Literal["lockstep", "free", "scaled"] | None = None
    "Time mode: lockstep, free, or scaled (lockstep at --pace)."

    timeout: float | None = None
    "Timeout of an autopilot's reply, in s."

    on_timeout: Literal["free_run", "hold", "stop"] | None = None
    "Action on a timeout: free_run, hold or stop."

    listen: str | None = None
    "Address to listen on; 0.0.0.0 for all interfaces."

    station_host: str | None = None
    "Host of the ground stations; default: 127.0.0.1."

    station_port: Whole = None
    "UDP port of the ground station of system 1; default: 14550."

    base_port: Whole = None
    "UDP port that system 1 binds; default: 18570."

    shared_port: Whole = None
    "An additional UDP port shared by all systems."

    log: str | None = None
    "Folder for one .tlog file per system."

    parameters: str | None = None
    "Folder for the parameters of the built-in autopilots."

    truth: Flag = False
    "Built-in autopilots use the true state instead of their estimator."

    def section(self) -> dict[str, Any]:
        """Return the given settings in the layout of the section."""
        values = {name: getattr(self, name) for name in ("time", "timeout", "on_timeout", "listen", "parameters")}
        links = {
            "host": self.station_host,
            "station": self.station_port,
            "port": self.base_port,
            "shared": self.shared_port,
            "log": self.log,
        }
        values |= {"truth": self.truth or None, "mavlink": _given(links) or None}
        return _given(values)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


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
    """Run vehicles with built-in autopilots, or provide the physics for ArduPilot and PX4.

    Parameters
    ----------
    scenario
        A scenario file (YAML) with a sitl section, or the name of a demo.
    vehicles
        Instead of a scenario: number of vehicles with the built-in autopilot, at most 254.
    type_
        Their type: rover (default), rover_ackermann, copter or plane.
    ardupilot
        Instead of a scenario: physics for ArduPilot: copter (X), copter-plus, rover or rover-skid.
    px4
        Instead of a scenario: physics for PX4.
    instances
        Number of external autopilots; default: 1.
    first_instance
        Instance number of the first one (its -I); default: 0.
    no_lockstep
        ArduPilot runs on its own clock.
    """
    own = type_ if vehicles is None else vehicles
    sources = [source for source in (scenario, own, ardupilot, px4) if source is not None]
    if len(sources) != 1:
        raise PaddockError(
            "give one of SCENARIO, --vehicles, --ardupilot and --px4, e.g. paddock sitl --vehicles 10 --type rover"
        )
    if (instances is not None or first_instance is not None) and not (ardupilot or px4):
        raise PaddockError("--instances and --first-instance require --ardupilot or --px4")
    if no_lockstep and not ardupilot:
        raise PaddockError("--no-lockstep requires --ardupilot; PX4 reports whether it was built for lockstep")
    from paddock.cli.session import run_scenario

    what = {"vehicles": vehicles, "craft": type_, "ardupilot": ardupilot, "px4": px4}
    real: dict[str, Any] = {"instances": instances, "first": first_instance or 0, "lockstep": not no_lockstep}
    settings = (autopilots or SitlOptions()).section()
    return run_scenario(_chosen(scenario, what, real, settings), options or RunOptions(), serve)


FLAGS = {
    "sitl.mavlink.host": "--station-host",
    "sitl.mavlink.station": "--station-port",
    "sitl.mavlink.port": "--base-port",
    "sitl.mavlink.shared": "--shared-port",
    "sitl.timeout": "--timeout",
    "sitl.listen": "--listen",
    "sitl.pilots[0].instance": "--first-instance",
}
"""Path of a value in the generated scenario -> the flag that set it."""


def _chosen(
    scenario: str | None, what: Mapping[str, Any], real: Mapping[str, Any], given: Mapping[str, Any]
) -> Scenario:
    """Return the scenario; `given` overrides settings of its `sitl` section."""
    from paddock.scenario import load_scenario

    if scenario is not None:
        return _written(scenario, given)
    try:
        return load_scenario(_generated(what, real, given))
    except PaddockError as error:
        message = str(error)
        for place, flag in FLAGS.items():
            message = message.replace(place, flag)
        raise PaddockError(message) from None


def _written(scenario: str, given: Mapping[str, Any]) -> Scenario:
    """Load a file or a demo and apply the overrides."""
    from paddock.scenario import load_scenario

    read = load_scenario(scenario)
    if read.sitl is None:
        raise PaddockError(f"{scenario}: no sitl section; add e.g. sitl: {{pilots: [{{vehicles: name}}]}}")
    if not given:
        return read
    tree = read.to_dict()
    links = tree["sitl"].get("mavlink", {}) | given.get("mavlink", {})
    tree["sitl"] |= {**given, **({"mavlink": links} if links else {})}
    return load_scenario(tree)


def _generated(what: Mapping[str, Any], real: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario from --vehicles and --type, --ardupilot or --px4."""
    from paddock.sitl.from_scenario import ARDUPILOT_FRAMES, quick_scenario

    if what["ardupilot"] is None and what["px4"] is None:
        count = 1 if what["vehicles"] is None else what["vehicles"]
        return quick_scenario(what["craft"] or "rover", count, "builtin", **given)
    autopilot = "ardupilot" if what["ardupilot"] else "px4"
    craft = ARDUPILOT_FRAMES[what[autopilot]]
    count = 1 if real["instances"] is None else real["instances"]
    tree = quick_scenario(craft, count, autopilot, real["first"], **given)
    pilots = tree["sitl"]["pilots"][0]
    if what["ardupilot"] is not None:
        pilots["frame"] = what["ardupilot"]
    if not real["lockstep"]:
        pilots["lockstep"] = False
    return tree
