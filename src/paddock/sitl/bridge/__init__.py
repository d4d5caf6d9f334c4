"""The bridge between simulators and autopilots: vehicles, time, deadlines."""

from paddock.sitl.bridge.bridge import Bridge
from paddock.sitl.bridge.partner import EnginePartner
from paddock.sitl.bridge.patience import BridgeStoppedError, Fallback, Patience
from paddock.sitl.bridge.status import StatusRow
from paddock.sitl.bridge.timing import TimeMode
from paddock.sitl.bridge.vehicle import Vehicle

__all__ = [
    "Bridge",
    "BridgeStoppedError",
    "EnginePartner",
    "Fallback",
    "Patience",
    "StatusRow",
    "TimeMode",
    "Vehicle",
]
