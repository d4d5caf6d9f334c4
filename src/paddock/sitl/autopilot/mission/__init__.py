"""Missions: which items are accepted, in which order they come, and what the current one asks of the craft."""

from paddock.sitl.autopilot.mission.checks import check_mission, check_mission_item
from paddock.sitl.autopilot.mission.executor import MissionExecutor

__all__ = ["MissionExecutor", "check_mission", "check_mission_item"]
