"""Which radios can communicate: equal channel, modulation, bandwidth and bit rate; errors of scenarios that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.scenario import ScenarioError, scenario_from_text

BASE = {"bandwidth": 2e6, "bit_rate": 1e6}


def two(transmitter: dict[str, Any], receiver: dict[str, Any]) -> Any:
    """Return two stations 100 m apart."""
    types = {"one": BASE | transmitter, "other": BASE | receiver}
    stations = [{"name": name, "position": [x, 0, 10], "radio": name} for name, x in (("one", 0), ("other", 100))]
    vehicle = {"name": "v", "model": "point"}
    return paddock.load({"radio": {"types": types, "stations": stations}, "vehicles": [vehicle]})


@pytest.mark.parametrize(
    ("transmitter", "receiver", "reason"),
    [
        ({}, {}, ""),
        ({"bandwidth": 2e6 * (1.0 + 1e-8)}, {}, ""),
        ({"frequency": 2.4001e9}, {}, ""),
        ({"bit_rate": 4e6}, {"bit_rate": 1e3}, "other bit rate"),
        ({"bandwidth": 20e6}, {}, "other bandwidth"),
        ({"modulation": "gmsk"}, {}, "other modulation"),
        ({"channel": 3}, {}, "other channel"),
    ],
)
def test_radios_that_differ_cannot_communicate(
    transmitter: dict[str, Any], receiver: dict[str, Any], reason: str
) -> None:
    with two(transmitter, receiver) as sim:
        links, budget = sim.radio.links(), sim.radio.link("one", "other")
        assert len(links.peer) == (0 if reason else 2)
        assert budget.mismatch == reason and budget.up is not bool(reason)
        assert budget.per == (1.0 if reason else pytest.approx(0.0, abs=1e-9))
        assert (f"down ({reason})" in str(budget)) == bool(reason)


def test_a_wide_transmitter_interferes_with_a_tenth_of_its_power() -> None:
    with two({"bandwidth": 20e6, "duty": 1.0}, {}) as sim:
        budget, links = sim.radio.link("one", "other"), sim.radio.links()
        level = 20.0 - 20.0 * np.log10(4.0 * np.pi * 100.0 * 2.4e9 / 299_792_458.0)
        assert budget.outside == pytest.approx(10.0, abs=1e-9)
        assert budget.received == pytest.approx(level - 10.0, abs=1e-6)
        assert links.interference[sim.radio.number("other")] == pytest.approx(10.0 ** (0.1 * level - 1.0), rel=1e-9)
        assert sim.radio.coverage(of="one", receiver="other", x=0, y=0, size=100, side=2).sinr.max() < -200.0


TEXT = """
radio:
  types:
    wide: {bandwidth: 2.0e6}
    hops: {bandwidth: 2.0e6, hopping: {channels: [1, 6, 11], dwell: 1}}
  stations: [{name: base, position: [0, 0, 2], radio: wide}]
vehicles:
  - {name: red, model: point, radio: wide, via: radio}
"""


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("radio: wide, via", "radio: {type: wide, modulation: fsk}, via", "modulation fsk and qpsk"),
        ("radio: wide, via", "radio: {type: wide, bandwidth: 4.0e6}, via", "bandwidth 4e+06 and 2e+06 Hz"),
        ("radio: wide, via", "radio: {type: wide, bit_rate: 9600}, via", "bit rate 9600 and 4e+06 bit/s"),
        ("radio: wide, via", "radio: {type: wide, channel: 1}, via", "centre frequency 2405 and 2400 MHz"),
        ("hops: {", "hops: {channel: 2, ", "a radio has a channel or hops between channels: leave out channel or"),
        ("radio: wide, via", "radio: {type: hops, channel: 1}, via", "leave out channel, or set hopping: false"),
        ("dwell: 1}", "dwell: 0.05}", "links are updated every 0.1 s (radio.rate: 10): a dwell is that long or longer"),
        ("wide: {", "wide: {channel_spacing: 1.0e+300, channel: 3, ", "channel 3 would be at 3e+300 Hz; the highest"),
        ("wide: {", "wide: {frequency: 2.9e11, channel: 9999, ", "would be at 3.39995e+11 Hz; the highest is 3e+11 Hz"),
        ("[1, 6, 11],", "[1, 6, 11], key: a}, frequency: 3.0e+11, noise_figure: 6} #", "channel 11 would be at"),
        ("wide: {bandwidth: 2.0e6", "wide: {bandwidth: 1.0e-300", "radio.types.wide.bandwidth must be >= 1"),
        ("wide: {", "wide: {bit_rate: 1.0e-300, ", "radio.types.wide.bit_rate must be >= 0.001"),
    ],
)
def test_errors_of_radios(old: str, new: str, text: str) -> None:
    assert old in TEXT
    with pytest.raises(ScenarioError) as error:
        scenario_from_text(TEXT.replace(old, new))
    shown = str(error.value)
    assert text in shown and shown.startswith("<text>:") and "\n" not in shown


@pytest.mark.parametrize(
    "radio", ["hops", "{type: hops, hopping: false}", "{type: hops, hopping: false, channel: 0}", "[hops, wide]"]
)
def test_radios_that_hop_or_do_not_may_use_a_station(radio: str) -> None:
    scenario = scenario_from_text(TEXT.replace("radio: wide, via", f"radio: {radio}, via"))
    assert scenario.radio is not None
    fitted = scenario.vehicles[0].radio[0].of(scenario.radio.known_types)
    assert (fitted.hopping is None) == ("false" in radio)


def test_a_relay_with_both_radios_connects_those_that_differ() -> None:
    text = TEXT.replace("radio: wide, via", "radio: {type: wide, modulation: fsk}, via")
    relay = "  - {name: relay, model: point, radio: [wide, {type: wide, modulation: fsk}]}\n"
    assert len(scenario_from_text(text + relay).vehicles) == 2


def test_missions_and_autopilots_over_radio_name_the_difference() -> None:
    mission = "mission: {tasks: [{point: {at: [1, 2]}}], via: radio, execute: dynamics}\n"
    text = TEXT.replace("radio: wide, via: radio", "radio: {type: wide, modulation: fsk}").replace("point", "quad")
    with pytest.raises(ScenarioError, match="the radios of 'red' and of station 'base' cannot communicate: modul"):
        scenario_from_text(text + mission)
    sitl = "sitl: {pilots: [{vehicles: red, autopilot: builtin}], mavlink: {via: radio}}\n"
    with pytest.raises(ScenarioError, match=r"its vehicles and of station 'base' cannot communicate: modulation fsk"):
        scenario_from_text(text + sitl)
