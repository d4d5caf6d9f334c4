"""What an adapter says about itself, how it begins and ends, and whom it carries."""

from __future__ import annotations

from math import isfinite

from paddock.errors import suggestion
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import Capabilities
from paddock.sitl.bridge.vehicle import LAST_ID
from paddock.testing.adapters.rig import AdapterRig

SENSORS = ("imu", "gnss", "compass", "barometer", "rangefinder", "airspeed", "battery", "truth")
FEW = 8
"""Adapters with room for no more than this are filled up."""


def check_declarations(rig: AdapterRig) -> str:
    """A type, a name of its own, honest numbers."""
    adapter = rig.made()
    if not isinstance(getattr(adapter, "adapter_type", None), str) or not adapter.adapter_type:
        rig.fail("adapter_type is not a name")
    if not isinstance(adapter.name, str) or not adapter.name:
        rig.fail("name is empty: call super().__init__(name)")
    if not isinstance(adapter.supports_lockstep, bool):
        rig.fail(f"supports_lockstep is {adapter.supports_lockstep!r}, not True or False")
    can = adapter.capabilities
    if not isinstance(can, Capabilities):
        rig.fail(f"capabilities is {type(can).__name__}, not Capabilities")
    for name in sorted(can.sensors):
        if name not in SENSORS:
            rig.fail(f"capabilities name the unknown sensor {name!r}; {suggestion(name, SENSORS)}")
    if not (isfinite(can.max_rate) and can.max_rate > 0.0):
        rig.fail(f"max_rate must be a positive number of Hz, not {can.max_rate!r}")
    if not 1 <= can.max_vehicles <= LAST_ID:
        rig.fail(f"max_vehicles must lie in 1 to {LAST_ID}, not {can.max_vehicles!r}")
    if adapter.is_connected:
        rig.fail("is_connected before connect()")
    return f"{', '.join(sorted(can.sensors))} at up to {can.max_rate:g} Hz, {can.max_vehicles} vehicles"


def check_life_cycle(rig: AdapterRig) -> str:
    """Connect and disconnect may be called again, and it can be connected anew."""
    adapter = rig.made()
    adapter.disconnect()
    for _ in range(2):
        adapter.connect()
        adapter.connect()
        if not adapter.is_connected:
            rig.fail("is_connected is False after connect()")
        adapter.disconnect()
        adapter.disconnect()
        if adapter.is_connected:
            rig.fail("is_connected is True after disconnect()")
    return "connected and disconnected twice, each repeated"


def check_unconnected(rig: AdapterRig) -> str:
    """Everything but asking what it is is refused, before it is connected and after."""
    adapter = rig.made()
    for when in ("before connect()", "after disconnect()"):
        rig.refuses(f"add_vehicle {when}", lambda: adapter.add_vehicle(rig.placed(1)))
        rig.refuses(f"step {when}", lambda: adapter.step(rig.step_us, 0.1))
        rig.refuses(f"receive_sensors {when}", lambda: adapter.receive_sensors(1))
        rig.refuses(f"send_actuators {when}", lambda: adapter.send_actuators(ActuatorCommands(), 1))
        rig.refuses(f"reset {when}", adapter.reset)
        adapter.connect()
        adapter.add_vehicle(rig.placed(1))
        rig.step(adapter)
        adapter.disconnect()
    return "5 verbs refused, in one line each" if not adapter.is_connected else rig.fail("still connected")


def check_vehicles(rig: AdapterRig) -> str:
    """Ids are unique and ascending, strangers are refused, and who is removed is gone."""
    most, adapter = rig.made().capabilities.max_vehicles, rig.connected(0)
    ids = (7, 3, 5)[:most]
    for number in ids:
        adapter.add_vehicle(rig.placed(number))
    if adapter.vehicles != tuple(sorted(ids)):
        rig.fail(f"vehicles are {adapter.vehicles!r} after {ids} were added")
    rig.refuses("a second vehicle 7", lambda: adapter.add_vehicle(rig.placed(7)))
    rig.refuses("receive_sensors of a vehicle that is not there", lambda: adapter.receive_sensors(9))
    rig.refuses("send_actuators to a vehicle that is not there", lambda: adapter.send_actuators(ActuatorCommands(), 9))
    if most <= FEW:
        for number in range(20, 20 + most - len(ids)):
            adapter.add_vehicle(rig.placed(number))
        rig.refuses(f"vehicle number {most + 1}", lambda: adapter.add_vehicle(rig.placed(40)))
    _remove(rig)
    return f"{len(ids)} added in any order, strangers and doubles refused"


def _remove(rig: AdapterRig) -> None:
    """The others keep their rows when one goes."""
    adapter = rig.connected(rig.several())
    rig.step(adapter, 3)
    adapter.remove_vehicle(1)
    if 1 in adapter.vehicles:
        rig.fail("vehicle 1 is still there after remove_vehicle(1)")
    rig.refuses("receive_sensors of a removed vehicle", lambda: adapter.receive_sensors(1))
    rig.refuses("remove_vehicle of one that is gone", lambda: adapter.remove_vehicle(1))
    rig.step(adapter)
    for number in adapter.vehicles:
        rig.sensors(adapter, number)
    adapter.add_vehicle(rig.placed(1))
    rig.step(adapter)
    rig.sensors(adapter, 1)
