"""What the station does with one vehicle: wait until it is ready, upload its mission, arm it, start it, keep in touch.

A state machine on simulated time: every request is repeated until it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from paddock.sitl.autopilot.mission.items import MissionItem
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.packets import PacketReader, PacketWriter
from paddock.sitl.station.item_message import item_message
from paddock.sitl.station.memory_link import MemoryLink

SYSTEM, COMPONENT = 255, 190
"""The station's own ids, as ground stations have them."""
AGAIN_US = 1_000_000
"""Simulated us after which an unanswered request is repeated."""
READY = mav.MAV_SYS_STATUS_PREARM_CHECK
ACCEPTED = (mav.MAV_RESULT_ACCEPTED, mav.MAV_RESULT_IN_PROGRESS)


class Stage(Enum):
    """How far it has come."""

    WAITING = "waiting until it may be armed"
    UPLOADING = "uploading the mission"
    MODE = "changing to AUTO"
    ARMING = "arming"
    STARTING = "starting the mission"
    UNDER_WAY = "under way"
    REFUSED = "refused"


@dataclass(frozen=True)
class Plan:
    """What the vehicle is to do, and how its AUTO mode is numbered."""

    sysid: int
    auto_mode: int
    items: Callable[[], Sequence[MissionItem] | None]  # None while it is not known where the vehicle starts
    start_us: int = 0


class Errand:
    """One vehicle's."""

    def __init__(self, plan: Plan, link: MemoryLink) -> None:
        self.plan, self.link = plan, link
        self.stage = Stage.WAITING
        self.note = ""
        self._items: Sequence[MissionItem] = ()
        self._ready = False
        self._asked_us = self._beat_us = -AGAIN_US
        self._reader, self._writer = PacketReader(), PacketWriter(SYSTEM, COMPONENT)

    def update(self, now_us: int) -> None:
        """Read what has come, and say what is to be said at this simulated time."""
        for message in self.link.heard(self._reader):
            self._hear(message, now_us)
        if now_us - self._beat_us >= AGAIN_US:
            self._beat_us = now_us
            self._say(mav.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))  # a ground station, active
        if now_us >= self.plan.start_us and now_us - self._asked_us >= AGAIN_US:
            self._ask(now_us)

    # listening -------------------------------------------------------------------------------------------------------

    def _hear(self, message: Any, now_us: int) -> None:
        match message.get_type():
            case "SYS_STATUS":
                self._ready = bool(message.onboard_control_sensors_health & READY)
            case "MISSION_REQUEST_INT" | "MISSION_REQUEST" if self.stage is Stage.UPLOADING:
                self._asked_us = now_us
                self._send_item(message.seq)
            case "MISSION_ACK" if self.stage is Stage.UPLOADING:
                self._go_on(Stage.MODE, message.type == 0, f"mission refused with result {message.type}")
            case "COMMAND_ACK":
                self._answered(message)

    def _answered(self, message: Any) -> None:
        wanted = {Stage.MODE: (176, Stage.ARMING), Stage.ARMING: (400, Stage.STARTING)}
        wanted[Stage.STARTING] = (300, Stage.UNDER_WAY)
        command, after = wanted.get(self.stage, (-1, self.stage))
        if message.command != command:
            return
        if message.result in ACCEPTED:
            self._go_on(after)
        else:  # not yet: it is asked again in a second
            self.note = f"command {command} answered with result {message.result}"

    def _go_on(self, after: Stage, well: bool = True, note: str = "") -> None:
        self.stage, self.note = (after, "") if well else (Stage.REFUSED, note)
        self._asked_us = -AGAIN_US

    # speaking --------------------------------------------------------------------------------------------------------

    def _ask(self, now_us: int) -> None:
        self._asked_us = now_us
        match self.stage:
            case Stage.WAITING:
                items = self.plan.items() if self._ready else None
                if items is not None:
                    self._items = items
                    self._go_on(Stage.UPLOADING)
            case Stage.UPLOADING:
                self._say(mav.MAVLink_mission_count_message(self.plan.sysid, 1, len(self._items), 0))
            case Stage.MODE:
                self._command(176, 1.0, float(self.plan.auto_mode))
            case Stage.ARMING:
                self._command(400, 1.0)
            case Stage.STARTING:
                self._command(300)

    def _command(self, command: int, *given: float) -> None:
        numbers = (*given, *([0.0] * (7 - len(given))))
        self._say(mav.MAVLink_command_long_message(self.plan.sysid, 1, command, 0, *numbers))

    def _send_item(self, sequence: int) -> None:
        if not 0 <= sequence < len(self._items):
            return
        self._say(item_message(self._items[sequence], self.plan.sysid, sequence))

    def _say(self, message: Any) -> None:
        self.link.say(self._writer.pack(message))
