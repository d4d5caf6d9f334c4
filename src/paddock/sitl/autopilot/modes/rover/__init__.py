"""The modes of rovers, one file each, with ArduPilot's numbers."""

from collections.abc import Mapping

from paddock.sitl.autopilot.mode import Mode
from paddock.sitl.autopilot.modes.rover.acro import Acro
from paddock.sitl.autopilot.modes.rover.auto import Auto
from paddock.sitl.autopilot.modes.rover.circle import Circle
from paddock.sitl.autopilot.modes.rover.guided import Guided
from paddock.sitl.autopilot.modes.rover.hold import Hold
from paddock.sitl.autopilot.modes.rover.loiter import Loiter
from paddock.sitl.autopilot.modes.rover.manual import Manual
from paddock.sitl.autopilot.modes.rover.rtl import Rtl
from paddock.sitl.autopilot.modes.rover.smart_rtl import SmartRtl
from paddock.sitl.autopilot.modes.rover.steering import Steering

ROVER_MODES: Mapping[int, type[Mode]] = {
    kind.number: kind for kind in (Manual, Acro, Steering, Hold, Loiter, Circle, Auto, Rtl, SmartRtl, Guided)
}
"""By number."""
