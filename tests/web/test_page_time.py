"""Loading the page without errors, and the time controls."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from paddock.serve.link import operate

SCENARIO: dict[str, Any] = {
    "name": "yard",
    "clock": {"rate": 240},
    "vehicles": [
        {"id": 1, "name": "red", "model": "car.kinematic", "pose": [0, 0, 0], "speed": 3},
        {"id": 2, "name": "blue", "model": "rover", "pose": [0, 12, 0]},
        {"id": 10, "name": "scouts", "count": 9, "model": "quad", "spawn": {"grid": {"spacing": 4, "z": 6}}},
    ],
}


def test_initial_load_is_small(page_folder: Path) -> None:
    assets = page_folder / "assets"
    entries = sum((assets / f"{name}.gz").stat().st_size for name in ("page.js", "style.css", "worker.js"))
    assert entries < json.loads((page_folder / "sizes.json").read_text())["initial"] < 240_000


def test_the_page_shows_the_run_and_pauses_steps_and_resets_it(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    sim, window = served.sim, open_page(served.url).ready()
    window.until(lambda: window.page.title() == "yard \N{EN DASH} Paddock")
    window.until(lambda: window.signal("roster.size") == 11)
    for name in ("red", "blue", "scouts"):
        window.page.get_by_text(name, exact=True).first.wait_for()
    window.until(lambda: window.signal("pageRates.frames") > 0)
    window.button("Pause").click()
    window.until(lambda: sim.clock.paused)
    window.until(lambda: window.button("Play").is_visible())
    tick = sim.engine.thread.request(lambda: sim.tick).result()  # the current tick is finished
    window.page.wait_for_timeout(100)
    assert sim.tick == tick
    window.button("Step one tick").click()
    window.until(lambda: window.signal("clock.tick") == tick + 1)
    assert sim.tick == tick + 1
    window.button("Step many ticks").click()
    window.page.get_by_label("Ticks", exact=True).fill("137")
    window.page.get_by_role("button", name="Step", exact=True).click()
    window.until(lambda: window.signal("clock.tick") == tick + 138)
    assert sim.tick == tick + 138 and sim.clock.paused
    run = sim.engine.world.run
    window.button("Reset").click()
    window.page.get_by_label("Seed").fill("77")
    window.page.get_by_role("dialog", name="Reset").get_by_role("button", name="Reset").click()
    window.until(lambda: sim.engine.world.run == run + 1)
    window.until(lambda: window.signal("clock.run") == run + 1)
    assert sim.engine.world.seed == 77
    assert sim.clock.paused and sim.tick == 0
    window.until(lambda: window.signal("clock.tick") == 0)
    window.button("Play").click()
    window.until(lambda: not sim.clock.paused and sim.tick > 20)


@pytest.mark.slow
def test_space_pauses_wherever_the_last_click_was(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    window.page.get_by_role("button", name=re.compile("^red")).first.click()
    window.page.keyboard.press("Space")
    window.until(lambda: served.sim.clock.paused and window.signal("clock.paused"))
    plot = window.page.locator(".side.right [aria-label^='Plot ']").first
    plot.click()
    window.page.keyboard.press("Space")
    window.until(lambda: not served.sim.clock.paused)
    assert window.ask("window.paddock.store.selection.value.size") == 1
    window.page.keyboard.press("/")
    window.page.keyboard.type("scouts[3]")  # as fast as possible; c, o, s and t are shortcuts
    window.until(lambda: window.page.get_by_label("Find fleets").input_value() == "scouts[3]")
    assert window.signal("camera") == "orbit"


@pytest.mark.slow
def test_a_typed_pace_is_applied(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    field = window.page.get_by_label("Pace, typed")
    field.fill("2.5")
    field.press("Enter")
    window.until(lambda: served.sim.clock.pace == 2.5)
    window.until(lambda: window.signal("clock.pace") == 2.5)


@pytest.mark.slow
def test_the_token_is_removed_from_the_address(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, token="correct horse battery staple")
    window = open_page(f"{served.url}?token=correct%20horse%20battery%20staple").ready()
    assert "token" not in window.ask("location.href")
    window.leave()
    window.open(served.url)
    window.until(lambda: window.signal("connection.state") == "refused")
    window.page.get_by_label("Token").last.fill("correct horse battery staple")
    window.button("Connect").click()
    window.ready()


def test_reconnects_after_the_server_restarts(serve: Any, open_page: Any) -> None:
    first = serve(SCENARIO, running=True, port=0)
    window = open_page(first.url, expected_errors="WebSocket connection|ERR_CONNECTION").ready()
    first.sim.clock.stop()
    first.host.close()
    lost = window.page.get_by_role("status").filter(has_text="The simulation has ended.")
    lost.wait_for()
    window.until(lambda: window.signal("connection.state") == "lost")  # between two attempts to connect
    other = {**SCENARIO, "name": "second", "vehicles": SCENARIO["vehicles"][:1]}
    second = serve(other, running=True, port=first.port)
    assert second.port == first.port
    window.until(lambda: window.signal("connection.state") == "open")
    window.until(lambda: window.signal("roster.size") == 1)
    lost.wait_for(state="detached")
    window.until(lambda: window.signal("clock.tick") > 0)


@pytest.mark.parametrize("count", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_zero_or_one_vehicle(serve: Any, open_page: Any, count: int) -> None:
    served = serve(SCENARIO, running=True)
    for target in ("red", "blue", "scouts")[count:]:
        operate(served.host.source, "remove", "test", {"target": target}).result()
    window = open_page(served.url)
    window.until(lambda: window.signal("connection.state") == "open")
    window.until(lambda: window.signal("roster.size") == count)
    window.until(lambda: window.signal("clock.tick") > 0)
    assert not [text for text in window.notices() if text.startswith("Cannot")]
