"""MAVSDK flies a copter: a healthy vehicle, parameters, a mission there and back, take-off, RTL, landing."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import AsyncGenerator, Callable
from math import nan
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("mavsdk") is None:
    missing = "mavsdk is not installed: pip install '.[dev]'"
    if os.environ.get("PADDOCK_REQUIRE_CLIENTS") == "1":
        pytest.fail(f"clients are required here: {missing}", pytrace=False)
    pytest.skip(f"{missing} (PADDOCK_REQUIRE_CLIENTS=1 makes this a failure)", allow_module_level=True)

import mavsdk.asyncio as mavsdk
from mavsdk.asyncio.plugins.action import ActionAsync
from mavsdk.asyncio.plugins.ftp import FtpAsync
from mavsdk.asyncio.plugins.log_files import LogFilesAsync
from mavsdk.asyncio.plugins.mission import MissionAsync, MissionPlan
from mavsdk.asyncio.plugins.mission import MissionItem as PlannedItem
from mavsdk.asyncio.plugins.mission_raw import MissionItem, MissionRawAsync, MissionRawError
from mavsdk.asyncio.plugins.param import ParamAsync
from mavsdk.asyncio.plugins.telemetry import TelemetryAsync

from paddock.autopilot.log import OnboardLog
from paddock.mavlink.file_transfer import packed_parameters

PATIENCE = 120.0  # s of wall time for anything that is waited for
LATITUDE, LONGITUDE, ALTITUDE = 35.6812, 139.7671, 40.0
WORLD = {"seed": 5, "clock": {"rate": 1000}, "world": {"origin": [LATITUDE, LONGITUDE, ALTITUDE]}, "vehicles": []}
NORTH = LATITUDE + 20.0 / 110_948.0  # 20 m further north: a degree of latitude is 110,948 m at 35.68 deg (WGS84)


def item(seq: int, frame: int, command: int, latitude: float = 0.0, longitude: float = 0.0, z: float = 0.0) -> Any:
    x, y = round(latitude * 1e7), round(longitude * 1e7)
    return MissionItem(seq, frame, command, int(seq == 0), 1, 0.0, 0.0, 0.0, nan, x, y, z, 0)


MISSION = [
    item(0, 0, 16, LATITUDE, LONGITUDE, ALTITUDE),  # home, as ArduPilot wants it
    item(1, 3, 22, z=10.0),
    item(2, 3, 16, NORTH, LONGITUDE, 10.0),
    item(3, 3, 20),
]


async def until(values: AsyncGenerator[Any, None], test: Callable[[Any], bool]) -> Any:
    """The first value that passes."""

    async def wait() -> Any:
        async for value in values:
            if test(value):
                return value
        raise AssertionError("the stream ended")

    return await asyncio.wait_for(wait(), PATIENCE)


async def with_vehicle(address: str, session: Callable[[Any], Any]) -> None:
    configuration = mavsdk.Configuration.create_with_component_type(mavsdk.ComponentType.GROUND_STATION)
    async with mavsdk.Mavsdk(configuration) as sdk:
        await sdk.add_any_connection(address)
        system = await sdk.first_autopilot(timeout_s=PATIENCE)
        assert system is not None
        assert await system.get_system_id() == 1
        await session(system)


@pytest.mark.slow
def test_mavsdk_sees_a_healthy_vehicle_and_flies_a_mission(
    make_fleet: Callable[..., Any], standalone_world: Any
) -> None:
    fleet = make_fleet(1, "copter", standalone_world(scenario=WORLD)).settle()
    track: list[tuple[float, float]] = []
    copter = fleet.autopilots[0]
    fleet.bridge.after_exchange.append(lambda _: track.append((copter.estimate.north, -copter.estimate.down)))
    fleet.run_aside(10.0)
    asyncio.run(with_vehicle(f"udpin://127.0.0.1:{fleet.ports.station(1)[1]}", fly_mission))
    assert fleet.hub.vehicles[1].failures == 0
    assert max(north for north, _ in track) == pytest.approx(20.0, abs=3.0)
    assert max(height for _, height in track) > 9.0


async def fly_mission(system: Any) -> None:
    telemetry, action = TelemetryAsync(system), ActionAsync(system)
    parameters, missions = ParamAsync(system), MissionRawAsync(system)
    assert await until(telemetry.subscribe_health_all_ok(), bool)
    position = await telemetry.position()
    assert position.latitude_deg == pytest.approx(LATITUDE, abs=1e-4)
    assert position.absolute_altitude_m == pytest.approx(ALTITUDE, abs=3.0)
    await check_parameters(parameters)
    await check_missions(missions)
    await action.arm()
    await missions.start_mission()
    assert await until(telemetry.subscribe_in_air(), bool)
    await until(missions.subscribe_mission_progress(), lambda progress: progress.current == 3)
    await until(telemetry.subscribe_armed(), lambda armed: not armed)


async def check_parameters(parameters: Any) -> None:
    everything = await parameters.get_all_params()
    names = {each.name for each in (*everything.int_params, *everything.float_params)}
    assert {"SYSID_THISMAV", "FENCE_RADIUS", "FENCE_ENABLE"} <= names
    await parameters.set_param_float("FENCE_RADIUS", 222.0)
    assert await parameters.get_param_float("FENCE_RADIUS") == 222.0
    await parameters.set_param_int("FENCE_ACTION", 2)
    assert await parameters.get_param_int("FENCE_ACTION") == 2


async def check_missions(missions: Any) -> None:
    await missions.upload_mission(MISSION)
    downloaded = await missions.download_mission()
    assert [(i.command, i.frame, i.x, i.y, i.z) for i in downloaded[1:]] == [
        (i.command, i.frame, i.x, i.y, i.z) for i in MISSION[1:]
    ]
    home = downloaded[0]  # where the vehicle takes it to be
    assert (home.command, home.frame) == (16, 0)
    assert (home.x, home.y) == pytest.approx((MISSION[0].x, MISSION[0].y), abs=1000)  # 10 m
    with pytest.raises(MissionRawError):
        await missions.upload_mission([*MISSION[:3], item(3, 3, 30999)])
    assert len(await missions.download_mission()) == 4  # a refused plan has not replaced the old one


@pytest.mark.soak
def test_mavsdk_takes_off_flies_to_a_position_and_returns(
    make_fleet: Callable[..., Any], standalone_world: Any
) -> None:
    fleet = make_fleet(1, "copter", standalone_world(scenario=WORLD)).settle()
    fleet.run_aside(10.0)
    asyncio.run(with_vehicle(f"udpin://127.0.0.1:{fleet.ports.station(1)[1]}", fly_by_hand))
    assert fleet.hub.vehicles[1].failures == 0


async def fly_by_hand(system: Any) -> None:
    telemetry, action = TelemetryAsync(system), ActionAsync(system)
    assert await until(telemetry.subscribe_health_all_ok(), bool)
    await action.set_takeoff_altitude(6.0)
    await action.arm()
    await action.takeoff()
    await until(telemetry.subscribe_position(), lambda at: at.relative_altitude_m > 5.0)
    await action.goto_location(NORTH, LONGITUDE, ALTITUDE + 8.0, nan)
    await until(telemetry.subscribe_position(), lambda at: at.latitude_deg > NORTH - 2e-5)
    await action.return_to_launch()
    await until(telemetry.subscribe_position(), lambda at: abs(at.latitude_deg - LATITUDE) < 2e-5)
    await action.land()
    await until(telemetry.subscribe_armed(), lambda armed: not armed)


@pytest.mark.soak
def test_mavsdk_plans_a_mission_with_speeds(make_fleet: Callable[..., Any], standalone_world: Any) -> None:
    """The Mission plugin leaves all that an item does not use as NaN."""
    fleet = make_fleet(1, "copter", standalone_world(scenario=WORLD)).settle()
    track: list[float] = []
    copter = fleet.autopilots[0]
    fleet.bridge.after_exchange.append(lambda _: track.append(copter.estimate.north))
    fleet.run_aside(10.0)
    asyncio.run(with_vehicle(f"udpin://127.0.0.1:{fleet.ports.station(1)[1]}", fly_plan))
    assert fleet.hub.vehicles[1].failures == 0
    assert max(track) == pytest.approx(20.0, abs=3.0)


def planned(latitude: float, action: Any = PlannedItem.VehicleAction.NONE) -> Any:
    """At 10 m, with 5 m/s; the rest is left to the vehicle, as in MAVSDK's own example."""
    return PlannedItem(latitude, LONGITUDE, 10.0, 5.0, True, vehicle_action=action)


async def fly_plan(system: Any) -> None:
    telemetry, action, missions = TelemetryAsync(system), ActionAsync(system), MissionAsync(system)
    assert await until(telemetry.subscribe_health_all_ok(), bool)
    up = planned(LATITUDE, PlannedItem.VehicleAction.TAKEOFF)
    await missions.set_return_to_launch_after_mission(True)
    await missions.upload_mission(MissionPlan([planned(LATITUDE), up, planned(NORTH)]))  # the first stands for home
    await action.arm()
    await missions.start_mission()
    assert await until(telemetry.subscribe_in_air(), bool)
    await until(telemetry.subscribe_armed(), lambda armed: not armed)


@pytest.mark.slow
def test_mavsdk_downloads_files_and_logs_over_tcp(
    make_fleet: Callable[..., Any], tmp_path: Path, udp_block: Callable[[int], int]
) -> None:
    fleet = make_fleet(1, ports={"tcp_port": udp_block(1)})
    rover, log = fleet.autopilots[0], tmp_path / "logs" / "00000001.BIN"
    rover.log = OnboardLog(rover, log.parent)
    log.write_bytes(bytes(range(256)) * 100)
    fleet.run_aside(2.0)

    async def finish(transfer: AsyncGenerator[Any, None]) -> None:
        async for _ in transfer:
            pass

    async def session(vehicle: Any) -> None:
        files, logs = FtpAsync(vehicle), LogFilesAsync(vehicle)
        await asyncio.wait_for(finish(files.download("@PARAM/param.pck", str(tmp_path), True)), PATIENCE)
        await asyncio.wait_for(finish(files.download("/APM/LOGS/00000001.BIN", str(tmp_path), False)), PATIENCE)
        entries = await asyncio.wait_for(logs.get_entries(), PATIENCE)
        await asyncio.wait_for(finish(logs.download_log_file(entries[0], str(tmp_path / "by_protocol.bin"))), PATIENCE)

    asyncio.run(with_vehicle(f"tcpout://127.0.0.1:{fleet.ports.tcp(1)}", session))
    assert (tmp_path / "param.pck").read_bytes() == packed_parameters(rover, {})
    assert (tmp_path / "00000001.BIN").read_bytes() == log.read_bytes()
    assert (tmp_path / "by_protocol.bin").read_bytes() == log.read_bytes()
    assert fleet.hub.vehicles[1].failures == 0
