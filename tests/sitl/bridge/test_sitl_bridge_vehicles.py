"""Adapters by name, vehicles by id: registration, removal and independence."""

from typing import Any

import pytest

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.sitl.adapter import AdapterError, Placed


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


def test_adapters_are_listed_in_the_order_of_their_registration(bridge: Any, simulator: Any) -> None:
    for name in ("zoo", "aim", "mid"):
        bridge.register(simulator(name))
    assert tuple(bridge.links) == ("zoo", "aim", "mid")
    assert bridge.links["aim"].adapter.is_connected


def test_a_duplicate_adapter_name_is_refused(bridge: Any, simulator: Any) -> None:
    bridge.register(simulator("sim"))
    with pytest.raises(PaddockError, match="adapter 'sim' is registered already: give this one another name"):
        bridge.register(simulator("sim"))


def test_an_unknown_adapter_is_an_error_with_a_suggestion(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bridge.register(simulator("gazebo"))
    with pytest.raises(UnknownNameError, match="bridge: unknown adapter 'gazbo'; did you mean 'gazebo'"):
        bridge.spawn(rover(1), autopilot(), "gazbo")


@pytest.mark.parametrize("number", [0, 255, -3])
def test_ids_are_1_to_254(bridge: Any, simulator: Any, autopilot: Any, number: int) -> None:
    bridge.register(simulator())
    with pytest.raises(InvalidValueError, match=f"id must be 1 to 254, not {number}"):
        bridge.spawn(rover(number), autopilot(), "sim")


def test_a_duplicate_id_is_refused_before_its_autopilot_opens(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bridge.register(simulator())
    bridge.spawn(rover(1), autopilot(), "sim")
    second = autopilot()
    with pytest.raises(PaddockError, match="id 1 of 'r1' is taken by vehicle 1 'r1': ids are unique"):
        bridge.spawn(rover(1), second, "sim")
    assert second.opened == 0
    assert [vehicle.sysid for vehicle in bridge.vehicles] == [1]


def test_a_vehicle_refused_by_the_simulator_is_not_spawned(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bridge.register(simulator())
    refused = autopilot()
    with pytest.raises(AdapterError, match="supports craft 'rover' only"):
        bridge.spawn(Placed(1, "c", "copter"), refused, "sim")
    assert (refused.opened, refused.closed, bridge.vehicles) == (1, 1, ())


def test_an_autopilot_that_cannot_open_is_not_spawned(bridge: Any, simulator: Any, autopilot: Any) -> None:
    class Taken(autopilot):  # type: ignore[misc, valid-type]
        def open(self) -> None:
            raise PaddockError("UDP port 9002 is taken")

    bridge.register(simulator())
    with pytest.raises(PaddockError, match="9002 is taken"):
        bridge.spawn(rover(1), Taken(), "sim")
    assert bridge.vehicles == () and bridge.links["sim"].adapter.vehicles == ()


def test_vehicles_are_ordered_by_id_and_independent(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    bridge.register(simulator())
    for number, motors in ((30, (1.0, 1.0)), (2, (0.25, 0.25)), (254, (0.0, 0.0))):
        bridge.spawn(rover(number), autopilot(motors), "sim")
    assert [vehicle.sysid for vehicle in bridge.vehicles] == [2, 30, 254]
    step(bridge, 51)  # 1 s after the first answer
    north = [vehicle.sensors.true_north for vehicle in bridge.vehicles]
    assert north == pytest.approx([0.5, 2.0, 0.0])


def test_status_has_a_row_per_vehicle(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    bridge.register(simulator())
    shown = autopilot()
    shown.status.connected, shown.status.mode, shown.status.armed = True, "AUTO", True
    shown.status.note = "waypoint 3"
    bridge.spawn(rover(7), shown, "sim")
    before = bridge.status()[0]
    assert before.exchanges == 0 and before.latency_p50_us != before.latency_p50_us  # NaN
    step(bridge, 600)
    row = bridge.status()[0]
    assert row[:10] == (7, "r7", "rover", "sim", "stub", True, "AUTO", True, "waypoint 3", 600)
    assert 0.0 < row.latency_p50_us <= row.latency_p99_us


def test_all_254_ids_work(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    bridge.register(simulator())
    for number in range(254, 0, -1):
        bridge.spawn(rover(number, north=float(number)), autopilot(), "sim")
    step(bridge, 11)
    assert [row.exchanges for row in bridge.status()] == [11] * 254
    north = [vehicle.sensors.true_north for vehicle in bridge.vehicles]
    assert north == pytest.approx([number + 0.2 for number in range(1, 255)])


def test_other_threads_can_spawn_and_read_status_while_time_passes(
    bridge: Any, simulator: Any, autopilot: Any, ticking: Any
) -> None:
    bridge.register(simulator())
    bridge.spawn(rover(1), autopilot(), "sim")
    thread = ticking(bridge)
    for number in range(2, 30):
        bridge.spawn(rover(number), autopilot(), "sim")
        assert len(bridge.status()) == number
    thread.stop()
    assert bridge.vehicles[0].sensors.true_north == pytest.approx(bridge.time_us * 1e-6, abs=0.021)


def test_close_closes_autopilots_and_disconnects_simulators(simulator: Any, autopilot: Any, make_bridge: Any) -> None:
    sim, flown = simulator(), autopilot()
    with make_bridge() as bridge:
        bridge.register(sim)
        bridge.spawn(rover(1), flown, "sim")
    assert flown.closed == 1 and not sim.is_connected and bridge.vehicles == ()
