"""Radios, stations and jammers as plain trees, for clients and viewers of recordings."""

from collections.abc import Iterable
from typing import NamedTuple

from paddock.radio.jamming import JammerState, on_share
from paddock.radio.radios import COLUMN, Radios
from paddock.radio.signal import decibels
from paddock.radio.survey import free_range
from paddock.scenario.radio import RadioSection
from paddock.wire.operations.results import (
    JammerTree,
    RadioFleetTree,
    RadioTree,
    RadioTypeTree,
    SpooferTree,
    StationTree,
)


class Emitters(NamedTuple):
    """The transmitters that harm others."""

    jammers: list[JammerTree]
    spoofers: list[SpooferTree]


def radio_tree(
    section: RadioSection, radios: Radios, emitters: Emitters, counts: dict[str, int], traffic: dict[str, int]
) -> RadioTree:
    """Return what a viewer draws; `counts` of links are 0 where they are not known."""
    fleets: list[RadioFleetTree] = [
        {"name": part.fleet, "radios": [_type(radios, part.first + k) for k in range(part.slots)]}
        for part in radios.parts
    ]
    stations: list[StationTree] = []
    for k, name in enumerate(radios.stations):  # as in the numbers of neighbours: one for each radio
        x, y, z = radios.table[:3, radios.carried + k].tolist()
        stations.append({"name": name, "position": (x, y, z), "radio": _type(radios, radios.carried + k)})
    known = {name: counts.get(name, 0) for name in ("links", "up", "ups", "downs", "jammed")}
    found = {"rate": section.rate, "fleets": fleets, "stations": stations, **emitters._asdict(), "traffic": traffic}
    return {**found, **known}  # type: ignore[typeddict-item]


def _type(radios: Radios, number: int) -> RadioTypeTree:
    column = radios.table[:, number]
    return {
        "type": radios.groups[int(column[COLUMN.group])].type,
        "frequency": float(column[COLUMN.frequency]),
        "bandwidth": float(column[COLUMN.bandwidth]),
        "power": float(column[COLUMN.power]),
        "sensitivity": float(column[COLUMN.sensitivity]),
        "noise": decibels(float(column[COLUMN.noise])),
        "needed": float(column[COLUMN.needed]),
        "range": free_range(radios, number),
    }


def jammer_trees(section: RadioSection, states: Iterable[JammerState], time: float) -> list[JammerTree]:
    """Return jammers of given states; where vehicles carry them is not known here."""
    sections = sorted(section.jammers, key=lambda one: one.name)
    found: list[JammerTree] = []
    for one, state in zip(sections, states, strict=True):
        found.append(
            {
                "name": one.name,
                "kind": one.kind,
                "on": state.on,
                "active": on_share(one.on, time, 1.0 / section.rate) if state.on else 0.0,
                "position": state.position,
                "vehicle": state.vehicle,
                "power": state.power,
                "frequency": state.frequency,
                "bandwidth": state.bandwidth,
                "false_frames": state.false_frames,
            }
        )
    return found


def spoofer_trees(section: RadioSection, states: Iterable[JammerState], time: float) -> list[SpooferTree]:
    """Return spoofers of given states; which receivers they have captured is not known here."""
    found: list[SpooferTree] = []
    for one, state in zip(sorted(section.spoofers, key=lambda one: one.name), states, strict=True):
        given = state.position, state.vehicle, state.power
        active = state.on and on_share(one.on, time, 1.0 / section.rate) > 0.0
        fields = dict(zip(("position", "vehicle", "power"), given, strict=True))
        found.append({"name": one.name, "on": state.on, "active": active, **fields, "captured": 0})  # type: ignore[typeddict-item]
    return found
