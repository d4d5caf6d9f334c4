"""Links along planned routes, against ranges of free space."""

from functools import cache
from math import log10, pi
from typing import Any

import numpy as np
import pytest

from paddock.engine.radio.planned import PlannedLinks, planned_links
from paddock.errors import PaddockError
from paddock.planning.geometry.path import Path, Pose, line
from paddock.planning.solver.problem import Problem, Vehicle
from paddock.planning.solver.routes import Leg, Plan, Route
from paddock.record.mission_report.map_figure import contact_numbers, contact_rows, draw_contact
from paddock.record.reports import styled
from paddock.scenario import load_scenario

RANGE = 1005.0  # m
LOSS = 20.0 * log10(4.0 * pi * RANGE * 2.4e9 / 299_792_458.0)  # of free space
NOISE = -173.975 + 60.0  # dBm, of 1 MHz at 290 K
TYPE = {"bandwidth": 1e6, "noise_figure": 0.0, "duty": 0.0, "power": 20.0, "sensitivity": 20.0 - LOSS}
HOME: Pose = (0.0, 0.0, 50.0, 0.0)


def leg(kind: Any, x: float, heading: float, begins: float) -> Leg:
    """2 km along the x axis, with 10 m/s."""
    path = Path([line(x, 0.0, heading, 2000.0, 50.0)])
    return Leg(kind, None, 2000.0, begins, begins + 200.0, path.start, path.end, lambda: path)


def out_and_back(*others: str) -> Plan:
    """A vehicle flies 2 km east, and home; others stay."""
    vehicles = tuple(Vehicle(name, HOME, HOME, 10.0, 5.0) for name in ("scout", *others))
    legs = leg("transit", 0.0, 0.0, 0.0), leg("return", 2000.0, pi, 200.0)
    routes = Route("scout", legs, 10.0), *(Route(name, (), 10.0) for name in others)
    return Plan(Problem(vehicles, ()), "greedy", routes)


def links_of(*vehicles: dict[str, Any], **radio: Any) -> PlannedLinks:
    fading = {"model": "free_space", "fading": "rayleigh"}
    section = {"types": {"t": TYPE}, "hysteresis": 0.0, "default": fading, **radio}
    section.setdefault("stations", [{"name": "base", "position": [0, 0, 50], "radio": "t"}])
    own = {"name": "scout", "model": "point", "pose": list(HOME), "radio": "t"}
    tree = {"clock": {"rate": 50}, "radio": section, "vehicles": [own, *vehicles]}
    return planned_links(load_scenario(tree), out_and_back())


alone = cache(links_of)


def test_the_link_drops_at_the_range_of_free_space() -> None:
    """It leaves the range of 1,005 m after 100.5 s and returns after 299.5 s; 2 km away the power is -86.1 dBm."""
    links = alone()
    assert links.step == 1.0 and links.times.tolist() == list(range(401))
    inside = np.abs(links.times - 200.0) > 99.5
    assert np.array_equal(links.direct[0], inside) and np.array_equal(links.reached[0], inside)
    [own] = links.contacts()
    assert own.direct == own.contact == pytest.approx(202 / 401) and own.longest_gap == 199.0
    far = 20.0 - LOSS - 20.0 * log10(2000.0 / RANGE) - NOISE
    assert own.lowest_sinr == pytest.approx(far, abs=0.01)
    assert own.lowest_at == 200.0 and own.lowest_place == pytest.approx((2000.0, 0.0, 50.0))
    half = 20.0 - LOSS - 20.0 * log10(500.0 / RANGE) - NOISE
    assert links.sinr[0, [50, 350]] == pytest.approx([half, half], abs=0.01)


def test_other_radios_extend_the_contact() -> None:
    """One that stays 900 m away is in contact, and relays up to 1,905 m."""
    relay = {"name": "relay", "model": "point", "pose": [900, 0, 50, 0], "radio": "t"}
    links = links_of(relay)
    assert np.array_equal(links.direct[0], np.abs(links.times - 200.0) > 99.5)
    assert np.array_equal(links.reached[0], np.abs(links.times - 200.0) > 9.5)
    assert links.contacts()[0].longest_gap == 19.0
    assert np.array_equal(links.sinr[0], alone().sinr[0])


def test_a_jammer_interrupts_the_contact_while_it_is_on() -> None:
    jammer = {"name": "red", "kind": "barrage", "position": [0, 10, 50], "power": 40, "on": [[20, 40]]}
    links = links_of(jammers=[jammer])
    inside = np.abs(links.times - 200.0) > 99.5
    inside[20:40] = False
    assert np.array_equal(links.direct[0], inside)
    [own] = links.contacts()
    assert own.longest_gap == 199.0 and 20.0 <= own.lowest_at < 40.0
    ratio = 20.0 - 40.0 + 10.0 * log10(100.0)  # from the same distance; a hundredth of the barrage is in the band
    assert own.lowest_sinr == pytest.approx(ratio, abs=0.01)


def test_values_and_picture_of_a_report() -> None:
    links = alone()
    tree = contact_numbers(links)
    assert tree["step_s"] == 1.0 and tree["stations"] == ["base"]
    assert tree["routes"][0] | {"lowest_sinr_db": 0.0, "lowest_position_m": []} == {
        "vehicle": "scout",
        "direct_share": 202 / 401,
        "contact_share": 202 / 401,
        "lowest_sinr_db": 0.0,
        "lowest_at_s": 200.0,
        "lowest_position_m": [],
        "longest_gap_s": 199.0,
    }
    assert list(contact_rows(links)) == [("scout", "50.4 %", "50.4 %", "27.9 dB", "3:20", "2,000 m", "0 m", "199 s")]
    with styled() as figure_class:
        figure = draw_contact(figure_class, (out_and_back(), links), "line")
        lost, coloured = figure.axes[0].collections[-2:]
        assert len(coloured.get_segments()) == 200
        assert len(lost.get_segments()) == 200  # from 1,000 m to 2,000 m and back
        ends = np.abs(np.array([segment[:, 0] for segment in lost.get_segments()]))
        assert ends.min() == pytest.approx(1000.0) and ends.max() == pytest.approx(2000.0)


def test_the_picture_has_stations_and_jammers() -> None:
    """A jammer that a vehicle carries is drawn where it starts; one that is far away at the edge, with its distance."""
    truck = {"name": "truck", "model": "point", "pose": [700, 300, 0, 0]}
    jammers = [
        {"name": "amber", "kind": "barrage", "vehicle": "truck", "power": -50},
        {"name": "blue", "kind": "spot", "position": [50, -100, 0], "enabled": False},
        {"name": "far", "kind": "spot", "position": [12_000, 0, 0], "power": -50},
    ]
    links = links_of(truck, jammers=jammers)
    assert [row[:3] for row in links.jammers] == [("amber", 700.0, 300.0), ("blue", 50.0, -100.0), ("far", 12e3, 0.0)]
    assert contact_numbers(links)["jammers"] == ["amber", "blue", "far"]
    with styled() as figure_class:
        figure = draw_contact(figure_class, (out_and_back("truck"), links), "line")
    axes = figure.axes[0]
    texts = {text.get_text(): text.xy for text in axes.texts if hasattr(text, "xy")}
    assert tuple(texts["amber on truck"]) == (700.0, 300.0) and tuple(texts["blue, off"]) == (50.0, -100.0)
    assert "far, 10.0 km beyond" in texts  # the map ends at 2 km
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[2:5] == ["station", "jammer, on a vehicle at its start", "start of a vehicle"]


@pytest.mark.parametrize(
    ("radio", "vehicles", "words"),
    [
        ({"stations": []}, [], "there is no station; add `stations`"),
        ({"stations": [{"name": "b", "position": [0, 0, 5]}]}, None, "no vehicle with a route has a radio"),
    ],
)
def test_without_a_station_or_a_radio_there_are_no_figures(radio: Any, vehicles: Any, words: str) -> None:
    own = {"name": "scout", "model": "point", "pose": list(HOME)} | ({} if vehicles is None else {"radio": "default"})
    with pytest.raises(PaddockError, match=words):
        planned_links(load_scenario({"radio": radio, "vehicles": [own]}), out_and_back())
