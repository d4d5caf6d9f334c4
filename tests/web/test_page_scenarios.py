"""Recordings, the scenario editor, and a screenshot of each demo."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.record import Player, Recorder
from paddock.scenario import demo_names
from paddock.serve.host import Host
from paddock.serve.link import operate
from paddock.serve.live import serve_options
from paddock.serve.replay import ReplaySource

Image = pytest.importorskip("PIL.Image", reason="the package pillow is not installed")

RATE = 100
CAR = {"id": 7, "name": "red", "model": "point", "pose": [-20, 0, 0, 0], "commands": {"vx": 8.0}}
LIVE = {"clock": {"rate": 240}, "vehicles": [{"id": 1, "name": "here", "model": "rover"}]}
WRONG = """name: broken
vehicles:
  - name: red
    model: car.bicycle
    speed: fast
  - {name: blue, modell: quad}
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five seconds of a point moving east, every fifth tick."""
    file = tmp_path_factory.mktemp("recording") / "drive.mcap"
    with paddock.load({"clock": {"rate": RATE}, "vehicles": [CAR]}) as sim, Recorder(sim, file, rate=20):
        sim.step(5 * RATE)
    return file


def opened(window: Any, file: Path) -> None:
    """Select a file with the button."""
    with window.page.expect_file_chooser() as chooser:
        window.button("Open a recording").click()
    chooser.value.set_files(str(file))


def sample(window: Any) -> dict[str, Any]:
    """The shown sample: its earlier tick, and x of the first vehicle."""
    x = "new Float32Array(s.from.poses.slice(0, 1).buffer)[0]"
    state = window.ask(
        f"((s) => s && JSON.stringify({{ tick: s.from.tick, time: s.from.time, x: {x} }}))"
        "(window.paddock.store.source.value?.sample(performance.now()))"
    )
    return {} if state is None else dict(json.loads(state))


def test_seeking_shows_the_right_tick(serve: Any, open_page: Any, recording: Path) -> None:
    window = open_page(serve(LIVE, running=True).url).ready()
    opened(window, recording)
    window.until(lambda: window.signal("source.kind") == "recording" and sample(window))
    window.until(lambda: window.signal("roster.size") == 1)
    if window.ask("window.paddock.store.source.value.timeline.playing.value"):
        window.button("Pause").click()
    slider = window.page.get_by_role("slider", name="Time")
    box = slider.bounding_box()
    with paddock.record.open_run(recording) as run:
        for share in (0.8, 0.2, 0.5):
            window.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
            wanted = 5.0 * share
            window.until(lambda wanted=wanted: abs(sample(window).get("time", -9.0) - wanted) < 0.06)
            shown = sample(window)
            assert shown["tick"] % 5 == 0 and shown["tick"] == pytest.approx(wanted * RATE, abs=6)
            exact = next(snap for snap in run.snapshots() if snap.tick == shown["tick"])
            assert shown["x"] == pytest.approx(exact[7].position[0], abs=1e-3)
            assert shown["time"] == exact.time


@pytest.mark.slow
def test_an_invalid_recording_is_reported(serve: Any, open_page: Any, tmp_path: Path) -> None:
    window = open_page(serve(LIVE, running=True).url).ready()
    (tmp_path / "letter.mcap").write_text("Dear Sir or Madam")
    opened(window, tmp_path / "letter.mcap")
    window.until(lambda: any(text.startswith("letter.mcap ") for text in window.notices()))
    assert window.signal("source.kind") == "live"


@pytest.mark.slow
def test_a_replay_shows_what_the_opened_file_shows(
    tmp_path: Path, page_folder: Path, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.mcap"
    with paddock.load({"clock": {"rate": RATE}, "vehicles": [CAR]}) as sim, Recorder(sim, file, rate=20):
        sim.step(2 * RATE)
        sim.vehicles.place("red", [0, 5, 0, 0])
        sim.step(2 * RATE)
    monkeypatch.setenv("PADDOCK_PAGE", str(page_folder))
    with Player(file) as player, Host(ReplaySource(player), serve_options({"web": {"port": 0}})) as host:
        player.pause()
        window = open_page(f"http://127.0.0.1:{host.addresses['web']['port']}/").ready()
        operate(host.source, "seek", "test", {"position": 1.0})  # before the event; it stays paused
        window.until(lambda: sample(window)["time"] == 1.0)
        assert window.notices() == []  # nothing that the page requests is refused
        served = events(window), plotted_x(window, 81)
        opened(window, file)
        window.until(lambda: window.ask("'recording' in window.paddock.store.source.value") and events(window))
        assert served == (events(window), plotted_x(window, 81))
    assert served[0] == [["placed", 200, 2.0]]
    rows = np.array([line.split(",") for line in served[1]], float)
    assert len(rows) == 81 and rows[10].tolist() == pytest.approx([0.5, -19.375])  # 5 m/s2 from -20 m
    assert rows[-1].tolist() == pytest.approx([4.0, 9.6])  # from 0 m: 1.6 s to 8 m/s, then 0.4 s


def events(window: Any) -> Any:
    return window.ask("window.paddock.store.source.value.events.value.map(({kind, tick, time}) => [kind, tick, time])")


def test_an_opened_recording_has_its_units_and_one_play_button(serve: Any, open_page: Any, tmp_path: Path) -> None:
    """The server runs a rover: it has no car whose units could be used."""
    file = tmp_path / "car.mcap"
    car = {"name": "red", "model": "car.bicycle", "preset": "sedan", "speed": 10, "sensors": ["imu"]}
    with paddock.load({"clock": {"rate": RATE}, "vehicles": [car]}) as sim, Recorder(sim, file, rate=20):
        sim.step(RATE)
    window = open_page(serve(LIVE, running=True).url).ready()
    opened(window, file)
    window.page.get_by_role("button", name=re.compile("^red")).first.click()
    inspector = window.page.locator(".side.right .value-row")
    for name, unit in (("wheel_speed", "rad/s"), ("steer", "rad"), ("ax", "m/s²"), ("qw", "")):
        row = inspector.filter(has=window.page.locator(".name", has_text=re.compile(f"^{name} *$"))).first
        window.until(lambda row=row, unit=unit: row.locator(".unit").inner_text() == unit)
    play = window.page.get_by_role("button", name=re.compile("^(Play|Pause)$"))
    window.until(lambda: play.count() == 1)


def plotted_x(window: Any, count: int) -> list[str]:
    """The lines of the plot of x, as downloaded, once there are so many."""
    window.page.get_by_role("button", name=re.compile("^red")).first.click()
    window.page.locator(".side.right").get_by_role("button", name="Plot x", exact=True).click()

    def downloaded() -> list[str]:
        with window.page.expect_download() as download:
            window.button("Download the shown range as CSV").click()
        return Path(download.value.path()).read_text().splitlines()[1:]

    return window.until(lambda: lines if len(lines := downloaded()) >= count else None)


@pytest.mark.slow
def test_scenario_errors_are_shown_at_their_lines(serve: Any, open_page: Any) -> None:
    window = open_page(serve(LIVE, running=True).url).ready()
    window.button("Scenario editor").click()
    window.page.get_by_role("dialog", name="Scenario editor").wait_for()
    text = window.page.locator(".cm-content")
    window.until(lambda: "vehicles" in text.inner_text())  # the running scenario arrives later, and replaces the text
    text.click()
    window.page.keyboard.press("Control+A")
    window.page.keyboard.insert_text(WRONG)
    problems = window.page.get_by_role("list", name="Problems")
    window.until(lambda: problems.count() == 1 and problems.get_by_role("listitem").count() >= 2)
    places = problems.locator(".place")
    window.until(lambda: {position.split(":")[0] for position in places.all_inner_texts()} == {"5", "6"})
    texts = " ".join(problems.all_inner_texts())
    assert "speed" in texts and "modell" in texts and "model" in texts
    window.page.locator(".cm-lint-marker-error, .cm-lintPoint-error, .cm-lintRange-error").first.wait_for()
    window.page.get_by_role("button", name="Close", exact=True).click()


def test_the_editor_completes_keys_and_values(serve: Any, open_page: Any) -> None:
    """Ctrl+Space lists the keys of a place, from the schema, and the values of a key."""
    window = open_page(serve(LIVE, running=True).url).ready()
    window.button("Scenario editor").click()
    text, keyboard = window.page.locator(".cm-content"), window.page.keyboard
    window.until(lambda: "vehicles" in text.inner_text())
    labels = window.page.locator(".cm-tooltip-autocomplete .cm-completionLabel")

    def complete(document: str, offered: set[str], line: str) -> None:
        """Replace the text and complete at its end; Enter takes the first label and leaves this last line."""
        text.click()
        keyboard.press("Control+A")
        keyboard.insert_text(document)
        keyboard.press("Control+Space")
        window.until(lambda: set(labels.all_inner_texts()) == offered)
        window.page.wait_for_timeout(150)  # CodeMirror ignores Enter right after a list has appeared
        keyboard.press("Enter")
        window.until(lambda: text.inner_text().splitlines()[-1].strip() == line)

    complete("vehicles:\n  - name: red\n    mod", {"model"}, "model:")
    window.until(lambda: {"car.bicycle", "quad", "plane"} <= set(labels.all_inner_texts()))  # its values follow
    complete("vehicles:\n  - model: car.bi", {"car.bicycle"}, "- model: car.bicycle")
    complete("vehicles: []\non_nan: ", {"remove", "stop"}, "on_nan: remove")
    assert not any("Completion" in notice for notice in window.notices())


@pytest.mark.slow
@pytest.mark.parametrize("name", demo_names())
def test_screenshot_of_each_demo(serve: Any, open_page: Any, pictures: Path, demo: Any, name: str) -> None:
    window = open_page(serve(demo(name), running=True).url).ready()
    window.until(lambda: window.signal("clock.time") > 1.0)
    window.until(lambda: window.signal("pageRates.frames") > 0)
    window.page.screenshot(path=pictures / f"{name}.png")
    picture = np.asarray(Image.open(io.BytesIO((pictures / f"{name}.png").read_bytes())).convert("RGB"))
    world = picture[90:480, 240:800].reshape(-1, 3)
    assert len(np.unique(world // 8, axis=0)) > 20  # more than a background and a grid
