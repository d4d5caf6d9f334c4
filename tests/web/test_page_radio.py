"""The radio on the page: links by SINR, jammers in the panel, coverage, link budget, spectrum, recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddock.record import Recorder
from paddock.serve.link import operate

TYPE = {"bandwidth": 2e6, "noise_figure": 6.0, "duty": 0.0, "power": 20.0, "bit_rate": 1e6, "sensitivity": -100.0}
PLACES = [[60, 0, 40, 0], [900, 0, 40, 0], [900, 120, 40, 0]]
SCENARIO: dict[str, Any] = {
    "clock": {"rate": 10},
    "radio": {
        "types": {"t": TYPE},
        "stations": [{"name": "base", "position": [0, 0, 20], "radio": "t"}],
        "jammers": [{"name": "red", "kind": "barrage", "position": [1000, 60, 10], "power": 30, "bandwidth": 2e7}],
    },
    "vehicles": [{"name": "p", "count": 3, "model": "point", "spawn": {"poses": PLACES}, "radio": "t"}],
}
SHOWN = "window.paddock.radioShown?.()"


@pytest.fixture
def served(serve: Any) -> Any:
    return serve(SCENARIO)


@pytest.fixture
def window(served: Any, open_page: Any) -> Any:
    opened = open_page(served.url).ready()
    opened.until(lambda: opened.ask(f"{SHOWN}?.stations") == 1)
    return opened


def colours(window: Any) -> list[str]:
    """Each link's colour by its largest part: green or red (amber counts as red)."""
    return ["green" if g > r else "red" for r, g, *_ in window.ask(f"{SHOWN}.colours")]


def colour_of(window: Any, margin: float) -> list[int]:
    """Red at the needed SINR, amber 10 dB above it, green from 20 dB on; in the colours of the theme."""
    style = "getComputedStyle(document.body)"
    names = [window.ask(f"{style}.getPropertyValue('--{name}')").strip() for name in ("red", "amber", "green")]
    stops = np.array([[int(name[k : k + 2], 16) for k in (1, 3, 5)] for name in names])
    share = min(max(margin / 20.0, 0.0), 1.0) * 2.0
    k = min(int(share), 1)
    return np.round(stops[k] + (share - k) * (stops[k + 1] - stops[k])).astype(int).tolist()


def test_links_are_coloured_by_their_sinr(served: Any, window: Any, pictures: Path) -> None:
    """The jammer drowns what the two distant vehicles hear of the station; it hears them, but they have no link up."""
    radio = served.sim.radio
    up = [name for name in ("p[0]", "p[1]", "p[2]") if radio.link("base", name).up]
    assert up == ["p[0]"]
    both = radio.link("base", "p[0]"), radio.link("p[0]", "base")
    margin = max(link.sinr - link.needed for link in both if link.up)  # a line has the colour of the better direction
    expected = colour_of(window, margin)
    window.until(lambda: expected in [colour[:3] for colour in window.ask(f"{SHOWN}.colours")])
    window.page.screenshot(path=pictures / "radio.png")
    window.page.get_by_role("tab", name="Layers").click()
    window.page.get_by_role("switch", name="Radio links by SINR").uncheck()
    window.until(lambda: window.ask(f"{SHOWN}.links") == 0)


def test_links_return_when_a_jammer_is_switched_off(served: Any, window: Any) -> None:
    window.until(lambda: len(colours(window)) >= 1)
    before = len(colours(window))
    window.page.get_by_role("tab", name="Radio").click()
    window.page.get_by_label("red: control").select_option("off")
    window.until(lambda: not served.sim.radio.jammers()[0].on)
    served.sim.step(2)
    pairs = {(i, int(j)) for i in range(4) for j in row(served.sim.radio.links(), i)}
    assert len(pairs) == 12  # all hear all
    window.until(lambda: len(colours(window)) == 6)
    assert before < 6
    assert set(colours(window)) == {"green"}  # 900 m: 99 dB lost of 20 dBm, 26 dB above noise

    window.button("Move red: click on the ground").click()
    box = window.page.locator(".stage canvas").first.bounding_box()
    window.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"])
    window.until(lambda: served.sim.radio.jammers()[0].position != (1000.0, 60.0, 10.0))
    x, y, z = served.sim.radio.jammers()[0].position
    assert abs(x - 1000.0) + abs(y - 60.0) > 5.0 and z == pytest.approx(10.0, abs=0.02)


def row(links: Any, i: int) -> Any:
    inside = slice(int(links.start[i]), int(links.start[i + 1]))
    return links.peer[inside][links.up[inside] != 0]


def test_the_heat_map_and_the_edge_of_jamming(served: Any, window: Any, pictures: Path) -> None:
    window.until(lambda: window.ask(f"{SHOWN}.edges") > 20)
    noisy, jammed = window.ask(f"{SHOWN}.filled")  # the sides of the lines that are jammed
    assert noisy > jammed > 20
    window.page.get_by_text("jammed: above all signals").wait_for()
    assert window.ask(f"{SHOWN}.cells") == 0
    window.page.get_by_role("tab", name="Radio").click()
    window.page.get_by_role("switch", name="Show the heat map").check()
    window.until(lambda: window.ask(f"{SHOWN}.cells") > 1000)
    span = "from \u2212110 dBm to \u221250 dBm"
    window.page.get_by_role("img", name=f"Coverage: received power, 2 m up {span}").wait_for()
    window.page.get_by_label("Value of the coverage").select_option("sinr")
    window.page.get_by_role("img", name="Coverage: mean SINR, 2 m up").wait_for()
    window.page.get_by_label("Value of the coverage").select_option("per")
    lost = "Coverage: packets lost, 2 m up from 100 % to 0 %, usable from 10 %"
    window.page.get_by_role("img", name=lost).wait_for()
    window.page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    window.page.screenshot(path=pictures / "coverage.png")


def test_budget_and_spectrum_of_the_selected_vehicle(served: Any, window: Any) -> None:
    window.page.get_by_role("tab", name="Radio").click()
    window.ask("(({ selection, focus }) => { selection.value = new Set([1]); focus.value = 1; })(window.paddock.store)")
    name = next(name for k, name in enumerate(("p[0]", "p[1]", "p[2]")) if served.sim.snapshot().fleet("p").ids[k] == 1)
    budget = served.sim.radio.link(name, "base")
    received = f"{budget.received:.1f} dBm".replace("-", "\u2212")
    window.until(lambda: received in window.page.locator(".link-budget").inner_text())
    window.until(lambda: window.ask("window.paddock.spectrumLines") >= 1)


def test_no_link_is_none_and_no_number(served: Any, window: Any) -> None:
    """The second vehicle is jammed: it hears no station, though stations may hear it."""
    snap = served.sim.snapshot()["p[1]"]
    assert snap["radio.sinr"] == -100.0 and snap["radio.signal"] == 0.0
    ids = f"selection.value = new Set([{snap.id}]); focus.value = {snap.id};"
    window.ask(f"(({{ selection, focus }}) => {{ {ids} }})(window.paddock.store)")
    window.until(lambda: values_shown(window).get("sinr") == "none")
    shown = values_shown(window)
    assert shown["signal"] == "none" and shown["links"] != "none" and "\u2212100" not in shown.values()


def values_shown(window: Any) -> dict[str, str]:
    """Return the values of the inspector by name, without units."""
    rows = window.page.locator(".value-row").all()
    parts = [(row.locator(".name").inner_text().strip(), row.locator(".value").inner_text().strip()) for row in rows]
    return dict(parts)


def test_layers_that_a_client_sets(served: Any, window: Any) -> None:
    assert window.ask(f"{SHOWN}.ranges") == 0
    operate(served.host.source, "set_visualization_mode", "tool", {"show_rf_range": True, "show_comm_links": False})
    window.until(lambda: window.ask(f"{SHOWN}.ranges") > 50 and window.ask(f"{SHOWN}.links") == 0)
    assert window.signal("layers.links") is False
    operate(served.host.source, "set_visualization_mode", "tool", {"show_rf_range": False, "show_comm_links": True})
    window.until(lambda: window.ask(f"{SHOWN}.ranges") == 0 and window.ask(f"{SHOWN}.links") > 0)


def test_a_recording_shows_links_and_jammers(served: Any, window: Any, tmp_path: Path) -> None:
    path = tmp_path / "radio.mcap"
    with Recorder(served.sim, path, rate=10):
        served.sim.step(10)
        served.sim.radio.jammers.set("red", on=False)
        served.sim.step(20)
    with window.page.expect_file_chooser() as chooser:
        window.button("Open a recording").click()
    chooser.value.set_files(str(path))
    window.until(lambda: window.signal("source.kind") == "recording")
    window.until(lambda: window.ask("window.paddock.radio.value?.jammers[0].on") is True)
    assert window.ask("window.paddock.radio.value.stations[0].name") == "base"
    window.ask("window.paddock.store.source.value.timeline.seek(2.5)")
    window.until(lambda: window.ask("window.paddock.radio.value?.jammers[0].on") is False)
    window.until(lambda: len(colours(window)) == 6)
    window.page.get_by_role("tab", name="Radio").click()
    control = window.page.get_by_label("red: control")
    assert control.is_disabled() and control.get_attribute("title") == "recordings are read-only"
    window.ask("(({ selection, focus }) => { selection.value = new Set([1]); focus.value = 1; })(window.paddock.store)")
    window.page.get_by_role("tab", name="Inspect").click()
    window.until(lambda: {"base", "p[1]", "p[2]"} <= names_of_neighbours(window))


def names_of_neighbours(window: Any) -> set[str]:
    """Names in the inspector's rows of values, which include the neighbours of the radio."""
    return {text.strip() for text in window.page.locator(".value-row .name").all_inner_texts()}


SCHEDULED = SCENARIO | {
    "radio": SCENARIO["radio"]
    | {"jammers": [SCENARIO["radio"]["jammers"][0] | {"position": None, "vehicle": "p[2]", "on": [[50, 60]]}]},
    "mission": {"method": "greedy", "execute": "kinematic", "tasks": [{"point": {"at": [100, 100]}}]},
}


@pytest.mark.slow
def test_a_jammer_that_waits_for_its_schedule_can_be_switched_on(serve: Any, open_page: Any) -> None:
    served = serve(SCHEDULED)
    window = open_page(served.url).ready()
    window.page.get_by_role("tab", name="Radio").click()
    window.page.get_by_text("scheduled from 50 s").wait_for()
    control = window.page.get_by_label("red: control")
    assert control.input_value() == "schedule"
    control.select_option("on")
    window.until(lambda: (served.sim.step(10), served.sim.radio.jammers()[0].active == 1.0)[1])
    window.page.locator(".emitters .transmits").wait_for()
    control.select_option("schedule")
    window.until(lambda: (served.sim.step(10), served.sim.radio.jammers()[0].active == 0.0)[1])
    window.page.get_by_text("scheduled from 50 s").wait_for()

    served.sim.radio.jammers.set("red", position=[500.0, 0.0, 10.0])
    window.button("Put red back on p[2]").click()
    window.until(lambda: served.sim.radio.jammers()[0].vehicle == "p[2]")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_five_tabs_fit(serve: Any, open_page: Any, pictures: Path, size: tuple[int, int]) -> None:
    served = serve(SCHEDULED)
    window = open_page(served.url).ready()
    before = window.page.viewport_size
    window.page.set_viewport_size({"width": size[0], "height": size[1]})
    if not window.page.get_by_role("tab", name="Radio").count():
        window.button("Show the radio panel").click()
    window.page.get_by_role("tab", name="Radio").click()
    assert window.page.get_by_role("tablist", name="Details").get_by_role("tab").count() == 5
    wide = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)"
    for name in ("document.documentElement", "document.querySelector('.side.right [role=tablist]')"):
        assert window.ask(f"{wide}({name})") == 0, name
    box = window.button("Collapse the details panel").bounding_box()
    assert box["x"] + box["width"] <= size[0]
    window.page.screenshot(path=pictures / f"tabs-{size[0]}.png")
    window.page.set_viewport_size(before)


@pytest.mark.slow
def test_the_buffer_shows_the_links_of_its_time(serve: Any, open_page: Any) -> None:
    """The jammer goes off; back in the buffer, its time has fewer links."""
    served = serve(SCENARIO, running=True)
    window = open_page(served.url).ready()
    window.until(lambda: 1 <= len(window.ask(f"{SHOWN}?.colours") or []) < 6)
    jammed = served.sim.time + 0.7
    window.until(lambda: served.sim.time > jammed + 0.7)
    operate(served.host.source, "set_jammer", "tool", {"name": "red", "on": False})
    window.until(lambda: len(colours(window)) == 6)
    box = window.page.get_by_role("slider", name="Time").bounding_box()
    window.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    window.until(lambda: window.signal("source.kind") == "buffer")
    window.ask(f"window.paddock.store.source.value.timeline.seek({jammed})")
    window.until(lambda: 1 <= len(colours(window)) < 6)
