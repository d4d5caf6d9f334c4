"""The log protocol: list, download in parts, and erase on-board logs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pymavlink import DFReader
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from paddock.autopilot.log import OnboardLog

HOLD = 4
DATE = 1_767_225_600  # 1 January 2026, 00:00 UTC: simulated time 0


def drive(rover: Any, folder: Path) -> Any:
    """Arm for two seconds."""
    rover.autopilots[0].log = OnboardLog(rover.autopilots[0], folder)
    station = rover.settle().listener()
    assert rover.order(station, 400, 1) == 0
    rover.pass_time(2.0)
    assert rover.order(station, 400, 0) == 0
    rover.pass_time(0.3)
    return station


def test_a_log_is_listed_downloaded_and_erased(rover: Any, logs: Path) -> None:
    station = drive(rover, logs)
    (path,) = rover.autopilots[0].log.files()
    content = path.read_bytes()
    entry = rover.ask(station, mavlink.MAVLink_log_request_list_message(1, 1, 0, 65535), "LOG_ENTRY")
    assert (entry.id, entry.num_logs, entry.last_log_num, entry.size) == (1, 1, 1, len(content))
    station.send(mavlink.MAVLink_log_request_data_message(1, 1, 1, 0, 2**32 - 1))
    received = bytearray(len(content))
    while True:
        part = rover.expect(station, "LOG_DATA")
        received[part.ofs : part.ofs + part.count] = bytes(part.data[: part.count])
        if part.ofs + part.count >= len(content) or part.count < 90:
            break
    assert bytes(received) == content
    part = rover.ask(station, mavlink.MAVLink_log_request_data_message(1, 1, 1, 1000, 90), "LOG_DATA")
    assert (part.ofs, part.count, bytes(part.data)) == (1000, 90, content[1000:1090])  # a lost one again
    station.send(mavlink.MAVLink_log_request_data_message(1, 1, 1, 0, 2**32 - 1))
    station.send(mavlink.MAVLink_log_request_end_message(1, 1))
    station.send(mavlink.MAVLink_log_erase_message(1, 1))
    rover.pass_time(0.2)
    station.forget()
    entry = rover.ask(station, mavlink.MAVLink_log_request_list_message(1, 1, 0, 65535), "LOG_ENTRY")
    assert entry.num_logs == 0 and not path.exists()
    station.send(mavlink.MAVLink_log_request_data_message(1, 1, 7, 0, 90))  # none of that number
    rover.pass_time(0.2)
    assert rover.hub.vehicles[1].failures == 0


@pytest.mark.parametrize(("enabled", "errors", "modes"), [(0.0, [], [(4, 2)]), (1.0, [(8, 1)], [(4, 2), (11, 5)])])
def test_a_log_has_the_failsafes_that_act_and_the_reasons_of_modes(
    rover: Any, logs: Path, enabled: float, errors: list[Any], modes: list[Any]
) -> None:
    """ArduPilot's ModeReason: 2 a ground station, 5 its failsafe; its ERR of subsystem 8 is that failsafe."""
    pilot = rover.autopilots[0]
    pilot.log = OnboardLog(pilot, logs)
    pilot.parameters.set("FS_GCS_ENABLE", enabled)
    rover.settle()
    assert pilot.set_mode(HOLD).accepted and pilot.arm().accepted
    pilot.failsafes.note_gcs_heartbeat(pilot.now_us)
    rover.pass_time(pilot.parameters.value("FS_GCS_TIMEOUT") + 2.0)
    pilot.log.close()
    reader, texts = DFReader.DFReader_binary(str(pilot.log.files()[0])), []
    while (message := reader.recv_match(type=["MODE", "ERR"])) is not None:
        texts.append(message)
    reader.data_map.close()
    reader.filehandle.close()
    assert [(m.Subsys, m.ECode) for m in texts if m.get_type() == "ERR"] == errors
    assert [(m.ModeNum, m.Rsn) for m in texts if m.get_type() == "MODE"] == modes


def test_logs_are_distinguished_by_their_dates(rover: Any, logs: Path) -> None:
    station = drive(rover, logs)
    rover.pass_time(3.0)
    for arm in (1, 0):
        assert rover.order(station, 400, arm) == 0
        rover.pass_time(0.5)
    starts = []
    for path in rover.autopilots[0].log.files():
        reader = DFReader.DFReader_binary(str(path))
        starts.append(reader.recv_match(type="PARM").TimeUS // 1_000_000)
        reader.data_map.close()
        reader.filehandle.close()
    assert starts[1] >= starts[0] + 5
    shutil.copy(path, path.with_name("00000003.BIN"))  # of another run that started it at the same time
    dates = [DATE + starts[0], DATE + starts[1], DATE + starts[1] + 1]
    for first, last, numbers in ((0, 65535, (1, 2, 3)), (2, 2, (2,)), (3, 9, (3,))):
        station.forget()
        station.send(mavlink.MAVLink_log_request_list_message(1, 1, first, last))
        for number in numbers:
            entry = rover.expect(station, "LOG_ENTRY")
            assert (entry.id, entry.num_logs, entry.time_utc) == (number, 3, dates[number - 1])
    station.forget()  # beyond the last: an empty log of that number
    entry = rover.ask(station, mavlink.MAVLink_log_request_list_message(1, 1, 7, 65535), "LOG_ENTRY")
    assert (entry.id, entry.num_logs, entry.last_log_num, entry.time_utc, entry.size) == (7, 3, 3, 0, 0)


def test_logs_are_not_erased_while_armed(rover: Any, logs: Path) -> None:
    station = drive(rover, logs)
    assert rover.order(station, 400, 1) == 0
    station.send(mavlink.MAVLink_log_erase_message(1, 1))
    assert rover.expect(station, "STATUSTEXT", lambda m: m.text.startswith("Logs not erased"))
    assert rover.autopilots[0].log.files()
