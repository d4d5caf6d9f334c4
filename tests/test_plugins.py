"""Users' own models and behaviours: by dotted name, by entry point, and their error messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock import plugins
from paddock.behaviour.rule import find_rule, rule_names
from paddock.errors import PaddockError, UnknownNameError
from paddock.vehicles.model import find_model, model_names

SLOW_POINT = """
from dataclasses import replace
from paddock.vehicles.models.point import MODEL as POINT
from paddock.vehicles.models.point import Parameters

MODEL = replace(POINT, summary="a point of my own", kind="snail")
"""

EAST = '''
from typing import Annotated, NamedTuple

from paddock.behaviour.rule import Rule
from paddock.vehicles.model import Desire
from paddock.world.columns import Column


class Options(NamedTuple):
    speed: Annotated[float, Column("m/s", "speed", 0.0, 10.0)] = 2.0


def desire(me, m, o, urge, target, path, dt):
    """Always east."""
    return Desire(o.speed, 0.0, 0.0, 10.0), m


RULE = Rule("Go east", Options, desire)
'''

FILES = {
    "__init__.py": "",
    "snail.py": SLOW_POINT,
    "east.py": EAST,
    "empty.py": "",
    "wrong.py": "MODEL = 7\nRULE = 'x'\n",
    "needy.py": "import a_module_that_is_missing\n",
    "needy_inside.py": "from my_fleet.parts import wing\n",
    "broken.py": "def\n",
}


@pytest.fixture(autouse=True)
def my_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's package `my_fleet` on the path; the registries forget it afterwards."""
    folder = tmp_path / "my_fleet"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "my_fleet"]:
        del sys.modules[name]
    forget()


def forget() -> None:
    plugins.forget_plugins()


def test_a_model_by_dotted_name() -> None:
    sim = paddock.load({"vehicles": [{"name": "it", "model": "my_fleet.snail", "speed": 2, "commands": {"vx": 2.0}}]})
    sim.step(240)
    it = sim.snapshot()["it"]
    assert (it.kind, it.model) == ("snail", "my_fleet.snail")
    assert it.position == pytest.approx([2.0, 0.0, 0.0])
    other = paddock.load(sim.scenario)
    other.restore(sim.save())
    assert other.state_hash() == sim.state_hash()


def test_a_behaviour_by_dotted_name_and_its_options() -> None:
    vehicle = {"name": "it", "model": "point", "speed": 3, "behaviour": {"my_fleet.east": {"speed": 3}}}
    sim = paddock.load({"vehicles": [vehicle]})
    sim.step(480)
    assert sim.snapshot()["it"].position == pytest.approx([6.0, 0.0, 0.0])
    with pytest.raises(PaddockError) as caught:
        paddock.load({"vehicles": [{**vehicle, "behaviour": {"my_fleet.east": {"sped": 3}}}]})
    assert str(caught.value) == (
        "vehicles[0].behaviour.my_fleet.east.sped: unknown my_fleet.east option 'sped'; did you mean 'speed'?"
    )


def test_entry_points_add_names(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "paddock.vehicles": [EntryPoint("snail", "my_fleet.snail", "paddock.vehicles")],
        "paddock.behaviours": [EntryPoint("eastwards", "my_fleet.east", "paddock.behaviours")],
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: points.get(group, []))
    forget()
    assert "snail" in model_names() and "quad" in model_names() and "eastwards" in rule_names()
    assert find_model("snail").kind == "snail" and find_model("snail").name == "snail"
    sim = paddock.load({"vehicles": [{"name": "it", "model": "snail", "behaviour": "eastwards"}]})
    sim.step(240)
    assert sim.snapshot()["it"].velocity[0] == pytest.approx(2.0)
    with pytest.raises(UnknownNameError, match=r"unknown model 'snial'; did you mean 'snail'\?"):
        find_model("snial")


def test_an_entry_point_whose_module_is_missing_is_broken_not_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("broke", "broke_sim.main", "paddock.vehicles")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == "paddock.vehicles" else [])
    forget()
    message = "model 'broke': importing 'broke_sim.main' failed: ModuleNotFoundError: No module named 'broke_sim'"
    with pytest.raises(PaddockError, match=message):
        find_model("broke")


def test_a_shipped_model_cannot_be_replaced_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("quad", "my_fleet.snail", "paddock.vehicles")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == "paddock.vehicles" else [])
    forget()
    assert find_model("quad").kind == "quad"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_fleet.empty", "model 'my_fleet.empty': module 'my_fleet.empty' has no MODEL = VehicleModel(...)"),
        ("my_fleet.wrong", "model 'my_fleet.wrong': module 'my_fleet.wrong' has no MODEL = VehicleModel(...)"),
        ("my_fleet", "model 'my_fleet': module 'my_fleet' has no MODEL = VehicleModel(...)"),
        ("my_flet", "unknown model 'my_flet'; valid: "),
        ("my_fleet.snaill", "unknown model 'my_fleet.snaill'; valid: "),
        ("my_flet.snail", "unknown model 'my_flet.snail'; valid: "),
        ("car.bicicle", "unknown model 'car.bicicle'; did you mean 'car.bicycle'?"),
        ("quod", "unknown model 'quod'; did you mean 'quad'?"),
    ],
)
def test_invalid_models_are_refused(name: str, message: str) -> None:
    with pytest.raises(PaddockError) as caught:
        find_model(name)
    assert str(caught.value).startswith(message)


def test_invalid_behaviours_are_refused() -> None:
    with pytest.raises(PaddockError) as caught:
        find_rule("my_fleet.wrong")
    assert str(caught.value) == "behaviour 'my_fleet.wrong': module 'my_fleet.wrong' has no RULE = Rule(...)"


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        (
            'Rule("Go east", Options, desire)',
            "Rule(Options, desire, Options)",
            "Rule.summary must be a text, not Options",
        ),
        (
            'Rule("Go east", Options, desire)',
            'Rule("East", Options, Options)',
            "Rule.desire must be a function, not Opt",
        ),
        (
            'Rule("Go east", Options, desire)',
            'Rule("East", {}, desire)',
            "Rule.options must be a named tuple of columns",
        ),
        ("= 2.0", '= "fast"', "Options.speed has the default 'fast'; it must be a number"),
    ],
)
def test_a_wrong_field_of_a_rule_is_named_with_its_line(
    my_fleet: Path, written: str, instead: str, message: str
) -> None:
    assert written in EAST
    text = EAST.replace(written, instead)
    (my_fleet / "east.py").write_text(text)
    line = next(
        k for k, (old, new) in enumerate(zip(EAST.splitlines(), text.splitlines(), strict=True), 1) if old != new
    )
    with pytest.raises(PaddockError) as caught:
        find_rule("my_fleet.east")
    assert str(caught.value).count("\n") == 0
    assert f"east.py:{line}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_model_needs_a_step_longer_than_0() -> None:
    with pytest.raises(
        PaddockError, match=r"test_plugins.py:\d+: VehicleModel.dt_max must be a time in s above 0, not 0"
    ):
        replace(find_model("point"), dt_max=0.0)


@pytest.mark.parametrize(
    ("name", "missing"),
    [("my_fleet.needy", "a_module_that_is_missing"), ("my_fleet.needy_inside", "my_fleet.parts")],
)
def test_an_import_that_fails_inside_a_users_module_is_reported_as_such(name: str, missing: str) -> None:
    with pytest.raises(
        PaddockError, match=f"model '{name}': importing '{name}' failed: ModuleNotFoundError: .*{missing}"
    ):
        find_model(name)


def test_a_syntax_error_in_a_users_module_is_reported_as_such() -> None:
    with pytest.raises(PaddockError, match=r"failed: SyntaxError: invalid syntax \(broken.py, line 1\)"):
        find_model("my_fleet.broken")


def test_nothing_is_imported_before_it_is_used() -> None:
    names: Any = model_names()
    assert {"car.bicycle", "car.kinematic", "fixed_wing", "point", "quad", "rover"} <= set(names)
    assert "my_fleet.snail" not in sys.modules


def test_the_package_lists_names_that_it_imports_on_first_use() -> None:
    names = dir(paddock)
    assert {"Marker", "Scenario", "Simulation", "Snapshot", "connect", "connect_async", "load", "share"} <= set(names)
    assert names == sorted(names) and all(getattr(paddock, name) is not None for name in paddock.__all__)
