"""Operations of the radio over JSON-RPC and the Python client: view, coverage, spectrum, jammers, layers of pages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from asked import ask

import paddock
from paddock.errors import PaddockError
from paddock.serve.live import LiveSource
from paddock.wire.operations.operation import in_json
from paddock.wire.radio_results import CoverageGrid, Spectrum

TYPE = {"bandwidth": 20e6, "noise_figure": 0.0, "duty": 0.0, "power": 20.0}
SCENARIO = {
    "clock": {"rate": 100},
    "radio": {
        "types": {"t": TYPE},
        "stations": [{"name": "base", "position": [0, 0, 2], "radio": "t"}],
        "jammers": [{"name": "red", "kind": "barrage", "position": [1000, 0, 2], "power": 10}],
    },
    "vehicles": [{"name": "p", "model": "point", "spawn": {"poses": [[300, 0, 50, 0]]}, "radio": "t"}],
}


@pytest.fixture
def run() -> Iterator[LiveSource]:
    """A source that carries out operations while no thread drives the simulation."""
    with paddock.load(SCENARIO) as sim:
        source = LiveSource(sim)
        source.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)
        yield source
        source.detach()


def test_jammers_have_no_channel_and_need_a_change() -> None:
    with paddock.load(SCENARIO) as sim:
        assert sim.radio is not None
        with pytest.raises(PaddockError, match=r"unknown fleet or station with radios 'red'; valid: base, p"):
            sim.radio.allocate(["red"], [1])
        with pytest.raises(
            PaddockError, match="jammer 'red': nothing to change; give on, scheduled, position, vehicle"
        ):
            sim.radio.jammers.set("red")


def test_view_of_radios_stations_and_jammers(run: LiveSource) -> None:
    tree = ask(run, "radio_view")
    [station], [jammer], [fleet] = tree["stations"], tree["jammers"], tree["fleets"]
    assert (station["name"], station["position"]) == ("base", (0.0, 0.0, 2.0))
    assert (jammer["name"], jammer["on"], jammer["active"]) == ("red", True, 1.0)
    assert fleet["name"] == "p" and fleet["radios"][0]["noise"] == pytest.approx(-100.96, abs=0.01)
    assert tree["links"] == 2
    ask(run, "set_jammer", name="red", on=False, position=[0.0, 500.0, 10.0])
    assert ask(run, "radio_view")["jammers"][0]["position"] == (0.0, 500.0, 10.0)


def test_coverage_and_spectrum_are_computed_aside(run: LiveSource) -> None:
    coverage = ask(run, "coverage", x=0.0, y=0.0, size=200.0, side=3)
    assert coverage.power.shape == (3, 3) and coverage.time == run.sim.time
    tree = in_json(CoverageGrid, coverage._asdict())
    assert (tree["x"], tree["y"], tree["cell"], tree["side"]) == (-100.0, -100.0, 100.0, 3)
    loss = 20.0 * np.log10(4.0 * np.pi * np.hypot(100.0, 100.0) * 2.4e9 / 299_792_458.0)
    assert tree["power"][0] == pytest.approx(20.0 - loss, abs=0.06)  # one decimal
    assert all(len(tree[name]) == 9 for name in ("power", "sinr", "jamming"))
    spectrum = in_json(Spectrum, ask(run, "spectrum", receiver="p", bins=8)._asdict())
    # a tenth of the barrage of 100 MHz in each bin of 10 MHz, and the noise of 10 MHz
    jammer = 10.0 - 20.0 * np.log10(4.0 * np.pi * np.hypot(700.0, 48.0) * 2.4e9 / 299_792_458.0) - 10.0
    both = 10.0 * np.log10(10.0 ** (jammer / 10.0) + 10.0 ** (-103.97 / 10.0))
    assert spectrum["power"] == pytest.approx([both] * 8, abs=0.06)
    with pytest.raises(PaddockError, match="unknown vehicle or station 'q'"):
        ask(run, "coverage", of="q")


def test_layers_of_pages(run: LiveSource) -> None:
    assert run.figures()["visualization"] is None
    first = ask(run, "set_visualization_mode", show_comm_links=True, show_rf_range=None, show_labels=False)
    assert (first["version"], first["show_comm_links"], first["show_labels"]) == (1, True, False)
    second = ask(run, "set_visualization_mode", show_comm_links=None, show_rf_range=True, show_labels=None)
    assert (second["version"], second["show_comm_links"], second["show_rf_range"]) == (2, True, True)
    assert run.figures()["visualization"] == second


def test_the_inspector_has_the_radio(run: LiveSource) -> None:
    values = {column["name"]: column for column in ask(run, "inspect", target="p", page=True)["sensors"]["radio"]}
    assert values["sinr"]["unit"] == "dB" and values["sinr"]["value"] > 0.0 and values["links"]["value"] == 1.0


def test_without_radio() -> None:
    with paddock.load({"vehicles": [{"name": "p", "model": "point"}]}) as sim:
        source = LiveSource(sim)
        source.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)
        assert ask(source, "radio_view") is None and ask(source, "jammers") == []
        for operation, arguments in (("coverage", {}), ("spectrum", {"receiver": "p"})):
            with pytest.raises(PaddockError, match="there is no radio: add a section"):
                ask(source, operation, **arguments)
        source.detach()
