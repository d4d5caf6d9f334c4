"""Finding a sensor by name: shipped files, installed entry points, or a user's own dotted name."""

from __future__ import annotations

from functools import cache

from paddock.plugins import find_plugin, plugin_modules
from paddock.sensing import sensors
from paddock.sensing.sensor import Sensor

ENTRY_POINTS = "paddock.sensors"
"""The entry point group: `my_lidar = "my_package.my_lidar"` makes the sensor `my_lidar`."""


def sensor_names() -> list[str]:
    """The names a scenario may give as a sensor, besides dotted names of a user's own modules."""
    return sorted(plugin_modules(sensors, ENTRY_POINTS))


@cache
def find_sensor(name: str) -> Sensor:
    """The sensor of that name; an unknown one is refused with the nearest name."""
    return find_plugin("sensor", name, sensors, ENTRY_POINTS, "SENSOR", Sensor).named(name)
