"""Results of the radio of a remote simulation, in the types that a local simulation returns."""

from base64 import b64decode
from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

import numpy as np

from paddock.radio.views import (
    CommandTraffic,
    JammerView,
    RadioReport,
    Received,
    ServiceTraffic,
    SpooferView,
    Station,
    VehicleTelemetry,
)

# the other types are imported where they are used: their modules take long to import


class RemoteNetwork(NamedTuple):
    """The network at one tick: vehicles and stations by name, as of a local simulation, without its paths."""

    tick: int
    components: list[list[str]]  # that reach each other, the largest first
    articulation_points: list[str]  # without which a component splits
    bridges: list[tuple[str, str]]  # links without which a component splits

    @property
    def parts(self) -> int:
        """The number of components."""
        return len(self.components)


def _jammers(found: Any) -> Any:
    return [JammerView(**one | {"position": _tuple(one["position"])}) for one in found]


def _spoofers(found: Any) -> Any:
    return [SpooferView(**one | {"position": _tuple(one["position"])}) for one in found]


def _stations(found: Any) -> Any:
    return [Station(**one | {"position": _tuple(one["position"])}) for one in found]


def _report(found: Any) -> Any:
    return RadioReport(**found)


def _commands(found: Any) -> Any:
    return CommandTraffic(**found | {"delay": nan if found["delay"] is None else found["delay"]})


def _telemetry(found: Any) -> Any:
    return VehicleTelemetry(**{name: _tuple(one) if isinstance(one, list) else one for name, one in found.items()})


def _received(found: Any) -> Any:
    trees = [
        {name: one for name, one in tree.items() if name != "base64"} | {"data": _contents(tree)} for tree in found
    ]
    return [Received(**tree) for tree in trees]


def _budget(found: Any) -> Any:
    from paddock.radio.links.budget import LinkBudget

    return LinkBudget(**found)


def _links(found: Any) -> Any:
    from paddock.radio.links.table import Links

    return Links(**found | {"peer": found["peer"].astype(np.int32), "up": found["up"].astype(np.uint8)})


def _coverage(found: Any) -> Any:
    from paddock.radio.links.survey import CoverageGrid

    side = found["side"]
    grids = {name: np.array(found[name]).reshape(side, side) for name in ("power", "sinr", "jamming", "per")}
    return CoverageGrid(**{name: found[name] for name in CoverageGrid._fields} | grids)


def _levels(found: Any) -> Any:
    from paddock.radio.links.survey import HeardLevels

    return HeardLevels(**{name: np.array(one, np.int64 if name == "best" else None) for name, one in found.items()})


def _assignment(found: Any) -> Any:
    from paddock.planning.consensus_radio import Agreement

    return found["tasks"], Agreement(**found["agreement"])


def _services(found: Any) -> Any:
    return {name: ServiceTraffic(**one) for name, one in found.items()}


def _spectrum(found: Any) -> Any:
    from paddock.radio.links.survey import Spectrum

    arrays = {"band": tuple(found["band"]), "power": np.array(found["power"])}
    return Spectrum(**{name: found[name] for name in Spectrum._fields} | arrays)


def _network(found: Any) -> RemoteNetwork:
    return RemoteNetwork(**found | {"bridges": [(one, two) for one, two in found["bridges"]]})


def _tuple(position: Any) -> Any:
    return None if position is None else tuple(position)


def _contents(tree: Any) -> Any:
    return b64decode(tree["data"]) if tree["base64"] else tree["data"]


RADIO_RESULTS: dict[str, Callable[[Any], Any]] = {
    "jammers": _jammers,
    "spoofers": _spoofers,
    "radio_stations": _stations,
    "radio_report": _report,
    "radio_commands": _commands,
    "radio_telemetry": _telemetry,
    "radio_received": _received,
    "radio_network": _network,
    "radio_links": _links,
    "link_budget": _budget,
    "coverage": _coverage,
    "spectrum": _spectrum,
    "radio_levels": _levels,
    "radio_assign": _assignment,
    "radio_services": _services,
    "radio_noise": np.array,
}
"""Operation -> function that converts its result."""
