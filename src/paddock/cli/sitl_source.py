"""What `paddock sitl` runs: a scenario that somebody wrote, or one made from flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddock.errors import PaddockError
from paddock.scenario import Scenario, load_scenario
from paddock.sitl.from_scenario import ARDUPILOT_FRAMES, quick_scenario

FLAGS = {
    "sitl.mavlink.host": "--station-host",
    "sitl.mavlink.station": "--station-port",
    "sitl.mavlink.port": "--base-port",
    "sitl.mavlink.shared": "--shared-port",
    "sitl.timeout": "--timeout",
    "sitl.listen": "--listen",
    "sitl.pilots[0].instance": "--first-instance",
}
"""Where a value stands in a scenario that nobody wrote -> the flag it came from."""


def chosen(
    scenario: str | None, what: Mapping[str, Any], real: Mapping[str, Any], given: Mapping[str, Any]
) -> Scenario:
    """The scenario; `given` are settings of its `sitl` section that the command line replaces."""
    if scenario is not None:
        return written(scenario, given)
    try:
        return load_scenario(made(what, real, given))
    except PaddockError as error:
        message = str(error)
        for place, flag in FLAGS.items():
            message = message.replace(place, flag)
        raise PaddockError(message) from None


def written(scenario: str, given: Mapping[str, Any]) -> Scenario:
    """A file's or a demo's, with what the command line says otherwise."""
    read = load_scenario(scenario)
    if read.sitl is None:
        raise PaddockError(
            f"{scenario}: it has no sitl section, which says who flies what: sitl: {{pilots: [{{vehicles: name}}]}}"
        )
    if not given:
        return read
    tree = read.to_dict()
    links = tree["sitl"].get("mavlink", {}) | given.get("mavlink", {})
    tree["sitl"] |= {**given, **({"mavlink": links} if links else {})}
    return load_scenario(tree)


def made(what: Mapping[str, Any], real: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """From --vehicles and --type, --ardupilot or --px4."""
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
