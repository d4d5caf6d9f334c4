"""Radios, stations and jammers as plain trees, for clients and viewers of recordings."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from paddock.radio.links.jamming import JammerState, active_share
from paddock.radio.links.paths import classes_of
from paddock.radio.links.radios import COLUMN, Floats, Radios
from paddock.radio.links.survey import radio_ranges
from paddock.radio.physics.signal import decibels
from paddock.scenario.radio import RadioSection
from paddock.wire.radio_results import (
    JammerView,
    RadioFleetTree,
    RadioTree,
    RadioTypeTree,
    ServiceTraffic,
    SpooferView,
    StationTree,
    as_tree,
)


class Emitters(NamedTuple):
    """The transmitters that harm others."""

    jammers: list[JammerView]
    spoofers: list[SpooferView]


def radio_tree(
    section: RadioSection,
    radios: Radios,
    emitters: Emitters,
    counts: dict[str, int],
    traffic: dict[str, int],
    services: Mapping[str, ServiceTraffic],
) -> RadioTree:
    """Return what a viewer draws; `counts` of links are 0 where they are not known."""
    ranges = radio_ranges(radios, classes_of(section, radios.groups))
    fleets: list[RadioFleetTree] = [
        {"name": part.fleet, "radios": [_type(radios, part.first + k, ranges) for k in range(part.slots)]}
        for part in radios.parts
    ]
    stations: list[StationTree] = []
    for k, name in enumerate(radios.stations):  # as in the numbers of neighbours: one for each radio
        x, y, z = radios.table[:3, radios.carried + k].tolist()
        stations.append({"name": name, "position": (x, y, z), "radio": _type(radios, radios.carried + k, ranges)})
    known = {name: counts.get(name, 0) for name in ("links", "up", "ups", "downs", "jammed")}
    parts = {"rate": section.rate, "fleets": fleets, "stations": stations, **emitters._asdict()}
    tree: RadioTree = as_tree({**parts, "traffic": traffic, "services": services, **known})
    return tree


def _type(radios: Radios, number: int, ranges: Floats) -> RadioTypeTree:
    column = radios.table[:, number]
    return {
        "type": radios.groups[int(column[COLUMN.group])].type,
        "frequency": float(column[COLUMN.frequency]),
        "bandwidth": float(column[COLUMN.bandwidth]),
        "power": float(column[COLUMN.power]),
        "sensitivity": float(column[COLUMN.sensitivity]),
        "noise": decibels(float(column[COLUMN.noise])),
        "needed": float(column[COLUMN.needed]),
        "range": float(ranges[int(column[COLUMN.group])]),
    }


def jammer_views(section: RadioSection, states: Iterable[JammerState], time: float) -> list[JammerView]:
    """Return jammers of given states; where vehicles carry them is not known here."""
    sections = sorted(section.jammers, key=lambda one: one.name)
    views: list[JammerView] = []
    for one, state in zip(sections, states, strict=True):
        active = active_share(state, one.on, time, 1.0 / section.rate)
        power = state.power, state.frequency, state.bandwidth, state.false_frames
        views.append(
            JammerView(one.name, one.kind, state.on, state.scheduled, active, state.position, state.vehicle, *power)
        )
    return views


def spoofer_views(section: RadioSection, states: Iterable[JammerState], time: float) -> list[SpooferView]:
    """Return spoofers of given states; which receivers they have captured is not known here."""
    views: list[SpooferView] = []
    for one, state in zip(sorted(section.spoofers, key=lambda one: one.name), states, strict=True):
        active = active_share(state, one.on, time, 1.0 / section.rate) > 0.0
        place = state.position, state.vehicle
        views.append(SpooferView(one.name, state.on, state.scheduled, active, *place, state.power, captured=0))
    return views
