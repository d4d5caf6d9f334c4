"""The modes of copters, with ArduPilot's numbers."""

from collections.abc import Mapping

from paddock.sitl.autopilot.modes.copter.auto import CopterAuto
from paddock.sitl.autopilot.modes.copter.circle import CopterCircle
from paddock.sitl.autopilot.modes.copter.guided import CopterGuided
from paddock.sitl.autopilot.modes.copter.land import CopterBrake, CopterLand, CopterRtl
from paddock.sitl.autopilot.modes.copter.piloted import CopterAltHold, CopterLoiter, CopterStabilize
from paddock.sitl.autopilot.vehicle import Mode

COPTER_MODES: Mapping[int, type[Mode]] = {  # by number
    mode.number: mode
    for mode in (
        *(CopterStabilize, CopterAltHold, CopterAuto, CopterGuided, CopterLoiter),
        *(CopterRtl, CopterCircle, CopterLand, CopterBrake),
    )
}
