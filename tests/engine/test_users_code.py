"""Errors inside users' own models, behaviours and sensors: one line with file, line and name."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import paddock
from paddock.compute.kernel import Kernel, KernelSpec, Rows
from paddock.engine.build import build_problems
from paddock.errors import CodeError, PaddockError
from paddock.plugins import forget_plugins
from paddock.scenario import load_scenario
from paddock.testing import ConformanceError, check_behaviour, check_vehicle_model
from paddock.world.columns import Pose

BOAT = """\
import math
from dataclasses import replace
from math import sin
import numpy as np

from paddock.vehicles.models.point import MODEL as POINT, State, place as start, step as move


def step(s, u, p, w, dt):
    moved = move(s, u, p, w, dt)
    return {step}


def place(at, p, w):
    return {place}


MODEL = replace(POINT, step=step, place=place, {others}telemetry=({telemetry},))
"""
RULE = """\
from typing import Annotated, NamedTuple

from paddock.behaviour.rule import Rule
from paddock.vehicles.model import Desire
from paddock.world.columns import Column


class Options(NamedTuple):
    speed: Annotated[float, Column("m/s", "speed", 0.0, 10.0)] = 2.0


def desire(me, memory, o, urge, target, path, dt):
    return {desire}


RULE = Rule("Go east", Options, desire)
"""
SENSOR = """\
from dataclasses import replace

from paddock.sensing.sensors.barometer import SENSOR as BAROMETER


def measure(pose, memory, options, environment, site, draw, interval):
    return {measure}


SENSOR = replace(BAROMETER, measure=measure)
"""
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """write(text, **parts): the name of a user's module in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: list[str] = []

    def make(text: str, **parts: str) -> str:
        names.append(f"my_{len(names)}")
        defaults = {"step": "moved", "place": "start(at, p, w)", "telemetry": '"vx"', "desire": "None", "others": ""}
        (tmp_path / f"{names[-1]}.py").write_text(text.format(**{**defaults, **parts}))
        return names[-1]

    yield make
    forget_plugins()
    for name in names:
        sys.modules.pop(name, None)


BOATS = [
    (
        {"step": "moved if s.x < 9.0 else moved._replace(x=p.speed_mx)"},  # a branch that the one call does not reach
        "11: unknown attribute 'speed_mx' of Parameters; did you mean 'speed_max'?",
    ),
    ({"step": "moved if s.x < 9.0 else mooved"}, "11: unknown name 'mooved'; did you mean 'moved'?"),
    ({"step": "moved if s.x < 9.0 else rudder(moved)"}, "11: unknown name 'rudder'; define or import it"),
    (
        {"step": "moved._replace(x=p.speed_mx)"},
        "11: unknown attribute 'speed_mx' of Parameters; did you mean 'speed_max'?",
    ),
    ({"step": "(moved, u)"}, "9: step() must return State of numbers, not (State("),
    ({"step": "'east'"}, "9: step() must return State of numbers, not 'east'"),
    ({"step": "moved._replace(x='east')"}, "9: step() must return State of numbers, not State(x='east'"),
    ({"step": "move(s, u, p, dt)"}, "11: TypeError: step() missing 1 required positional argument: 'dt'"),
    ({"place": "State(at.x, at.y)"}, "15: TypeError: State.__new__() missing 5 required positional"),
    ({"place": "strat(at, p, w)"}, "15: unknown name 'strat'; did you mean 'start'?"),
    ({"place": "at if at.x > 0 else start(at, p, w)"}, "14: place() must return State of numbers, not Placement("),
    ({"telemetry": '"sped"'}, "18: model 'my_0': importing 'my_0' failed: unknown telemetry column 'sped'; valid: vx"),
    (
        {"telemetry": '"yav"'},
        "18: model 'my_0': importing 'my_0' failed: unknown telemetry column 'yav'; did you mean 'yaw'?",
    ),
    ({"step": "moved._replace(x=math.sin(s.x))"}, "11: math.sin: use sin of paddock.compute.math"),
    ({"step": "moved._replace(x=sin(s.x))"}, "11: sin: use sin of paddock.compute.math"),
    ({"step": "moved._replace(x=np.sin(s.x))"}, "11: np.sin: use sin of paddock.compute.math"),
    ({"step": "moved._replace(x=np.arctan2(s.x, 1.0))"}, "11: np.arctan2: use atan2 of paddock.compute.math"),
    ({"step": "moved._replace(x=np.where(s.x > 0, 1.0, 0.0))"}, "11: np.where: use select of paddock.compute.math"),
    ({"step": "moved._replace(x=math.gamma(s.x))"}, "11: math.gamma: its result depends on the machine; see paddock"),
    ({"step": "moved._replace(x=s.x ** 1.5)"}, "11: x ** y: use power(x, y) of paddock.compute.math; a whole number"),
    (
        {"step": "print(s) or moved"},
        "11: print(): compiled functions have no input or output; call the function in Pyt",
    ),
    ({"step": "moved._replace(x=math.sine(s.x))"}, "11: unknown attribute 'sine' of module math; did you mean 'sin"),
]


@pytest.mark.parametrize(("parts", "line"), BOATS)
def test_an_error_in_a_model_is_one_line(write: Write, parts: dict[str, str], line: str) -> None:
    name = write(BOAT, **parts)
    with pytest.raises(PaddockError) as caught:
        paddock.load({"vehicles": [{"name": "boat", "model": name}]})
    assert str(caught.value).startswith(f"{name}.py:{line}") and "\n" not in str(caught.value)


def test_an_energy_that_is_something_else_is_refused(write: Write) -> None:
    name = write(BOAT.replace("MODEL =", "def energy(s, p, w):\n    return s\n\n\nMODEL ="), others="energy=energy, ")
    with pytest.raises(CodeError, match=rf"^{name}.py:18: energy\(\) must return a number as energy, not State\("):
        paddock.load({"vehicles": [{"name": "boat", "model": name}]})
    name = write(BOAT, others="energy=POINT.pose, ")
    with pytest.raises(CodeError) as caught:
        paddock.load({"vehicles": [{"name": "boat", "model": name}]})
    assert re.search(
        r"point.py:\d+: pose\(s, p\) cannot be called as energy\(state, parameters, environment\)$",
        str(caught.value),
    )


def test_a_missing_argument_of_a_model_is_named(write: Write) -> None:
    name = write(BOAT.replace("def step(s, u, p, w, dt)", "def step(s, u, p, dt: float)"))
    with pytest.raises(CodeError) as caught:
        paddock.load({"vehicles": [{"name": "boat", "model": name}]})
    wanted = "step(state, command, parameters, environment, dt)"
    assert str(caught.value) == f"{name}.py:9: step(s, u, p, dt) cannot be called as {wanted}"


def test_an_import_inside_a_function_is_refused(write: Write) -> None:
    name = write(BOAT.replace("    moved = ", "    import math\n    moved = "))
    with pytest.raises(CodeError, match=rf"^{name}.py:10: import 'math' at the top of the file, not inside step\(\)$"):
        paddock.load({"vehicles": [{"name": "boat", "model": name}]})


def test_a_plain_import_names_the_line_of_an_unknown_column(write: Write) -> None:
    name = write(BOAT, telemetry='"sped"')
    with pytest.raises(PaddockError, match=rf"^{name}.py:18: unknown telemetry column 'sped'; valid: vx, "):
        importlib.import_module(name)


def test_a_column_that_is_not_imported_names_its_line(write: Write) -> None:
    text = "from __future__ import annotations\n" + RULE.replace("from paddock.world.columns import Column\n", "")
    name = write(text, desire="(Desire(o.speed, 0.0, 0.0, 1.0), memory)")
    with pytest.raises(PaddockError, match=rf"^{name}.py:9: Options: unknown name 'Column'; define or import it$"):
        paddock.load({"vehicles": [{"name": "it", "model": "point", "behaviour": name}]})


def test_a_state_without_a_column_is_refused(write: Write) -> None:
    text = BOAT.replace("State, place", "State as _, place").replace(
        "def step", "from typing import NamedTuple\n\n\nclass State(NamedTuple):\n    x: float\n\n\ndef step"
    )
    name = write(text, others="state=State, ", telemetry='"x"')
    with pytest.raises(PaddockError, match=rf"^{name}.py:13: State.x has no Column with its unit$"):
        paddock.load({"vehicles": [{"name": "boat", "model": name}]})


def test_an_option_without_a_column_names_its_line(write: Write) -> None:
    text = RULE.replace("    speed: ", "    gain: float = 1.0\n    speed: ")
    name = write(text, desire="(Desire(o.speed, 0.0, 0.0, 1.0), memory)")
    with pytest.raises(PaddockError, match=rf"^{name}.py:9: Options.gain has no Column with its unit$"):
        paddock.load({"vehicles": [{"name": "it", "model": "point", "behaviour": name}]})


RULES = [
    (
        "(Desire(memory.phase, 0.0, 0.0, 1.0), memory)",
        "13: unknown attribute 'phase': this behaviour has no memory; declare a named tuple of columns and add memory=",
    ),
    ("(Desire(o.sped, 0.0, 0.0, 1.0), memory)", "13: unknown attribute 'sped' of Options; did you mean 'speed'?"),
    ("(Desire(o.speed, 0.0, 0.0, ahaed), memory)", "13: unknown name 'ahaed'; define or import it"),
    ("Desire(o.speed, 0.0, 0.0, 1.0)", "12: desire() must return (Desire, Nothing) of numbers, not Desire("),
    ("(Desire(o.speed, 0.0, 0.0, 1.0), memory, 1.0)", "12: desire() must return (Desire, Nothing) of numbers, not (De"),
    ("'east'", "12: desire() must return (Desire, Nothing) of numbers, not 'east'"),
    ("None", "12: desire() must return (Desire, Nothing) of numbers, not None"),
]


@pytest.mark.parametrize(("desire", "line"), RULES)
def test_an_error_in_a_behaviour_is_one_line(write: Write, desire: str, line: str) -> None:
    name = write(RULE, desire=desire)
    with pytest.raises(CodeError) as caught:
        paddock.load({"vehicles": [{"name": "it", "model": "point", "behaviour": name}]})
    assert str(caught.value).startswith(f"{name}.py:{line}") and "\n" not in str(caught.value)
    sim = paddock.load({"vehicles": [{"name": "it", "model": "point"}]})
    with pytest.raises(CodeError, match=rf"^override: {name}.py:"):
        sim.behaviours.override("it", name)
    with pytest.raises(CodeError, match=rf"^{name}.py:"):
        check_behaviour(name)


def test_an_error_in_a_sensor_is_one_line(write: Write) -> None:
    name = write(SENSOR, measure="pose.z, memory")
    with pytest.raises(
        CodeError, match=rf"^{name}.py:6: measure\(\) must return \(Reading, Memory\) of numbers, not \(1.0"
    ):
        paddock.load({"vehicles": [{"name": "it", "model": "point", "sensors": [name]}]})


def test_the_checks_of_models_name_file_and_line(write: Write) -> None:
    name = write(BOAT, step="moved._replace(x=p.speed_mx)")
    with pytest.raises(CodeError, match=rf"^{name}.py:11: unknown attribute 'speed_mx'"):
        check_vehicle_model(name)
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(Path(f"{name}.py").read_text(), f"{name}.py", "exec"), namespace)
    with pytest.raises(
        ConformanceError, match=rf"^model '{name}': declarations: {name}.py:11: unknown attribute 'speed_mx'"
    ):
        check_vehicle_model(namespace["MODEL"])


def test_an_editor_gets_the_line_of_the_entry(write: Write) -> None:
    name = write(BOAT, step="moved._replace(x=p.speed_mx)")
    (problem,) = build_problems(load_scenario(f"vehicles:\n  - model: point\n  - {{name: boat, model: {name}}}\n"))
    assert problem.startswith("<text>:3:") and f": {name}.py:11: unknown attribute" in problem


def in_hex(pose: Pose) -> Pose:
    return pose._replace(x=float.fromhex(pose.x.hex()))


class Spot(NamedTuple):
    """A place."""

    height: float


def raised_far(spot: Spot) -> Spot:
    return spot if spot.height < 9.0 else Spot(spot.heigth)  # type: ignore[attr-defined]


def raised_by_another(spot: Spot) -> Spot:
    return raised_far(spot)


def test_an_attribute_that_the_compiler_misses_is_one_line() -> None:
    with pytest.raises(CodeError) as caught:
        Kernel(KernelSpec("far", raised_by_another, (Rows("spot", Spot, "update"),)))(1, 1, np.zeros((1, 1)))
    assert str(caught.value).endswith(": unknown attribute 'heigth' of Spot; did you mean 'height'?")
    assert "test_users_code.py:" in str(caught.value)


def test_what_only_the_compiler_refuses_is_one_line() -> None:
    table = Pose(*[0.0] * 13)
    with pytest.raises(CodeError) as caught:
        Kernel(KernelSpec("hex", in_hex, (Rows("pose", Pose, "update"),)))(1, 1, [[value] for value in table])
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400 and "test_users_code.py:" in message
    assert "cannot be compiled: " in message


def test_the_command_line_prints_one_line(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    from paddock.cli.main import exit_code

    name = write(RULE, desire="(Desire(o.sped, 0.0, 0.0, 1.0), memory)")
    Path("run.yaml").write_text(f"vehicles: [{{name: it, model: point, behaviour: {name}}}]\n")
    assert exit_code(["run", "run.yaml", "--headless", "--seconds", "1"]) == 2
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith(
        f"paddock: error: {name}.py:13: unknown attribute 'sped' of Options; did you"
    )
    assert "Traceback" not in error and len(error.splitlines()) == 1
