"""Limits of radios in scenarios: one line in the user's terms for each, with the place and what is valid."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

import paddock
from paddock.errors import InvalidValueError
from paddock.scenario import ScenarioError, load_scenario, scenario_from_text
from paddock.scenario.radio_types import RadioType, most_bit_rate

TEXT = """
radio:
  types:
    t: {frequency: 2.4e9, bandwidth: 2.0e7}
  default: {model: free_space}
  jammers: [{name: red, kind: barrage, position: [0, 0, 5]}]
vehicles:
  - {name: a, model: point, radio: t}
"""


def problem(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(ScenarioError) as error:
        scenario_from_text(TEXT.replace(old, new))
    return str(error.value)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("{rician: 3, nakagami: 2}", "fading has one kind: rayleigh, rician or nakagami; not rician and nakagami"),
        ("{}", "fading has one kind: rayleigh, rician or nakagami; not none"),
        ("{rician: {k: 3}}", "fading 'rician' takes a number: {rician: 2}, not {'k': 3}"),
        ("{rician: x}", "fading 'rician' takes a number: {rician: 2}, not 'x'"),
    ],
)
def test_fading_has_one_kind(kinds: str, expected: str) -> None:
    text = problem("model: free_space", f"model: free_space, fading: {kinds}")
    assert text.endswith(expected) and len(text.splitlines()) == 1
    assert "parameter" not in text


def test_an_antenna_has_one_kind() -> None:
    text = problem("bandwidth: 2.0e7", "antenna: {sector: {}, dipole: {}}")
    assert text.endswith("antenna has one kind: isotropic, dipole, sector or pattern; not sector and dipole")


def test_only_near_names_are_suggested() -> None:
    city = "model: cost231_hata, city: "
    assert problem("model: free_space", f"{city}village").endswith(
        "unknown city 'village'; valid: large, open, small, suburban"
    )
    assert problem("model: free_space", f"{city}suburb").endswith("did you mean 'suburban'?")
    assert problem("model: free_space", f"{city}lagre").endswith("did you mean 'large'?")


@pytest.mark.parametrize(
    ("modulation", "bandwidth", "most"),
    [
        ("bpsk", 1e6, 1e6),
        ("qpsk", 20e6, 40e6),
        ("64qam", 20e6, 120e6),
        ("fsk", 1e5, 1e5),
        ("gmsk", 200e3, 400e3),  # two phases: GSM sends 270.8 kbit/s in 200 kHz
        ("lora7", 125e3, 6835.9375),  # SX1276: 7 bits in 128 chips
        ("lora12", 125e3, 366.2109375),
    ],
)
def test_bit_rates_have_the_limit_of_their_modulation(modulation: str, bandwidth: float, most: float) -> None:
    assert most_bit_rate(modulation, bandwidth) == most
    fields: dict[str, Any] = {"modulation": modulation, "bandwidth": bandwidth}
    assert RadioType(**fields, bit_rate=most).problem() == ("", ())
    tree = {"radio": {"types": {"t": fields | {"bit_rate": 1.01 * most}}}, "vehicles": [{"model": "point"}]}
    with pytest.raises(
        ScenarioError, match=re.escape(f"{modulation} carries at most {most:g} bit/s in {bandwidth:g} Hz")
    ):
        load_scenario(tree)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "bandwidth: 2.0e7}",
            "bit_rate: 1.0e12}",
            "<text>:4:37: 1e+12 bit/s are too fast: qpsk carries at most 4e+07 bit/s in 2e+07 Hz",
        ),
        (
            "bandwidth: 2.0e7}",
            "bandwidth: 1.0e10}",
            "<text>:4:38: a band of 1e+10 Hz around 2.4e+09 Hz begins below 0 Hz; the widest there has 4.8e+09 Hz",
        ),
        (
            "radio: t}",
            "radio: {type: t, modulation: bpsk, bit_rate: 3.0e7}}",
            "<text>:8:74: 3e+07 bit/s are too fast: bpsk carries at most 2e+07 bit/s in 2e+07 Hz",
        ),
        (
            "kind: barrage,",
            "kind: barrage, bandwidth: 1.0e10,",
            "<text>:6:51: a band of 1e+10 Hz around 2.4e+09 Hz begins below 0 Hz; the widest there has 4.8e+09 Hz",
        ),
        (
            "kind: barrage,",
            "kind: barrage, frequency: 4.0e7,",  # 100 MHz, unless given
            "<text>:6:51: a band of 1e+08 Hz around 4e+07 Hz begins below 0 Hz; the widest there has 8e+07 Hz",
        ),
    ],
)
def test_bands_and_bit_rates_that_are_not_possible(old: str, new: str, expected: str) -> None:
    assert problem(old, new) == expected


def test_a_changed_type_is_checked_as_a_whole() -> None:
    text = TEXT.replace("bandwidth: 2.0e7}", "bandwidth: 2.0e7, bit_rate: 3.0e7}")
    with pytest.raises(ScenarioError, match=r":8:57: 3e\+07 bit/s are too fast: qpsk carries at most 4e\+06 bit/s"):
        scenario_from_text(text.replace("radio: t}", "radio: {type: t, bandwidth: 2.0e6}}"))


def test_on_may_be_a_boolean_of_yaml_1_1() -> None:
    text = TEXT.replace("kind: barrage,", "kind: barrage, on: [[1, 2]],")
    tree = yaml.safe_load(text.replace("2.4e9", "2400000000.0").replace("2.0e7", "20000000.0"))
    assert True in tree["radio"]["jammers"][0]
    scenario = load_scenario(tree)
    assert scenario.radio is not None and scenario.radio.jammers[0].on == ((1.0, 2.0),)
    tree["radio"]["jammers"][0]["on"] = [[3, 4]]
    with pytest.raises(ScenarioError, match=r"radio.jammers\[0\]: on is given twice, also as the key True"):
        load_scenario(tree)
    with pytest.raises(ScenarioError, match="unknown key 'on' in vehicles"):
        load_scenario({"vehicles": [{"model": "point", True: 1}]})
    with pytest.raises(ScenarioError, match=r"vehicles\[0\]: the key 3 must be text"):
        load_scenario({"vehicles": [{"model": "point", 3: 1}]})


def test_jammers_keep_their_band_above_0_hz_in_a_run() -> None:
    with paddock.load(TEXT) as sim:
        with pytest.raises(InvalidValueError, match=r"jammer 'red': a band of 1e\+10 Hz around 2.4e\+09 Hz"):
            sim.radio.jammers.set("red", bandwidth=1e10)
        with pytest.raises(InvalidValueError, match=r"jammer 'red': a band of 1e\+08 Hz around 4e\+07 Hz"):
            sim.radio.jammers.set("red", frequency=4e7)
        sim.radio.jammers.set("red", frequency=4e7, bandwidth=8e7)
        assert sim.radio.jammers()[0].bandwidth == 8e7
