"""One line of the live table."""

from __future__ import annotations

from typing import NamedTuple

from paddock.sitl.bridge.latency import LatencyBook
from paddock.sitl.bridge.vehicle import Vehicle


class StatusRow(NamedTuple):
    """A vehicle as a user sees it."""

    sysid: int
    name: str
    craft: str
    adapter: str
    pilot: str  # its kind
    connected: bool
    mode: str
    armed: bool
    note: str
    exchanges: int
    latency_p50_us: float  # sensors to actuators; NaN before the first answer
    latency_p99_us: float


def status_row(vehicle: Vehicle, station_note: str, book: LatencyBook) -> StatusRow:
    """What there is to tell about it."""
    status = vehicle.pilot.status
    median, high = book.percentiles(vehicle.sysid)
    return StatusRow(
        sysid=vehicle.sysid,
        name=vehicle.placed.name,
        craft=vehicle.placed.craft,
        adapter=vehicle.adapter,
        pilot=vehicle.pilot.kind,
        connected=status.connected and not vehicle.failed,
        mode=status.mode,
        armed=status.armed,
        note=vehicle.note or station_note or _note(vehicle) or status.note,
        exchanges=book.exchanges(vehicle.sysid),
        latency_p50_us=median,
        latency_p99_us=high,
    )


def _note(vehicle: Vehicle) -> str:
    if vehicle.failed:
        return f"its pilot is lost: {vehicle.failed}"
    if vehicle.holding:
        return f"the world waits: {vehicle.diagnosis()}"
    return f"not waited for: {vehicle.diagnosis()}" if vehicle.free_running else ""
