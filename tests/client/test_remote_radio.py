"""Jammers and budgets of links, remotely."""

from __future__ import annotations

from typing import Any

import pytest

import paddock
from paddock.errors import PaddockError

SCENARIO = {
    "clock": {"rate": 100, "pace": 0},
    "radio": {
        "stations": [{"name": name, "position": [x, 0, 0]} for name, x in (("a", 0), ("b", 1000))],
        "jammers": [{"name": "j", "kind": "barrage", "position": [900, 0, 0], "enabled": False}],
    },
    "vehicles": [{"name": "p", "model": "point", "radio": "default"}],
}


def test_jammers_and_links(serve: Any) -> None:
    served = serve(SCENARIO)
    with paddock.connect(served.url) as sim:
        assert sim.radio.link("a", "b")["path_loss"] == pytest.approx(100.05, abs=0.005)
        [view] = sim.radio.jammers()
        assert view["on"] is False and view["position"] == [900.0, 0.0, 0.0]
        sim.radio.set_jammer("j", on=True, power=40.0)
        sim.step(20)
        assert sim.radio.jammers()[0]["power"] == 40.0
        assert sim.radio.link("a", "b")["jamming"] > -60.0
        for wrong, text in (({"name": "k"}, "unknown jammer 'k'"), ({"name": "j", "power": 900.0}, "power must be")):
            with pytest.raises(PaddockError, match=text):
                sim.radio.set_jammer(**wrong)


def test_spoofers_and_commands(serve: Any) -> None:
    spoofer = {"name": "s", "position": [0, 9, 0], "offset": [50, 0, 0], "enabled": False}
    radio = {"stations": [{"name": "a", "position": [0, 0, 0]}], "spoofers": [spoofer]}
    entry = {"name": "p", "model": "point", "radio": "default", "via": "radio", "sensors": ["gnss"]}
    served = serve({**SCENARIO, "radio": radio, "vehicles": [entry]})
    with paddock.connect(served.url) as sim:
        assert sim.radio.commands("p")["delay"] is None
        sim.command("p", vx=1.0)
        sim.radio.set_spoofer("s", on=True)
        sim.step(300)
        [view] = sim.radio.spoofers()
        assert view["on"] is True and view["captured"] == 1
        assert sim.radio.commands("p")["delivered"] == 1 and 0.0 < sim.radio.commands("p")["delay"] < 0.01
        with pytest.raises(PaddockError, match="unknown spoofer 'k'"):
            sim.radio.set_spoofer("k", on=True)
