"""Drawing vehicles at their positions, driving with keys, the go tool, and removal of selected vehicles."""

from __future__ import annotations

import io
import math
import re
import socket
from itertools import count
from typing import Any

import numpy as np
import pytest

from paddock.scenario import bundled_path
from paddock.serve.link import operate
from paddock.wire.vds1 import CarCommand, CarState, decode, encode_command

Image = pytest.importorskip("PIL.Image", reason="the package pillow is not installed")

PURSUIT = {"pure_pursuit": {"path": {"circle": {"radius": 8, "y": -20}}}}
VEHICLES: list[dict[str, Any]] = [
    {"id": 1, "name": "red", "model": "car.kinematic", "pose": [-8, 0, 0]},
    {"id": 2, "name": "blue", "model": "car.kinematic", "pose": [8, 6, 0.5]},
    {"id": 3, "name": "green", "model": "car.kinematic", "pose": [8, -20, 1.6], "driver": PURSUIT},
    {"id": 4, "name": "bee", "model": "quad", "pose": [0, 10, 6, 0]},
    {"name": "scouts", "count": 4, "model": "quad", "spawn": {"line": {"start": [-9, 15, 6], "end": [9, 15, 6]}}},
]
SCENARIO: dict[str, Any] = {"clock": {"rate": 240}, "vehicles": VEHICLES}
NEAR = 40
"""CSS px: half the side of the compared square around a vehicle."""


def pixels(window: Any) -> Any:
    """The window as (height, width, 3)."""
    return np.asarray(Image.open(io.BytesIO(window.page.screenshot())).convert("RGB")).astype(int)


def test_vehicles_are_drawn_at_their_positions(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO)
    window = open_page(served.url).ready()
    window.until(lambda: window.shown_at(1))
    window.button("Frame everything").click()
    window.page.mouse.move(600, 300)
    window.page.mouse.wheel(0, 600)  # zoom out: whole cars are compared
    for name, id in (("red", 1), ("bee", 4)):
        window.settle()
        before = pixels(window)
        x, y = window.shown_at(id)
        camera = window.ask("window.paddock.camera()")
        assert (x, y) == pytest.approx(seen_at(window, camera, served.sim.snapshot()[id].position), abs=0.5)
        served.sim.remove(name)
        window.until(lambda id=id: window.signal(f"roster.rowOfId({id})") is None)
        window.settle()
        changed = np.abs(pixels(window) - before).sum(axis=2) > 24
        around = changed[round(y) - NEAR : round(y) + NEAR, round(x) - NEAR : round(x) + NEAR]
        rows, columns = np.nonzero(around)
        assert len(rows) > 10  # the vehicle disappeared
        assert columns.mean() == pytest.approx(NEAR, abs=12) and rows.mean() == pytest.approx(NEAR, abs=12)


def seen_at(window: Any, camera: dict[str, Any], point: Any) -> tuple[float, float]:
    """Window position (CSS px) of a world point, for a look-at camera with z up and a vertical field of view."""
    eye, target = np.array(camera["position"]), np.array(camera["target"])
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    gap = np.asarray(point) - eye
    box = window.ask(
        "(({ x, y, width, height }) => [x, y, width, height])(window.paddock.stage.canvas.getBoundingClientRect())"
    )
    scale = 0.5 * box[3] / math.tan(0.5 * math.radians(camera["fov"]))
    depth = gap @ ahead
    return box[0] + 0.5 * box[2] + scale * (gap @ right) / depth, box[1] + 0.5 * box[3] - scale * (gap @ up) / depth


def choose(window: Any, name: str) -> None:
    """Select a vehicle in the fleet tree."""
    window.page.get_by_role("button", name=re.compile(f"^{name}")).first.click()
    shown = "((s) => s.roster.value.nameAt(s.roster.value.rowOfId(s.focus.value) ?? -1))(window.paddock.store)"
    window.until(lambda: window.ask(shown).startswith(name))


def drive(window: Any, name: str, id: int) -> None:
    choose(window, name)
    window.page.keyboard.press("g")
    window.until(lambda: window.ask("window.paddock.driving.value?.id ?? null") == id)


def throttle(sim: Any, name: str) -> float:
    return float(sim.snapshot()[name]["command.throttle"])


def test_keys_drive_the_car_and_key_up_releases_it(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    drive(window, "red", 1)
    window.page.keyboard.down("w")
    window.until(lambda: throttle(served.sim, "red") > 0.3)
    window.until(lambda: served.sim.snapshot()["red"].velocity[0] > 0.5)
    window.page.keyboard.down("a")
    window.until(lambda: served.sim.snapshot()["red"]["command.steer"] > 0.05)  # to the left
    window.page.keyboard.up("a")
    window.page.keyboard.up("w")
    window.until(lambda: throttle(served.sim, "red") == 0.0)
    window.until(lambda: abs(served.sim.snapshot()["red"]["command.steer"]) < 1e-6)
    window.page.keyboard.down("w")
    window.until(lambda: throttle(served.sim, "red") > 0.3)
    window.ask("window.dispatchEvent(new Event('blur'))")  # the tab loses focus with a key down
    window.until(lambda: throttle(served.sim, "red") == 0.0)
    window.page.keyboard.up("w")
    assert served.sim.snapshot()["blue"].velocity[0] == 0.0


@pytest.mark.slow
def test_two_clients_drive_two_cars(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    first, second = windows = [open_page(served.url).ready() for _ in range(2)]
    drive(first, "red", 1)
    drive(second, "blue", 2)
    for window in windows:
        window.page.keyboard.down("w")
    moved = lambda name, start: np.linalg.norm(served.sim.snapshot()[name].position[:2] - start) > 2.0  # noqa: E731
    first.until(lambda: moved("red", [-8, 0]) and moved("blue", [8, 6]))
    for window in windows:
        window.page.keyboard.up("w")


@pytest.mark.slow
def test_a_second_window_takes_over_a_driven_car(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    first, second = (open_page(served.url).ready() for _ in range(2))
    drive(first, "red", 1)
    choose(second, "red")
    second.page.keyboard.press("g")
    second.until(lambda: "red is driven by another window" in second.notices())
    assert second.ask("window.paddock.driving.value") is None
    second.button("Take over").last.click()
    second.until(lambda: second.ask("window.paddock.driving.value?.id ?? null") == 1)
    first.until(lambda: first.ask("window.paddock.driving.value") is None)
    first.until(lambda: "Stopped driving red: another window has taken over" in first.notices())
    first.page.keyboard.down("s")
    second.page.keyboard.down("w")
    second.until(lambda: throttle(served.sim, "red") > 0.3)
    assert served.sim.snapshot()["red"]["command.brake"] == 0.0


@pytest.mark.slow
def test_a_driven_car_is_overridden_and_released(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    assert window.until(lambda: window.signal("routes"))[0]["behaviour"] == "pure_pursuit"
    drive(window, "green", 3)
    window.until(lambda: override_events(served.sim) == [("ordered", "external")])
    window.page.keyboard.press("Escape")
    window.until(lambda: override_events(served.sim) == [("ordered", "external"), ("order_ended", "pure_pursuit")])


def override_events(sim: Any) -> list[tuple[str, str]]:
    return [(event.kind, event.detail) for event in sim.events.since() if event.kind.startswith("order")]


def test_the_go_tool_sends_the_selection(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    choose(window, "scouts")
    window.page.keyboard.press("t")
    window.until(lambda: window.signal("tool") == "go")
    window.page.mouse.click(520, 330)
    overrides = window.until(lambda: window.signal("overrides"))
    assert {override["behaviour"] for override in overrides} == {"goto"}
    assert sum(count for override in overrides for _, count in override["ids"]) == 4
    (override,) = overrides  # one for all, with a goal for each
    goals = np.column_stack([override["options"]["x"], override["options"]["y"]])
    assert len(np.unique(goals, axis=0)) == 4
    start = served.sim.snapshot().fleet("scouts").position[:, :2].mean(axis=0)
    far = np.linalg.norm(goals.mean(axis=0) - start)
    window.until(
        lambda: (
            np.linalg.norm(served.sim.snapshot().fleet("scouts").position[:, :2].mean(axis=0) - goals.mean(axis=0))
            < max(0.5 * far, 1.0)
        )
    )


@pytest.mark.slow
def test_a_selected_vehicle_can_be_removed(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    choose(window, "red")
    window.page.keyboard.press("2")  # chase camera
    operate(served.host.source, "remove", "test", {"target": "red"}).result()
    window.until(lambda: window.signal("roster.size") == 7)
    window.until(lambda: window.ask("window.paddock.store.selection.value.size") == 0)
    window.until(lambda: window.signal("clock.tick") > 0)


INSIDE = """(() => {
  const boxes = [...document.querySelectorAll(".timeline button, .topbar button, .driving, .driving *")];
  const outside = boxes.filter((box) => box.checkVisibility() && box.getBoundingClientRect().right > innerWidth + 0.5);
  const hud = document.querySelector(".driving");
  return [document.documentElement.scrollWidth, outside.map((box) => box.className), hud.scrollWidth - hud.clientWidth];
})()"""


ROWS = """(() => { // the rows of the top bar: the heights at which its parts are centred, in px
  const boxes = [...document.querySelectorAll(".topbar > *")].map((part) => part.getBoundingClientRect());
  return [...new Set(boxes.filter(({ width }) => width > 0).map(({ top, bottom }) => Math.round((top + bottom) / 8)))];
})()"""


def test_a_phone_shows_everything_within_its_width(serve: Any, open_page: Any) -> None:
    window = open_page(serve(SCENARIO, running=True).url).ready()
    window.ask("window.paddock.drive(4)")
    window.until(lambda: window.page.locator(".driving").count() == 1)
    desktop = window.page.viewport_size
    window.page.get_by_role("tab", name="Plots").click()  # unfolds the panel below the view
    window.until(lambda: window.page.locator(".splitter.lying").count() == 1)
    window.until(lambda: window.ask(INSIDE) == [desktop["width"], [], 0])  # panels take their sizes a moment later
    window.page.set_viewport_size({"width": 390, "height": 844})
    try:
        window.until(lambda: window.ask("innerWidth") == 390)
        window.until(lambda: window.ask(INSIDE) == [390, [], 0])
        window.until(lambda: 1 <= len(window.ask(ROWS)) <= 2)
    finally:
        window.page.set_viewport_size(desktop)
        window.ask("window.paddock.release()")


@pytest.mark.slow
def test_a_guest_joins_the_race_from_the_page_and_over_udp(serve: Any, open_page: Any) -> None:
    """The race waits for the page, however slow that is: each look at it is 40 ms of the race."""
    served = serve(bundled_path("race"), vds1={"port": 0, "state": None})
    sim, window = served.sim, open_page(served.url).ready()
    lines = window.page.get_by_role("treeitem")
    window.until(lambda: lines.count() == 12 and lines.last.inner_text().split()[:2] == ["all", "props"])
    drive(window, "guest", 100)
    window.until(lambda: window.signal("camera") == "chase")  # from the overview
    window.page.keyboard.down("w")
    window.until(lambda: sim.step(20) or sim.snapshot()["guest"].velocity[0] > 4.0)
    hud = window.page.get_by_label("Driving guest")
    window.until(lambda: re.search(r"[4-9]\.\d m/s.*km/h.*gear 1", hud.inner_text(), re.DOTALL))
    grip = hud.get_by_role("meter", name="grip")
    window.until(lambda: float(grip.get_attribute("aria-valuenow")) > 0.05)  # it accelerates
    window.page.keyboard.down("a")
    window.until(lambda: sim.step(20) or sim.snapshot()["guest"]["command.steer"] > 0.02)
    window.page.keyboard.up("a")
    window.page.keyboard.up("w")
    window.page.keyboard.press("g")
    window.until(lambda: window.ask("window.paddock.driving.value") is None)
    window.until(lambda: sim.step(20) or throttle(sim, "guest") == 0.0)
    window.until(lambda: window.signal("camera") == "orbit")
    while sim.tick < 1000:
        sim.step(20)
    assert sim.snapshot()["taxis[0]"].velocity[0] > 4.0  # the others race

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(60)
        numbers, seen = count(1), set()  # of commands; ids in states

        def pushed() -> bool:
            command = CarCommand(next(numbers), 100, 0.0, steer=0.0, throttle=0.6, brake=0.0)
            link.sendto(encode_command(command), ("127.0.0.1", served.host.addresses["vds1"]["port"]))
            sim.step(20)
            state = decode(link.recv(2048))
            seen.add(state.vehicle if isinstance(state, CarState) else None)
            return 100 in seen and throttle(sim, "guest") == pytest.approx(0.6)

        window.until(pushed)
