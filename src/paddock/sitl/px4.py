"""PX4 in the loop: Paddock is the simulator of unmodified PX4 SITL binaries (HIL messages over TCP 4560 + instance).

`HilMessages` turns sensor rows into messages in their units, `Px4Autopilot` is the autopilot of a quadrotor or a fixed
wing, `launch_lines` says how to start it.
"""

import select
import socket
from math import atan2, degrees, hypot, isfinite, sqrt
from time import monotonic
from typing import Any, ClassVar, NamedTuple

from paddock.autopilot.vehicle_data import MOTORS, ActuatorCommands, Floats, SensorColumns, SensorData
from paddock.compute.quaternion import unrotate
from paddock.errors import InvalidValueError, PaddockError
from paddock.mavlink.packets import PacketWriter, int16, int32, mav, scaled
from paddock.sensing.site import altitude_of
from paddock.sitl.external_autopilot import DEBUGGING, PX4_PORT, ExternalAutopilot
from paddock.world.geodesy import Origin

Triple = tuple[float, float, float]


def _mean_motion(before: SensorColumns, v: SensorColumns, seconds: float) -> tuple[Triple, Triple]:
    """Return the means over `seconds`, during which the vehicle turns by less than half a turn."""
    aw, ax, ay, az = before.true_qw, before.true_qx, before.true_qy, before.true_qz
    w, x, y, z = v.true_qw, v.true_qx, v.true_qy, v.true_qz
    cosine = aw * w + ax * x + ay * y + az * z  # of half the angle, and the axis in body axes times its sine
    turn = aw * x - ax * w - ay * z + az * y, aw * y + ax * z - ay * w - az * x, aw * z - ax * y + ay * x - az * w
    sign = 1.0 if cosine >= 0.0 else -1.0
    sine = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    scale = sign * (2.0 if sine < 1e-12 else 2.0 * atan2(sine, sign * cosine) / sine) / seconds
    n, e, d = v.true_vn - before.true_vn, v.true_ve - before.true_ve, v.true_vd - before.true_vd
    rate = turn[0] * scale, turn[1] * scale, turn[2] * scale
    return rate, unrotate(x, y, z, w, n / seconds, e / seconds, d / seconds)


ACCEL, GYRO, MAG, BARO, DIFFERENTIAL = 0x7, 0x38, 0x1C0, 0x1A00, 0x400  # bits of HIL_SENSOR.fields_updated
ARMED = 128  # bit of HIL_ACTUATOR_CONTROLS.mode
LOCKSTEP = 1  # bit of HIL_ACTUATOR_CONTROLS.flags

GAUSS = 1e4  # per T
ICE = 273.15  # K
AIR = 1.225  # kg/m3
MILLI_G = 1e3 / 9.80665  # per m/s2


class HilMessages:
    """Builds the messages of one vehicle; a reading is marked as new once."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self.restart()

    def restart(self) -> None:
        """Mark all readings as new and forget the last truth, for a new peer or after a reset."""
        self._shown: dict[str, float] = {}
        self._before: SensorColumns | None = None
        self.mean_motion: tuple[Triple, Triple] | None = None
        """Angular rate (rad/s) and acceleration over ground (m/s2), forward-right-down; means since the last truth."""

    def update_motion(self, v: SensorColumns) -> None:
        """Derive the true rates, free of sensor noise, from the truth of a row and the last one; None without both."""
        before, self._before = self._before, v if isfinite(v.true_qw + v.true_vn) else None
        if self._before is None:
            self.mean_motion = None
        elif before is not None and v.time_us > before.time_us:
            self.mean_motion = _mean_motion(before, v, (v.time_us - before.time_us) * 1e-6)

    def _new(self, sensor: str, time_us: float) -> bool:
        is_new = time_us >= 0.0 and time_us != self._shown.get(sensor)
        self._shown[sensor] = time_us
        return is_new

    def sensor(self, v: SensorColumns, clock_us: int) -> Any | None:
        """Return HIL_SENSOR, which also sets PX4's clock; None without an IMU."""
        if not all(map(isfinite, (v.gyro_x, v.gyro_y, v.gyro_z, v.accel_x, v.accel_y, v.accel_z))):
            return None
        mag = self._new("compass", v.compass_time_us) and isfinite(v.mag_x + v.mag_y + v.mag_z)
        baro = self._new("baro", v.baro_time_us) and isfinite(v.pressure + v.temperature)
        air = isfinite(v.airspeed)
        mx, my, mz = (v.mag_x * GAUSS, v.mag_y * GAUSS, v.mag_z * GAUSS) if mag else (0.0, 0.0, 0.0)
        pressure, temperature = (v.pressure, v.temperature) if baro else (0.0, ICE)
        return mav.MAVLink_hil_sensor_message(
            clock_us,
            v.accel_x, v.accel_y, v.accel_z,
            v.gyro_x, v.gyro_y, v.gyro_z,
            mx, my, mz,
            pressure * 0.01,  # hPa
            0.005 * AIR * v.airspeed * v.airspeed if air else 0.0,  # hPa
            altitude_of(pressure) if baro else 0.0,
            temperature - ICE,
            ACCEL | GYRO | (MAG if mag else 0) | (BARO if baro else 0) | (DIFFERENTIAL if air else 0),
        )  # fmt: skip

    def gps(self, v: SensorColumns, clock_us: int) -> Any | None:
        """Return HIL_GPS of a new fix; None without one."""
        if not self._new("gnss", v.gnss_time_us) or not isfinite(v.latitude + v.longitude + v.altitude):
            return None
        course = degrees(atan2(v.gnss_ve, v.gnss_vn)) % 360.0
        return mav.MAVLink_hil_gps_message(
            clock_us,
            int(v.gnss_fix),
            int32(v.latitude, 1e7), int32(v.longitude, 1e7), int32(v.altitude, 1e3),
            int16(v.gnss_eph, 100.0), int16(v.gnss_epv, 100.0),
            int16(hypot(v.gnss_vn, v.gnss_ve), 100.0),
            int16(v.gnss_vn, 100.0), int16(v.gnss_ve, 100.0), int16(v.gnss_vd, 100.0),
            int(course * 100.0) % 36000,
            scaled(v.gnss_satellites, 1.0, 0, 127, 0),
        )  # fmt: skip

    def truth(self, v: SensorColumns, clock_us: int) -> Any | None:
        """Return HIL_STATE_QUATERNION; None without two consecutive truths."""
        turning = self.mean_motion
        if turning is None or not isfinite(v.true_north + v.true_east + v.true_down):
            return None
        latitude, longitude, height = self._origin.to_geodetic((v.true_east, v.true_north, -v.true_down))
        speed = int16(v.airspeed, 100.0)
        return mav.MAVLink_hil_state_quaternion_message(
            clock_us,
            [v.true_qw, v.true_qx, v.true_qy, v.true_qz],
            *turning[0],
            int32(float(latitude), 1e7), int32(float(longitude), 1e7), int32(float(height), 1e3),
            int16(v.true_vn, 100.0), int16(v.true_ve, 100.0), int16(v.true_vd, 100.0),
            speed, speed,
            *(int16(part, MILLI_G) for part in turning[1]),
        )  # fmt: skip


class Px4Frame(NamedTuple):
    """One kind of vehicle as a start script of PX4 wires it."""

    autostart: int  # SYS_AUTOSTART of an airframe with an external simulator
    make: str  # target of `make px4_sitl` that starts instance 0; empty: there is none
    outputs: tuple[tuple[int, tuple[tuple[int, float], ...]], ...]
    """Column of ActuatorCommands, and the controls that it is the sum of: index and factor."""
    parameters: tuple[tuple[str, float], ...] = ()  # on top of the airframe's own

    def apply(self, message: Any, row: Floats) -> None:
        """Apply HIL_ACTUATOR_CONTROLS: motors 0 to 1, servos -1 to 1; NaN is an output that is off."""
        controls = message.controls
        row[0] = bool(message.mode & ARMED)
        for column, parts in self.outputs:
            value = sum(factor * controls[index] for index, factor in parts)
            low = 0.0 if column <= MOTORS else -1.0
            row[column] = min(max(value, low), 1.0) if value == value else 0.0


SERVO = 1 + MOTORS  # column of the first servo
FRAMES = {
    "copter": Px4Frame(10016, "none_iris", tuple((1 + k, ((k, 1.0),)) for k in range(4))),
    "plane": Px4Frame(
        1030,
        "",
        (
            (1, ((4, 1.0),)),
            (SERVO, ((6, 0.5), (5, -0.5))),  # right aileron up and left one down: to the right
            (SERVO + 1, ((7, 1.0),)),
            (SERVO + 2, ((2, 1.0),)),
        ),
        (
            *(("FW_AIRSPD_TRIM", 17.5), ("FW_AIRSPD_MIN", 12.0), ("FW_AIRSPD_MAX", 25.0), ("FW_AIRSPD_STALL", 9.0)),
            *(("FW_THR_TRIM", 0.65), ("FW_T_CLMB_MAX", 5.0), ("FW_T_SINK_MIN", 1.2), ("FW_PSP_OFF", 1.5)),
            # not 1 and 0: PX4 ignores what equals its own default, and the airframe's 0.6 and -0.15 would stay
            *(("FW_THR_MAX", 0.99), ("TRIM_PITCH", 0.01)),
            # it has no rangefinder: without one PX4 would abort the landing, and flare below the error of its height
            *(("FW_LND_USETER", 0.0), ("FW_LND_FLALT", 3.0)),
        ),
    ),
}
"""By craft: the X quadrotor of the simulators, and the fixed wing with the speeds of the preset mapper."""


GROUND_STATION_PORT = 18570
LINK_PORTS = 1000  # from there to the port of a further link of an instance
FASTEST = 100.0  # speed factor for a run as fast as possible
OFFBOARD_PORT = 14540
LAST_OFFBOARD = 9  # PX4's start script assigns the same port to this and all later instances
CHUNK = 65536
MOST_UNSENT = 1 << 18  # bytes queued for a peer that does not read; further messages are dropped whole
HEARTBEAT_US = 1_000_000
SENSOR_RATE = 250.0  # Hz, as PX4 expects
TRUTH_US = 5_000  # simulated us between two HIL_STATE_QUATERNION, until PX4 requests another interval
FIRST_US = 1_000_000  # PX4's clock starts here: it takes 0 for no time
SYSTEM, COMPONENT = 1, 51  # ids of a simulator


def launch_lines(
    craft: str, instance: int, address: str = "127.0.0.1", relay: int | None = None, pace: float = 1.0
) -> list[str]:
    """Return the command lines for one instance that connects to `address`, and where ground stations find it.

    `relay`: UDP port of its MAVLink packets, where they go over the radio. pace: simulated s per s; PX4's timeouts of
    links are longer by it.
    """
    frame, host = FRAMES[craft], f"PX4_SIM_HOSTNAME={address} "
    host += "" if pace == 1.0 else f"PX4_SIM_SPEED_FACTOR={pace or FASTEST:g} "
    own = "".join(f"PX4_PARAM_{name}={value:g} " for name, value in frame.parameters)
    binary = f"{host}PX4_SYS_AUTOSTART={frame.autostart} {own}build/px4_sitl_default/bin/px4 -i {instance}"
    shared = f" (shared by all instances from {LAST_OFFBOARD} on)" if instance > LAST_OFFBOARD else ""
    made = frame.make and instance == 0  # make starts instance 0 only
    starts = [f"start:    {host}make px4_sitl {frame.make}", f"or:       {binary}"] if made else [f"start:    {binary}"]
    if relay is not None:
        own_port = GROUND_STATION_PORT + LINK_PORTS + instance
        return [*starts, f"then:     mavlink start -u {own_port} -o {relay} -t {address}   (in PX4's shell)"]
    return [
        *starts,
        f"connect:  udp:127.0.0.1:14550 (it sends from {GROUND_STATION_PORT + instance}), "
        f"MAVSDK udpin://0.0.0.0:{OFFBOARD_PORT + min(instance, LAST_OFFBOARD)}{shared}",
    ]


class Px4Autopilot(ExternalAutopilot):
    """Waits at tcp `4560 + instance` for a PX4. Sensors run freely until its first controls, then in lockstep.

    `dt` s is the step of the world.
    """

    kind: ClassVar[str] = "px4"

    def __init__(
        self,
        craft: str,
        dt: float,
        origin: Origin,
        *,
        instance: int = 0,
        address: str = "127.0.0.1",
        port: int | None = None,
    ) -> None:
        ticks = max(1, round(1.0 / (SENSOR_RATE * dt)))
        super().__init__(dt, instance, address, PX4_PORT + instance if port is None else port, ticks)
        if craft not in FRAMES:
            raise InvalidValueError(f"PX4 flies {' and '.join(FRAMES)} here, not craft {craft!r}")
        self._frame = FRAMES[craft]
        self._peer: socket.socket | None = None
        self._unsent = bytearray()
        self._peers = 0  # so far
        self._messages = HilMessages(origin)
        self._writer = PacketWriter(SYSTEM, COMPONENT)
        self._commands = ActuatorCommands()
        self._offset_us = FIRST_US  # PX4's clock never decreases, even when the world's does
        self._clock_us = 0
        self._last_us = 0.0
        self._begin()

    def _begin(self) -> None:
        """Disconnect and forget the peer."""
        if self._peer is not None:
            self._peer.close()
            self._peer = None
        self._unsent.clear()
        self._parser = mav.MAVLink(None)
        self._parser.robust_parsing = True  # bad data is a message, not an exception
        self._received = False  # the peer has sent something
        self._acted = False  # it has sent controls
        self._lockstep = True
        self._fresh = False  # controls not collected yet
        self._truth_us: int | None = TRUTH_US
        self._next_truth_us = self._next_heartbeat_us = 0
        self._messages.restart()
        self._received_at = monotonic()
        self.status.connected = self.status.armed = False
        self.status.note = f"waiting for PX4 at tcp {self._address}:{self.port}"

    @property
    def live(self) -> bool:
        """Whether it has sent controls and is still connected."""
        return self._acted and self._peer is not None

    def open(self) -> None:
        """Listen; PaddockError if the port is in use."""
        self._bind("tcp", "another Paddock, jMAVSim, Gazebo")
        self._begin()

    def close(self) -> None:
        """Release the port and the peer."""
        self._begin()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self.status.note = "closed"

    def reset(self) -> None:
        """Restart with the world; PX4 keeps running, so its clock continues."""
        self._offset_us += round(self._last_us)
        self._last_us = 0.0
        self._messages.restart()

    def offer(self, sensors: SensorData) -> None:
        """Send new readings; PX4's next controls answer them."""
        self._service()
        self._fresh = False
        values = sensors.values()
        self._messages.update_motion(values)
        clock_us = self._offset_us + round(values.time_us)
        self._last_us = values.time_us
        if self._peer is None or clock_us <= self._clock_us:
            return
        packets = b"".join(self._writer.pack(message) for message in self._due(values, clock_us))
        self._clock_us = clock_us
        self._send(packets)

    def _due(self, values: SensorColumns, clock_us: int) -> list[Any]:
        """Return the messages due; the sensors come last, because they trigger PX4."""
        messages: list[Any] = []
        if clock_us >= self._next_heartbeat_us:
            self._next_heartbeat_us = clock_us + HEARTBEAT_US
            kind, state = mav.MAV_TYPE_GENERIC, mav.MAV_STATE_ACTIVE
            messages.append(mav.MAVLink_heartbeat_message(kind, mav.MAV_AUTOPILOT_INVALID, 0, 0, state, 3))
        messages.append(self._messages.gps(values, clock_us))
        if self._truth_us is not None and clock_us >= self._next_truth_us:
            self._next_truth_us = clock_us + self._truth_us
            messages.append(self._messages.truth(values, clock_us))
        sensor = self._messages.sensor(values, clock_us)
        if sensor is None:
            self.status.note = "nothing sent to PX4: the vehicle's IMU has no finite reading"
        return [message for message in (*messages, sensor) if message is not None]

    def collect(self, timeout: float) -> ActuatorCommands | None:
        """Return its controls; do not wait for a PX4 without lockstep."""
        deadline = monotonic() + timeout
        self._service()
        while not self._fresh:
            left = deadline - monotonic()
            if left <= 0.0 or not self.live or not self._lockstep:
                return self._commands if self.live and not self._lockstep else None
            sockets = [opened for opened in (self._peer, self._socket) if opened is not None]
            select.select(sockets, sockets[:1] if self._unsent else [], [], left)
            self._service()
        self._fresh = False
        self.status.exchanges += 1
        return self._commands

    def _service(self) -> None:
        """Accept a new peer, drop one that has disconnected, and handle the bytes received."""
        if self._socket is None:
            raise PaddockError(f"PX4: tcp {self._address}:{self.port} is not open")
        try:
            newcomer, _ = self._socket.accept()
        except OSError:
            pass
        else:
            self._accept_peer(newcomer)
        if self._peer is None:
            return
        try:
            data = self._peer.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._begin()
            return
        self._received, self._received_at = True, monotonic()
        try:
            for message in self._parser.parse_buffer(data) or []:
                self._handle(message)
        except mav.MAVError as error:  # the parser resynchronises
            self._reject_data(str(error))

    def _accept_peer(self, newcomer: socket.socket) -> None:
        """Take a new peer; refuse a second one, unless the first has sent nothing, as a PX4 does at once."""
        if self._peer is not None and self._received:
            newcomer.close()
            self._reject(f"refused a second PX4 at tcp {self._address}:{self.port}; start it with -i")
            return
        newcomer.setblocking(False)
        newcomer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._begin()
        self._peer = newcomer
        self._peers += 1
        if self._peers > 1:
            self._report_restart()
        self.status.connected = True
        self.status.note = "PX4 is connected and starting; sensors run freely until its first controls"

    def _send(self, data: bytes) -> None:
        """Send as much as the peer reads; drop whole messages when too much is queued."""
        if self._peer is None:
            return
        if len(self._unsent) + len(data) <= MOST_UNSENT:
            self._unsent += data
        try:
            sent = self._peer.send(self._unsent)
            del self._unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._begin()

    def _reject_data(self, why: str) -> None:
        self._reject(f"cannot decode data from PX4: {why}"[:160])

    def _handle(self, message: Any) -> None:
        kind = message.get_type()
        if kind == "HIL_ACTUATOR_CONTROLS":
            self._frame.apply(message, self._commands.row)
            self.status.armed = self._commands.armed
            self._lockstep, self._fresh = bool(message.flags & LOCKSTEP), True
            if not self._acted:
                self._acted = True
                self.status.note = "" if self._lockstep else "this PX4 was built without lockstep: free-running"
        elif kind == "COMMAND_LONG":
            self._send(self._writer.pack(self._answer(message)))
        elif kind == "BAD_DATA":
            self._reject_data(message.reason)
        elif kind.startswith("UNKNOWN"):
            self._reject_data(f"message {kind}")

    def _answer(self, command: Any) -> Any:
        """Return the COMMAND_ACK: only the interval of the truth can be set."""
        result = mav.MAV_RESULT_UNSUPPORTED
        if command.command == mav.MAV_CMD_SET_MESSAGE_INTERVAL:
            result = mav.MAV_RESULT_DENIED
            if int(command.param1) == mav.MAVLINK_MSG_ID_HIL_STATE_QUATERNION:
                result = mav.MAV_RESULT_ACCEPTED
                self._truth_us = None if command.param2 < 0.0 else round(command.param2) or TRUTH_US
        return mav.MAVLink_command_ack_message(command.command, result)

    def diagnosis(self) -> str:
        """Return what is known of a silent peer."""
        if self._peer is None:
            return f"no PX4 at tcp {self._address}:{self.port}: start it, or check PX4_SIM_HOSTNAME"
        silent = monotonic() - self._received_at
        return f"PX4 {self.instance} has sent no controls for {silent:.1f} s: has it stopped? {DEBUGGING}"
