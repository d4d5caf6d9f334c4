"""One-line errors with the problem, the location and the valid values."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddock
from paddock.errors import (
    InvalidValueError,
    MissingFeatureError,
    PaddockError,
    UnknownNameError,
    suggestion,
    unknown_name,
)


@pytest.mark.parametrize(
    ("name", "choices", "expected"),
    [
        ("quod", ["quad", "rover"], "did you mean 'quad'?"),
        ("zzz", ["quad", "rover"], "valid: quad, rover"),
        ("zzz", ["rover", "quad", "quad"], "valid: quad, rover"),
        ("zzz", [], "there are none"),
        ("zzz", [f"n{k}" for k in range(9)], "valid: n0, n1, n2, n3, n4, n5, n6, n7 and 1 more"),
    ],
)
def test_suggestions(name: str, choices: list[str], expected: str) -> None:
    assert suggestion(name, choices) == expected


def test_unknown_names_read_as_text_and_are_key_errors() -> None:
    error = unknown_name("model", "quod", ["quad"], "race.yaml:3:5")
    assert str(error) == "race.yaml:3:5: unknown model 'quod'; did you mean 'quad'?"
    assert isinstance(error, KeyError) and isinstance(error, PaddockError)
    assert str(unknown_name("model", "quod", ["quad"])) == "unknown model 'quod'; did you mean 'quad'?"


def test_every_error_is_a_paddock_error() -> None:
    for kind in (UnknownNameError, InvalidValueError, MissingFeatureError):
        assert issubclass(kind, paddock.PaddockError)
    assert issubclass(InvalidValueError, ValueError)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ({"vehicles": [{"model": "quod"}]}, "vehicles[0].model: unknown model 'quod'; did you mean 'quad'?"),
        (
            {"vehicles": [{"name": "red", "model": "point", "behaviour": {"follow": {"target": "red"}}}]},
            "vehicles[0].behaviour.follow.target: 'red' cannot be its own target; name another vehicle",
        ),
        (
            {
                "vehicles": [
                    {
                        **{"name": "a", "model": "point", "count": 3, "spawn": {"grid": {"spacing": 2, "z": 5}}},
                        "behaviour": {"follow": {"target": "a[1]"}},
                    }
                ]
            },
            "vehicles[0].behaviour.follow.target: 'a[1]' cannot be its own target; name another vehicle",
        ),
        (
            {"vehicles": [{"model": "quad", "pose": [0, 0, -5, 0]}]},
            "vehicles[0].pose: vehicles start at or above the ground, z >= 0 m, not -5",
        ),
        (
            {
                "world": {"ground_z": 40},
                "vehicles": [{"model": "point", "count": 4, "spawn": {"grid": {"spacing": 1, "z": 39.5}}}],
            },
            "vehicles[0].spawn: vehicles start at or above the ground, z >= 40 m, not 39.5",
        ),
        ({"on_nan": "ignore", "vehicles": []}, "on_nan: must be 'stop' or 'remove', not 'ignore'"),
        (
            {"vehicles": [{"model": "point"}, {"model": "car.kinematic", "parameters": {"mass": -1.0}}]},
            "vehicles[1].parameters.mass: parameter 'mass' of car.kinematic must lie in 0.1 to 100000 kg, not -1",
        ),
        (
            {"vehicles": [{"model": "point", "failsafe": {"vx": "left"}}]},
            "vehicles[0].failsafe.vx: input 'vx' must be a finite number, not 'left'",
        ),
        (
            {"vehicles": [{"model": "point", "sensors": [{"imu": {"rate": 1000}}]}]},
            "vehicles[0].sensors[0]: sensor 'imu' cannot sample at 1000 Hz: the clock allows at most 240 Hz",
        ),
    ],
)
def test_scenario_errors_have_a_location(scenario: dict, message: str) -> None:
    with pytest.raises(PaddockError) as caught:
        paddock.load(scenario)
    assert str(caught.value) == message


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(UnknownNameError) as caught:
        paddock.load({"vehicles": []}, device="cdua")
    assert str(caught.value) == "unknown device 'cdua'; did you mean 'cuda'?"


@pytest.mark.parametrize("device", ["gpu", "GPU", "nvidia"])
def test_the_device_for_a_gpu_is_cuda(device: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown device '{device}'; did you mean 'cuda'?"):
        paddock.load({"vehicles": []}, device=device)


def test_a_notebook_shows_the_line_and_the_message(tmp_path: Path) -> None:
    """No frames of the package: IPython calls `_render_traceback_` in place of its own traceback."""
    script = tmp_path / "cell.py"
    script.write_text("import paddock\n\npaddock.load('no_such_demo')\n", encoding="utf-8")
    with pytest.raises(PaddockError) as caught:
        exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), {})
    *lines, message = caught.value._render_traceback_()
    assert lines[-1] == "line 3: paddock.load('no_such_demo')"
    assert message == f"{type(caught.value).__name__}: {caught.value}"
    assert not any("raise" in line for line in lines)
