"""MAVLink 2 signing with pymavlink's own signatures."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.mavlink.link import MavlinkPeer, Sender
from paddock.mavlink.packets import Signing

KEY = hashlib.sha256(b"a passphrase").digest()
PATIENCE = 60.0


def setup(key: bytes = KEY, timestamp: int = 0) -> Any:
    return mavlink.MAVLink_setup_signing_message(1, 1, list(key), timestamp)


def test_pymavlink_sets_up_signing_and_talks_signed(make_fleet: Any) -> None:
    fleet = make_fleet(1)
    fleet.run_aside(3.0)
    link = mavutil.mavlink_connection(
        f"udpin:127.0.0.1:{fleet.ports.station(1)[1]}", source_system=255, dialect="ardupilotmega"
    )
    try:
        assert link.wait_heartbeat(timeout=PATIENCE) is not None
        now = int((time.time() - 1_420_070_400) * 1e5)
        link.mav.setup_signing_send(1, 1, list(KEY), now)
        link.setup_signing(KEY, sign_outgoing=True)
        link.mav.param_request_read_send(1, 1, b"SYSID_THISMAV", -1)
        answer = link.recv_match(type="PARAM_VALUE", blocking=True, timeout=PATIENCE)
        assert answer is not None and answer.get_signed()
        assert link.wait_heartbeat(timeout=PATIENCE).get_signed()
        signing = fleet.hub.vehicles[1].signing
        assert signing.key == KEY and signing.rejected == 0 and link.mav.signing.badsig_count == 0
        link.disable_signing()
        link.mav.param_set_send(1, 1, b"WP_SPEED", 5.0, 9)  # unsigned: ignored
        end = time.monotonic() + PATIENCE
        while signing.rejected == 0 and time.monotonic() < end:
            time.sleep(0.01)
        assert signing.rejected == 1 and fleet.autopilots[0].parameters.value("WP_SPEED") == 2.0
    finally:
        link.close()
    assert fleet.hub.vehicles[1].failures == 0


class Packets:
    """Messages of a ground station, signed by pymavlink."""

    def __init__(self, key: bytes | None, timestamp: int, link: int = 3) -> None:
        self.out, self.decoder = mavlink.MAVLink(None, srcSystem=255, srcComponent=190), mavlink.MAVLink(None)
        if key is not None:
            self.out.signing.secret_key, self.out.signing.sign_outgoing = key, True
            self.out.signing.timestamp, self.out.signing.link_id = timestamp, link

    def next(self, message: Any = None) -> Any:
        chosen = message or mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)
        return self.decoder.decode(bytearray(chosen.pack(self.out)))


@pytest.fixture
def secured() -> Signing:
    signing = Signing(BuiltInAutopilot(1, "rover"))
    signing.key, signing.newest = KEY, 1_000_000_000
    return signing


def test_signatures_are_checked(secured: Signing) -> None:
    good, wrong = Packets(KEY, 1_000_000_100), Packets(bytes(32), 1_000_000_200)
    first = good.next()
    assert secured.accepts(first)
    assert not secured.accepts(first)  # a replay: the time stamp is not newer
    assert secured.accepts(good.next())
    assert not secured.accepts(wrong.next())
    assert not secured.accepts(Packets(None, 0).next())  # unsigned
    assert not secured.accepts(Packets(KEY, 1_000_000_100 - 6_000_100, link=4).next())  # a stream from the past
    assert secured.accepts(Packets(KEY, 1_000_000_100 - 5_000_000, link=5).next())  # less than a minute behind
    tampered = bytearray(good.next().get_msgbuf())
    tampered[-20] ^= 1
    assert not secured._valid(bytes(tampered), 255, 190)
    radio = mavlink.MAVLink_radio_status_message(1, 1, 1, 1, 1, 1, 1)
    assert secured.accepts(Packets(None, 0).next(radio))
    old = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(Packets(None, 0).out, force_mavlink1=True)
    assert not secured.accepts(mavlink.MAVLink(None).decode(bytearray(old)))
    assert secured.rejected == 5


def test_outgoing_time_stamps_follow_simulated_time_and_increase(secured: Signing) -> None:
    secured.newest = 0
    packet = mavlink.MAVLink_heartbeat_message(10, 3, 0, 0, 4, 3).pack(
        mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    )
    signed = [secured.sign(packet, number, 50, 2) for number in (7, 8)]
    stamps = [int.from_bytes(data[-12:-6], "little") for data in signed]
    assert stamps[0] == (1_767_225_600 - 1_420_070_400) * 100_000 and stamps[1] == stamps[0] + 1
    reader = mavlink.MAVLink(None)
    reader.signing.secret_key = KEY
    messages = [reader.decode(bytearray(data)) for data in signed]
    assert [m.get_seq() for m in messages] == [7, 8] and all(m.get_signed() and m.get_link_id() == 2 for m in messages)


def test_set_up_is_refused_while_armed_and_from_elsewhere(secured: Signing) -> None:
    signing = Signing(BuiltInAutopilot(1, "rover"))
    link: Any = None
    near, far = (Sender(link, MavlinkPeer((host, 5), 0.0), 255, 190) for host in ("127.0.0.1", "10.0.0.7"))
    signing.set_up(setup(), far)
    assert not signing.key
    signing.autopilot.armed = True
    signing.set_up(setup(), near)
    assert not signing.key
    signing.autopilot.armed = False
    signing.set_up(setup(timestamp=77), near)
    assert signing.key == KEY and signing.newest == 77
    signing.set_up(setup(bytes(32)), far)  # its message was signed, or it would not have come this far
    assert not signing.key


def test_the_key_is_stored_with_the_parameters(tmp_path: Path) -> None:
    sender: Any = Sender(None, MavlinkPeer(("127.0.0.1", 5), 0.0), 255, 190)  # type: ignore[arg-type]
    Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).set_up(setup(timestamp=5), sender)
    (path,) = tmp_path.glob("*.signing")
    assert path.stat().st_mode & 0o077 == 0
    again = Signing(BuiltInAutopilot(4, "rover", folder=tmp_path))
    assert again.key == KEY and again.newest == 5
    again.set_up(setup(bytes(32)), sender)
    assert not path.exists()
    path.write_text("{damaged")
    assert not Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).key


def test_the_key_is_not_in_the_log(make_fleet: Callable[..., Any], logs: Path) -> None:
    fleet = make_fleet(log_folder=logs)
    station = fleet.station()
    station.send(setup())
    fleet.expect(station, "STATUSTEXT", lambda m: m.text == "Signing enabled")
    fleet.close()
    assert KEY[:16] not in (logs / "vehicle_1.tlog").read_bytes()
