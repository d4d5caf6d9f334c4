"""`paddock sitl`: vehicles with autopilots, built in or real, for ground stations to talk to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from paddock.cli.options import Flag, RunOptions, ServeOptions, Whole, as_flags
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
    "Address that all sockets of autopilots bind; 0.0.0.0 for all interfaces; default: 127.0.0.1."

    station_host: str | None = None
    "Host of the ground stations; default: 127.0.0.1. Another machine needs --listen."

    station_port: Whole = None
    "UDP port of the ground station of system 1; default: 14550."

    base_port: Whole = None
    "UDP port that system 1 binds; default: 18570."

    shared_port: Whole = None
    "An additional UDP port shared by all systems."

    tcp: Whole = None
    "TCP port at which system 1 listens, 10 (k - 1) higher for system k; 0: none; default: 5760 where it is free."

    log: str | None = None
    "Folder for one .tlog file per system."

    logs: str | None = None
    "Folder for the on-board logs (.BIN) of the built-in autopilots."

    parameters: str | None = None
    "Folder for the parameters of the built-in autopilots."

    truth: Flag = False
    "Built-in autopilots use the true state instead of their estimator."

    def section(self) -> dict[str, Any]:
        """Return the given settings in the layout of the section."""
        links = {key: value for key, name in LINKS.items() if (value := getattr(self, name)) is not None}
        values = {name: getattr(self, name) for name in SETTINGS}
        values |= {"truth": self.truth or None, "mavlink": links or None}
        return {name: value for name, value in values.items() if value is not None}


SETTINGS = ("time", "timeout", "on_timeout", "listen", "logs", "parameters")
LINKS = {"host": "station_host", "station": "station_port", "port": "base_port", "shared": "shared_port"}
LINKS |= {"tcp": "tcp", "log": "log"}
"""Key of the section `mavlink` -> the option that sets it."""
FLAGS = {f"sitl.mavlink.{key}": f"--{name.replace('_', '-')}" for key, name in LINKS.items()}
FLAGS |= {"sitl.timeout": "--timeout", "sitl.listen": "--listen", "sitl.pilots[0].instance": "--first-instance"}
"""Path of a value in the generated scenario -> the flag that set it."""


def sitl(
    scenario: str | None = None,
    /,
    *,
    vehicles: Whole = None,
    type_: Annotated[str | None, Parameter(name="--type")] = None,
    ardupilot: Literal["copter", "copter-plus", "plane", "rover", "rover-skid"] | None = None,
    px4: Literal["copter", "plane"] | None = None,
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
        Instead of a scenario: physics for ArduPilot: copter (X), copter-plus, plane, rover or rover-skid.
    px4
        Instead of a scenario: physics for PX4: copter or plane.
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
    from paddock.sitl.ardupilot_frames import find_frame

    section = (autopilots or SitlOptions()).section()
    if scenario is not None:
        chosen = _overridden(scenario, section)
    elif ardupilot or px4:
        kind, craft = ("px4", px4) if px4 else ("ardupilot", find_frame(ardupilot or "").craft)
        pilot = ({"frame": ardupilot} if ardupilot else {}) | ({"lockstep": False} if no_lockstep else {})
        chosen = _generated(craft, 1 if instances is None else instances, kind, first_instance or 0, pilot, section)
    else:
        chosen = _generated(type_ or "rover", 1 if vehicles is None else vehicles, "builtin", 0, {}, section)
    return run_scenario(chosen, options or RunOptions(), serve)


def _generated(
    vehicle: str, count: int, kind: str, first: int, pilot: Mapping[str, Any], section: Mapping[str, Any]
) -> "Scenario":
    """Return a scenario of vehicles with autopilots of a kind; errors name the flags."""
    from paddock.scenario import load_scenario
    from paddock.sitl.from_scenario import quick_scenario

    try:
        tree = quick_scenario(vehicle, count, kind, first, **section)
        tree["sitl"]["pilots"][0] |= pilot
        return load_scenario(tree)
    except PaddockError as error:
        raise PaddockError(as_flags(str(error), FLAGS)) from None


def _overridden(name: str, section: Mapping[str, Any]) -> "Scenario":
    """Return the scenario of a file or a demo; `section` overrides settings of its `sitl` section."""
    from paddock.scenario import load_scenario

    read = load_scenario(name)
    if read.sitl is None:
        raise PaddockError(f"{name}: no sitl section; add e.g. sitl: {{pilots: [{{vehicles: name}}]}}")
    if not section:
        return read
    tree = read.to_dict()
    links = tree["sitl"].get("mavlink", {}) | section.get("mavlink", {})
    tree["sitl"] |= {**section, **({"mavlink": links} if links else {})}
    return load_scenario(tree)
