"""Attacks of clients that a simulation must withstand."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zmq
from asked import ask

import paddock
from paddock.engine.build import arrival
from paddock.engine.simulation import replayed
from paddock.errors import PaddockError
from paddock.scenario.serve import ClientLimits
from paddock.serve.host import Host
from paddock.serve.link import operate
from paddock.serve.live import LiveSource
from paddock.serve.protection.checker import problems_of
from paddock.serve.protection.trust import installed_names
from paddock.wire import messages_pb2 as pb
from paddock.world.archive import pack, unpack

SPY = {"name": "spy", "model": "rover", "sensors": ["this"]}
CAR = {"name": "red", "id": 1, "model": "car.kinematic"}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[paddock.Simulation, Host]]:
    scenario = {"clock": {"rate": 1000}, "vehicles": [CAR]}
    with paddock.load(scenario) as sim, paddock.share(sim, lambda line: None, metrics={"port": 0}) as host:
        yield sim, host


@pytest.fixture
def host(served: tuple[paddock.Simulation, Host]) -> Iterator[Host]:
    """The same for all tests, in a new run without clients."""
    sim, host = served
    yield host
    assert isinstance(host.source, LiveSource)
    host.source.director = None
    for client in ("eve", "bob"):
        host.source.gone(client)
    sim.reset()


@pytest.mark.parametrize("timeout", [1e300, 1e17, 1e7, 0, -1, float("nan")])
def test_a_timeout_that_no_run_reaches_is_refused_before_it_counts(host: Host, timeout: float) -> None:
    with pytest.raises(PaddockError, match="timeout of a command"):
        ask(host.source, "command", target="red", inputs={"steer": 0.1}, timeout=timeout)
    with pytest.raises(PaddockError, match="timeout of a command"):
        ask(host.source, "command_many", ids=np.array([1]), inputs={"steer": 0.1}, timeout=timeout)
    assert ask(host.source, "step", ticks=5) == 5


def test_a_client_cannot_import_modules(host: Host) -> None:
    for entry in (
        {"model": "this"},
        {"model": "os.path"},
        {"model": "rover", "behaviour": "antigravity"},
        {"model": "rover", "driver": {"idlelib.idle": {}}},
        {"model": "rover", "sensors": ["this"]},
    ):
        with pytest.raises(PaddockError, match="unknown"):
            ask(host.source, "spawn", entry=entry)
        with pytest.raises(PaddockError, match="unknown"):
            ask(host.source, "spawn_all", entries=[{"model": "rover"}, entry])
    assert "this" not in sys.modules and "antigravity" not in sys.modules
    assert ask(host.source, "spawn", entry={"model": "rover", "behaviour": {"hold": {}}, "name": "hal"}) == "hal"


def test_a_saved_state_cannot_import_modules(host: Host) -> None:
    ask(host.source, "spawn", entry={"model": "rover", "name": "dog"})
    ask(host.source, "override", target="dog", behaviour="hold")
    saved = ask(host.source, "save")
    waiting = {"tick": 9, "sequence": 1, "source": ""}
    for attack in (
        lambda tree: entry_of(tree, "dog", model="this"),
        lambda tree: entry_of(tree, "dog", behaviour={"antigravity": {}}),
        lambda tree: entry_of(tree, "dog", sensors=["this"]),
        lambda tree: tree["fleets"]["dog"]["overrides"].update(behaviours=[[1, '{"antigravity": {"x": 1}}']]),
        lambda tree: posted(tree, {**waiting, "kind": "order", "action": {"target": "dog", "behaviour": "this"}}),
        lambda tree: posted(tree, {**waiting, "kind": "spawn", "action": {"entry": {"model": "antigravity"}}}),
        lambda tree: posted(tree, {**waiting, "kind": "mission", "action": {"verb": "add_vehicle", "arguments": SPY}}),
    ):
        tree = unpack(saved)
        attack(tree)
        with pytest.raises(PaddockError, match="unknown"):
            ask(host.source, "restore", state=pack(tree))
    for nonsense in ({"fleets": 3}, {"fleets": {"dog": {"entry": "{"}}}, {}):
        with pytest.raises(PaddockError, match="what save"):
            ask(host.source, "restore", state=pack(nonsense))
    assert "this" not in sys.modules and "antigravity" not in sys.modules
    before = ask(host.source, "state_hash")
    ask(host.source, "remove", target="dog")
    ask(host.source, "restore", state=saved)
    assert ask(host.source, "state_hash") == before


def entry_of(tree: dict[str, Any], fleet: str, **fields: Any) -> None:
    saved = tree["fleets"][fleet]
    saved["entry"] = json.dumps({**json.loads(saved["entry"]), **fields})


def posted(tree: dict[str, Any], action: dict[str, Any]) -> None:
    tree["mailbox"] = {"queue": [action]}


def test_an_override_or_a_scenario_cannot_import_modules(host: Host) -> None:
    assert isinstance(host.source, LiveSource)
    host.source.director = lambda scenario: pytest.fail("begun")
    behaviours: list[Any] = ["antigravity", {"this": {}}, "idlelib.idle"]
    for behaviour in behaviours:
        with pytest.raises(PaddockError, match="override: unknown behaviour"):
            ask(host.source, "override", target="red", behaviour=behaviour)
        text = json.dumps({"vehicles": [{"model": "rover", "behaviour": behaviour}]}, indent=1)
        with pytest.raises(PaddockError, match="unknown behaviour"):
            ask(host.source, "switch_scenario", text=text)
    assert "this" not in sys.modules and "antigravity" not in sys.modules


@pytest.mark.parametrize(
    ("mission", "message"),
    [
        ({"method": "antigravity"}, "unknown planning method 'antigravity'"),
        ({"method": {"idlelib.idle": {}}}, "unknown planning method 'idlelib.idle'"),
        ({"events": [{"at": 1, "vehicle": {"name": "spy", "model": "this"}}]}, "unknown model 'this'"),
        ({"events": [{"at": 1, "vehicle": SPY}]}, "unknown sensor 'this'"),
    ],
)
def test_a_mission_cannot_import_modules(host: Host, mission: dict[str, Any], message: str) -> None:
    assert isinstance(host.source, LiveSource)
    host.source.director = lambda scenario: pytest.fail("begun")
    text = json.dumps({"vehicles": [{"model": "rover"}], "mission": mission}, indent=1)
    with pytest.raises(PaddockError, match=message):
        ask(host.source, "switch_scenario", text=text)
    assert "this" not in sys.modules and "antigravity" not in sys.modules


OWN_RULE = """
from paddock.behaviour.rules.hold import RULE as HOLD
RULE = HOLD
"""


def test_clients_may_use_and_restore_names_of_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rule_of_the_owner.py").write_text(OWN_RULE)
    monkeypatch.syspath_prepend(tmp_path)
    rover = {"name": "dog", "model": "rover"}
    with paddock.load({"vehicles": [rover]}) as sim, paddock.share(sim, lambda line: None, metrics={"port": 0}) as host:
        with pytest.raises(PaddockError, match="unknown behaviour 'rule_of_the_owner'"):
            ask(host.source, "override", target="dog", behaviour="rule_of_the_owner")
        assert "rule_of_the_owner" not in sys.modules
        sim.behaviours.override("dog", "rule_of_the_owner")
        ask(host.source, "override", target="dog", behaviour="rule_of_the_owner")
        ask(host.source, "restore", state=ask(host.source, "save"))
        assert [override.behaviour for override in ask(host.source, "overrides")] == ["rule_of_the_owner"]


def test_several_vehicles_are_added_all_or_none(host: Host) -> None:
    before = ask(host.source, "state_hash")
    wrong = (
        [{"model": "rover"}, {"model": "rover", "preset": "nope"}],
        [{"model": "rover", "name": "a"}, {"model": "rover", "name": "a"}],
        [{"model": "rover", "id": 5}, {"model": "rover", "id": 5}],
        [{"model": "rover"}, {"model": "rover", "id": 1}],
        [{"model": "rover"}, {"model": "rover", "pose": [0]}],
    )
    for entries in wrong:
        with pytest.raises(PaddockError):
            ask(host.source, "spawn_all", entries=entries)
    assert ask(host.source, "state_hash") == before
    right = [{"model": "rover", "name": name} for name in "ab"]
    assert ask(host.source, "spawn_all", entries=right) == ["a", "b"]


def test_a_refused_claim_keeps_the_earlier_one(host: Host) -> None:
    ask(host.source, "spawn", entry={"model": "rover", "name": "blue"})
    ask(host.source, "claim", vehicles=["red"])
    with pytest.raises(PaddockError, match="unknown vehicle 'green'"):
        ask(host.source, "claim", vehicles=["green"])
    with pytest.raises(PaddockError, match="'eve' has already claimed red"):
        operate(host.source, "claim", "bob", {"vehicles": ["red"]})
    ask(host.source, "claim", vehicles=["blue", "red"])  # instead of the earlier one
    host.source.gone("eve")
    operate(host.source, "claim", "bob", {"vehicles": ["red"]})


def test_commands_for_a_far_future_do_not_fill_the_memory(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.engine.actions.MOST_WAITING", 50)
    for k in range(50):
        ask(host.source, "command", target="red", inputs={"steer": 0.1}, at_tick=10**9 + k)
    with pytest.raises(PaddockError, match="mailbox full: 50 actions"):
        ask(host.source, "command", target="red", inputs={"steer": 0.1}, at_tick=10**9)
    monkeypatch.undo()
    with pytest.raises(PaddockError, match="at_tick"):
        ask(host.source, "command", target="red", inputs={"steer": 0.1}, at_tick=2**63)


SWARM = {"name": "swarm", "model": "point", "count": 10_000_000, "spawn": {"grid": {"spacing": 1}}}


def test_one_tick_takes_a_limited_number_of_actions_sent_in_advance(host: Host) -> None:
    for k in range(256):
        operation, more = ("place", {"pose": [0, 0, 0, 0]}) if k % 2 else ("command", {"inputs": {"steer": 0.1}})
        ask(host.source, operation, target="red", at_tick=3, **more)
    with pytest.raises(PaddockError, match="256 actions of clients wait for tick 3 already: use another tick"):
        ask(host.source, "place", target="red", pose=[0, 0, 0, 0], at_tick=3)
    ask(host.source, "place", target="red", pose=[0, 0, 0, 0], at_tick=4)
    assert ask(host.source, "step", ticks=5) == 5
    sim = host.source.watched
    assert isinstance(sim, paddock.Simulation)
    sim.reset()
    ask(host.source, "place", target="red", pose=[0, 0, 0, 0], at_tick=3)  # of the new run


def test_a_spawn_beyond_the_limits_is_refused_before_anything_is_built(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.engine.fleets.arrival", lambda *arguments: pytest.fail("vehicles were placed"))
    for operation, arguments in (
        ("spawn", {"entry": SWARM}),
        ("spawn_all", {"entries": [{**SWARM, "name": f"swarm{k}", "count": 150_000} for k in range(2)]}),
    ):
        with pytest.raises(PaddockError, match="exceed the 200,000 that clients may add"):
            ask(host.source, operation, **arguments)
    assert isinstance(host.source, LiveSource)
    monkeypatch.setattr(host.source, "limits", ClientLimits(vehicles=20_000_000, memory=2.0))
    with pytest.raises(
        PaddockError, match=r"10,000,000 vehicles need about 1\d\.\d GiB of memory, more than the 2\.0 GiB"
    ):
        ask(host.source, "spawn", entry=SWARM)
    monkeypatch.setattr(host.source, "limits", ClientLimits(vehicles=20_000_000, memory=1000.0))
    monkeypatch.setattr("paddock.engine.fleets.available_bytes", lambda: 3 << 30)
    with pytest.raises(PaddockError, match=r"more than the 3\.0 GiB available on this machine"):
        ask(host.source, "spawn", entry=SWARM)
    assert ask(host.source, "step", ticks=5) == 5


def test_vehicles_that_clients_add_count_together_and_those_removed_do_not(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(host.source, LiveSource)
    monkeypatch.setattr(host.source, "limits", ClientLimits(vehicles=5))
    few = {"model": "rover", "spawn": {"grid": {"spacing": 3}}}
    assert ask(host.source, "spawn", entry={**few, "name": "dogs", "count": 3}) == "dogs"
    with pytest.raises(PaddockError, match="6 vehicles exceed the 5"):
        ask(host.source, "spawn", entry={**few, "name": "cats", "count": 3})
    with pytest.raises(PaddockError, match="6 vehicles exceed the 5"):
        ask(host.source, "spawn", entry={"fleet": "dogs", "count": 3, "spawn": few["spawn"]})
    ask(host.source, "remove", target="dogs[1]")
    assert ask(host.source, "spawn", entry={"fleet": "dogs", "count": 3, "spawn": few["spawn"]}) == "dogs"


def test_the_limit_is_stated_before_other_mistakes_of_an_entry(host: Host) -> None:
    with pytest.raises(PaddockError, match=r"vehicles\[0\]\.count: 10,000,000 vehicles exceed the 200,000"):
        ask(host.source, "spawn", entry={"name": "dogs", "model": "rover", "count": 10_000_000})


def test_fleets_that_clients_add_are_limited_because_each_costs_time_in_every_tick(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(host.source, LiveSource)
    monkeypatch.setattr(host.source, "limits", ClientLimits(fleets=2))
    for name in ("a", "b"):
        assert ask(host.source, "spawn", entry={"name": name, "model": "rover"}) == name
    saved = ask(host.source, "save")
    text = r"3 fleets exceed the 2 that clients may add \(serve.limits.fleets\)"
    for operation, arguments in (
        ("spawn", {"entry": {"name": "c", "model": "rover"}}),
        ("spawn_all", {"entries": [{"name": "c", "model": "rover"}]}),
    ):
        with pytest.raises(PaddockError, match=text):
            ask(host.source, operation, **arguments)
    ask(host.source, "remove", target="a")
    with pytest.raises(PaddockError, match=text):
        ask(host.source, "spawn_all", entries=[{"name": name, "model": "rover"} for name in ("c", "d")])
    assert ask(host.source, "spawn", entry={"name": "c", "model": "rover"}) == "c"
    monkeypatch.setattr(host.source, "limits", ClientLimits(fleets=1))
    ask(host.source, "restore", state=saved)  # no more than there are
    ask(host.source, "clear")
    with pytest.raises(PaddockError, match="restore: 2 fleets exceed the 1 that"):
        ask(host.source, "restore", state=saved)
    listed = "vehicles:\n" + "".join(f"- {{name: f{k}, model: point}}\n" for k in range(257))
    (problem,) = problems_of(listed, installed_names(), ClientLimits())
    assert problem.line == 258 and "257 fleets exceed the 256" in problem.message


def test_a_scenario_beyond_the_limits_is_refused_at_its_line(host: Host) -> None:
    assert isinstance(host.source, LiveSource)
    host.source.director = lambda scenario: pytest.fail("begun")
    fleet = "model: point, count: {}, spawn: {{grid: {{spacing: 1}}}}"
    text = "vehicles:\n" + "".join(f"- {{name: f{k}, {fleet.format(10_000_000)}}}\n" for k in range(20))
    assert len(text) < 1700
    with pytest.raises(PaddockError, match=r"2:35: 10,000,000 vehicles exceed the 200,000"):
        ask(host.source, "switch_scenario", text=text)
    (problem,) = problems_of(text, installed_names(), ClientLimits())
    assert (problem.line, problem.column) == (2, 35)
    events = f"  events:\n  - {{at: 1, vehicle: {{name: f, {fleet.format(300_000)}}}}}\n"
    late = f"vehicles: []\nmission:\n  base: [0, 0, 0]\n{events}"
    (problem,) = problems_of(late, installed_names(), ClientLimits())
    assert problem.line == 5 and "300,000 vehicles exceed the 200,000" in problem.message
    (problem,) = problems_of(text, installed_names(), ClientLimits(vehicles=10**9))
    assert "200,000,000 vehicles need about" in problem.message and "serve.limits.memory" in problem.message


def test_a_scenario_with_too_many_tasks_is_refused_at_its_line(host: Host) -> None:
    """118 bytes whose planning would take minutes."""
    assert isinstance(host.source, LiveSource)
    host.source.director = lambda scenario: pytest.fail("begun")
    text = "vehicles: [{name: uav, model: fixed_wing, pose: [0, 0, 100, 0]}]\nmission:\n  generate: {tasks: 100000}\n"
    with pytest.raises(PaddockError, match=r"3:21: 100,000 tasks exceed the 2,000 of a client's scenario"):
        ask(host.source, "switch_scenario", text=text)
    (problem,) = problems_of(text, installed_names(), ClientLimits())
    assert (problem.line, problem.column) == (3, 21) and "serve.limits.tasks" in problem.message
    assert not problems_of(text.replace("100000", "20"), installed_names(), ClientLimits())
    listed = text.replace("generate: {tasks: 100000}", "tasks: [" + 3 * "{point: {at: [9, 9]}}, " + "]")
    (problem,) = problems_of(listed, installed_names(), ClientLimits(tasks=2))
    assert problem.line == 3 and "3 tasks exceed the 2" in problem.message


def test_a_saved_state_cannot_have_more_vehicles_than_clients_may_add(host: Host) -> None:
    ask(host.source, "spawn", entry={"model": "rover", "name": "dog"})
    saved = ask(host.source, "save")
    waiting = {"tick": 9, "sequence": 1, "source": "", "kind": "spawn", "action": {"entry": SWARM}}
    for attack in (
        lambda tree: entry_of(tree, "dog", count=10_000_000, spawn={"grid": {"spacing": 1}}),
        lambda tree: posted(tree, waiting),
    ):
        tree = unpack(saved)
        attack(tree)
        with pytest.raises(PaddockError, match=r"has 10,000,00\d vehicles; clients may add 200,000 to the 1 of the"):
            ask(host.source, "restore", state=pack(tree))
    ask(host.source, "restore", state=saved)


def test_queued_vehicles_of_a_saved_state_are_valid_and_within_the_limits(host: Host) -> None:
    """A negative count would make room for others."""
    ask(host.source, "spawn", entry={"model": "rover", "name": "pack", "count": 2, "spawn": {"grid": {"spacing": 5}}})
    saved, before = ask(host.source, "save"), ask(host.source, "state_hash")
    where: dict[str, Any] = {"spawn": {"grid": {"spacing": 5}}}
    grid = {"model": "rover", **where}
    heavy = {**grid, "name": "e", "count": 150_000, "sensors": [{"imu": {"delay": 10, "rate": 1000}}]}
    for entries, why in (
        ([{**grid, "name": "a", "count": -(10**9)}, {**grid, "name": "b", "count": 2_000_000}], r"count.*-1000000000"),
        ([{"fleet": "pack", "count": -5}, {**grid, "name": "c", "count": 200_003}], r"count"),
        ([{"fleet": "pack", "count": 9, **where}, {**grid, "name": "d", "count": 200_000}], "has 200,012 vehicles"),
        ([{"fleet": "cats", "count": 1}], "unknown fleet cats"),
        ([{**grid, "name": "f", "count": 1.5}], "count"),
        ([heavy], "GiB that clients may use"),
    ):
        tree = unpack(saved)
        queue = [
            {"tick": 9, "sequence": k, "source": "", "kind": "spawn", "action": {"entry": entry}}
            for k, entry in enumerate(entries, start=1)
        ]
        tree["mailbox"] = {"sequence": len(queue), "queue": queue}
        with pytest.raises(PaddockError, match=why):
            ask(host.source, "restore", state=pack(tree))
        assert ask(host.source, "state_hash") == before


def test_a_large_saved_state_is_refused_before_the_run_sees_it(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    saved, before = ask(host.source, "save"), ask(host.source, "state_hash")

    def refuse(*_: Any) -> None:
        raise AssertionError("taken over")

    monkeypatch.setattr("paddock.engine.engine.Engine.take_over", refuse)
    monkeypatch.setattr("paddock.serve.protection.trust.MOST_VALUES", 99_999)
    event = [1, 0, "spawned", "x", ""]
    for change, why in (
        (lambda tree: tree.update(junk=[[]]), "saved state: unknown field 'junk'"),
        (lambda tree: tree["events"].update(junk=[]), "events: unknown field 'junk'"),
        (lambda tree: tree["mailbox"].update(junk=[]), "mailbox: unknown field 'junk'"),
        (
            lambda tree: tree.update(lost_targets=[str(k) for k in range(10_001)]),
            "lost_targets: has 10001 entries, more than 10000",
        ),
        (lambda tree: tree["events"].update(kept=[event] * 10_001), "events.kept: has 10001 entries, more than 10000"),
        (lambda tree: tree.update(failure=[[]] * 99_999), "more than 99,999 values"),
    ):
        tree = unpack(saved)
        change(tree)
        with pytest.raises(PaddockError, match=why):
            ask(host.source, "restore", state=pack(tree))
    assert ask(host.source, "state_hash") == before


def test_vehicles_of_clients_are_built_beside_the_tick_and_a_replay_finds_the_same(
    served: tuple[paddock.Simulation, Host], host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim, _ = served
    threads: list[str] = []

    def noted(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        return arrival(*arguments)

    monkeypatch.setattr("paddock.engine.fleets.arrival", noted)
    few = {"model": "rover", "count": 2, "spawn": {"random": {"low": [0, 0, 0], "high": [9, 9, 0]}}}
    with sim.clock.running(pace=0):
        assert ask(host.source, "spawn", entry={**few, "name": "dogs"}) == "dogs"
        assert ask(host.source, "spawn", entry={"fleet": "dogs", "count": 1, "spawn": few["spawn"]}) == "dogs"
        assert ask(host.source, "spawn", entry={"model": "rover"}) == "rover_2"
        assert ask(host.source, "spawn_all", entries=[{"model": "rover"}, {"model": "rover"}]) == ["rover_3", "rover_4"]
    assert len(threads) == 5 and {name.rpartition("_")[0] for name in threads} == {"paddock-worker"}
    spawned = [posted for posted in sim.control.log.entries if posted.action.saved_as == "spawn"]
    assert len(spawned) == 5 and all(posted.source == "eve" for posted in spawned)
    with replayed(sim.scenario, sim.control.log.complete(), sim.tick) as again:
        assert again.state_hash() == sim.state_hash()


def test_too_little_memory_for_vehicles_is_an_error_and_the_run_goes_on(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*arguments: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr("paddock.engine.fleets.arrival", exhausted)
    with pytest.raises(PaddockError, match=r"vehicles\[0\].count: not enough memory for the vehicles"):
        ask(host.source, "spawn", entry={"model": "rover"})
    assert ask(host.source, "step", ticks=5) == 5


def test_markers_of_a_client_have_a_number_of_points(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = host.source.watched
    assert isinstance(sim, paddock.Simulation)
    line = {"namespace": "n", "kind": "line_list", "vertices": np.zeros((200_000, 3))}
    ask(host.source, "put_markers", markers=[{**line, "id": 1}])
    with pytest.raises(PaddockError, match="400000 points of this client exceed the limit of 250000"):
        ask(host.source, "put_markers", markers=[{**line, "id": 2}])
    ask(host.source, "put_markers", markers=[{**line, "id": 1}])  # in place of the first
    for k in range(4):
        operate(host.source, "put_markers", f"eve {k}", {"markers": [{**line, "id": 10 + k}]})
    with pytest.raises(PaddockError, match="1200000 points of all clients exceed the limit of 1000000"):
        operate(host.source, "put_markers", "eve 5", {"markers": [{**line, "id": 20}]})
    rings = [{"namespace": "rings", "id": k, "kind": "ring", "scale": [2.0, 1.0, 1.0]} for k in range(3000)]
    with pytest.raises(PaddockError, match="288000 points of this client"):  # 2 x 48 lines each
        operate(host.source, "put_markers", "mallory", {"markers": rings})
    sim.world.markers.clear()
    ask(host.source, "put_markers", markers=[{**line, "id": 2}])


def test_a_hub_that_cannot_restart_reports_why() -> None:
    log: list[str] = []
    with paddock.load({"vehicles": [CAR]}) as sim, paddock.share(sim, log.append, metrics={"port": 0}) as host:
        port = host.addresses["metrics"]["port"]
        os.kill(host.hub_pid, signal.SIGKILL)
        with socket.socket() as thief:
            thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                try:
                    thief.bind(("127.0.0.1", port))
                    thief.listen()
                    break
                except OSError:
                    time.sleep(0.01)
            while not any("in use" in line for line in log) and time.monotonic() < deadline:
                time.sleep(0.05)
        assert any(f"could not start: metrics cannot listen on 127.0.0.1:{port}" in line for line in log)


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="where shared memory cannot be listed")
def test_shared_memory_of_a_killed_process_is_removed() -> None:
    code = "import sys; from paddock.world.ring import *; r = RingWriter(); print(r.name, flush=True); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdin is not None
    path = Path("/dev/shm") / f"paddock.{child.stdout.readline().strip()}"
    assert path.exists()
    child.kill()
    child.communicate()
    assert path.exists()  # no other process removes it: by now the name could be in use again
    with paddock.load({"vehicles": [CAR]}) as sim, paddock.share(sim, metrics={"port": 0}):
        assert not path.exists()


def test_a_large_message_without_the_token_costs_nothing() -> None:
    """60 MiB of JSON: nothing is decoded, nothing is received before the handshake, others are served."""
    text = "[" + "0," * (30 << 20) + "0]"
    data = pb.Request(id=1, call=pb.Call(method="spawn", json=text)).SerializeToString()
    secret = {"zmq": {"port": 0}, "token": "a-long-secret"}
    with (
        paddock.load({"vehicles": [CAR]}) as sim,
        paddock.share(sim, lambda line: None, **secret) as host,
        sim.clock.running(),
        zmq.Context() as context,
        context.socket(zmq.DEALER) as socket,
    ):
        hub, port = host.hub_pid, host.addresses["zmq"]["port"]
        before = cpu_seconds(hub)
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(f"tcp://127.0.0.1:{port}")
        with suppress(zmq.Again):  # refused already: there is no connection to send on
            socket.send(data, zmq.NOBLOCK)
        with paddock.connect(f"tcp://127.0.0.1:{port}", token="a-long-secret") as remote:
            assert remote.snapshot().tick >= 0
        assert socket.poll(500) == 0
        assert cpu_seconds(hub) - before < 2.0 and resident_mib(hub) < 400
        assert host.hub_pid == hub


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
