"""The section `radio`: short forms, defaults, and errors with their place."""

from __future__ import annotations

import pytest

from paddock.engine.build import build_problems
from paddock.radio.physics.fading import NAKAGAMI_LEAST, NAKAGAMI_MOST
from paddock.scenario import ScenarioError, load_scenario, scenario_from_text, scenario_schema
from paddock.scenario.radio import LEAST_M, MOST_M

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


FULL_TURN = "azimuths_deg: [0, 180, 360], elevations_deg: [0]"


def problem(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(ScenarioError) as error:
        scenario_from_text(TEXT.replace(old, new))
    return str(error.value)


def test_short_forms_and_defaults() -> None:
    scenario = scenario_from_text(TEXT)
    assert scenario.radio is not None
    telemetry, beam = (radio.of(scenario.radio.known_types) for radio in scenario.vehicles[0].radio)
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
        ("bandwidth: 2.0e6", "bandwidth: -2.0e6", "<text>:4:46: radio.types.telemetry.bandwidth must be >= 1, not"),
        ("modulation: qpsk", "modulation: qpks", "<text>:4:82: unknown modulation 'qpks'; did you mean 'qpsk'?"),
        ("antenna: dipole", "antenna: dipol", "<text>:4:62: unknown antenna 'dipol'; did you mean 'dipole'?"),
        ("radio: telemetry}", "radio: telemtry}", "<text>:10:55: unknown radio type 'telemtry'; did you mean"),
        ("[scouts, base]", "[scots, base]", "<text>:7:18: unknown fleet, station, jammer or radio type 'scots'; did"),
        ("{type: beam,", "{type: beem,", "unknown radio type 'beem'; did you mean 'beam'?"),
        ("model: two_ray", "model: tworay", "<text>:7:40: unknown propagation model 'tworay'; did you mean 'two_ray'?"),
        ("model: two_ray", "model: two_ray, exponent: 3", "exponent is an option of log_distance, not of two_ray"),
        ("{rician: 6}", "{ricean: 6}", "unknown fading 'ricean'; did you mean 'rician'?"),
        ("{rician: 6}", "{nakagami: 0.1}", "nakagami fading needs m from 0.5 to 50"),
        ("{rician: 6}", "{nakagami: 99}", "nakagami fading needs m from 0.5 to 50"),
        ("{type: beam, power: 3}]", "{type: beam, power: 1.0e+9}]", "vehicles[0].radio[1].power must be <= 100"),
        (
            "[telemetry, {type: beam, power: 3}]",
            "{power: 1.0e+9}",
            "<text>:14:87: vehicles[0].radio.power must be <= 100",
        ),
        (
            "[telemetry, {type: beam, power: 3}]",
            "{powr: 1}",
            "unknown key 'powr' in vehicles[0].radio; did you mean 'power'?",
        ),
        (
            "[telemetry, {type: beam, power: 3}]",
            "3",
            "vehicles[0].radio must be the name of a type, a mapping, or a list",
        ),
        ("radio: telemetry}", "radio: {frequency: 10}}", "radio.stations[0].radio.frequency must be >= 1e+06, not 10"),
        ("[scouts, base]", "[scouts]", "radio.links[0].between must be two names: [a, b], not ['scouts']"),
        (
            "[[0, 10], [20, 30]]",
            "[5, 20]",
            "radio.jammers[0].on must be a list of [from, to] pairs: [[5, 20]], not [5, 20]",
        ),
        ("channel: 1}", "hopping: {channels: [1.5, 2]}}", "hopping.channels[0] must be a whole number, not 1.5"),
        (
            "antenna: dipole",
            f"antenna: {{pattern: {{{FULL_TURN}, gains: [[5, 1, 1]]}}}}",
            "their gains must be equal, not 5 and 1",
        ),
        (
            "antenna: dipole",
            f"antenna: {{pattern: {{{FULL_TURN}, gains: [[5, 1.0e+300, 5]]}}}}",
            "gains are from -200 to 80 dBi",
        ),
        ("position: [1, 2, 3]", "position: [1, 2, 3], vehicle: 'scouts[0]'", "a position or a vehicle, not both"),
        ("position: [1, 2, 3]", "vehicle: scouts", "'scouts' is a fleet of 4: name one vehicle, e.g. scouts[0]"),
        ("position: [1, 2, 3]", "vehicle: 'scouts[4]'", "'scouts' has the vehicles 0 to 3"),
        ("kind: pulsed", "kind: puls", "unknown jammer kind 'puls'; did you mean 'pulsed'?"),
        ("period: 0.1,", "", "a pulsed jammer needs a period in s"),
        ("period: 0.1", "period: 0.1, reaction: 1", "reaction is an option of follower jammers, not of a pulsed"),
        ("[20, 30]", "[30, 20]", "times ascend from 0 s: [from, to], not [30, 20]"),
        ("[20, 30]", "[20, 30], [25, 40]", "times ascend and do not overlap: 25 s is before 30 s"),
        ("name: base", "name: scouts", "the name 'scouts' is already used"),
        ("default:", "defautl:", "unknown key 'defautl' in radio; did you mean 'default'?"),
    ],
)
def test_errors_name_place_and_valid_values(old: str, new: str, text: str) -> None:
    shown = problem(old, new)
    assert text in shown and shown.startswith("<text>:") and "\n" not in shown


def test_limits_are_those_of_the_fading() -> None:
    assert (LEAST_M, MOST_M) == (NAKAGAMI_LEAST, NAKAGAMI_MOST)
    full = f"antenna: {{pattern: {{{FULL_TURN}, gains: [[5, 1, 5]]}}}}"
    assert scenario_from_text(TEXT.replace("antenna: dipole", full)).radio is not None


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
    [problem_of] = build_problems(scenario_from_text(text))
    assert problem_of == (
        "<text>:3:20: okumura_hata is valid from 150 to 1500 MHz, not for the 2400 MHz of 'a'; "
        "set extrapolate: true to use it all the same"
    )
    assert build_problems(scenario_from_text(text.replace("okumura_hata}", "okumura_hata, extrapolate: true}"))) == []


HOPS = "types: {t: {frequency: 1.9e+9, hopping: {channels: [0, 100]}}}"
SWEEP = "jammers: [{name: j, kind: swept, position: [0, 0, 0], sweep: [1.8e+9, 2.1e+9], period: 1}]"


@pytest.mark.parametrize(("line", "radio", "wrong"), [(HOPS, "t", "2400 MHz of 'a'"), (SWEEP, "u", "2100 MHz of 'j'")])
def test_channels_and_sweeps_outside_the_range_of_a_model(line: str, radio: str, wrong: str) -> None:
    more = "" if line == HOPS else "  types: {u: {frequency: 1.8e+9}}\n"
    vehicles = f"vehicles: [{{name: a, model: quad, radio: {radio}}}]"
    text = f"radio:\n  default: {{model: cost231_hata}}\n  {line}\n{more}{vehicles}"
    [problem_of] = build_problems(scenario_from_text(text))
    assert f"2:20: cost231_hata is valid from 1500 to 2000 MHz, not for the {wrong}" in problem_of
    assert build_problems(scenario_from_text(text.replace("_hata}", "_hata, extrapolate: true}"))) == []
    inside = text.replace("[0, 100]", "[0, 20]").replace("2.1e+9", "2.0e+9")
    assert build_problems(scenario_from_text(inside)) == []
