"""What clients may have imported: nothing but what is installed as a plug-in, or what the scenario uses already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from paddock.behaviour.registry import rule_names
from paddock.engine.simulation import Simulation
from paddock.errors import unknown_name
from paddock.sensing.registry import sensor_names
from paddock.vehicles.registry import model_names

EXTERNAL = "external"
"""The driver that is no behaviour."""


def refuse_foreign(sim: Simulation, entry: Mapping[str, Any]) -> None:
    """A name that is no plug-in's would be imported as a module: only who owns the machine may do that."""
    used = list(sim.roster.programs.values())
    rules = {program.conduct.rule.name for program in used if program.conduct is not None}
    known = {
        "model": {*model_names(), *(program.model.name for program in used)},
        "behaviour": {*rule_names(), *rules, EXTERNAL},
        "sensor": {*sensor_names(), *(name for program in used for name in program.sensors)},
    }
    wanted = [("model", "model", entry.get("model"))]
    wanted += [("behaviour", key, entry.get(key)) for key in ("behaviour", "driver")]
    listed = entry.get("sensors")
    wanted += [("sensor", f"sensors[{k}]", one) for k, one in enumerate(listed if isinstance(listed, list) else ())]
    for kind, place, value in wanted:
        for name in _names(value):
            if name not in known[kind]:
                raise unknown_name(kind, name, known[kind], f"vehicles[0].{place}")


def _names(value: Any) -> Iterable[str]:
    """`hold`, or the one key of `{hold: {options}}`; what is neither is refused when it is read."""
    if isinstance(value, str):
        return (value,)
    return [key for key in value if isinstance(key, str)] if isinstance(value, Mapping) else ()
