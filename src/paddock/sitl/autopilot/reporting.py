"""Filling in what ground stations are told, 50 times a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission_item import PlanKind
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

BOOT, STANDBY, ACTIVE, CRITICAL = 1, 3, 4, 5
"""MAV_STATE."""


def fill(autopilot: BuiltInAutopilot) -> None:
    """Everything but what the craft and its modes fill in themselves: landed, the targets, the outputs' errors."""
    telemetry, health = autopilot.telemetry, autopilot.health
    telemetry.time_us = autopilot.now_us
    telemetry.estimate = autopilot.estimate
    telemetry.sensors = autopilot.sensors
    telemetry.mode = autopilot.mode.number
    telemetry.armed = autopilot.armed
    telemetry.system_status = _state(autopilot)
    telemetry.sensors_present = health.present
    telemetry.sensors_enabled = health.enabled
    telemetry.sensors_healthy = health.healthy
    telemetry.battery_consumed = autopilot.battery.consumed
    telemetry.outputs = autopilot.craft.outputs(autopilot.commands)
    _place(autopilot)
    _mission(autopilot)
    autopilot.status.mode, autopilot.status.armed = autopilot.mode.name, autopilot.armed


def _place(autopilot: BuiltInAutopilot) -> None:
    frame, estimate, telemetry = autopilot.frame, autopilot.estimate, autopilot.telemetry
    if frame is None:
        return
    place = frame.to_geodetic(estimate.north, estimate.east, estimate.down)
    telemetry.latitude, telemetry.longitude, telemetry.altitude = place
    telemetry.relative_altitude = autopilot.home_ned()[2] - estimate.down


def _mission(autopilot: BuiltInAutopilot) -> None:
    telemetry = autopilot.telemetry
    telemetry.mission_count = len(autopilot.plans[PlanKind.MISSION])
    telemetry.mission_current = autopilot.executor.current
    telemetry.mission_state = int(autopilot.executor.state)


def _state(autopilot: BuiltInAutopilot) -> int:
    if not autopilot.estimate.attitude_ok:
        return BOOT
    if autopilot.armed and (autopilot.failsafes.acting or autopilot.fence.breached):
        return CRITICAL
    flying = autopilot.telemetry.landed not in (Landed.UNDEFINED, Landed.ON_GROUND)
    return ACTIVE if autopilot.armed or flying else STANDBY
