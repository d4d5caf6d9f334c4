"""Small talk on the link: heartbeats of stations, clocks, pings, data streams, home and origin, an empty log list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission_item import Frame
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.mission_items import DEGREE

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle


class Housekeeping:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.handlers = {
            "HEARTBEAT": self._heartbeat,
            "TIMESYNC": self._timesync,
            "PING": self._ping,
            "REQUEST_DATA_STREAM": self._data_stream,
            "AUTOPILOT_VERSION_REQUEST": self._version,
            "SET_HOME_POSITION": self._set_home,
            "SET_GPS_GLOBAL_ORIGIN": self._set_origin,
            "LOG_REQUEST_LIST": self._no_logs,
        }

    def _heartbeat(self, message: Any, origin: Origin) -> None:
        """Only the station that SYSID_MYGCS names is missed when it falls silent."""
        if message.type == mav.MAV_TYPE_GCS and origin.system == self.vehicle.my_station:
            self.autopilot.heard_gcs(self.vehicle.now_us)

    def _timesync(self, message: Any, origin: Origin) -> None:
        """Our clock is simulated time, in ns."""
        if message.tc1 == 0:
            self.vehicle.reply(mav.MAVLink_timesync_message(self.vehicle.now_us * 1000, message.ts1), origin)

    def _ping(self, message: Any, origin: Origin) -> None:
        if message.target_system == 0:
            answer = mav.MAVLink_ping_message(message.time_usec, message.seq, origin.system, origin.component)
            self.vehicle.reply(answer, origin)

    def _data_stream(self, message: Any, origin: Origin) -> None:
        rate = message.req_message_rate if message.start_stop else 0
        self.vehicle.streaming.own(origin.peer).set_group(message.req_stream_id, rate, self.vehicle.now_us)

    def _version(self, message: Any, origin: Origin) -> None:
        self.vehicle.commands.requests.send_once(mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION, origin)

    def _set_home(self, message: Any, origin: Origin) -> None:
        place = message.latitude / DEGREE, message.longitude / DEGREE, message.altitude / 1e3
        answer = self.autopilot.command(mav.MAV_CMD_DO_SET_HOME, (0.0, 0.0, 0.0, 0.0, *place), Frame.GLOBAL)
        if not answer.accepted:
            self.autopilot.say(Severity.WARNING, answer.text or "Home refused")

    def _set_origin(self, message: Any, origin: Origin) -> None:
        """The estimator takes its origin from the satellites; whoever asks for another is told the one there is."""
        answer = self.vehicle.commands.requests.send_once(mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN, origin)
        if not answer.accepted:
            self.autopilot.say(Severity.WARNING, "Origin refused: it comes from the satellites")

    def _no_logs(self, message: Any, origin: Origin) -> None:
        self.vehicle.reply(mav.MAVLink_log_entry_message(0, 0, 0, 0, 0), origin)
