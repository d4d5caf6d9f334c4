"""The modes of rovers, with ArduPilot's numbers."""

from collections.abc import Mapping

from paddock.sitl.autopilot.modes.rover.auto import RoverAuto
from paddock.sitl.autopilot.modes.rover.guided import RoverGuided
from paddock.sitl.autopilot.modes.rover.hold import RoverCircle, RoverHold, RoverLoiter
from paddock.sitl.autopilot.modes.rover.piloted import RoverAcro, RoverManual, RoverSteering
from paddock.sitl.autopilot.modes.rover.rtl import RoverRtl, RoverSmartRtl
from paddock.sitl.autopilot.vehicle import Mode

ROVER_MODES: Mapping[int, type[Mode]] = {  # by number
    mode.number: mode
    for mode in (
        *(RoverManual, RoverAcro, RoverSteering, RoverHold, RoverLoiter),
        *(RoverCircle, RoverAuto, RoverRtl, RoverSmartRtl, RoverGuided),
    )
}
