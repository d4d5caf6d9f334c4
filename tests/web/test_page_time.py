"""The page comes up clean, and its buttons do with time exactly what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SCENARIO: dict[str, Any] = {
    "name": "yard",
    "clock": {"rate": 240},
    "vehicles": [
        {"id": 1, "name": "red", "model": "car.kinematic", "pose": [0, 0, 0], "speed": 3},
        {"id": 2, "name": "blue", "model": "rover", "pose": [0, 12, 0]},
        {"id": 10, "name": "scouts", "count": 9, "model": "quad", "spawn": {"grid": {"spacing": 4, "z": 6}}},
    ],
}


def test_it_comes_up_without_an_error_and_asks_nobody_else(serve: Any, open_page: Any) -> None:
    window = open_page(serve(SCENARIO, running=True).url).ready()
    assert window.page.title() == "yard \N{EN DASH} Paddock"
    assert window.signal("roster.size") == 11
    for name in ("red", "blue", "scouts"):
        assert window.page.get_by_text(name, exact=True).first.is_visible()
    window.until(lambda: window.signal("pulse.frames") > 0)


def test_what_is_loaded_before_the_first_frame_is_small(page_folder: Path) -> None:
    assets = page_folder / "assets"
    entries = sum((assets / f"{name}.gz").stat().st_size for name in ("page.js", "style.css", "worker.js"))
    assert entries < json.loads((page_folder / "sizes.json").read_text())["initial"] < 250_000


def test_pause_step_and_reset_do_exactly_that(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    sim, window = served.sim, open_page(served.url).ready()
    window.button("Pause").click()
    window.until(lambda: sim.paused)
    window.until(lambda: window.button("Run").is_visible())
    tick = sim.tick
    window.page.wait_for_timeout(300)
    assert sim.tick == tick
    window.button("Step one tick").click()
    window.until(lambda: sim.tick != tick)
    window.until(lambda: window.signal("clock.tick") == tick + 1)
    assert sim.tick == tick + 1
    window.button("Step many ticks").click()
    window.page.get_by_label("Ticks to go").fill("137")
    window.page.get_by_role("button", name="Step", exact=True).click()
    window.until(lambda: window.signal("clock.tick") == tick + 138)
    assert sim.tick == tick + 138 and sim.paused
    run = sim.engine.world.run
    window.button("Reset").click()
    window.page.get_by_label("Seed").fill("77")
    window.button("Begin anew").click()
    window.until(lambda: sim.engine.world.run == run + 1)
    window.until(lambda: window.signal("clock.run") == run + 1)
    assert sim.engine.world.seed == 77
    assert sim.paused and sim.tick == 0
    window.until(lambda: window.signal("clock.tick") == 0)
    window.button("Run").click()
    window.until(lambda: not sim.paused and sim.tick > 20)


def test_the_pace_is_the_one_that_is_typed(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    field = window.page.get_by_label("Pace, typed")
    field.fill("2.5")
    field.press("Enter")
    window.until(lambda: served.sim.pace == 2.5)
    window.until(lambda: window.signal("clock.pace") == 2.5)


def test_the_token_is_taken_from_the_address_and_hidden(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, token="correct horse battery staple")
    window = open_page(f"{served.url}?token=correct%20horse%20battery%20staple").ready()
    assert "token" not in window.ask("location.href")
    stranger = open_page(served.url)
    stranger.until(lambda: stranger.signal("connection.state") == "refused")
    stranger.page.get_by_label("Token").last.fill("correct horse battery staple")
    stranger.button("Connect").click()
    stranger.ready()


def test_the_server_dies_and_comes_back(serve: Any, open_page: Any) -> None:
    first = serve(SCENARIO, running=True)
    window = open_page(first.url, forgive="WebSocket connection|ERR_CONNECTION").ready()
    first.sim.stop()
    first.host.close()
    window.until(lambda: window.signal("connection.state") == "lost")
    assert window.page.get_by_role("alert").filter(has_text="The server is gone").is_visible()
    other = {**SCENARIO, "name": "second", "vehicles": SCENARIO["vehicles"][:1]}
    second = serve(other, running=True, port=first.port)
    assert second.port == first.port
    window.until(lambda: window.signal("connection.state") == "open", seconds=60)
    window.until(lambda: window.signal("roster.size") == 1)
    assert window.page.get_by_role("alert").filter(has_text="The server is gone").count() == 0
    window.until(lambda: window.signal("clock.tick") > 0)


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_anybody_there(serve: Any, open_page: Any, count: int) -> None:
    served = serve({"vehicles": [{"id": 1, "name": "red", "model": "rover"}]}, running=True)
    if count == 0:
        served.host.source.operate("remove", "test", {"target": "red"}).result(10)
    window = open_page(served.url)
    window.until(lambda: window.signal("connection.state") == "open")
    window.until(lambda: window.signal("roster.size") == count)
    window.until(lambda: window.signal("clock.tick") > 0)
    assert not [text for text in window.told() if "could not" in text]
