"""One aircraft of JSBSim (package `jsbsim`, imported when it is first needed): begin, steer, run, where it is."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from math import cos, degrees, radians, sin
from pathlib import Path
from typing import Any

import numpy as np

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError
from paddock.sitl.sensor_data import Floats
from paddock.world.frames import conversion
from paddock.world.geodesy import Origin, geodetic_to_ecef

FOOT = 0.3048  # m
KNOT = 0.5144444444444445  # m/s
FROM_NED = conversion("ned", "enu")
TURNED = FROM_NED.quaternion(np.eye(4))
"""An attitude (x, y, z, w) of NED and FRD times this is the same one of ENU and FLU: it is linear."""
TRIM_FLIGHT, TRIM_GROUND = 1, 2  # JSBSim's tFull, tGround
MIXTURE = 0.87
RISE = 10.0  # s in which the wind rises
BRAKES = ("left", "right", "center")

_one_at_a_time = threading.Lock()
"""Aircraft are loaded one after the other: JSBSim has a few things that all of them share."""


def load_jsbsim() -> Any:
    """The package; one line if it is not there."""
    try:
        import jsbsim
    except ImportError:
        raise AdapterError("the adapter jsbsim needs jsbsim: pip install 'paddock[jsbsim]'") from None
    return jsbsim


def _executive(jsbsim: Any) -> Any:
    """A flight dynamics model that says nothing, unless the environment's JSBSIM_DEBUG wants it to.

    No logger written in Python: JSBSim keeps loggers per thread and drops them as the thread ends, without Python's
    lock, which can end the process.
    """
    jsbsim.FGJSBBase().debug_lvl = 0
    return jsbsim.FGFDMExec(jsbsim.get_default_root_dir())


@dataclass(frozen=True)
class Start:
    """How a flight begins: place in WGS84 degrees and m, heading in rad, calibrated airspeed in m/s (0: it stands)."""

    latitude: float
    longitude: float
    altitude: float
    ground: float  # m, of the ground below
    heading: float
    speed: float
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m/s towards north, east, down


class Tangent:
    """East, north and up of an origin, for Earth-centred positions."""

    def __init__(self, origin: Origin) -> None:
        latitude, longitude = radians(origin.latitude_deg), radians(origin.longitude_deg)
        up = np.array([cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)])
        east = np.array([-sin(longitude), cos(longitude), 0.0])
        self.place = geodetic_to_ecef(origin.latitude_deg, origin.longitude_deg, origin.height_m)
        self.axes = np.array([east, np.cross(up, east), up])


class Aircraft:
    """A flight dynamics model of its own, begun at a place."""

    def __init__(self, model: str, start: Start, where: str) -> None:
        """`model` as JSBSim calls it (c172x, c172p, f16, ...); `where` opens error messages."""
        jsbsim = load_jsbsim()
        with _one_at_a_time:
            self._load(jsbsim, model, start, where)
        self._wind, self._blown = start.wind, 0.0

    def _load(self, jsbsim: Any, model: str, start: Start, where: str) -> None:
        if not Path(
            jsbsim.get_default_root_dir(), "aircraft", model, f"{model}.xml"
        ).is_file():  # JSBSim would print it
            raise AdapterError(f"{where}: JSBSim has no aircraft {model!r}; try c172x, c172p, pa28, J3Cub, f16")
        self.fdm = _executive(jsbsim)
        if not self.fdm.load_model(model):
            raise AdapterError(
                f"{where}: JSBSim cannot load its aircraft {model!r}; try c172x, c172p, pa28, J3Cub, f16"
            )
        self.engines = int(self.fdm.get_propulsion().get_num_engines())
        self._begin(start)
        self._trim(start, jsbsim, f"{where}: {model}")

    def _begin(self, start: Start) -> None:
        fdm = self.fdm
        fdm["ic/lat-geod-deg"] = start.latitude
        fdm["ic/long-gc-deg"] = start.longitude
        fdm["ic/terrain-elevation-ft"] = start.ground / FOOT
        fdm["ic/h-sl-ft"] = start.altitude / FOOT
        fdm["ic/psi-true-deg"] = degrees(start.heading) % 360.0
        fdm["ic/vc-kts"] = start.speed / KNOT
        fdm["ic/gamma-deg"] = 0.0
        fdm.run_ic()
        fdm["propulsion/set-running"] = -1
        self._per_engine("fcs/mixture-cmd-norm", MIXTURE)
        self._per_engine("fcs/throttle-cmd-norm", 0.6 if start.speed > 0.0 else 0.0)
        self._brake(start.speed <= 0.0)

    def _trim(self, start: Start, jsbsim: Any, where: str) -> None:
        """Steady from the first moment: the stick's middle is then where this speed needs it."""
        try:
            self.fdm.do_trim(TRIM_FLIGHT if start.speed > 0.0 else TRIM_GROUND)
        except jsbsim.TrimFailureError:
            if start.speed > 0.0:
                raise AdapterError(
                    f"{where} cannot fly level at {start.speed:g} m/s and {start.altitude:g} m: change speed or height"
                ) from None

    def steer(self, commands: ActuatorCommands) -> None:
        """Signs as in `sitl.actuators`; JSBSim's elevator lowers the nose, its rudder turns it left."""
        servos, fdm = np.clip(commands.servos[:3], -1.0, 1.0).tolist(), self.fdm
        fdm["fcs/aileron-cmd-norm"] = servos[0]
        fdm["fcs/elevator-cmd-norm"] = -servos[1]
        fdm["fcs/rudder-cmd-norm"] = -servos[2]
        fdm["fcs/steer-cmd-norm"] = servos[2]
        self._per_engine("fcs/throttle-cmd-norm", min(max(float(commands.motors[0]), 0.0), 1.0) * commands.armed)
        self._brake(not commands.armed)

    def _per_engine(self, name: str, value: float) -> None:
        for k in range(self.engines):
            self.fdm[f"{name}[{k}]"] = value

    def _brake(self, on: bool) -> None:
        for wheel in BRAKES:
            self.fdm[f"fcs/{wheel}-brake-cmd-norm"] = float(on)

    def run(self, seconds: float) -> None:
        """One step of the model."""
        if self._blown < RISE and any(self._wind):
            self._raise_wind(seconds)
        self.fdm.set_dt(seconds)
        self.fdm.run()

    def _raise_wind(self, seconds: float) -> None:
        """It is trimmed in still air; wind all at once would be a gust."""
        self._blown = min(self._blown + seconds, RISE)
        for axis, value in zip(("north", "east", "down"), self._wind, strict=True):
            self.fdm[f"atmosphere/wind-{axis}-fps"] = value / FOOT * self._blown / RISE

    @property
    def airspeed(self) -> float:
        """Calibrated, m/s: what a pitot tube shows."""
        return float(self.fdm["velocities/vc-kts"]) * KNOT

    @property
    def altitude(self) -> float:
        """m above the ellipsoid, which is sea level here."""
        return float(self.fdm["position/geod-alt-ft"]) * FOOT

    def velocity(self) -> Floats:
        """m/s north, east, down."""
        names = ("velocities/v-north-fps", "velocities/v-east-fps", "velocities/v-down-fps")
        return np.array([self.fdm[name] for name in names]) * FOOT

    def quaternion(self) -> Floats:
        """Attitude x, y, z, w, body to north-east-down."""
        names = ("attitude/phi-rad", "attitude/theta-rad", "attitude/psi-rad")
        (sr, cr), (sp, cp), (sy, cy) = ((sin(a / 2), cos(a / 2)) for a in (float(self.fdm[name]) for name in names))
        return np.array(
            [
                sr * cp * cy - cr * sp * sy,
                cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy,
                cr * cp * cy + sr * sp * sy,
            ]
        )

    def pose(self, tangent: Tangent) -> Floats:
        """A column of Pose: place exactly east, north and up of the origin; the rest along the local vertical."""
        fdm = self.fdm
        ecef = np.array([fdm["position/ecef-x-ft"], fdm["position/ecef-y-ft"], fdm["position/ecef-z-ft"]]) * FOOT
        rates = np.array([fdm["velocities/p-rad_sec"], fdm["velocities/q-rad_sec"], fdm["velocities/r-rad_sec"]])
        return np.concatenate(
            [
                tangent.axes @ (ecef - tangent.place),
                self.quaternion() @ TURNED,
                FROM_NED.velocity(self.velocity()),
                FROM_NED.angular_rate(rates),
            ]
        )
