"""Sensors by name."""

import sys
from dataclasses import replace
from types import ModuleType
from typing import Annotated, NamedTuple

import pytest

from paddock.errors import PaddockError, UnknownNameError
from paddock.sensing.sensor import Sensor, find_sensor, sensor_names
from paddock.world.columns import Column, Environment, columns_of, filled


@pytest.mark.parametrize("name", sensor_names())
def test_every_column_says_its_unit_and_every_option_has_a_valid_default(name: str) -> None:
    sensor = find_sensor(name)
    assert sensor.name == name
    assert sensor.summary
    for part in (sensor.reading, sensor.options, sensor.memory):
        assert all(column.meaning for column in columns_of(part))
    defaults = {column.name: column.default for column in columns_of(sensor.options)}
    filled(sensor.options, defaults, "option")


def test_unknown_sensor_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown sensor 'gns'; did you mean 'gnss'"):
        find_sensor("gns")
    with pytest.raises(UnknownNameError, match=r"unknown sensor 'no_such_package\.lidar'"):
        find_sensor("no_such_package.lidar")


def test_a_users_own_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("my_imu")
    module.SENSOR = find_sensor("imu")
    monkeypatch.setitem(sys.modules, "my_imu", module)
    assert find_sensor("my_imu").name == "my_imu"
    monkeypatch.setitem(sys.modules, "my_nothing", ModuleType("my_nothing"))
    with pytest.raises(PaddockError, match="no SENSOR"):
        find_sensor("my_nothing")


def test_options_without_rate_and_delay_are_refused() -> None:
    with pytest.raises(PaddockError, match="'rate'"):
        Sensor("bad", reading=Environment, options=Environment, memory=Environment, measure=len)


def test_a_memory_with_a_default_or_limits_is_refused() -> None:
    class Drift(NamedTuple):
        drift: Annotated[float, Column("m", "its drift")] = 5.0

    class Share(NamedTuple):
        share: Annotated[float, Column("", "a share", low=0.0, high=1.0)]

    for memory, column in ((Drift, "drift"), (Share, "share")):
        with pytest.raises(PaddockError, match=f"the column '{column}' of its memory has no default and no limits"):
            replace(find_sensor("barometer"), memory=memory)


def test_what_a_sensor_reads_has_the_names_of_its_fields_or_others() -> None:
    wheels = find_sensor("wheel_speeds")
    assert wheels.from_columns["spin_fl"] == ("spin_fl",) and wheels.from_columns["front"] == ("wheel_speed",)
    assert find_sensor("steering_angle").from_columns == {"steer": ("steer",)} and find_sensor("imu").from_columns == {}
    with pytest.raises(PaddockError, match="from_columns names fields of `seen`"):
        replace(wheels, from_columns={"spin": ("spin_fl",)})
