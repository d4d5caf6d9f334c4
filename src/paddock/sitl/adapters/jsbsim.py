"""Aircraft of JSBSim (PyPI `jsbsim`, imported on first use) with the sensors of `paddock.sensing`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, degrees, radians, sin
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.compute.philox import normals
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed
from paddock.sitl.equipment import TIMES
from paddock.sitl.row_adapter import RowAdapter
from paddock.sitl.sensor_data import COLUMN, TRUTH, Floats
from paddock.world.frames import conversion
from paddock.world.geodesy import Origin, geodetic_to_ecef
from paddock.world.pose import Pose

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


@dataclass(frozen=True)
class FlightStart:
    """Start of a flight: WGS84 degrees and m, heading in rad, calibrated airspeed in m/s (0: on the ground)."""

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
    """One flight dynamics model."""

    def __init__(self, model: str, start: FlightStart, where: str) -> None:
        """`model`: JSBSim's name (c172x, c172p, f16, ...); `where` begins error messages."""
        jsbsim = load_jsbsim()
        with _one_at_a_time:
            root = jsbsim.get_default_root_dir()
            if not Path(root, "aircraft", model, f"{model}.xml").is_file():  # JSBSim would print it
                raise AdapterError(f"{where}: JSBSim has no aircraft {model!r}; {OTHERS}")
            # no Python logger: JSBSim destroys loggers at the end of a thread without Python's lock, which can crash
            jsbsim.FGJSBBase().debug_lvl = 0  # print nothing, unless the environment has JSBSIM_DEBUG
            self.fdm = jsbsim.FGFDMExec(root)
            if not self.fdm.load_model(model):
                raise AdapterError(f"{where}: JSBSim cannot load its aircraft {model!r}; {OTHERS}")
            self.engines = int(self.fdm.get_propulsion().get_num_engines())
            self._begin(start)
            self._trim(start, jsbsim, f"{where}: {model}")
        self._wind, self._blown = start.wind, 0.0

    def _begin(self, start: FlightStart) -> None:
        fdm = self.fdm
        fdm["ic/lat-geod-deg"], fdm["ic/long-gc-deg"] = start.latitude, start.longitude
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

    def _trim(self, start: FlightStart, jsbsim: Any, where: str) -> None:
        """Trim for steady flight: neutral controls then hold this speed."""
        try:
            self.fdm.do_trim(TRIM_FLIGHT if start.speed > 0.0 else TRIM_GROUND)
        except jsbsim.TrimFailureError:
            if start.speed > 0.0:
                raise AdapterError(
                    f"{where} cannot fly level at {start.speed:g} m/s and {start.altitude:g} m: change speed or height"
                ) from None

    def steer(self, commands: ActuatorCommands) -> None:
        """Set the controls, signs as in `sitl.actuators`; JSBSim's elevator and rudder are inverted."""
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
        if self._blown < RISE and any(self._wind):  # rises slowly: sudden wind is a gust after the trim in still air
            self._blown = min(self._blown + seconds, RISE)
            for axis, value in zip(("north", "east", "down"), self._wind, strict=True):
                self.fdm[f"atmosphere/wind-{axis}-fps"] = value / FOOT * self._blown / RISE
        self.fdm.set_dt(seconds)
        self.fdm.run()

    @property
    def airspeed(self) -> float:
        """Calibrated airspeed, m/s, as a pitot tube measures it."""
        return float(self.fdm["velocities/vc-kts"]) * KNOT

    @property
    def altitude(self) -> float:
        """m above the ellipsoid, taken as sea level."""
        return float(self.fdm["position/geod-alt-ft"]) * FOOT

    def velocity(self) -> Floats:
        """Return m/s north, east, down."""
        names = ("velocities/v-north-fps", "velocities/v-east-fps", "velocities/v-down-fps")
        return np.array([self.fdm[name] for name in names]) * FOOT

    def quaternion(self) -> Floats:
        """Return the attitude x, y, z, w, body to north-east-down."""
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
        """Return a column of Pose: position east, north, up of the origin; the rest along the local vertical."""
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


AIRSPEED_NOISE = 0.3  # m/s
AIRSPEED_PURPOSE = 60_000  # beyond the purposes of any sensor in `paddock.sensing`
STANDS_BELOW = 1.0  # m: an aircraft placed lower than this above the origin starts on the ground, at rest


class JsbsimAdapter(RowAdapter):
    """Fixed-wing aircraft. One placed above the ground starts in trimmed level flight, one on it at rest, brakes on."""

    adapter_type: ClassVar[str] = "jsbsim"
    crafts: ClassVar[tuple[str, ...]] = ("plane",)

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
        self.aircraft = self.options.typed("aircraft", aircraft, str, "a text")
        self.speed = self.options.positive("speed", speed)
        self.wind = self.options.triple("wind", wind, "m/s towards north, east, down")
        self.physics_us = max(1, round(1e6 / self.options.positive("physics_rate", physics_rate)))
        self._tangent = Tangent(self.origin)
        self._flying: list[Aircraft] = []

    def _clear(self) -> None:
        super()._clear()
        self._looked_us = -1
        self._pose = np.zeros((len(Pose._fields), self.capacity))
        self._level = np.zeros_like(self._pose)  # with z above sea level, for the barometer

    def _reach(self) -> None:
        load_jsbsim()

    def _enter(self, row: int, vehicle: Placed) -> None:
        """Start in level flight, or on the ground."""
        north, east, down = vehicle.position
        latitude, longitude, _ = self.origin.to_geodetic([east, north, -down])
        ground = self.origin.height_m
        speed = self.speed if -down > STANDS_BELOW else 0.0
        start = FlightStart(float(latitude), float(longitude), ground - down, ground, vehicle.heading, speed, self.wind)
        self._flying[row : row + 1] = [Aircraft(self.aircraft, start, f"adapter {self.name!r}")]

    def _leave(self, row: int, kept: NDArray[np.int64]) -> None:
        del self._flying[row]

    # time -------------------------------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capabilities:
        """IMU, GNSS, compass, barometer, airspeed; truth on request."""
        sensors = {*TIMES, "airspeed", *(["truth"] if self.truth else [])}
        return Capabilities(frozenset(sensors), self.rate, self.capacity, wind=True)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Fly and sense; the model steps to each sample time and to the end."""
        with self.lock:
            end = self._end_of(dt_us)
            self._freshen()
            while self._time_us < end:
                grid = (self._time_us // self.physics_us + 1) * self.physics_us
                until = min(end, grid, *(i.next_us for i in self._instruments)) if self._placed else end
                for aircraft in self._flying:
                    aircraft.run(1e-6 * (until - self._time_us))
                self._time_us = until
                self._sense()
            self._publish()
        return True

    def _freshen(self) -> None:
        """Sample the first instant, before the vehicles move."""
        if self._placed and any(instrument.next_us == self._time_us for instrument in self._instruments):
            self._sense()
            self._publish()

    def _sense(self) -> None:
        due = [i for i in self._instruments if i.next_us == self._time_us] if self._placed else []
        if due:
            self._look()
        for instrument in due:
            pose = self._level if instrument.fleet.sensor.name == "barometer" else self._pose
            instrument.sample(self._time_us, pose, len(self._placed), self._streams, self.seed)

    def _look(self) -> None:
        """Read the pose of each aircraft."""
        self._looked_us = self._time_us
        for k, aircraft in enumerate(self._flying):
            self._pose[:, k] = self._level[:, k] = aircraft.pose(self._tangent)
            self._level[2, k] = aircraft.altitude - self.origin.height_m

    def _publish(self) -> None:
        n = len(self._placed)
        if self.truth and self._looked_us != self._time_us:
            self._look()
        for instrument in self._instruments if n else ():
            instrument.publish(self._time_us, self._block)
        self._block[:n, 0] = self._time_us
        for k, aircraft in enumerate(self._flying):
            noise = normals(self.seed, int(self._streams[k]), AIRSPEED_PURPOSE, self._time_us)[0]
            self._block[k, COLUMN["airspeed"]] = max(aircraft.airspeed + self.noise * AIRSPEED_NOISE * noise, 0.0)
            if self.truth:  # along the local vertical, so that height is height far from the origin
                east, north, up = self._level[:3, k].tolist()
                x, y, z, w = aircraft.quaternion().tolist()
                self._block[k, TRUTH] = [north, east, -up, *aircraft.velocity().tolist(), w, x, y, z]

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """Set surfaces and engines; disarmed, the engine idles and the brakes are on."""
        with self.lock:
            row = self._row(vehicle)
            self._refuse_nan((vehicle,), commands.row[None, :])
            self._flying[row].steer(commands)


ADAPTER = JsbsimAdapter
