"""Facts: what the hub answers itself, and when the simulation sends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

import paddock
from paddock.serve import facts as module
from paddock.serve.facts import FactMirror, FactPublisher, OperationError, OperationOutcome
from paddock.wire.operations import OPERATIONS

Answers = list[tuple[str, Any]]


class Hub:
    """A mirror whose simulation answers on demand of the test; times in ns are those of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100
        self.changed_at: int | None = None
        self.asked: list[dict[str, Any]] = []
        self.answers: Answers = []
        monkeypatch.setattr(module, "monotonic_ns", lambda: self.now)
        self.facts = FactMirror(self.asked.append, lambda: self.changed_at)

    def read(self, operation: str, client: str = "ann", **arguments: Any) -> None:
        def then(outcome: OperationOutcome | OperationError) -> None:
            value = outcome.result if isinstance(outcome, OperationOutcome) else str(outcome)
            self.answers.append((client, value))

        self.facts.read(operation, client, arguments, then)

    def send(self, number: int, at: int, **content: Any) -> None:
        self.facts.receive({"fact": number, "at": at, "tick": at, "time": 0.001 * at, **content})


def test_a_fact_is_asked_for_once_and_answers_every_client(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    for client in "abc":
        hub.read("routes", client)
    assert hub.asked == [{"ask": 1, "operation": "routes", "arguments": {}}] and hub.answers == []
    hub.send(1, 101, result=["route"])
    assert hub.answers == [(client, ["route"]) for client in "abc"]
    for client in "abcd":
        hub.read("routes", client)
    assert len(hub.asked) == 1 and len(hub.answers) == 7
    hub.send(1, 120, result=["other"])  # pushed
    hub.read("routes")
    assert hub.answers[-1] == ("ann", ["other"]) and len(hub.asked) == 1


def test_facts_with_other_arguments_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    hub.read("sensors", target="red")
    hub.read("sensors", target="blue")
    assert [question["arguments"] for question in hub.asked] == [{"target": "red"}, {"target": "blue"}]


def test_a_client_reads_its_own_change_and_others_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    hub.read("overrides")
    hub.send(1, 100, result=["before"])
    hub.facts.changed("ann", 150)
    hub.read("overrides", "bob")
    hub.read("overrides", "ann")
    assert hub.answers[1:] == [("bob", ["before"])] and len(hub.asked) == 2
    hub.send(1, 149, result=["just before"])  # copied before the change
    assert len(hub.answers) == 2 and len(hub.asked) == 3
    hub.send(1, 151, result=["after"])
    assert hub.answers[2:] == [("ann", ["after"])]


def test_a_read_after_an_event_is_at_least_as_new(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    hub.read("overrides")
    hub.send(1, 100, result=["before"])
    hub.now = 110
    hub.facts.mark_pushed()
    hub.read("overrides")
    assert len(hub.answers) == 1
    hub.send(1, 111)  # unchanged
    assert hub.answers[1:] == [("ann", ["before"])]


def test_a_run_at_rest_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    hub.changed_at = 90
    hub.read("clock")
    hub.send(1, 100, result={"pace": 1.0})
    hub.read("clock")
    assert len(hub.answers) == 2
    hub.changed_at = 101  # a step of the program that simulates
    hub.read("clock")
    assert len(hub.answers) == 2 and len(hub.asked) == 2
    hub.send(1, 102)
    assert len(hub.answers) == 3


def test_saves_and_hashes_are_copied_for_each_question(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    hub.read("state_hash", "ann")
    hub.now = 110
    hub.read("state_hash", "bob")
    hub.send(1, 105, result="first")
    assert hub.answers == [("ann", "first")] and len(hub.asked) == 2
    hub.send(1, 111, result="second")
    assert hub.answers[1:] == [("bob", "second")]
    hub.read("state_hash", "ann")
    assert len(hub.asked) == 3


def test_new_items_are_selected_in_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    events = [{"number": k} for k in range(1, 6)]
    for since in (0, 3, 5):
        hub.read("events", since=since)
    assert hub.asked == [{"ask": 1, "operation": "events", "arguments": {"since": 0}}]
    hub.send(1, 101, result=events)
    assert [answer for _, answer in hub.answers] == [events, events[3:], []]


def test_errors_are_facts_too_and_personal_results_name_their_client(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    hub.read("sensors", target="red")
    hub.read("metadata", "bob")
    hub.send(1, 101, error={"kind": "UnknownNameError", "message": "unknown vehicle 'red'"})
    hub.send(2, 101, result={"client": "", "name": "demo"})
    assert hub.answers == [("ann", "unknown vehicle 'red'"), ("bob", {"client": "bob", "name": "demo"})]


def test_questions_of_clients_take_turns_and_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(monkeypatch)
    for k in range(100):
        hub.read("inspect", "eve", target=k)
    hub.read("inspect", "bob", target="red")
    assert len(hub.asked) == module.MOST_OPEN
    hub.send(1, 101, result={})
    hub.send(2, 101, result={})
    assert {"ask": 101, "operation": "inspect", "arguments": {"target": "red"}} in hub.asked[-2:]
    for _ in range(module.MOST_WAITING + 1):
        hub.read("state_hash", "eve")
    assert hub.answers[-1] == ("eve", f"state_hash refused: {module.MOST_WAITING} equal requests wait already")
    hub.facts.gone("eve")
    assert not any(client == "eve" for _, client, _ in hub.facts._facts["state_hash", "[]"].waiting)


class Simulation:
    """A source of facts, in a thread of the publisher."""

    def __init__(self) -> None:
        self.ticking, self.changes, self.refused = False, 0, 0
        self.watched = SimpleNamespace(tick=7, time=0.007)
        self.built = 0

    def read(self, work: Callable[[], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work())
        return done

    def count_refused(self) -> None:
        self.refused += 1

    def version(self, operation: str) -> int:
        return self.changes

    def handler(self, operation: str) -> Callable[..., Any]:
        return self._read

    def _read(self, client: str, **arguments: Any) -> Callable[[], Any]:
        if "refuse" in arguments:
            raise paddock.PaddockError("no")
        self.built += 1
        return lambda: f"result {self.built}"


def published(source: Any, sent: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    end = time.monotonic() + 30.0
    while len(sent) < count and time.monotonic() < end:
        time.sleep(0.002)
    return sent


def test_a_publisher_sends_a_fact_again_only_when_it_has_changed() -> None:
    source, sent = Simulation(), list[dict[str, Any]]()
    publisher = FactPublisher(source, sent.append, "test")  # type: ignore[arg-type]
    publisher.ask(1, "routes", {})
    first = published(source, sent, 1)[0]
    assert (first["fact"], first["result"], first["tick"], first["time"]) == (1, "result 1", 7, 0.007)
    publisher.ask(1, "routes", {})
    assert "result" not in published(source, sent, 2)[1] and source.built == 1
    source.changes = 2
    publisher.ask(1, "routes", {})
    assert published(source, sent, 3)[2]["result"] == "result 2"
    publisher.ask(2, "routes", {"refuse": True})
    assert published(source, sent, 4)[3]["error"] == {"kind": "PaddockError", "message": "no"} and source.refused == 1
    publisher.close()


def test_a_publisher_pushes_kept_facts_while_time_passes_but_no_hashes() -> None:
    source, sent = Simulation(), list[dict[str, Any]]()
    source.ticking = True
    publisher = FactPublisher(source, sent.append, "test")  # type: ignore[arg-type]
    publisher.ask(1, "routes", {})
    publisher.ask(2, "state_hash", {})
    numbers = [message["fact"] for message in published(source, sent, 6)]
    assert numbers.count(2) == 1 and numbers.count(1) >= 4
    publisher.close()


def test_only_saves_hashes_private_columns_and_surveys_go_between_ticks() -> None:
    reads = {name for name, operation in OPERATIONS.items() if operation.entry.handling == "read"}
    surveys = {"coverage", "radio_levels", "spectrum", "radio_assign", "series"}
    assert reads == {"save", "state_hash", "inspect"} | surveys
