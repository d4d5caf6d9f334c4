"""Units and meanings of the columns of snapshots; without the rest of the engine, which the hub has not."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from paddock.radio.links.table import RadioStatus
from paddock.sensing.sensor import Sensor
from paddock.track.standings import RaceColumns
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import Column, Pose, columns_of
from paddock.world.wind import VARYING_WIND, VehicleWind

COMMAND = "command."
SAMPLE_TICK = Column("", "tick at which the reading was taken", name="sample_tick")


def snapshot_columns(
    names: Iterable[str], model: VehicleModel | None, sensors: Mapping[str, Sensor]
) -> dict[str, Column]:
    """Return the columns of a snapshot by name, in order; unknown ones have no unit."""
    known = {column.name: column for column in columns_of(Pose)}
    if model is not None:
        state = {column.name: column for column in columns_of(model.state)}
        known |= {name: state[name] for name in model.telemetry}
        known |= {c.name: c for c in (columns_of(model.report_type) if model.report_type is not None else ())}
        known |= {COMMAND + column.name: column for column in columns_of(model.command)}
    known |= {column.name: column for column in columns_of(VehicleWind) if column.name in VARYING_WIND}
    known |= {f"race.{column.name}": column for column in columns_of(RaceColumns)}
    known |= {f"radio.{column.name}": column for column in columns_of(RadioStatus)}
    for name, sensor in sensors.items():
        known |= {f"{name}.{column.name}": column for column in (*columns_of(sensor.reading), SAMPLE_TICK)}
    return {name: replace(known[name], name=name) if name in known else Column("", "", name=name) for name in names}
