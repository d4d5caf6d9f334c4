"""The modes of planes, with ArduPilot's numbers."""

from collections.abc import Mapping

from paddock.sitl.autopilot.modes.plane.auto import PlaneAuto
from paddock.sitl.autopilot.modes.plane.guided import PlaneGuided
from paddock.sitl.autopilot.modes.plane.loiter import PlaneLoiter, PlaneRtl
from paddock.sitl.autopilot.modes.plane.piloted import PlaneCruise, PlaneFbwa, PlaneManual
from paddock.sitl.autopilot.vehicle import Mode

PLANE_MODES: Mapping[int, type[Mode]] = {  # by number
    mode.number: mode for mode in (PlaneManual, PlaneFbwa, PlaneCruise, PlaneAuto, PlaneRtl, PlaneLoiter, PlaneGuided)
}
