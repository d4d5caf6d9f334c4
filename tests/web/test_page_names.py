"""Every control in every tab, popover and dialog has an accessible name."""

from __future__ import annotations

from typing import Any

import pytest

SCENARIO: dict[str, Any] = {
    "clock": {"rate": 240},
    "vehicles": [
        {"id": 1, "name": "red", "model": "car.kinematic", "pose": [0, 0, 0]},
        {"id": 10, "name": "scouts", "count": 3, "model": "quad", "spawn": {"grid": {"spacing": 4, "z": 6}}},
    ],
}
OPERABLE = (
    "button, input, select, textarea, summary, a[href], dialog, [contenteditable=true], "
    "[role=button], [role=slider], [role=tab], [role=switch], [role=separator], [role=textbox], [role=dialog]"
)
NAMELESS = """(operable) => {
  const worded = "button, summary, a, [role=button], [role=tab], [role=switch]"; // named by their own text
  const named = (one) =>
    [
      one.getAttribute("aria-label"),
      ...(one.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent),
      ...[...(one.labels ?? [])].map((label) => label.textContent),
      one.matches(worded) ? one.textContent : "",
    ].some((text) => text?.trim());
  const shown = [...document.querySelectorAll(operable)].filter((one) => one.checkVisibility());
  return [shown.length, shown.filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 160))];
}"""


def check(window: Any, where: str) -> None:
    """Check that all visible controls have names, once everything is loaded."""
    window.until(lambda: not window.ask("document.body.innerText.match(/^(Loading|Waiting for)/m)"))
    count, nameless = window.page.evaluate(NAMELESS, OPERABLE)
    assert count > 20 and nameless == [], where


@pytest.mark.slow
def test_every_tab(serve: Any, open_page: Any) -> None:
    window = open_page(serve(SCENARIO).url).ready()
    for selected in ([], [1], [10, 11]):
        window.ask(f"window.paddock.store.select({selected})")
        for rows in ("Details", "Plots and lists"):
            tabs = window.page.get_by_role("tablist", name=rows).get_by_role("tab")
            window.until(lambda tabs=tabs: tabs.count() >= 3)
            for k in range(tabs.count()):
                tabs.nth(k).click()
                window.until(lambda tabs=tabs, k=k: tabs.nth(k).get_attribute("aria-selected") == "true")
                check(window, f"{rows} {tabs.nth(k).inner_text()}, selected {selected}")
    window.ask("document.body.append(document.createElement('input'), document.createElement('button'))")
    assert window.page.evaluate(NAMELESS, OPERABLE)[1] == ["<input>", "<button></button>"]  # the check finds them


@pytest.mark.slow
def test_every_popover_and_dialog(serve: Any, open_page: Any) -> None:
    window = open_page(serve(SCENARIO).url).ready()
    for name in ("Step many ticks", "Reset", "Scenario gallery", "Scenario editor", "Keyboard shortcuts"):
        window.button(name).click()
        dialog = window.page.get_by_role("dialog", name=name)
        dialog.wait_for()
        check(window, name)
        if (close := dialog.get_by_role("button", name="Close", exact=True)).count():
            close.click()
        else:
            window.page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
