"""Terrain, friction, obstacles and shadows in the page: places from the scenario, seen as pixels."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.record import Recorder

Image = pytest.importorskip("PIL.Image", reason="the package pillow is not installed")

CELL, SIDE = 4.0, 41


def height(x: float, y: float) -> float:
    """The ground of the scenario: waves of 3 m on a grade of 2 %."""
    return 3.0 * math.sin(0.05 * x) * math.cos(0.05 * y) + 0.02 * x


FIRST = -0.5 * CELL * (SIDE - 1)
ROWS = [[height(FIRST + CELL * i, FIRST + CELL * j) for i in range(SIDE)] for j in range(SIDE)]
WORLD = {
    "ground": {
        "height_map": {"values": ROWS, "cell": CELL, "origin": [FIRST, FIRST]},
        "patches": [
            {"rectangle": {"center": [10, 14], "size": [16, 8]}, "mu": 0.15},
            {"circle": {"center": [-14, 8], "radius": 6}, "mu": 1.8, "transition": 1.0},
        ],
    },
    "obstacles": [
        {"name": "hut", "box": {"center": [0, 0], "size": [4, 4, 5]}},
        {"wall": {"points": [[-20, -8], [-4, -12], [10, -8]], "height": 1.2, "thickness": 0.5}},
        {"cylinder": {"center": [16, -2], "radius": 1.5, "height": 4}},
        *({"cone": {"center": [-10 + 2 * k, 5]}} for k in range(10)),
    ],
}
VEHICLES = [
    {"id": 1, "name": "rock", "model": "rover", "pose": [-6, -4, 0.4]},
    {"id": 2, "name": "bee", "model": "quad", "pose": [0, 10, 12, 0]},
]
SCENARIO: dict[str, Any] = {"clock": {"rate": 100}, "world": WORLD, "vehicles": VEHICLES}
BEHIND_HUT = (-1.35, 3.1)
"""In its shadow: 5 m high, 2 m from its middle to the wall; the sun is at (0.36, -0.48, 0.8)."""


class Seen:
    """The window, looked at from above the hut."""

    def __init__(self, window: Any) -> None:
        self.window = window
        window.until(lambda: window.ask("document.querySelector('.legend.friction') !== null"))
        window.ask("window.paddock.stage.lookAtPoint(0, 2, 0, 42)")
        window.settle()

    def choose(self, expression: str) -> None:
        """Change signals of the page."""
        self.window.ask(f"(() => {{ const s = window.paddock.store; {expression}; }})()")
        self.window.settle()

    def at(self, x: float, y: float, above: float = 0.0) -> Any:
        """Mean colour around a point above the ground."""
        px, py = self.place(x, y, above)
        shot = self.window.page.screenshot(clip={"x": px - 2, "y": py - 2, "width": 5, "height": 5})
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(float).mean(axis=(0, 1))

    def until(self, condition: Callable[[], Any]) -> None:
        """Wait for a picture: drawing code may have to be loaded."""

        def settled() -> bool:
            self.window.settle()
            return bool(condition())

        self.window.until(settled)

    def place(self, x: float, y: float, above: float = 0.0) -> tuple[float, float]:
        """Window position of a point above the ground."""
        inside = self.window.ask(f"window.paddock.stage.projectPoint({x}, {y}, {height(x, y) + above})")
        left, top = self.window.ask("(({ x, y }) => [x, y])(window.paddock.stage.canvas.getBoundingClientRect())")
        return left + inside[0], top + inside[1]


@pytest.fixture
def seen(serve: Any, open_page: Any) -> Seen:
    window = open_page(serve(SCENARIO).url).ready()
    return Seen(window)


def test_friction_and_obstacles_are_drawn_and_can_be_hidden(seen: Seen, pictures: Path) -> None:
    ice, rubber, bare = seen.at(10, 14), seen.at(-14, 8), seen.at(20, 6)
    hut, cone = seen.at(0, 0, 5.0), seen.at(-10, 5, 0.1)
    assert ice[2] - ice[0] > bare[2] - bare[0] + 30  # blue
    assert rubber[0] - rubber[2] > bare[0] - bare[2] + 30  # orange
    for theme in ("dark", "light"):
        seen.choose(f"s.theme.value = '{theme}'; s.shadows.value = 'on'")
        seen.window.page.screenshot(path=pictures / f"scenery-{theme}.png")
    seen.choose(
        "s.theme.value = 'light'; s.shadows.value = 'off'; s.layers.value = {...s.layers.value, friction: false}"
    )
    seen.until(lambda: np.abs(seen.at(10, 14) - bare).max() < 40)  # as bright as ground of this slope
    seen.window.until(lambda: seen.window.ask("document.querySelector('.legend.friction') === null"))
    seen.choose("s.layers.value = {...s.layers.value, friction: true, obstacles: false}")
    seen.until(lambda: np.abs(seen.at(0, 0, 5.0) - hut).max() > 20 and np.abs(seen.at(-10, 5, 0.1) - cone).max() > 20)
    seen.choose("s.layers.value = {...s.layers.value, obstacles: true}")
    seen.until(lambda: np.abs(seen.at(0, 0, 5.0) - hut).max() < 3)


@pytest.mark.slow
def test_the_hut_casts_a_shadow_away_from_the_sun(seen: Seen) -> None:
    seen.choose("s.camera.value = 'top'; s.shadows.value = 'off'")
    before, opposite = seen.at(*BEHIND_HUT), seen.at(1.35, -3.1)
    seen.choose("s.shadows.value = 'on'")
    assert seen.window.ask("window.paddock.stage.shadowed")
    seen.until(lambda: seen.at(*BEHIND_HUT).sum() < 0.85 * before.sum())
    assert seen.at(1.35, -3.1).sum() == pytest.approx(opposite.sum(), rel=0.02)
    times = seen.window.ask("window.paddock.stage.measureFrames(2)")
    assert times["with"] > 0.0 and times["without"] > 0.0


def others(sim: Any) -> list[Any]:
    """The vehicles that are not in the scenario."""
    return [vehicle for fleet in sim.snapshot() for vehicle in fleet if vehicle.id not in (1, 2)]


def test_clicks_meet_the_hills(serve: Any, open_page: Any) -> None:
    served = serve(SCENARIO)
    seen = Seen(open_page(served.url).ready())
    window = seen.window
    for x, y in ((20.0, 6.0), (-22.0, -6.0), (4.0, -18.0)):
        inside = window.ask(f"window.paddock.stage.projectPoint({x}, {y}, {height(x, y)})")
        point = window.ask(f"window.paddock.stage.groundPoint({inside[0]}, {inside[1]})")
        assert point == pytest.approx([x, y, height(x, y)], abs=0.1)
    window.ask("window.paddock.store.spawning.value = {...window.paddock.store.spawning.value, model: 'rover'}")
    window.ask("window.paddock.store.tool.value = 'spawn'")
    window.page.mouse.click(*seen.place(20.0, 6.0))
    window.until(lambda: others(served.sim))
    (made,) = others(served.sim)
    assert made.position == pytest.approx([20.0, 6.0, height(20.0, 6.0)], abs=0.15)


# recordings ----------------------------------------------------------------------------------------------------------

CRASH: dict[str, Any] = {
    "clock": {"rate": 500},
    "world": {
        "ground": {"patches": [{"circle": {"center": [0, 30], "radius": 6}, "mu": 0.2}]},
        "obstacles": [{"name": "wall", "wall": {"points": [[14, -8], [14, 8]], "height": 0.9, "thickness": 0.4}}],
    },
    "contact": {"restitution": 0.2, "friction": 0.3},
    "vehicles": [
        {"name": "cones", "model": "prop.cone", "count": 2, "spawn": {"line": {"start": [4, 0, 0], "end": [4, 6, 0]}}},
        {"id": 7, "name": "ram", "model": "car.kinematic", "preset": "sports", "pose": [0, 0, 0], "speed": 12},
        {
            "name": "taxi",
            "model": "car.kinematic",
            "preset": "sedan",
            "pose": [0, -40, 0],
            "driver": {"racing": {"path": {"circle": {"radius": 40}}, "width": 10}},
        },
    ],
}


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A car hits a cone, then a wall."""
    file = tmp_path_factory.mktemp("crash") / "crash.mcap"
    with paddock.load(CRASH) as sim, Recorder(sim, file, rate=50):
        sim.step(800)
    return file


@pytest.mark.slow
def test_a_recording_shows_its_own_scenery_and_contacts(serve: Any, open_page: Any, crash: Path) -> None:
    window = open_page(serve(SCENARIO).url).ready()  # a hilly world
    window.until(lambda: window.ask("document.querySelector('.legend.friction') !== null"))
    with window.page.expect_file_chooser() as chooser:
        window.button("Open a recording").click()
    chooser.value.set_files(str(crash))
    window.until(lambda: window.signal("source.kind") == "recording" and window.signal("roster.size") == 4)
    window.until(lambda: window.ask("document.querySelector('.legend.friction')?.textContent.includes('0.20')"))
    window.ask("window.paddock.store.layers.value = {...window.paddock.store.layers.value, grid: false, routes: false}")
    window.ask("window.paddock.store.camera.value = 'top'")
    window.ask("window.paddock.stage.lookAtPoint(0, 0, 0, 110)")

    def at(x: float, y: float) -> Any:
        hidden = "for (const one of document.querySelectorAll('.toasts, .legends')) one.style.display = 'none'"
        window.ask(f"(() => {{ {hidden} }})()")  # notices and legends may cover the place
        inside = window.ask(f"window.paddock.stage.projectPoint({x}, {y}, 0)")
        left, top = window.ask("(({ x, y }) => [x, y])(window.paddock.stage.canvas.getBoundingClientRect())")
        clip = {"x": left + inside[0] - 1, "y": top + inside[1] - 1, "width": 3, "height": 3}
        shot = window.page.screenshot(clip=clip)
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(float).mean(axis=(0, 1))

    bare = None

    def drawn() -> bool:
        nonlocal bare
        window.settle()
        bare, road = at(-24, -10), [at(40 * math.cos(a), 40 * math.sin(a)) for a in (2.5, 3.1, 3.7)]
        inner = [at(33 * math.cos(a), 33 * math.sin(a)) for a in (2.5, 3.1, 3.7)]
        asphalt = all(np.abs(point - bare).max() > 15 for point in road)  # 10 m wide around a radius of 40 m
        return bool(asphalt and all(np.abs(point - bare).max() < 4 for point in inner))

    def icy() -> bool:
        ice = at(0, 30)
        return bool(ice[2] - ice[0] > bare[2] - bare[0] + 30)  # blue

    window.until(drawn)
    window.until(icy)
    window.until(lambda: np.abs(at(14, 5) - bare).max() > 30)  # the wall

    def touches() -> Any:
        return window.ask("window.paddock.store.source.value.events.value.filter((e) => e.kind === 'contact')")

    seen = window.until(lambda: len(touches()) >= 2 and touches())
    assert "cones" in seen[0]["subject"] + seen[0]["detail"]
    wall = next(touch for touch in seen if "wall" in touch["subject"] + touch["detail"])
    assert 0.5 < wall["time"] < 1.6  # 14 m at 12 m/s, less the length of the car
    marks = "window.paddock.stage.contactsShown"
    window.ask(f"window.paddock.store.source.value.timeline.seek({wall['time']} + 0.05)")
    window.until(lambda: window.ask(marks) > 0)
    window.ask("window.paddock.store.source.value.timeline.seek(0)")
    window.until(lambda: window.ask(marks) == 0)
