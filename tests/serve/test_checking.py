"""Validation of scenarios from clients: all errors with their locations, without running anything."""

import asyncio
from pathlib import Path

import pytest

import paddock
from paddock.errors import PaddockError
from paddock.scenario import Scenario, ScenarioProblem, load_scenario, located
from paddock.scenario.serve import ClientLimits
from paddock.serve.link import operate
from paddock.serve.live import LiveSource
from paddock.serve.operations.world import shown_text
from paddock.serve.protection.checker import MOST_TEXT, Checker, CheckTurns, problems_of, read
from paddock.serve.protection.trust import installed_names

KNOWN = installed_names()
LIMITS = ClientLimits(vehicles=20_000_000, memory=1000.0)


def test_the_ignored_sections_of_a_loaded_scenario_are_named() -> None:
    loaded = list[Scenario]()
    with paddock.load({"vehicles": []}) as sim:
        source = LiveSource(sim, director=loaded.append)
        text = "vehicles: [{name: a, model: quad}]\nsitl: {pilots: [{vehicles: a}]}\nserve: {web: 0}\n"
        assert operate(source, "switch_scenario", "eve", {"text": text}) == ["serve", "sitl"]
        assert operate(source, "switch_scenario", "eve", {"text": "vehicles: []\n"}) == []
    assert [scenario.sitl for scenario in loaded] == [None, None]


def places(text: str) -> list[tuple[int, int]]:
    return [(problem.line, problem.column) for problem in problems_of(text, KNOWN, LIMITS)]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the file is empty"),
        ("just words", 1, 1, "must be a mapping"),
        ("/etc/passwd", 1, 1, "must be a mapping"),
        ("vehicles: [", 1, 12, "not valid YAML"),
        ("vehicles:\n- {model: quod}\n", 2, 11, "did you mean 'quad'?"),
        ("vehicles:\n- {model: quad, preset: x}\n", 2, 25, "unknown preset 'x' of quad"),
        ("vehicles:\n- {model: quad, behaviour: {orbit: {radios: 3}}}\n", 2, 45, "did you mean 'radius'?"),
        ("vehicles:\n- {model: quad, behaviour: {follow: {target: x}}}\n", 2, 46, "unknown vehicle 'x'"),
        ("vehicles:\n- {model: quad, pose: [0, 0, -5, 0]}\n", 2, 23, "at or above the ground"),
        ("vehicles:\n- {model: point, pose: [1.e+9, 0, 0]}\n", 2, 24, "within 1e+07 m"),
        ("world: {mu: -1}\nvehicles: []\n", 1, 13, "mu"),
        (f"vehicles: [{{name: {'x' * 5000}, model: quad}}]\n", 1, 19, "name must be text of at most 200 characters"),
        (f"name: {'x' * 5000}\nvehicles: []\n", 1, 7, "name must be text of at most 200 characters"),
    ],
)
def test_one_problem(text: str, line: int, column: int, message: str) -> None:
    (problem,) = problems_of(text, KNOWN, LIMITS)
    assert (problem.line, problem.column) == (line, column)
    assert message in problem.message


def test_several_problems_in_the_order_of_their_lines() -> None:
    assert places("sed: 1\nvehicles:\n- {model: quad, kount: 2}\nclock: {rate: -1}\n") == [(1, 1), (3, 17), (4, 15)]
    assert places("vehicles:\n- {model: quad, preset: x}\n- {model: point}\n- {model: car}\n") == [(4, 11)]
    assert places("vehicles:\n- {model: quad, preset: x}\n- {model: point}\n- {model: quad, speed: 1.e+9}\n") == [
        (2, 25),
        (4, 24),
    ]


def test_ignored_sections_are_not_checked() -> None:
    text = "serve: {bind: 0.0.0.0, nonsense: 1}\nrecord: [7]\nvehicles:\n- {model: quod}\n"
    (problem,) = problems_of(text, KNOWN, LIMITS)
    assert (problem.line, problem.column) == (4, 11) and "quad" in problem.message
    assert places("serve: {a: 1, a: 2}\nvehicles: []\n") == [(1, 15)]  # it has to be YAML
    scenario = read(text.replace("quod", "quad"))
    assert (scenario.serve, scenario.record, scenario.left_out) == (None, None, ("serve", "record"))
    assert read("vehicles: []").left_out == ()


def test_large_fleets_are_not_built() -> None:
    fleet = "vehicles:\n- {name: f, model: point, count: 10000000, spawn: {grid: {spacing: 1}}}\n"
    assert problems_of(fleet, KNOWN, LIMITS) == []
    assert problems_of(fleet + "- {model: point, behaviour: {follow: {target: 'f[9999999]'}}}\n", KNOWN, LIMITS) == []


def test_foreign_modules_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil_model.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = "vehicles:\n- {model: evil_model}\n- {model: quad, behaviour: evil_model.x, sensors: [evil_model.y]}\n"
    assert places(text) == [(2, 11), (3, 28), (3, 52)]


def test_text_that_is_too_long() -> None:
    (problem,) = problems_of("#" * (MOST_TEXT + 1), KNOWN, LIMITS)
    assert problem.message == "a scenario may have at most 1,048,576 characters, not 1,048,577"


def test_locations_of_problems() -> None:
    assert located("a.yaml:7:5: no: 1:2: x", "a.yaml") == ScenarioProblem(7, 5, "no: 1:2: x")
    assert located("something else", "a.yaml") == ScenarioProblem(1, 1, "something else")


def test_the_process_answers_and_is_ended_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> None:
        checker = Checker()
        (problem,) = await checker.check("vehicles:\n- {model: quod}\n", None, LIMITS)
        assert problem == {"line": 2, "column": 11, "message": "unknown model 'quod'; did you mean 'quad'?"}
        assert await asyncio.gather(*(checker.check("vehicles: []", KNOWN, LIMITS) for _ in range(3))) == [[], [], []]
        monkeypatch.setattr("paddock.serve.protection.checker.PATIENCE", 0.0)
        with pytest.raises(PaddockError, match="timed out after 0 s"):
            await checker.check("vehicles: []", KNOWN, LIMITS)
        monkeypatch.setattr("paddock.serve.protection.checker.PATIENCE", 60.0)
        assert await checker.check("vehicles: []", None, LIMITS) == []  # by another process
        await checker.close()

    asyncio.run(ask())


def test_clients_take_turns_and_cancelled_checks_are_skipped() -> None:
    async def take() -> list[str]:
        turns, order = CheckTurns(), list[str]()

        async def one(client: str) -> None:
            async with turns.take(client):
                order.append(client)
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(one(client)) for client in "aaaabbc"]
        await asyncio.sleep(0)  # all have asked, the first has its turn
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return order

    assert asyncio.run(take()) == ["a", "a", "b", "c", "a", "b"]


def test_a_client_has_a_quota_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("paddock.serve.protection.checker.monotonic", lambda: now[0])

    async def take() -> None:
        turns = CheckTurns()

        async def one(client: str, seconds: float) -> None:
            async with turns.take(client):
                now[0] += seconds

        await one("a", 20.0)
        await one("a", 20.0)  # 35 s used: 20 s, less a quarter of the 20 s that have passed, and 20 s
        with pytest.raises(PaddockError, match="more than 30 s; try again in 20 s"):
            await one("a", 1.0)
        await one("b", 1.0)
        now[0] += 20.0
        await one("a", 1.0)

    asyncio.run(take())


def test_the_source_text_is_shown_without_a_token(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("# mine\nseed: 3\nvehicles: []\n")
    scenario = load_scenario(path)
    assert shown_text(scenario) == "# mine\nseed: 3\nvehicles: []\n"
    assert load_scenario(shown_text(scenario.model_copy(update={"seed": 4}))).seed == 4
    assert shown_text(load_scenario({"seed": 5, "vehicles": []})).startswith("seed: 5\n")
    path.write_text("serve: {zmq: true, token: very secret}\nvehicles: []\n")
    assert "secret" not in shown_text(load_scenario(path))
