"""The section `radio`: short forms, defaults, and errors with their place."""

from __future__ import annotations

import pytest

from paddock.engine.build import build_problems
from paddock.scenario import ScenarioError, load_scenario, scenario_from_text, scenario_schema

TEXT = """
radio:
  types:
    telemetry: {frequency: 2.4e9, bandwidth: 2.0e6, antenna: dipole, modulation: qpsk, channel: 1}
    beam: {antenna: {sector: {beamwidth_deg: 30, yaw_deg: 90}}}
  links:
    - {between: [scouts, base], model: two_ray, shadowing: {sigma: 4, distance: 30}, fading: {rician: 6}}
    - {between: [beam, beam], fading: rayleigh}
  default: {model: {log_distance: {exponent: 2.5}}}
  stations: [{name: base, position: [0, 0, 2], radio: telemetry}]
  jammers:
    - {name: red, kind: pulsed, period: 0.1, position: [1, 2, 3], on: [[0, 10], [20, 30]]}
vehicles:
  - {name: scouts, count: 4, model: quad, spawn: {grid: {spacing: 3}}, radio: [telemetry, {type: beam, power: 3}]}
"""


def problem(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(ScenarioError) as error:
        scenario_from_text(TEXT.replace(old, new))
    return str(error.value)


def test_short_forms_and_defaults() -> None:
    scenario = scenario_from_text(TEXT)
    assert scenario.radio is not None
    telemetry, beam = (one.of(scenario.radio.known_types) for one in scenario.vehicles[0].radio)
    assert telemetry.centre == 2.405e9 and telemetry.antenna.kind == "dipole"
    assert beam.power == 3.0 and beam.antenna.beamwidth_deg == 30.0 and beam.bandwidth == 20e6
    first, second = scenario.radio.links
    assert first.fading is not None and (first.fading.kind, first.fading.parameter) == ("rician", 6.0)
    assert second.fading is not None and second.fading.kind == "rayleigh"
    assert scenario.radio.default.exponent == 2.5
    assert scenario.radio.jammers[0].on == ((0.0, 10.0), (20.0, 30.0))
    assert scenario_from_text(scenario.to_yaml()) == scenario
    assert "RadioSection" in scenario_schema()["$defs"]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("bandwidth: 2.0e6", "bandwidth: -2.0e6", "<text>:4:46: radio.types.telemetry.bandwidth must be > 0"),
        ("modulation: qpsk", "modulation: qpks", "<text>:4:82: unknown modulation 'qpks'; did you mean 'qpsk'?"),
        ("antenna: dipole", "antenna: dipol", "<text>:4:62: unknown antenna 'dipol'; did you mean 'dipole'?"),
        ("radio: telemetry}", "radio: telemtry}", "<text>:10:55: unknown radio type 'telemtry'; did you mean"),
        ("[scouts, base]", "[scots, base]", "<text>:7:18: unknown fleet, station, jammer or radio type 'scots'; did"),
        ("{type: beam,", "{type: beem,", "unknown radio type 'beem'; did you mean 'beam'?"),
        ("model: two_ray", "model: tworay", "<text>:7:40: unknown propagation model 'tworay'; did you mean 'two_ray'?"),
        ("model: two_ray", "model: two_ray, exponent: 3", "exponent is an option of log_distance, not of two_ray"),
        ("{rician: 6}", "{ricean: 6}", "unknown fading 'ricean'; did you mean 'rician'?"),
        ("{rician: 6}", "{nakagami: 0.1}", "nakagami fading needs m >= 0.5"),
        ("position: [1, 2, 3]", "position: [1, 2, 3], vehicle: 'scouts[0]'", "a position or a vehicle, not both"),
        ("position: [1, 2, 3]", "vehicle: scouts", "'scouts' is a fleet of 4: name one vehicle, e.g. scouts[0]"),
        ("position: [1, 2, 3]", "vehicle: 'scouts[4]'", "'scouts' has the vehicles 0 to 3"),
        ("kind: pulsed", "kind: puls", "unknown jammer kind 'puls'; did you mean 'pulsed'?"),
        ("period: 0.1,", "", "a pulsed jammer needs a period in s"),
        ("period: 0.1", "period: 0.1, reaction: 1", "reaction is an option of follower jammers, not of a pulsed"),
        ("[20, 30]", "[30, 20]", "times ascend from 0 s: [from, to], not [30, 20]"),
        ("name: base", "name: scouts", "the name 'scouts' is already used"),
        ("default:", "defautl:", "unknown key 'defautl' in radio; did you mean 'default'?"),
    ],
)
def test_errors_name_place_and_valid_values(old: str, new: str, text: str) -> None:
    found = problem(old, new)
    assert text in found and found.startswith("<text>:") and "\n" not in found


def test_radio_of_a_vehicle_without_the_section() -> None:
    with pytest.raises(ScenarioError, match=r"vehicles\[0\].radio: there is no radio: add a section `radio: {}`"):
        load_scenario({"vehicles": [{"model": "quad", "radio": "default"}]})


def test_frequency_outside_the_range_of_a_model() -> None:
    text = """
radio:
  default: {model: okumura_hata}
  stations: [{name: a, position: [0, 0, 30]}, {name: b, position: [3000, 0, 2]}]
vehicles: []
"""
    [found] = build_problems(scenario_from_text(text))
    assert found == (
        "<text>:3:20: okumura_hata is valid from 150 to 1500 MHz, not for the 2400 MHz of 'a'; "
        "set extrapolate: true to use it all the same"
    )
    assert build_problems(scenario_from_text(text.replace("okumura_hata}", "okumura_hata, extrapolate: true}"))) == []
