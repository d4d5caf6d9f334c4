"""Overrides over the stream endpoint: given, listed, ended; mistakes are named."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

SCENARIO: dict[str, Any] = {
    "clock": {"rate": 200},
    "vehicles": [
        {"name": "crew", "count": 6, "model": "point", "spawn": {"grid": {"spacing": 5, "z": 5}}, "behaviour": "hold"},
        {"name": "bus", "model": "rover", "behaviour": {"patrol": {"path": [[0, 0], [9, 0], [9, 9]], "turn": "back"}}},
    ],
}
GOTO = {"goto": {"x": 40, "y": 2, "z": 8}}


@pytest.fixture
def served(serve: Any) -> Any:
    return serve(SCENARIO)


@pytest.fixture(scope="module")
def unchanged(serve: Any) -> Any:
    return serve(SCENARIO)


def test_overrides_are_applied_and_listed(served: Any) -> None:
    peer, sim = served.connect(), served.sim
    moment = peer.call("override", vehicles=["crew[4]", 3, 4, 4], behaviour=GOTO)
    assert moment == {"tick": 0, "time": 0.0}
    assert peer.call("overrides") == {
        "overrides": [{"ids": [[3, 2], [6, 1]], "behaviour": "goto", "options": GOTO["goto"]}]
    }
    routes = peer.call("routes")["routes"]
    patrol = {"fleet": "bus", "ids": [[1, 1]], "behaviour": "patrol", "closed": False}
    assert routes == [
        {**patrol, "points": [[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [9.0, 9.0, 0.0]]},
        {
            "fleet": "crew",
            "ids": [[3, 2], [6, 1]],
            "behaviour": "goto",
            "closed": False,
            "points": [[40.0, 2.0, 8.0]],
        },
    ]
    peer.call("simulation_step", ticks=6000)
    assert sim.snapshot()[3].position == pytest.approx([40, 2, 8], abs=0.2)
    peer.call("release_clock")


def test_one_override_with_a_goal_per_vehicle(served: Any) -> None:
    peer = served.connect()
    peer.call("override", vehicles=[6, "crew[0]", 3], behaviour={"goto": {"x": [7, 1, 1.5], "y": 2, "z": [3, 4, 4]}})
    (order,) = peer.call("overrides")["overrides"]
    assert order["ids"] == [[2, 2], [6, 1]]
    assert order["options"] == {"x": [1, 1.5, 7], "y": 2, "z": [4, 4, 3]}
    routes = [route for route in peer.call("routes")["routes"] if route["fleet"] == "crew"]
    assert [(route["ids"], route["points"]) for route in routes] == [
        ([[2, 1]], [[1.0, 2.0, 4.0]]),
        ([[3, 1]], [[1.5, 2.0, 4.0]]),
        ([[6, 1]], [[7.0, 2.0, 3.0]]),
    ]
    code, message = peer.refused("override", vehicles=[3], behaviour={"goto": {"x": [1, 2], "y": 2}})
    assert code == -32000 and message == "override.goto.x: a list has one value per vehicle, here 1, not 2"


def test_a_vehicle_is_overridden_driven_and_released(served: Any) -> None:
    peer = served.connect()
    code, message = peer.refused("set_control", vehicle="crew[0]", vx=2.0)
    assert code == -32000 and message == "'crew[0]' is driven by its behaviour 'hold', not by commands"
    peer.call("override", vehicles=["crew[0]"], behaviour="external")
    peer.call("set_control", vehicle="crew[0]", vx=2.0)
    peer.call("simulation_step", ticks=2)
    assert served.sim.vehicles.inspect("crew[0]")["command"]["vx"] == 2.0
    peer.call("override", vehicles=["crew[0]"], behaviour=None)
    assert peer.call("overrides") == {"overrides": []}
    kinds = [(event["kind"], event["detail"]) for event in peer.call("events")["events"]]
    assert kinds == [("ordered", "external"), ("order_ended", "hold")]
    peer.call("release_clock")


@pytest.mark.parametrize(
    ("params", "code", "text"),
    [
        (
            {"vehicles": [], "behaviour": "hold"},
            -32602,
            "'vehicles' must be a list of names of vehicles or fleets and ids, at least one",
        ),
        ({"vehicles": [1.5], "behaviour": "hold"}, -32602, "'vehicles' must be a list of names"),
        ({"vehicles": ["crew"]}, -32602, "'behaviour' is missing: a name, {name: options}, 'external', or null"),
        (
            {"vehicles": ["crew"], "behaviour": 3},
            -32602,
            "'behaviour' must be a name, {name: options}, 'external', or null, got 3",
        ),
        (
            {"vehicles": ["crew"], "behaviour": "flok"},
            -32000,
            "override: unknown behaviour 'flok'; did you mean 'flock'?",
        ),
        ({"vehicles": ["crew"], "behaviour": "os.path"}, -32000, "override: unknown behaviour 'os.path'"),
        (
            {"vehicles": ["crew"], "behaviour": {"goto": {"x": 1}}},
            -32000,
            "override.goto: goto option 'y' has no default",
        ),
        ({"vehicles": ["crw"], "behaviour": "hold"}, -32000, "unknown vehicle 'crw'; did you mean 'crew'?"),
    ],
)
def test_wrong_overrides_are_refused(unchanged: Any, params: dict[str, Any], code: int, text: str) -> None:
    refusal, message = unchanged.connect().refused("override", **params)
    assert refusal == code and text in message
    assert not unchanged.sim.events.since()


def test_a_slow_override_does_not_delay_other_calls(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, sim = served.connect(), served.connect(), served.sim
    begun, compiled, prepare = Event(), Event(), sim.engine.applier.checked_override

    def slowly(order: Any) -> Any:
        begun.set()
        assert compiled.wait(30)
        return prepare(order)

    monkeypatch.setattr(sim.engine.applier, "checked_override", slowly)
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(first.call, "override", vehicles=["crew[0]"], behaviour=GOTO)
        assert begun.wait(30)
        assert second.call("overrides") == {"overrides": []}
        assert second.call("simulation_step", ticks=3)["tick"] == 3
        compiled.set()
        assert pending.result(30)["tick"] == 3
    assert second.call("overrides")["overrides"][0]["behaviour"] == "goto"
