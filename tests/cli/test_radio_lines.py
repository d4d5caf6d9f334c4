"""What the command line and reports print about radio: no value is `-`, counts have their noun, names their order."""

from __future__ import annotations

from typing import Any

import paddock
from paddock.cli.radio import _fit_lines
from paddock.cli.replay import _radio_lines
from paddock.cli.summary import Tally, outside_lines, summary_lines
from paddock.record.run_report import link_tables, natural_order

OWN = {"link_availability": 1.0, "mean_sinr_db": None, "outages": 0, "longest_outage_s": 0.0, "jammed_s": 0.0}


def test_a_fleet_in_contact_over_others_has_no_direct_link() -> None:
    """A rover whose route leads over relays is available, though it has no link to a station."""
    [line] = _radio_lines({"fleets": {"rover": {"radio": OWN}}})
    assert line.startswith("  radio of rover: available 100.0 %, mean SINR of direct links -, 0 outages")
    [line] = _radio_lines({"fleets": {"rover": {"radio": OWN | {"mean_sinr_db": 12.34}}}})
    assert "mean SINR of direct links 12.3 dB, " in line


def test_vehicles_of_a_report_are_in_natural_order() -> None:
    names = ["b", "scouts[10]", "scouts[1]", "scouts[0]", "a12b3", "a2"]
    assert sorted(names, key=natural_order) == ["a2", "a12b3", "b", "scouts[0]", "scouts[1]", "scouts[10]"]
    own: dict[str, Any] = {key: [value] * 3 for key, value in OWN.items()}
    own["name"], own["longest_outage_s"] = ["scouts[10]", "scouts[9]", "scouts[2]"], [0.0, 0.0, 5.0]
    lines = link_tables({"fleets": {"scouts": {"radio": OWN, "per_vehicle": own}}})
    rows = [line.split(" | ") for line in lines if line.startswith("| scouts\\[")]
    assert [row[0] for row in rows] == ["| scouts\\[2\\]", "| scouts\\[9\\]", "| scouts\\[10\\]"]
    assert {row[2] for row in rows} == {"-"}


def test_samples_at_one_place() -> None:
    tree = {"map": "m.npz", "samples": 30, "places": 1, "places_needed": 13, "folds": 5, "held_out_error": None}
    tree |= {"splats": 1, "seconds": 0.1, "transmitter": [0, 0, 0], "transmitter_given": True, "exponent": 2.0}
    lines = _fit_lines(tree)
    assert "samples         30 at 1 place" in lines
    assert _fit_lines(tree | {"places": 1200})[1] == "samples         30 at 1,200 places"


def test_paths_outside_the_range_of_their_model_are_in_the_summary() -> None:
    """Hata's model begins at 1 km and with a base of 30 m; these radios are 100 m apart and low."""
    places = [[0.0, 0.0, 10.0, 0.0], [100.0, 0.0, 10.0, 0.0]]
    fleet = {"name": "a", "count": 2, "model": "point", "spawn": {"poses": places}, "radio": {"frequency": 9e8}}
    radio = {"default": {"model": "okumura_hata"}}
    with paddock.load({"clock": {"rate": 10}, "radio": radio, "vehicles": [fleet]}) as sim:
        tally = Tally(sim)
        sim.step(2)
        numbers = tally.summary()
    assert numbers["radio"]["outside"] == 2
    text = "radio: 2 paths are outside the range of distances, heights or frequencies of the propagation model"
    assert f"  {text}" in summary_lines(numbers)
    assert outside_lines(0) == []
    assert outside_lines(1)[0].startswith("  radio: 1 path is outside the range")
