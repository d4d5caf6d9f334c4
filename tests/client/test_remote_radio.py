"""Messages over the simulated radio, sent and read by a client."""

from typing import Any

import pytest

import paddock
from paddock.errors import PaddockError

SCENARIO = {
    "clock": {"rate": 100},
    "radio": {"types": {"default": {"duty": 0.0}}, "stations": [{"name": "base", "position": [0, 0, 5]}]},
    "vehicles": [
        {"name": "scouts", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 6, "z": 20}}, "radio": "default"}
    ],
}


def test_a_client_sends_and_reads_messages(serve: Any) -> None:
    served = serve(SCENARIO)
    with paddock.connect(served.url, name="alice") as sim:
        sim.radio.send("base", "scouts[1]", {"go": [1, 2]})
        sim.radio.send("scouts[0]", data=[1.5], bits=4000)
        sim.step(20)
        found = sim.radio.received("scouts[1]")
        assert [(one["source"], one["data"], one["bits"]) for one in found] == [
            ("base", {"go": [1, 2]}, 96),
            ("scouts[0]", [1.5], 4000),
        ]
        local = served.sim.radio.received("scouts[1]")
        assert [one["arrived"] for one in found] == [one.arrived for one in local]
        assert sim.radio.received("scouts[1]", since=found[-1]["number"]) == []
        network = sim.radio.network()
        assert sorted(network["components"][0]) == ["base", "scouts[0]", "scouts[1]", "scouts[2]"]
        assert sim.radio.traffic()["delivered"] == 4
        with pytest.raises(PaddockError, match="unknown vehicle or station 'bose'"):
            sim.radio.send("bose", data=1)
    assert [one.source for one in served.sim.log.entries if one.action.saved_as == "radio"] == ["alice (zmq 1)"] * 2


def test_a_scenario_without_radio_refuses_messages(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim, pytest.raises(PaddockError, match="there is no radio: add a section"):
        sim.radio.send("red", data=1)
