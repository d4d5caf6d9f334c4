"""Presets have the reference values; unknown presets are errors with a location."""

import math
from pathlib import Path

import pytest

from paddock.errors import UnknownNameError
from paddock.scenario import (
    ScenarioError,
    bundled_path,
    demo_names,
    load_preset,
    load_scenario,
    preset_description,
    preset_names,
)
from paddock.scenario.loading import read_presets

CAR = (
    "mass inertia_z cg_to_front cg_to_rear track_front track_rear cg_height wheel_radius engine_torque final_drive "
    "brake_torque brake_bias steer_max drag_coefficient frontal_area lift_front lift_rear drive_front tyre_b_lat "
    "tyre_c_lat tyre_d_lat tyre_e_lat tyre_mu tyre_load tyre_load_sensitivity relaxation_lateral rolling_resistance"
)
QUAD = (
    "mass thrust_max cells capacity drag inertia_x inertia_y inertia_z arm angle_max motor_lag torque_ratio "
    "rate_center rate_max rate_expo"
)
ROVER = "wheel_base speed_max turn_rate_max acceleration_max turn_acceleration_max"
WING = "speed speed_min speed_max turn_radius bank_max climb_max roll_time speed_time"
FAMILIES = {"car": CAR, "quad": QUAD, "rover": ROVER, "fixed_wing": WING, "point": "speed_max acceleration_max"}


def test_names() -> None:
    assert preset_names("car.bicycle") == ["sedan", "sports", "formula", "race", "driverless", "buggy"]
    assert preset_names("quad") == ["race", "freestyle", "micro", "long_range", "crazyflie", "iris"]
    assert preset_names("rover") == ["indoor", "outdoor", "skid"]
    assert preset_names("fixed_wing") == ["survey", "mapper", "fast"]
    assert preset_names("point") == ["formation"]
    assert preset_names("my_package.my_car") == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_preset_is_complete(family: str) -> None:
    for preset in preset_names(family):
        assert set(FAMILIES[family].split()) <= set(load_preset(family, preset)), preset
        assert preset_description(family, preset).endswith(".")


@pytest.mark.parametrize(
    ("preset", "values"),
    [
        ("sedan", [1500, 2500, 1.2, 1.5, 1.55, 1.55, 0.55, 0.32, 300, 5, 3400, 0.62, 0.5, 0.3, 2.2, 0.05, 0.05, 0]),
        ("sports", [1320, 2050, 1.2, 1.35, 1.58, 1.56, 0.42, 0.33, 480, 5, 3000, 0.65, 0.55, 0.34, 2.05, 0.4, 0.6, 0]),
        ("formula", [280, 145, 0.75, 0.8, 1.2, 1.15, 0.3, 0.26, 150, 4, 1200, 0.58, 0.5, 0.85, 1.4, 1.2, 1.8, 0]),
        ("race", [900, 1300, 1.18, 1.47, 1.65, 1.6, 0.33, 0.34, 700, 4.5, 5000, 0.62, 0.45, 0.5, 1.9, 1.8, 2.5, 0.4]),
    ],
)
def test_cars(preset: str, values: list[float]) -> None:
    road, sport = [8, 1.3, 1, -1, 1, 4000, 0.15, 0.6, 0.015], [9, 1.3, 1.05, -1, 1.05, 4000, 0.12, 0.6, 0.015]
    car = load_preset("car", preset)
    names = [name for name in CAR.split() if name not in ("power_max", "steer_rate_max")]
    assert [car[name] for name in names] == values + (road if preset == "sedan" else sport)
    assert [car[f"tyre_{name}_long"] for name in "bcde"] == (
        [10, 1.65, 1, 0.97] if preset == "sedan" else [11, 1.65, 1.05, 0.97]
    )
    assert car["relaxation_longitudinal"] == 0.15


SUSPENSION = (
    "inertia_x inertia_y spring_front spring_rear damper_front damper_rear unsprung_front unsprung_rear "
    "steer_ratio steer_max ackermann"
)


@pytest.mark.parametrize(
    ("preset", "values"),
    [
        ("sedan", [500, 2000, 30e3, 30e3, 3000, 3000, 40, 40, 15, 0.5, 0.6]),
        ("sports", [420, 1700, 45e3, 42e3, 4200, 3900, 42, 38, 12, 0.55, 0.85]),
        ("formula", [60, 110, 60e3, 70e3, 3500, 4000, 10, 10, 4, 0.5, 1.0]),
        ("race", [350, 1100, 120e3, 110e3, 9000, 8500, 25, 25, 10, 0.45, 0.9]),
    ],
)
def test_suspension_and_steering_of_cars(preset: str, values: list[float]) -> None:
    car = load_preset("car.full", preset)
    assert [car[name] for name in SUSPENSION.split()] == values
    locking = car["diff_preload"] + car["diff_locking"]
    assert locking == 0.0 if preset == "sedan" else locking > 0.0  # open, limited slip, locked, limited slip


def test_driverless() -> None:
    car = load_preset("car.double_track", "driverless")
    assert (car["mass"], car["inertia_z"], car["cg_to_front"], car["cg_to_rear"]) == (178, 111, 0.72, 0.72)
    assert (car["wheel_radius"], car["final_drive"], car["track_front"]) == (0.206, 12.23, 1.15)
    assert [car[f"tyre_{name}_lat"] for name in "bcde"] == [9.63, 1.39, 1.6, 1.0]
    assert (car["lift_front"] + car["lift_rear"]) * car["frontal_area"] == pytest.approx(3.7)
    assert car["drag_coefficient"] * car["frontal_area"] == pytest.approx(1.1)
    grip = car["mass"] * 9.81 * car["tyre_d_lat"]
    assert car["engine_torque"] * car["final_drive"] / car["wheel_radius"] == pytest.approx(grip, rel=0.05)
    assert 2 * car["brake_torque"] / car["wheel_radius"] == pytest.approx(grip, rel=0.05)


@pytest.mark.parametrize(
    ("preset", "values", "angle", "rates"),
    [
        ("race", [0.65, 11.77, 6, 1300, 0.012, 0.003, 0.003, 0.005, 0.11], 55, (200, 700, 0.3)),
        ("freestyle", [0.75, 13.73, 6, 1500, 0.015, 0.004, 0.004, 0.006, 0.11], 55, (200, 850, 0.5)),
        ("micro", [0.2, 3.92, 4, 650, 0.006, 0.0008, 0.0008, 0.0015, 0.07], 55, (200, 700, 0.3)),
        ("long_range", [0.9, 15.69, 6, 2200, 0.018, 0.006, 0.006, 0.01, 0.15], 45, (100, 300, 0.7)),
        ("crazyflie", [0.033, 0.15, 1, 250, 0.003, 1.66e-5, 1.66e-5, 2.9e-5, 0.046], 30, (100, 300, 0.7)),
    ],
)
def test_quads(preset: str, values: list[float], angle: float, rates: tuple[float, float, float]) -> None:
    quad = load_preset("quad", preset)
    names = ("mass", "thrust_max", "cells", "capacity", "drag", "inertia_x", "inertia_y", "inertia_z", "arm")
    assert [quad[name] for name in names] == values
    assert quad["angle_max"] == pytest.approx(math.radians(angle), rel=1e-12)
    assert (quad["motor_lag"], quad["torque_ratio"]) == (0.03, 0.006 if preset == "crazyflie" else 0.016)
    assert math.degrees(quad["rate_center"]) == pytest.approx(rates[0], rel=1e-12)
    assert math.degrees(quad["rate_max"]) == pytest.approx(rates[1], rel=1e-12)
    assert quad["rate_expo"] == rates[2]
    assert 4 * quad["thrust_max"] * math.cos(quad["angle_max"]) > 1.5 * quad["mass"] * 9.81


def test_others() -> None:
    assert list(load_preset("rover").values())[:3] == [0.15, 1.0, 2.0]
    assert list(load_preset("rover", "outdoor").values())[:3] == [1.0, 2.0, 1.0]
    assert load_preset("point") == {"speed_max": 10.0, "acceleration_max": 5.0}
    for preset in ("survey", "fast"):
        wing = load_preset("fixed_wing", preset)
        assert math.tan(wing["bank_max"]) == pytest.approx(wing["speed"] ** 2 / (9.80665 * wing["turn_radius"]), 1e-6)
    assert list(load_preset("fixed_wing").values())[0:4:3] == [17.5, 80.0]


def test_the_first_preset_is_the_default_and_a_copy() -> None:
    first = load_preset("car")
    assert first == load_preset("car", "sedan")
    first["mass"] = 0.0
    assert load_preset("car")["mass"] == 1500.0
    assert load_preset("my_package.my_car") == {}


def test_unknown_presets() -> None:
    with pytest.raises(UnknownNameError) as caught:
        load_preset("car.bicycle", "sprots", "race.yaml:7:5")
    assert str(caught.value) == "race.yaml:7:5: unknown preset 'sprots' of car.bicycle; did you mean 'sports'?"
    with pytest.raises(UnknownNameError) as caught:
        load_preset("../car", "sedan")
    assert str(caught.value) == "unknown preset 'sedan' of ../car; there are none"


def test_a_file_of_the_model_itself_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "presets").mkdir()
    for name, mass in (("car", 1), ("car.bicycle", 2)):
        text = f"only:\n  description: x\n  parameters: {{mass: {mass}}}\n"
        (tmp_path / "presets" / f"{name}.yaml").write_text(text)
    monkeypatch.setattr("paddock.scenario.loading.FOLDER", tmp_path)
    assert (load_preset("car.bicycle"), load_preset("car.full")) == ({"mass": 2.0}, {"mass": 1.0})


def test_mistakes_in_a_preset_file(tmp_path: Path) -> None:
    file = tmp_path / "car.yaml"
    file.write_text("sedan:\n  description: x\n  parameters: {mass: heavy}\n  colour: red\n")
    with pytest.raises(ScenarioError) as caught:
        read_presets(file)
    assert caught.value.problems == [
        f"{file}:3:22: sedan.parameters.mass must be a number, not 'heavy'",
        f"{file}:4:3: unknown key 'colour' in sedan; valid: description, parameters",
    ]


def test_demos() -> None:
    for name in demo_names():
        assert bundled_path(name).is_file()
        assert load_scenario(name).vehicles is not None
    with pytest.raises(UnknownNameError, match=r"^unknown demo 'no_such_demo'; "):
        bundled_path("no_such_demo")


def test_no_demos_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.scenario.loading.FOLDER", tmp_path)
    assert demo_names() == []
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / ".gitkeep").touch()
    assert demo_names() == []
