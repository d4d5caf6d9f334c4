"""Jammers and budgets of links, remotely."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError

POINT = {"name": "p", "model": "point", "radio": "default"}
SCENARIO: dict[str, Any] = {
    "clock": {"rate": 100, "pace": 0},
    "radio": {
        "stations": [{"name": name, "position": [x, 0, 0]} for name, x in (("a", 0), ("b", 1000))],
        "jammers": [{"name": "j", "kind": "barrage", "position": [900, 0, 0], "enabled": False}],
    },
    "vehicles": [POINT],
}


def test_jammers_and_links(serve: Any) -> None:
    served = serve(SCENARIO)
    with paddock.connect(served.url) as sim:
        assert sim.radio.link("a", "b").path_loss == pytest.approx(100.05, abs=0.005)
        [view] = sim.radio.jammers()
        assert view.on is False and view.position == (900.0, 0.0, 0.0)
        sim.radio.jammers.set("j", on=True, power=40.0)
        sim.step(20)
        assert sim.radio.jammers()[0].power == 40.0
        assert sim.radio.link("a", "b").jamming > -60.0
        for wrong, text in (({"name": "k"}, "unknown jammer 'k'"), ({"name": "j", "power": 900.0}, "power must be")):
            with pytest.raises(PaddockError, match=text):
                sim.radio.jammers.set(**wrong)


def test_spoofers_and_commands(serve: Any) -> None:
    spoofer = {"name": "s", "position": [0, 9, 0], "offset": [50, 0, 0], "enabled": False}
    radio = {"stations": [{"name": "a", "position": [0, 0, 0]}], "spoofers": [spoofer]}
    entry = {"name": "p", "model": "point", "radio": "default", "via": {"telemetry": 20}, "sensors": ["gnss"]}
    served = serve({**SCENARIO, "radio": radio, "vehicles": [entry]})
    with paddock.connect(served.url) as sim:
        assert isnan(sim.radio.commands("p").delay) and sim.radio.telemetry("p").position is None
        sim.command("p", vx=1.0)
        sim.radio.spoofers.set("s", on=True)
        sim.step(300)
        [view] = sim.radio.spoofers()
        assert view.on is True and view.captured == 1
        assert sim.radio.commands("p").delivered == 1 and 0.0 < sim.radio.commands("p").delay < 0.01
        state = sim.radio.telemetry("p")
        assert state.velocity == pytest.approx((1.0, 0.0, 0.0)) and state.age < 0.1 < state.time
        with pytest.raises(PaddockError, match="unknown spoofer 'k'"):
            sim.radio.spoofers.set("k", on=True)


def plain(value: Any) -> Any:
    """Return named tuples with their type, and arrays as lists, to compare them."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, list | tuple):
        return type(value), [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def story(sim: Any) -> dict[str, Any]:
    """What a notebook asks the radio; the same of a local and a remote simulation."""
    sim.radio.jammers.set("j", on=True, position=[5000.0, 0.0, 0.0])
    sim.radio.allocate(["p", "q", "a", "b"], [3])
    sim.radio.send("a", "p", b"\x00\xff")
    sim.radio.send(1, "b", {"go": 1})
    sim.radio.send("q", "b", {"base64": "aGk="}, bits=np.int64(64))
    sim.radio.jammers.set("j", power=np.float32(3), position=np.array([5000.0, 1.0, 0.0]))
    sim.step(50)
    ids = [event.kind for event in sim.events.since(0)]
    return {
        "links": plain(sim.radio.links()),
        "stations": plain(sim.radio.stations),
        "report": plain(sim.radio.report()),
        "heard": sim.radio.heard("p"),
        "received": plain(sim.radio.received("p")) + plain(sim.radio.received("b")),
        "budget": plain(sim.radio.link(1, "b")),
        "text": str(sim.radio.link("p", "b")),
        "jammers": plain(sim.radio.jammers()),
        "spoofers": plain(sim.radio.spoofers()),
        "traffic": sim.radio.traffic(),
        "services": plain(sim.radio.services()),
        "noise": plain(sim.radio.noise()),
        "levels": plain(sim.radio.levels([[500, 0, 10], (20.0, 30.0, 4.0)], of="b", receiver="p")),
        "levels of all": plain(sim.radio.levels(np.array([[100.0, 0.0, 0.0]]))),
        "assigned": plain(sim.radio.assign(["p", "q"], [[1.0, 5.0], [2.0, 9.0]])),
        "one by id": plain(sim.radio.assign((1,), np.array([[4.0, 3.0]]), period=0.2, rounds=7)),
        "network": (sim.radio.network().components, sim.radio.network().parts, sim.radio.network().bridges),
        "spectrum": plain(sim.radio.spectrum("b", bins=4)._replace(power=0)),
        "coverage": plain(sim.radio.coverage(side=3)._replace(power=0, sinr=0, jamming=0, per=0)),
        "shape": sim.radio.coverage(side=3).power.shape,
        "events": ids,
        "errors": [refused(sim, *mistake) for mistake in MISTAKES],
    }


MISTAKES: list[tuple[str, dict[str, Any]]] = [
    ("jammers.set", {"name": "j", "frobnicate": 1}),
    ("jammers.set", {"name": "j", "on": 1}),
    ("jammers.set", {"name": "j", "power": float("nan")}),
    ("jammers.set", {"name": "j", "position": [1, 2]}),
    ("jammers.set", {"name": "j"}),
    ("jammers.set", {"name": "k", "on": True}),
    ("send", {"source": "a", "lifetime": True}),
    ("send", {"source": "a", "bits": 1.5}),
    ("send", {"source": "a", "frobnicate": 1}),
]


def refused(sim: Any, method: str, arguments: dict[str, Any]) -> tuple[str, str]:
    call = sim.radio
    for part in method.split("."):
        call = getattr(call, part)
    with pytest.raises((PaddockError, TypeError)) as error:
        call(**arguments)
    return error.type.__name__, "" if error.type is TypeError else str(error.value)


def test_the_same_methods_locally_and_remotely(serve: Any) -> None:
    radio = {**SCENARIO["radio"], "messages": {"beacons": {"rate": 5}}}
    vehicles = [{**POINT, "id": 1, "via": {"radio": "a", "telemetry": 20}}, {**POINT, "name": "q", "pose": [9, 0, 0]}]
    scenario = {**SCENARIO, "radio": radio, "vehicles": vehicles}
    served = serve(scenario)
    with paddock.load(scenario) as local:
        expected = story(local)
    with paddock.connect(served.url) as remote:
        remote_story = story(remote)
    assert (
        expected["errors"][0][0],
        expected["errors"][0][1].partition(";")[0],
    ) == ("UnknownNameError", "unknown setting 'frobnicate' of a jammer")
    assert len(expected["heard"]) == 1 and "channel_allocated" in expected["events"]
    assert expected["assigned"][1][0] == (list, [0, 1]) and expected["services"]["telemetry"][1][0] == 10
    for name, value in expected.items():
        assert remote_story[name] == value, name


def test_mistakes_in_surveys_and_assignments(serve: Any) -> None:
    """The same mistakes are refused locally and remotely; sizes are limited remotely."""
    with paddock.connect(serve(SCENARIO).url) as remote, paddock.load(SCENARIO) as local:
        assert local.radio is not None
        for radio in (remote.radio, local.radio):
            for places in ([[1.0, 2.0]], [[1.0, 2.0, float("nan")]], "p"):
                with pytest.raises(PaddockError, match="places"):
                    radio.levels(places)
            with pytest.raises(PaddockError, match="unknown vehicle or station 'r'"):
                radio.levels([[0.0, 0.0, 0.0]], of="r")
            for vehicles, cost in ((["p"], [[1.0], [2.0]]), (["p"], [[float("inf")]]), (["p"], [[]])):
                with pytest.raises(PaddockError, match="cost"):
                    radio.assign(vehicles, cost)
            with pytest.raises(PaddockError, match="vehicles 0 and 1, 'p', are the same vehicle"):
                radio.assign(["p", "p"], [[1.0], [2.0]])
            for wrong in ({"period": 0.0}, {"rounds": 0}):
                with pytest.raises(PaddockError, match=next(iter(wrong))):
                    radio.assign(["p"], [[1.0]], **wrong)
        with pytest.raises(PaddockError, match="a list of 1 to 10000 places"):
            remote.radio.levels(np.zeros((10_001, 3)))
        with pytest.raises(PaddockError, match="a list of 1 to 200 names"):
            remote.radio.assign([f"p{k}" for k in range(201)], np.zeros((201, 1)))
        with pytest.raises(PaddockError, match="a list of 1 to 1000 finite numbers"):
            remote.radio.assign(["p"], np.zeros((1, 1001)))
        assert not hasattr(remote.radio, "medium")
