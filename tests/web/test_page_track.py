"""Driverless cars in the page: what their sensors see, and the track editor up to a run on the edited track."""

from __future__ import annotations

import gzip
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.record import Player, Recorder, open_run
from paddock.serve.host import Host
from paddock.serve.link import operate
from paddock.serve.live import serve_options
from paddock.serve.replay import ReplaySource
from paddock.wire.tracks import Cone, Start, TrackFile, parse_track, write_track

FIXTURES = Path(__file__).parent.parent.parent / "web" / "test" / "replay" / "fixtures"
CAR = {"model": "car.bicycle", "preset": "driverless", "sensors": [{"cones": {"delay": 0.0}}, {"lidar": {"beams": 90}}]}
SCENARIO: dict[str, Any] = {
    "name": "cone test",
    "clock": {"rate": 100},
    "track": "acceleration",
    "vehicles": [{"id": 1, "name": "car", "spawn": {"track": {}}, **CAR}],
}


def test_readings_of_the_selected_car_are_drawn(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO)
    served.sim.step(50)
    window = open_page(served.url).ready()
    snap = served.sim.snapshot()["car"]
    returns = int(np.isfinite(snap["lidar.ranges"]).sum())
    detected, visible = int(snap["cones.detected"]), int(snap["cones.visible"])
    assert returns > 0 and detected > 0
    assert window.ask("paddock.stage.sensed.points") == 0  # nothing is selected
    window.ask("paddock.store.select([1])")
    expected = {"points": returns, "detections": detected, "truth": 0}
    window.until(lambda: window.ask("({...paddock.stage.sensed})") == expected)
    window.page.get_by_text(f"{returns} of 90,", exact=False).wait_for()  # the summary in the inspector
    window.ask("paddock.store.layers.value = {...paddock.store.layers.value, truth: true, scans: false}")
    window.until(lambda: window.ask("({...paddock.stage.sensed})") == {**expected, "points": 0, "truth": visible})


READINGS = """(() => {
  const sample = paddock.store.source.value.sample(performance.now());
  const cones = paddock.readings(sample.from.time + (sample.to.time - sample.from.time) * sample.mix)
    .filter(({ sensor }) => sensor.kind === "cones");
  return cones.map(({ time, pose, values }) => [sample.to.time - sample.from.time, time, [...pose], [...values[1]]]);
})()"""


def test_detections_of_a_moving_car_are_drawn_where_the_cones_are(serve: Any, open_page: Any) -> None:
    """The page receives four frames per second of a car that turns at 14 m/s: 3.5 m and 24 degrees apart."""
    corner = {"model": "car.kinematic", "speed": 14, "commands": {"steer": 0.18, "throttle": 0.13}, "name": "car"}
    seeing = {"cones": {"delay": 0.1, "occlusion": 0, "fov_deg": 360, "range_max": 60}}
    served = serve({**SCENARIO, "vehicles": [{"id": 1, **corner, "sensors": [seeing]}]}, running=True)
    cones = np.array(served.sim.world.track.cones)[:, :2]
    window = open_page(served.url).ready()
    window.ask("paddock.setRate(4)")
    window.ask("paddock.store.select([1])")
    shown: dict[float, Any] = {}

    def collected() -> bool:
        shown.update({time: (gap, pose, truth) for gap, time, pose, truth in window.ask(READINGS) if gap > 0.2})
        return len(shown) >= 8

    window.until(collected)
    for _, pose, truth in shown.values():
        rows = np.array(truth, float).reshape(-1, 4)
        x, y = rows[np.isfinite(rows[:, 0]), :2].T
        yaw = 2.0 * np.arctan2(pose[5], pose[6])
        drawn = np.stack([pose[0] + cos(yaw) * x - sin(yaw) * y, pose[1] + sin(yaw) * x + cos(yaw) * y], axis=1)
        assert len(drawn) >= 3
        assert np.linalg.norm(drawn[:, None] - cones, axis=2).min(axis=1).max() < 0.01


@pytest.mark.slow
def test_a_cone_is_placed_and_removed_and_the_file_has_all_cones(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO)
    window = open_page(served.url).ready()
    window.until(lambda: window.button("Edit the track").is_visible())
    window.page.keyboard.press("y")
    panel = window.page.get_by_role("region", name="Track editor")
    cones = len(served.sim.world.track.cones)
    panel.get_by_text("1 cone" if cones == 1 else f"{cones} cones", exact=False).wait_for()
    window.settle()
    box = window.page.get_by_label("World view").last.bounding_box()
    window.page.keyboard.press("2")
    window.page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.75 * box["height"])
    panel.get_by_text(f"{cones + 1} cones", exact=False).wait_for()
    panel.get_by_text("Yellow at", exact=False).wait_for()
    window.page.keyboard.press("Delete")
    panel.get_by_text(f"{cones} cones", exact=False).wait_for()
    window.page.keyboard.press("Control+z")
    panel.get_by_text(f"{cones + 1} cones", exact=False).wait_for()
    with window.page.expect_download() as download:
        window.button("Download the track").click()
    text = download.value.path().read_text()
    assert download.value.suggested_filename == "cone_test-edited.csv"
    tags = [line.split(",")[0] for line in text.splitlines()]
    assert sum(tag in ("blue", "yellow", "orange", "big_orange") for tag in tags) == cones + 1
    window.page.keyboard.press("Escape")
    window.page.keyboard.press("Escape")
    window.until(lambda: window.signal("tool") == "select")


# recordings ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The car accelerates and sees cones."""
    file = tmp_path_factory.mktemp("drive") / "drive.mcap"
    with paddock.load(SCENARIO) as sim, Recorder(sim, file, rate=20):
        sim.command("car", throttle=0.5)
        sim.step(150)
    return file


def seen_at(file: Path, sample: int) -> dict[str, int]:
    """What a sample of a recording contains, as the layers count it."""
    with open_run(file) as run:
        car = run.sample(sample)["car"]
    counts = {"points": int(np.isfinite(car["lidar.ranges"]).sum()), "detections": int(car["cones.detected"])}
    assert min(counts.values()) > 0
    return {**counts, "truth": 0}


@pytest.mark.slow
def test_readings_of_a_recording_are_drawn_opened_or_served(
    drive: Path, page_folder: Path, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_PAGE", str(page_folder))
    with Player(drive) as player, Host(ReplaySource(player), serve_options({"web": {"port": 0}})) as host:
        player.pause()
        window = open_page(f"http://127.0.0.1:{host.addresses['web']['port']}/").ready()
        window.ask("paddock.store.select([1])")
        operate(host.source, "seek", "test", {"position": 0.5})
        window.until(lambda: window.ask("({...paddock.stage.sensed})") == seen_at(drive, 10))
        with window.page.expect_file_chooser() as chooser:
            window.button("Open a recording").click()
        chooser.value.set_files(str(drive))
        window.until(lambda: window.ask("'recording' in paddock.store.source.value"))
        window.until(lambda: window.signal("roster.size") == 1)
        window.ask("paddock.store.select([1])")
        for sample in (25, 10, 18):
            window.ask(f"paddock.store.source.value.seekToSample({sample}).then(() => null)")
            wanted = seen_at(drive, sample)
            window.until(lambda wanted=wanted: window.ask("({...paddock.stage.sensed})") == wanted)
        window.page.get_by_text(f"{wanted['points']} of 90,", exact=False).wait_for()  # in the inspector


@pytest.mark.slow
def test_an_opened_recording_of_a_race_has_its_strip(serve: Any, open_page: Any, tmp_path: Path) -> None:
    file = tmp_path / "raced.mcap"
    file.write_bytes(gzip.decompress((FIXTURES / "raced.mcap.gz").read_bytes()))
    window = open_page(serve(SCENARIO).url).ready()
    with window.page.expect_file_chooser() as chooser:
        window.button("Open a recording").click()
    chooser.value.set_files(str(file))
    window.until(lambda: window.ask("'recording' in paddock.store.source.value"))
    strip = window.page.get_by_label("Race", exact=True)
    strip.get_by_text("ring").wait_for()
    with open_run(file) as run:
        last = len(run) - 1
    window.ask(f"paddock.store.source.value.seekToSample({last}).then(() => null)")
    strip.get_by_text("DNF").wait_for()  # the car that was removed
    assert strip.get_by_role("listitem").count() == 3


# the editor ----------------------------------------------------------------------------------------------------------


class Editor:
    """The track editor in a window, seen from above."""

    def __init__(self, window: Any) -> None:
        self.window, self.page = window, window.page
        self.panel = self.page.get_by_role("region", name="Track editor")
        self.panel.wait_for()
        window.ask("paddock.store.camera.value = 'top'")
        window.ask("paddock.stage.lookAtPoint(0, 0, 0, 60)")
        window.settle()

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Window position of a point on the ground."""
        inside = self.window.ask(f"paddock.stage.projectPoint({x}, {y}, 0)")
        left, top = self.window.ask("(({ x, y }) => [x, y])(paddock.stage.canvas.getBoundingClientRect())")
        return left + inside[0], top + inside[1]

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.page.mouse.move(*self.at(*start))
        self.page.mouse.down()
        for share in (0.5, 1.0):
            self.page.mouse.move(*self.at(*(a + share * (b - a) for a, b in zip(start, end, strict=True))))
        self.page.mouse.up()

    def counts(self, cones: int) -> None:
        """Wait until the panel counts so many cones."""
        self.panel.get_by_text(f"{cones} cones", exact=False).wait_for()

    def saved(self, format: str) -> str:
        self.page.get_by_label("Format of the file").select_option(format)
        with self.page.expect_download() as download:
            self.window.button("Download the track").click()
        return str(download.value.path().read_text())

    def open(self, file: Path) -> None:
        with self.page.expect_file_chooser() as chooser:
            self.window.button("Open a track file").click()
        chooser.value.set_files(str(file))


@pytest.mark.slow
def test_a_new_track_is_drawn_saved_and_opened_again(serve: Any, open_page: Any, tmp_path: Path) -> None:
    window = open_page(serve(SCENARIO).url).ready()
    window.button("Scenario gallery").click()
    window.button("Draw a new track").click()
    editor = Editor(window)
    editor.panel.get_by_text("there are no cones yet").wait_for()
    places = [(-6, 3), (4, 3), (-6, -4), (4, -4)]
    for k, position in enumerate(places):
        window.page.keyboard.press("1" if position[1] > 0 else "2")
        window.page.mouse.click(*editor.at(*position))
        editor.counts(k + 1)
    editor.drag((4, 3), (9, 5))
    window.page.mouse.click(*editor.at(-6, -4))
    window.button("Remove the chosen cone").click()
    editor.counts(3)
    window.button("Set the start pose").click()
    editor.drag((-8, 0), (-8, 6))
    drawn = parse_track(text := editor.saved("csv4"))
    assert [cone.colour for cone in drawn.cones] == ["blue", "blue", "yellow"]
    shown = [(cone.x, cone.y) for cone in drawn.cones]
    np.testing.assert_allclose(shown, [(-6, 3), (9, 5), (4, -4)], atol=0.2)
    np.testing.assert_allclose(drawn.start[:3], (-8, 0, pi / 2), atol=0.2)
    for format, ending in (("csv4", "csv"), ("cones", "yaml"), ("csv", "csv")):
        file = tmp_path / f"drawn.{ending}"
        file.write_text(saved := editor.saved(format))
        window.page.mouse.click(*editor.at(0, 0))
        editor.counts(4)
        editor.open(file)
        editor.counts(3)
        assert window.page.get_by_label("Format of the file").input_value() == format
        assert editor.saved(format) == saved
    (tmp_path / "bad.csv").write_text(text.replace("yellow", "purple"))
    editor.open(tmp_path / "bad.csv")
    editor.panel.get_by_text("Not opened: bad.csv:4:1: unknown tag 'purple'", exact=False).wait_for()
    editor.counts(3)


@pytest.mark.slow
def test_an_opened_track_is_used_in_the_run(
    serve: Any, servers: dict[str, Any], open_page: Any, tmp_path: Path
) -> None:
    served = serve(SCENARIO)
    wanted: list[Any] = []
    served.host.source.director = wanted.append
    window = open_page(served.url, expected_errors="WebSocket|ERR_CONNECTION").ready()
    window.button("Edit the track").click()
    editor = Editor(window)
    rings = [(colour, radius) for colour, radius in (("blue", 13.0), ("yellow", 17.0))]
    cones = [Cone(name, r * cos(k * pi / 12), r * sin(k * pi / 12)) for name, r in rings for k in range(24)]
    (tmp_path / "ring.yaml").write_text(write_track(TrackFile(tuple(cones), Start(15.0, 0.0, pi / 2)), "lanes"))
    editor.open(tmp_path / "ring.yaml")
    editor.panel.get_by_text("48 cones · 94 m lap").wait_for()  # 2 pi 15 m
    lanes = parse_track(editor.saved("lanes"))
    assert {(cone.colour, cone.x, cone.y) for cone in lanes.cones} == {(cone.colour, cone.x, cone.y) for cone in cones}
    window.button("Use this track in the run").click()
    window.until(lambda: wanted)
    servers.popitem()[1].close()
    started = serve(wanted[0], port=served.port)
    np.testing.assert_array_equal(
        sorted(started.sim.world.track.cones.tolist()), sorted([cone.x, cone.y] for cone in cones)
    )
    window.until(lambda: window.signal("tool") == "select")
    window.ready()
    assert window.ask("paddock.store.metadata.value.scenario.track.file") == "cone_test-edited.csv"
