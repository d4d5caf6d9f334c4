"""Every shipped behaviour keeps the contract, and one that breaks it is refused with the reason."""

from __future__ import annotations

from dataclasses import replace
from math import sin as libm_sin
from typing import Annotated, Any, NamedTuple

import pytest

from paddock.behaviour.rule import Nothing, Rule, find_rule, rule_names
from paddock.compute.math import maximum
from paddock.errors import UnknownNameError
from paddock.testing import ConformanceError, check_behaviour
from paddock.vehicles.model import Desire
from paddock.world.columns import Column

FAST = "hold"


@pytest.mark.parametrize("name", [FAST, *(pytest.param(n, marks=pytest.mark.slow) for n in rule_names() if n != FAST)])
def test_shipped_behaviour_conforms(name: str) -> None:
    own = {"path": [[0.0, 0.1, 0.5], [0.1, -0.1, 0.2, 0.3]]} if name == "playback" else {}
    model = "point" if find_rule(name).command is None else "car.kinematic"
    report = check_behaviour(name, options=own, model=model)
    assert list(report.details) == ["declarations", "python twin", "options", "threads", "run"]
    assert report.subject == f"behaviour '{name}'" and "50 decisions of 16 vehicles" in report.details["python twin"]


def test_an_unknown_behaviour_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown behaviour 'hlod'; did you mean 'hold'"):
        check_behaviour("hlod")


def test_options_are_those_of_a_scenario() -> None:
    with pytest.raises(UnknownNameError, match="option 'gian': unknown hold option 'gian'; did you mean 'gain'"):
        check_behaviour("hold", options={"gian": 1.0})


# behaviours that break the contract, each in one way


class Options(NamedTuple):
    speed: Annotated[float, Column("m/s", "speed", 0.0, 10.0)] = 2.0


class Path(NamedTuple):
    path: Annotated[float, Column("m", "length", 0.0, 10.0)] = 2.0


class Bare(NamedTuple):
    seen: Annotated[float, Column("", "times seen")]


class Outside(NamedTuple):
    speed: Annotated[float, Column("m/s", "speed", 0.0, 1.0)] = 2.0


def east(me: Any, m: Any, o: Any, urge: Any, target: Any, path: Any, dt: float) -> tuple[Desire, Any]:
    return Desire(maximum(1.0, 2.0), 0.0, 0.0, 10.0), m


def alone(me: Any, m: Any, o: Any, urge: Any, target: Any, path: Any, dt: float) -> Any:
    return Desire(1.0, 0.0, 0.0, 10.0)


def waves(me: Any, m: Any, o: Any, urge: Any, target: Any, path: Any, dt: float) -> tuple[Desire, Any]:
    return Desire(libm_sin(me.x), 0.0, 0.0, 10.0), m


def whole(me: Any, m: Any, o: Any, urge: Any, target: Any, path: Any, dt: float) -> tuple[Desire, Any]:
    return Desire(1, 0.0, 0.0, 10.0), m


def slow(me: Any, m: Any, o: Any, urge: Any, target: Any, path: Any, dt: float) -> tuple[Desire, Any]:
    return Desire(1.0, 0.0, 0.0, 10.0 / o.speed), m


GOOD = Rule("Go east", Options, east, name="east")
BROKEN: list[tuple[str, dict[str, Any], str, str]] = [
    ("summary", {"summary": " "}, "declarations", "the summary is empty"),
    ("taken", {"options": Path}, "declarations", "the option 'path' has a meaning of its own: rename it"),
    ("memory", {"memory": Bare}, "declarations", "column Bare.seen has no default"),
    ("range", {"options": Outside}, "declarations", "Outside.speed: default 2 lies outside 0 to 1"),
    ("radius", {"neighbours": find_rule("flock").neighbours}, "declarations", r"needs an option 'radius' \(m\)"),
    (
        "alone",
        {"desire": alone},
        "declarations",
        r"_behaviour.py:\d+: alone\(\) must return \(Desire, Nothing\) of num",
    ),
    (
        "libm",
        {"desire": waves},
        "declarations",
        r"test_check_behaviour.py:\d+: libm_sin: use sin of paddock.compute.math$",
    ),
    ("whole", {"desire": whole}, "python twin", r"whole\(\) returns 1 in column 'vx': write it as a float"),
    ("limit", {"desire": slow}, "options", r"column 'ahead' becomes inf with speed = 0$"),
]


@pytest.mark.parametrize(("name", "change", "check", "message"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_behaviour_is_refused(name: str, change: dict[str, Any], check: str, message: str) -> None:
    with pytest.raises(ConformanceError, match=message) as caught:
        check_behaviour(replace(GOOD, name=f"broken-{name}", **change))
    assert caught.value.check == check and str(caught.value).startswith(f"behaviour 'broken-{name}': {check}: ")
    assert GOOD.memory is Nothing
