"""The options of `sitl` that say how autopilots are served, whoever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cyclopts import Parameter

from paddock.cli.options import Flag, Whole


@Parameter(name="*")
@dataclass(frozen=True)
class SitlOptions:
    """What replaces settings of a scenario's `sitl` section."""

    time: Literal["lockstep", "free", "scaled"] | None = None
    "Whether time waits for autopilots: lockstep, free, or scaled (lockstep at --pace)."

    timeout: float | None = None
    "Seconds that an autopilot may take to answer."

    on_timeout: Literal["free_run", "hold", "stop"] | None = None
    "What happens then: free_run, hold or stop."

    listen: str | None = None
    "Address at which autopilots can be reached; 0.0.0.0 for other machines."

    station_host: str | None = None
    "Where ground stations are; 127.0.0.1 by default."

    station_port: Whole = None
    "UDP port of the ground station of system 1; 14550 by default."

    base_port: Whole = None
    "UDP port that system 1 binds; 18570 by default."

    shared_port: Whole = None
    "One more UDP port, on which all systems speak."

    log: str | None = None
    "Folder for a .tlog file of each system."

    parameters: str | None = None
    "Folder in which the built-in autopilots keep their parameters."

    truth: Flag = False
    "The built-in autopilots know the truth instead of estimating it."

    def section(self) -> dict[str, Any]:
        """What was said, as the section has it."""
        said = {name: getattr(self, name) for name in ("time", "timeout", "on_timeout", "listen", "parameters")}
        links = {
            "host": self.station_host,
            "station": self.station_port,
            "port": self.base_port,
            "shared": self.shared_port,
            "log": self.log,
        }
        said |= {"truth": self.truth or None, "mavlink": _given(links) or None}
        return _given(said)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
