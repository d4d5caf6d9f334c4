"""Aircraft of JSBSim (PyPI `jsbsim`, imported on first use) with the sensors of `paddock.sensing`."""

import threading
from collections.abc import Mapping
from math import cos, degrees, radians, sin
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.vehicle_data import COLUMN, TRUTH, ActuatorCommands, Floats
from paddock.compute.philox import normals
from paddock.scenario.base import Text
from paddock.sitl.adapter import AdapterError, Placed, RowAdapter
from paddock.world.frames import conversion, quaternion_from_euler
from paddock.world.geodesy import geodetic_to_ecef

FOOT = 0.3048  # m
KNOT = 0.5144444444444445  # m/s
FROM_NED = conversion("ned", "enu")
TURNED = FROM_NED.quaternion(np.eye(4))  # attitude (x, y, z, w) of NED and FRD, times this, is that of ENU and FLU
TRIM_FLIGHT, TRIM_GROUND = 1, 2  # JSBSim's tFull, tGround
MIXTURE = 0.87
RISE = 10.0  # s in which the wind rises
OTHERS = "try c172x, c172p, pa28, J3Cub, f16"

_one_at_a_time = threading.Lock()  # aircraft are loaded one at a time: JSBSim has global state


def load_jsbsim() -> Any:
    """Return the package; AdapterError if it is not installed."""
    try:
        import jsbsim
    except ImportError:
        raise AdapterError("adapter jsbsim needs the package jsbsim: pip install 'paddock[jsbsim]'") from None
    return jsbsim


class Aircraft:
    """One flight dynamics model."""

    def __init__(
        self,
        model: str,
        where: str,
        position: tuple[float, float, float],
        ground: float,
        heading: float,
        speed: float,
        wind: tuple[float, float, float],
    ) -> None:
        """`model`: JSBSim's name (c172x, c172p, f16, ...); `where` begins error messages; `position`: deg, deg, m.

        `ground`: its height below, m; `heading` rad; `speed`: calibrated airspeed, m/s (0: on the ground); `wind` m/s
        towards north, east, down.
        """
        jsbsim = load_jsbsim()
        with _one_at_a_time:
            root = jsbsim.get_default_root_dir()
            if not Path(root, "aircraft", model, f"{model}.xml").is_file():  # JSBSim would print it
                raise AdapterError(f"{where}: JSBSim has no aircraft {model!r}; {OTHERS}")
            # no Python logger: JSBSim destroys loggers at the end of a thread without Python's lock, which can crash
            jsbsim.FGJSBBase().debug_lvl = 0  # print nothing, unless the environment has JSBSIM_DEBUG
            self.fdm = fdm = jsbsim.FGFDMExec(root)
            if not fdm.load_model(model):
                raise AdapterError(f"{where}: JSBSim cannot load its aircraft {model!r}; {OTHERS}")
            self.engines = int(fdm.get_propulsion().get_num_engines())
            fdm["ic/lat-geod-deg"], fdm["ic/long-gc-deg"] = position[:2]
            fdm["ic/terrain-elevation-ft"] = ground / FOOT
            fdm["ic/h-sl-ft"] = position[2] / FOOT
            fdm["ic/psi-true-deg"] = degrees(heading) % 360.0
            fdm["ic/vc-kts"] = speed / KNOT
            fdm["ic/gamma-deg"] = 0.0
            fdm.run_ic()
            fdm["propulsion/set-running"] = -1
            self._per_engine("fcs/mixture-cmd-norm", MIXTURE)
            self._per_engine("fcs/throttle-cmd-norm", 0.6 if speed > 0.0 else 0.0)
            self._brake(speed <= 0.0)
            try:  # trim for steady flight: neutral controls then hold this speed
                fdm.do_trim(TRIM_FLIGHT if speed > 0.0 else TRIM_GROUND)
            except jsbsim.TrimFailureError:
                if speed > 0.0:
                    wrong = f"cannot fly level at {speed:g} m/s and {position[2]:g} m"
                    raise AdapterError(f"{where}: {model} {wrong}: change speed or height") from None
        self._wind, self._blown = wind, 0.0

    def steer(self, commands: ActuatorCommands) -> None:
        """Set the controls, signs as in `sitl.vehicle_data`; JSBSim's elevator and rudder are inverted."""
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
        for wheel in ("left", "right", "center"):
            self.fdm[f"fcs/{wheel}-brake-cmd-norm"] = float(on)

    def run(self, seconds: float) -> None:
        """Advance the model by one step."""
        if self._blown < RISE and any(self._wind):  # rises slowly: sudden wind after the trim is a gust
            self._blown = min(self._blown + seconds, RISE)
            for axis, value in zip(("north", "east", "down"), self._wind, strict=True):
                self.fdm[f"atmosphere/wind-{axis}-fps"] = value / FOOT * self._blown / RISE
        self.fdm.set_dt(seconds)
        self.fdm.run()

    def velocity(self) -> Floats:
        """Return m/s north, east, down."""
        return np.array([self.fdm[f"velocities/v-{axis}-fps"] for axis in ("north", "east", "down")]) * FOOT

    def quaternion(self) -> Floats:
        """Return the attitude x, y, z, w, body to north-east-down."""
        angles = (float(self.fdm[f"attitude/{angle}-rad"]) for angle in ("phi", "theta", "psi"))
        return quaternion_from_euler(*angles).astype(np.float64)

    def pose(self, position: Floats, axes: Floats) -> Floats:
        """Return a column of Pose: position along the axes from another (ECEF, m), the rest by the local vertical."""
        ecef = np.array([self.fdm[f"position/ecef-{axis}-ft"] for axis in "xyz"]) * FOOT
        rates = FROM_NED.angular_rate(np.array([self.fdm[f"velocities/{rate}-rad_sec"] for rate in "pqr"]))
        motion = self.quaternion() @ TURNED, FROM_NED.velocity(self.velocity()), rates
        return np.concatenate([axes @ (ecef - position), *motion])


AIRSPEED_NOISE = 0.3  # m/s
AIRSPEED_PURPOSE = 60_000  # beyond the purposes of any sensor in `paddock.sensing`
STANDS_BELOW = 1.0  # m: an aircraft placed lower than this above the origin starts on the ground, at rest


class JsbsimAdapter(RowAdapter):
    """Fixed-wing aircraft. One placed above the ground starts in trimmed level flight, one on it at rest, brakes on."""

    adapter_type: ClassVar[str] = "jsbsim"
    crafts: ClassVar[tuple[str, ...]] = ("plane",)
    has_airspeed: ClassVar[bool] = True
    wind_blows: ClassVar[bool] = True

    def __init__(
        self,
        name: str = "",
        *,
        aircraft: str = "c172x",
        speed: float = 52.0,
        seed: int = 0,
        origin: tuple[float, float, float] = (35.6812, 139.7671, 40.0),
        rate: float = 50.0,
        physics_rate: float = 200.0,
        noise: float | bool = True,
        sensors: Mapping[str, Mapping[str, Any]] | None = None,
        truth: bool = False,
        wind: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """`speed`: calibrated airspeed at the start, m/s; `origin`: deg, deg, m, the ground's height.

        `rate` of the IMU and `physics_rate` of the model, Hz; `noise`: off, on, or a factor on every noise and random
        walk; `sensors` overrides options, e.g. `{"gnss": {"rate": 10}}`; `wind`: m/s towards north, east, down.
        """
        super().__init__(name, seed, origin, rate, noise, truth, sensors)
        self.aircraft = self.options.check(Text, "aircraft", aircraft, "a text")
        self.speed = self.options.positive("speed", speed)
        self.wind = self.options.triple("wind", wind, "m/s towards north, east, down")
        self.physics_us = max(1, round(1e6 / self.options.positive("physics_rate", physics_rate)))
        latitude, longitude = radians(self.origin.latitude_deg), radians(self.origin.longitude_deg)
        up = np.array([cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)])
        east = np.array([-sin(longitude), cos(longitude), 0.0])
        position = geodetic_to_ecef(self.origin.latitude_deg, self.origin.longitude_deg, self.origin.height_m)
        self._tangent = position, np.array([east, np.cross(up, east), up])  # the origin, and its axes
        self._flying: list[Aircraft] = []

    def _clear(self) -> None:
        super()._clear()
        self._looked_us = -1
        self._level = np.zeros_like(self._pose)  # with z above sea level

    def _check_available(self) -> None:
        load_jsbsim()

    def _add_row(self, row: int, vehicle: Placed) -> None:
        """Start in level flight, or on the ground."""
        north, east, down = vehicle.position
        latitude, longitude, _ = self.origin.to_geodetic([east, north, -down])
        ground = self.origin.height_m
        speed = self.speed if -down > STANDS_BELOW else 0.0
        position, flight = (
            (float(latitude), float(longitude), ground - down),
            (ground, vehicle.heading, speed, self.wind),
        )
        self._flying[row : row + 1] = [Aircraft(self.aircraft, f"adapter {self.name!r}", position, *flight)]

    def _remove_row(self, row: int, kept: NDArray[np.int64]) -> None:
        del self._flying[row]

    def _step_vehicles(self, seconds: float) -> None:
        for aircraft in self._flying:
            aircraft.run(seconds)

    def _update_poses(self) -> None:
        """Read the pose of each aircraft."""
        self._looked_us = self._time_us
        for k, aircraft in enumerate(self._flying):
            self._pose[:, k] = self._level[:, k] = aircraft.pose(*self._tangent)
            altitude = float(aircraft.fdm["position/geod-alt-ft"]) * FOOT  # above the ellipsoid, taken as sea level
            self._level[2, k] = altitude - self.origin.height_m

    def _write_rows(self, count: int) -> None:
        """Write the airspeed, and the truth along the local vertical, for correct heights far from the origin."""
        if self.truth and self._looked_us != self._time_us:
            self._update_poses()
        for k, aircraft in enumerate(self._flying):
            noise = normals(self.seed, int(self._streams[k]), AIRSPEED_PURPOSE, self._time_us)[0]
            airspeed = float(aircraft.fdm["velocities/vc-kts"]) * KNOT  # calibrated, as a pitot tube measures it
            self._block[k, COLUMN["airspeed"]] = max(airspeed + self.noise * AIRSPEED_NOISE * noise, 0.0)
            if self.truth:
                east, north, up = self._level[:3, k].tolist()
                x, y, z, w = aircraft.quaternion().tolist()
                self._block[k, TRUTH] = [north, east, -up, *aircraft.velocity().tolist(), w, x, y, z]

    def _set_actuators(self, rows: NDArray[np.int64], block: Floats) -> None:
        for row, commands in zip(rows.tolist(), block, strict=True):
            self._flying[row].steer(ActuatorCommands(commands))


ADAPTER = JsbsimAdapter
