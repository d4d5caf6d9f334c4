"""A mission on the page: zones, dragging a task, completed tasks, and the mission panel."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="the package pillow is not installed")

# a blue fleet: tasks are green when they are completed
ROVERS = {"name": "vans", "count": 2, "model": "rover", "spawn": {"line": {"start": [0, -4, 0], "end": [0, 4, 0]}}}
SCENARIO: dict[str, Any] = {
    "clock": {"rate": 10},
    "vehicles": [ROVERS],
    "mission": {
        "method": "greedy",
        "execute": "kinematic",
        "tasks": [
            {"name": "gate", "point": {"at": [30, 20], "heading": 0.0}},
            {"name": "fence", "line": {"at": [10, -30], "heading": 0.0, "length": 20}},
            {"name": "pond", "circle": {"at": [-30, 20], "heading": 0.0, "radius": 6}},
        ],
        "zones": [{"name": "house", "polygon": [[-35, -35], [-15, -35], [-15, -15], [-35, -15]]}],
    },
}


@pytest.fixture
def served(serve: Any) -> Any:
    return serve(SCENARIO)


@pytest.fixture
def window(served: Any, open_page: Any) -> Any:
    """The page in the top view, framing everything."""
    opened = open_page(served.url).ready()
    opened.until(lambda: opened.ask("window.paddock.mission.value?.tasks.length") == 3)
    opened.page.keyboard.press("3")
    opened.button("Frame everything").click()
    opened.page.get_by_role("tab", name="Mission").click()
    opened.button("Add a point task: click on the ground").wait_for()
    opened.settle()
    return opened


def at(window: Any, x: float, y: float) -> tuple[float, float]:
    """Window position (CSS px) of a point on the ground."""
    inside = window.ask(f"window.paddock.stage.projectPoint({x}, {y}, 0)")
    left, top = window.ask("(({ x, y }) => [x, y])(window.paddock.stage.canvas.getBoundingClientRect())")
    return left + inside[0], top + inside[1]


def around(window: Any, x: float, y: float, reach: int) -> Any:
    """Pixels around a world point, (n, 3)."""
    column, row = map(round, at(window, x, y))
    square = {"x": column - reach, "y": row - reach, "width": 2 * reach + 1, "height": 2 * reach + 1}
    picture = Image.open(io.BytesIO(window.page.screenshot(clip=square)))
    return np.asarray(picture.convert("RGB")).astype(int).reshape(-1, 3)


def redness(pixels: Any) -> float:
    return float((pixels[:, 0] - 0.5 * (pixels[:, 1] + pixels[:, 2])).mean())


def greenness(pixels: Any) -> float:
    """Fraction of clearly green pixels."""
    return float((pixels[:, 1] - np.maximum(pixels[:, 0], pixels[:, 2]) > 25).mean())


def drag(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag without releasing the button."""
    mouse = window.page.mouse
    mouse.move(*start)
    mouse.down()
    for share in (0.25, 0.5, 0.75, 1.0):
        mouse.move(start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))


def outline(sim: Any, name: str) -> Any:
    return next(task.outline for task in sim.mission.tasks if task.name == name)


def test_zones_are_red_and_can_be_hidden(window: Any, pictures: Path) -> None:
    window.page.screenshot(path=pictures / "mission.png")

    def reddens(x: float, y: float, other: tuple[float, float]) -> bool:
        return redness(around(window, x, y, 10)) > redness(around(window, *other, 10)) + 8

    for x, y in ((-20, -20), (-30, -30), (-20, -30)):  # beside the label in the centre
        window.until(lambda x=x, y=y: reddens(x, y, (x + 15, y + 50)))  # the code that draws missions is loaded late
    window.until(lambda: reddens(-20, -20, (-5, -25)))
    outside = redness(around(window, -5, -25, 10))
    window.page.get_by_role("tab", name="Layers").click()
    window.page.get_by_role("switch", name="No-fly zones").uncheck()
    window.until(lambda: abs(redness(around(window, -20, -20, 10)) - outside) < 4)


def test_a_completed_task_is_green(served: Any, window: Any) -> None:
    assert greenness(around(window, 30, 20, 4)) == 0.0
    done = lambda: [task.name for task in served.sim.mission.tasks if task.state == "completed"]  # noqa: E731
    while "gate" not in done() and served.sim.time < 400:
        served.sim.step(50)
    assert "gate" in done()
    window.until(lambda: f"{len(done())} of 3 done" in window.page.locator(".mission-head").inner_text())
    window.until(lambda: greenness(around(window, 30, 20, 3)) > 0.7)
    assert greenness(around(window, 30, 20 + 12, 3)) == 0.0


def test_a_task_can_be_dragged(served: Any, window: Any) -> None:
    start, end = at(window, 30, 20), at(window, 45, 5)
    drag(window, start, end)
    window.page.keyboard.press("Escape")
    window.page.mouse.up()
    window.until(lambda: window.ask("window.paddock.pendingTasks.value.size") == 0)
    drag(window, start, end)
    window.page.mouse.up()
    window.until(lambda: window.ask("window.paddock.pendingTasks.value.get('gate')?.kind") == "requested")
    window.until(lambda: len(served.sim.control.log.entries) == 1)  # the request has reached the simulation
    served.sim.step(10)
    assert outline(served.sim, "gate")[0] == pytest.approx([45, 5], abs=0.5)
    window.until(lambda: window.ask("window.paddock.pendingTasks.value.size") == 0)
    window.until(lambda: window.ask("window.paddock.mission.value.tasks[0].x") == pytest.approx(45, abs=0.5))
    moved = [event for event in served.sim.events.since() if event.kind == "task_moved"]
    assert len(moved) == 1  # not the cancelled one


def test_the_panel_adds_removes_and_damages(served: Any, window: Any) -> None:
    window.button("Add a point task: click on the ground").click()
    window.page.mouse.click(*at(window, 0, 40))
    window.until(lambda: window.ask("window.paddock.pendingTasks.value.has('point_1')"))
    window.page.keyboard.press("Escape")
    window.until(lambda: window.signal("tool") == "select")
    window.button("Remove the task pond").click()
    window.page.once("dialog", lambda dialog: dialog.accept())
    window.button("Mark vans[1] as damaged").click()
    window.until(lambda: len(served.sim.control.log.entries) == 3)
    served.sim.step(10)
    window.until(lambda: window.page.get_by_role("button", name=re.compile("^Look at point_1: point")).count() == 1)
    assert outline(served.sim, "point_1")[0] == pytest.approx([0, 40], abs=0.5)
    window.page.get_by_role("button", name=re.compile("^Look at pond")).wait_for(state="detached")
    window.until(lambda: window.page.get_by_role("button", name=re.compile(r"^Select vans\[1\]: damaged")).count() == 1)
    before = window.ask("window.paddock.camera().target")
    window.page.get_by_role("button", name=re.compile("^Look at fence")).click()
    window.until(lambda: np.allclose(window.ask("window.paddock.camera().target")[:2], [20, -30], atol=0.5))
    assert not np.allclose(before[:2], [20, -30], atol=5)
