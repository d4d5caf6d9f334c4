"""The modes of aeroplanes, one file each, with ArduPilot's numbers."""

from collections.abc import Mapping

from paddock.sitl.autopilot.mode import Mode
from paddock.sitl.autopilot.modes.plane.auto import Auto
from paddock.sitl.autopilot.modes.plane.cruise import Cruise
from paddock.sitl.autopilot.modes.plane.fbwa import Fbwa
from paddock.sitl.autopilot.modes.plane.guided import Guided
from paddock.sitl.autopilot.modes.plane.loiter import Loiter
from paddock.sitl.autopilot.modes.plane.manual import Manual
from paddock.sitl.autopilot.modes.plane.rtl import Rtl

PLANE_MODES: Mapping[int, type[Mode]] = {
    kind.number: kind for kind in (Manual, Fbwa, Cruise, Auto, Rtl, Loiter, Guided)
}
"""By number."""
