"""MAVLink FTP with pymavlink's client and decoder, and with hostile requests."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import ardupilotmega as mavlink
from pymavlink.mavftp import MAVFTP

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.log import OnboardLog
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.mavlink.file_transfer import FileError, VirtualFiles, packed_parameters, packed_plan

OPEN, READ, CREATE, WRITE, REMOVE, LIST, CRC, TERMINATE, RESET = 4, 5, 6, 7, 8, 3, 14, 1, 2
ACK, NAK = 128, 129
HERE = {"x": 35.6812, "y": 139.7671, "z": 10.0}


def request(opcode: int, data: bytes = b"", session: int = 0, offset: int = 0, number: int = 0, size: int = -1) -> Any:
    length = len(data) if size < 0 else size
    payload = struct.pack("<HBBBBBBI", number, session, opcode, length, 0, 0, 0, offset) + data
    return mavlink.MAVLink_file_transfer_protocol_message(0, 1, 1, list(payload.ljust(251, b"\0")))


class Client:
    """Requests one after the other."""

    def __init__(self, fleet: Any) -> None:
        self.fleet, self.station, self.number = fleet, fleet.station(), 100

    def ask(self, *arguments: Any, **options: Any) -> tuple[int, int, bytes]:
        """Opcode, session and data of the reply."""
        self.number = (self.number + 2) % 65536
        message = request(*arguments, number=self.number, **options)
        reply = bytes(self.fleet.ask(self.station, message, "FILE_TRANSFER_PROTOCOL").payload)
        number, session, opcode, size, *_ = struct.unpack_from("<HBBBBBBI", reply)
        assert number == self.number + 1
        return opcode, session, reply[12 : 12 + size]


def test_packed_parameters_are_read_by_pymavlinks_decoder() -> None:
    autopilot = BuiltInAutopilot(1, "copter", {"WPNAV_SPEED": 432.0})
    parameters = autopilot.parameters
    decoded = MAVFTP.ftp_param_decode(packed_parameters(autopilot, {}))
    assert [name.decode() for name, _, _ in decoded.params] == parameters.names()
    for name, value, _ in decoded.params:
        assert value == parameters.value(name.decode())
    part = MAVFTP.ftp_param_decode(packed_parameters(autopilot, {"start": "5", "count": "7", "withdefaults": "1"}))
    assert [name.decode() for name, _, _ in part.params] == parameters.names()[5:12]
    full = MAVFTP.ftp_param_decode(packed_parameters(autopilot, {"withdefaults": "1"}))
    defaults = {name.decode(): value for name, value, _ in full.defaults}
    assert defaults["WPNAV_SPEED"] == 1000.0


def test_plans_and_parameters_are_written_back() -> None:
    autopilot = BuiltInAutopilot(1, "copter")
    items = (MissionItem(16, p4=0.0, **HERE), MissionItem(22, z=8.0, p4=0.0), MissionItem(206, 2, 12.0, p4=0.0))
    assert autopilot.set_plan(PlanKind.MISSION, (*items, MissionItem(16, p1=2.0, p4=0.0, **HERE)))[0] == 0
    fence = tuple(MissionItem(5003, 0, 30.0, p4=0.0, x=35.0 + k, y=139.0) for k in range(2))
    assert autopilot.set_plan(PlanKind.FENCE, fence)[0] == 0
    other = BuiltInAutopilot(2, "copter")
    for name, kind in (("mission.dat", PlanKind.MISSION), ("fence.dat", PlanKind.FENCE), ("rally.dat", PlanKind.RALLY)):
        VirtualFiles(other).writer(f"@MISSION/{name}")(packed_plan(autopilot, kind))
        assert [(i.command, i.frame, i.p1, i.z) for i in other.plans[kind]] == [
            (i.command, i.frame, i.p1, i.z) for i in autopilot.plans[kind]
        ]
        assert [i.x for i in other.plans[kind]] == pytest.approx([i.x for i in autopilot.plans[kind]], abs=1e-7)
    with pytest.raises(FileError):
        VirtualFiles(other).writer("@MISSION/fence.dat")(packed_plan(autopilot, PlanKind.MISSION))
    autopilot.parameters.set("WPNAV_SPEED", 321.0)
    VirtualFiles(other).writer("@PARAM/param.pck")(packed_parameters(autopilot, {}))
    assert other.parameters.value("WPNAV_SPEED") == 321.0 and other.parameters.value("SYSID_THISMAV") == 2


def test_pymavlinks_client_lists_gets_and_puts(make_fleet: Any, tmp_path: Path) -> None:
    fleet = make_fleet(1)
    rover = fleet.autopilots[0]
    rover.log = OnboardLog(rover, tmp_path / "logs")
    (tmp_path / "logs" / "00000001.BIN").write_bytes(os.urandom(30_000))
    assert rover.set_plan(PlanKind.MISSION, [MissionItem(16, **HERE), MissionItem(16, **HERE)])[0] == 0
    fleet.run_aside(2.0)
    link = mavutil.mavlink_connection(f"udpin:127.0.0.1:{fleet.ports.station(1)[1]}", source_system=255)
    try:
        assert link.wait_heartbeat(timeout=60) is not None
        client = MAVFTP(link, target_system=1, target_component=1)
        listed = client.cmd_list(["/APM/LOGS"])
        assert [(entry.name, entry.size_b) for entry in listed.directory_listing] == [("00000001.BIN", 30_000)]
        assert client.read("/APM/LOGS/00000001.BIN", 30_000) == (tmp_path / "logs" / "00000001.BIN").read_bytes()
        assert client.read("@MISSION/mission.dat", 10_000) == packed_plan(rover, PlanKind.MISSION)
        target = tmp_path / "all.parm"
        assert client.cmd_getparams([str(target)]).return_code == 0
        assert client.process_ftp_reply("GetParams", timeout=20).return_code == 0
        lines = dict(line.split(",")[:2] for line in target.read_text().splitlines() if "," in line)
        assert float(lines["WP_SPEED"]) == 2.0 and len(lines) == len(rover.parameters.names())
    finally:
        link.close()
    assert fleet.hub.vehicles[1].failures == 0


def test_a_file_is_written_in_any_order_and_taken_at_the_end(rover: Any) -> None:
    client, autopilot = Client(rover), rover.autopilots[0]
    wanted = BuiltInAutopilot(9, "rover")
    assert wanted.set_plan(PlanKind.RALLY, [MissionItem(5100, 3, **HERE)] * 3)[0] == 0
    data = packed_plan(wanted, PlanKind.RALLY)
    opcode, session, _ = client.ask(CREATE, b"@MISSION/rally.dat")
    assert opcode == ACK
    for at in (100, 0, 50):
        assert client.ask(WRITE, data[at : at + 50], session=session, offset=at)[0] == ACK
    assert autopilot.plans[PlanKind.RALLY] == ()
    assert client.ask(TERMINATE, session=session)[0] == ACK
    assert len(autopilot.plans[PlanKind.RALLY]) == 3
    opcode, _, checksum = client.ask(CRC, b"@MISSION/rally.dat")
    value = 0  # bit by bit, as the specification has it
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    assert (opcode, int.from_bytes(checksum, "little")) == (ACK, value)


@pytest.mark.parametrize(
    "path",
    [
        *(b"../../../etc/passwd", b"/etc/passwd", b"/APM/LOGS/../../../../etc/passwd", b"@PARAM/../param.pck", b"~/x"),
        *(b"APM/LOGS/..", b"/APM/LOGS/secret.txt", b"\xff\xfe", b"@MISSION/mission.dat/x", b"", b"/APM/LOGS\\..\\x"),
        *(b"/APM/LOGS/%2e%2e/secret.txt", b"/APM/LOGS/00000001.BIN/../../secret.txt", b"file:///etc/passwd"),
    ],
)
def test_no_path_leaves_the_tree(path: bytes, tmp_path: Path) -> None:
    autopilot = BuiltInAutopilot(1, "rover")
    autopilot.log = OnboardLog(autopilot, tmp_path / "logs")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "logs" / "secret.txt").write_text("secret")
    files, text = VirtualFiles(autopilot), path.decode("ascii", "replace")
    for use in (files.open, files.writer, files.remove):
        with pytest.raises(FileError):
            use(text)
    assert (tmp_path / "secret.txt").exists() and (tmp_path / "logs" / "secret.txt").exists()


def test_requests_that_make_no_sense_are_refused(rover: Any) -> None:
    client = Client(rover)
    assert client.ask(OPEN, b"/etc/passwd")[::2] == (NAK, bytes((10,)))
    assert client.ask(READ, session=3)[::2] == (NAK, bytes((4,)))  # no such session
    assert client.ask(77)[::2] == (NAK, bytes((7,)))  # unknown operation
    assert client.ask(REMOVE, b"@PARAM/param.pck")[::2] == (NAK, bytes((9,)))
    assert client.ask(CREATE, b"/APM/LOGS/00000009.BIN")[::2] == (NAK, bytes((9,)))
    assert client.ask(LIST, b"/nowhere")[::2] == (NAK, bytes((10,)))
    assert client.ask(WRITE, b"x", session=0)[::2] == (NAK, bytes((4,)))
    opcode, session, size = client.ask(OPEN, b"@PARAM/param.pck")
    total = int.from_bytes(size, "little")
    assert opcode == ACK and total > 1000
    assert client.ask(READ, session=session, offset=total)[::2] == (NAK, bytes((6,)))
    assert client.ask(WRITE, b"x", session=session)[::2] == (NAK, bytes((9,)))
    stranger = Client(rover)
    assert stranger.ask(READ, session=session)[::2] == (NAK, bytes((4,)))  # sessions belong to their sender
    opened = [client.ask(OPEN, b"@PARAM/param.pck", session=k) for k in range(20, 29)]
    assert opened[0][:2] == (ACK, 20)  # the number that the client has chosen
    assert opened[-1][0] == ACK  # the two newest remain
    assert [client.ask(READ, session=k)[0] for k in (26, 27, 28)] == [NAK, ACK, ACK]
    assert client.ask(RESET)[0] == ACK and client.ask(OPEN, b"@PARAM/param.pck")[0] == ACK
    for size in (240, 255):
        assert client.ask(OPEN, b"@PARAM/param.pck", size=size)[::2] == (NAK, bytes((3,)))
    opcode, session, _ = client.ask(CREATE, b"@MISSION/mission.dat")
    assert client.ask(WRITE, b"x" * 100, session=session, offset=2**32 - 200)[0] == NAK  # no gigabytes of zeros
    assert client.ask(WRITE, b"x" * 100, session=session)[0] == ACK
    assert client.ask(TERMINATE, session=session)[::2] == (NAK, bytes((1,)))  # not a plan
    assert rover.hub.vehicles[1].failures == 0


def test_a_repeated_request_has_the_same_reply(rover: Any) -> None:
    station = rover.station()
    message = request(OPEN, b"@PARAM/param.pck", number=9)
    first = rover.ask(station, message, "FILE_TRANSFER_PROTOCOL")
    again = rover.ask(station, message, "FILE_TRANSFER_PROTOCOL")
    assert first.payload == again.payload  # not another session
