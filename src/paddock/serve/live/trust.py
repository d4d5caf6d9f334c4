"""What clients may have imported: nothing but what is installed as a plug-in, or what the scenario uses already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from paddock.behaviour.registry import rule_names
from paddock.engine.simulation import Simulation
from paddock.errors import unknown_name
from paddock.scenario import Scenario
from paddock.scenario.marks import KeyPath
from paddock.sensing.registry import sensor_names
from paddock.vehicles.registry import model_names

EXTERNAL = "external"
"""The driver that is no behaviour."""


Known = Mapping[str, Iterable[str]]
"""`model`, `behaviour`, `sensor` -> the names that may stand there."""


def installed_names() -> dict[str, list[str]]:
    """What anybody may name: the plug-ins that are installed."""
    return {"model": model_names(), "behaviour": [*rule_names(), EXTERNAL], "sensor": sensor_names()}


def known_names(sim: Simulation) -> dict[str, list[str]]:
    """What clients may name: the installed plug-ins, and what the running scenario uses."""
    used = list(sim.roster.programs.values())
    rules = {program.conduct.rule.name for program in used if program.conduct is not None}
    installed = installed_names()
    return {
        "model": sorted({*installed["model"], *(program.model.name for program in used)}),
        "behaviour": sorted({*installed["behaviour"], *rules}),
        "sensor": sorted({*installed["sensor"], *(name for program in used for name in program.sensors)}),
    }


def foreign_names(scenario: Scenario, known: Known) -> list[str]:
    """One line for each name of a scenario that clients may not have imported, beginning with its place."""
    problems = []
    for k, entry in enumerate(scenario.vehicles):
        wanted: list[tuple[str, str, KeyPath]] = [("model", entry.model, ("model",))]
        if entry.controller is not None:
            wanted.append(("behaviour", entry.controller.name, (entry.controller_key,)))
        wanted += [("sensor", one.name, ("sensors", j)) for j, one in enumerate(entry.sensors)]
        problems += [
            str(unknown_name(kind, name, known[kind], scenario.at("vehicles", k, *path)))
            for kind, name, path in wanted
            if name not in known[kind]
        ]
    return problems


def refuse_foreign(sim: Simulation, entry: Mapping[str, Any]) -> None:
    """A name that is no plug-in's would be imported as a module: only who owns the machine may do that."""
    known = known_names(sim)
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
