"""The parameter protocol, over a socket."""

from __future__ import annotations

from typing import Any

import pytest

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")


def read(name: str, index: int = -1) -> Any:
    return mavlink.MAVLink_param_request_read_message(1, 1, name.encode(), index)


def put(name: str, value: float, kind: int = 9) -> Any:
    return mavlink.MAVLink_param_set_message(1, 1, name.encode(), value, kind)


def test_the_list_is_complete_and_in_order(rover: Any) -> None:
    station = rover.station()
    parameters = rover.autopilots[0].parameters
    known = [(name, parameters.value(name), parameters.known(name).kind) for name in parameters.names()]
    station.send(mavlink.MAVLink_param_request_list_message(1, 1))
    rover.expect(station, "PARAM_VALUE", lambda m: m.param_index == len(known) - 1)
    reported = [m for m in station.received if m.get_type() == "PARAM_VALUE"]
    assert [(m.param_id, m.param_value, m.param_type) for m in reported] == [(n, v, int(k)) for n, v, k in known]
    assert [m.param_index for m in reported] == list(range(len(known)))
    assert {m.param_count for m in reported} == {len(known)}


def test_the_list_is_paced(rover: Any) -> None:
    """20 parameters, ten times a second: the receiver's socket buffer holds them."""
    station = rover.station()
    station.send(mavlink.MAVLink_param_request_list_message(1, 1))
    rover.expect(station, "PARAM_VALUE")
    rover.pass_time(0.5)
    count = sum(m.get_type() == "PARAM_VALUE" for m in station.received)
    assert count <= 20 * 7


def test_reading_by_name_and_by_number(rover: Any) -> None:
    station = rover.station()
    assert rover.ask(station, read("FENCE_RADIUS"), "PARAM_VALUE").param_value == 300.0
    first = rover.ask(station, read("", 0), "PARAM_VALUE")
    assert (first.param_id, first.param_index) == ("SYSID_THISMAV", 0)


def test_unknown_parameters_are_reported(rover: Any) -> None:
    station = rover.station()
    error = rover.ask(station, read("NO_SUCH"), "PARAM_ERROR")
    assert (error.param_id, error.error, error.target_system) == ("NO_SUCH", 1, 255)
    assert rover.ask(station, read("", 9999), "PARAM_ERROR").error == 1
    assert rover.ask(station, put("NO_SUCH", 1.0), "PARAM_ERROR").error == 1
    rover.expect(station, "STATUSTEXT", lambda m: "NO_SUCH" in m.text)


def test_param_set_replies_to_every_peer_with_the_current_value(rover: Any) -> None:
    station, other = rover.station(), rover.station(system=254)
    other.greet()
    rover.pass_time(0.1)
    assert rover.ask(station, put("FENCE_RADIUS", 123.5), "PARAM_VALUE").param_value == 123.5
    assert rover.expect(other, "PARAM_VALUE").param_value == 123.5
    assert rover.ask(station, put("FENCE_ACTION", 2.0, 2), "PARAM_VALUE").param_type == 2


@pytest.mark.parametrize("value", [-1.0, 1e9, float("nan"), float("inf")])
def test_an_invalid_value_keeps_the_old_one(rover: Any, value: float) -> None:
    station = rover.station()
    answer = rover.ask(station, put("FENCE_RADIUS", value), "PARAM_VALUE")
    assert answer.param_value == 300.0
    assert any(m.get_type() == "PARAM_ERROR" and m.error == 2 for m in station.received)


def test_a_rate_parameter_changes_its_messages(rover: Any) -> None:
    station = rover.station()
    rover.ask(station, put("SR0_EXTRA1", 10.0, 4), "PARAM_VALUE")
    station.forget()
    rover.pass_time(2.0)
    assert sum(m.get_type() == "ATTITUDE" for m in station.received) == pytest.approx(20, abs=1)
    rover.ask(station, put("SR0_EXTRA1", 0.0, 4), "PARAM_VALUE")
    station.forget()
    rover.pass_time(1.0)
    assert not any(m.get_type() == "ATTITUDE" for m in station.received)
