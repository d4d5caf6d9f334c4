"""Driverless cars in the page: what their sensors see, and the track editor up to a run on the edited track."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("PIL.Image", reason="the package pillow is not installed")

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


def test_a_cone_is_placed_and_removed_and_the_file_has_all_cones(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO)
    window = open_page(served.url).ready()
    window.until(lambda: window.button("Edit the track").is_visible())
    window.page.keyboard.press("y")
    panel = window.page.get_by_role("region", name="Track editor")
    cones = len(served.sim.track.cones)
    panel.get_by_text(f"{cones} cones", exact=False).wait_for()
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
