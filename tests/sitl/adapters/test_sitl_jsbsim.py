"""JSBSim's aircraft behind the adapter contract: signs, positions, speeds, errors."""

import sys
from math import degrees
from threading import Thread

import numpy as np
import pytest

from paddock.autopilot.vehicle_data import ActuatorCommands, SensorData
from paddock.errors import InvalidValueError, UnknownNameError
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapters.jsbsim import JsbsimAdapter
from paddock.testing import check_adapter
from paddock.world.geodesy import Origin

HIGH = Placed(1, "high", "plane", (0.0, 0.0, -1000.0), 0.5)
ORIGIN = (35.6812, 139.7671, 40.0)


def flown(seconds: float, commands: ActuatorCommands | None = None, aircraft: str = "c172x") -> SensorData:
    """Return the sensor data after some steps, without noise, with the truth."""
    adapter = JsbsimAdapter(aircraft=aircraft, noise=False, truth=True)
    adapter.connect()
    adapter.add_vehicle(HIGH)
    if commands is not None:
        adapter.send_actuators(commands)
    adapter.step(round(seconds * 1e6))
    received = adapter.receive_sensors()
    assert received is not None
    return received


def test_it_keeps_the_contract(capfd: pytest.CaptureFixture[str]) -> None:
    motion = ActuatorCommands(armed=True, motors=[1.0], servos=[0.0, 0.0, 0.2])
    report = check_adapter(lambda: JsbsimAdapter(truth=True, seed=2), craft="plane", motion=motion)
    assert len(report.details) >= 17
    assert capfd.readouterr() == ("", "")


def test_it_starts_in_level_flight_and_holds_it() -> None:
    first, later = flown(0.02), flown(5.0)
    assert first.altitude == pytest.approx(1040.0, abs=0.1)
    assert first.airspeed == pytest.approx(52.0, abs=0.2)
    heading = np.arctan2(first.gnss_ve, first.gnss_vn)
    assert heading == pytest.approx(0.5, abs=0.005)
    assert later.altitude == pytest.approx(1040.0, abs=2.0) and later.airspeed == pytest.approx(52.0, abs=0.5)
    # calibrated airspeed is less than true airspeed by the root of the density ratio: 0.951 at 1040 m
    assert np.linalg.norm(first.velocity) * 0.951 == pytest.approx(52.0, abs=0.3)
    assert np.linalg.norm(first.accel) == pytest.approx(9.81, abs=0.1)


def test_positions_agree_with_velocities() -> None:
    data, origin = flown(10.0), Origin(*ORIGIN)
    start = origin.to_geodetic([0.0, 0.0, 1000.0])
    east, north, _ = origin.to_local(data.latitude, data.longitude, data.altitude)
    assert start[0] == pytest.approx(ORIGIN[0])
    assert (north, east) == pytest.approx((data.true_north, data.true_east), abs=1e-6)
    speed = np.hypot(data.gnss_vn, data.gnss_ve)
    assert np.hypot(north, east) == pytest.approx(10.0 * speed, rel=0.01)
    # the standard atmosphere at 1040 m
    assert data.pressure == pytest.approx(89_440.0, abs=60.0)


@pytest.mark.parametrize("aircraft", ["c172x", "c172p"])
def test_control_surfaces_have_the_signs_of_the_contract(aircraft: str) -> None:
    def after(servos: list[float]) -> SensorData:
        return flown(0.6, ActuatorCommands(armed=True, motors=[0.7], servos=servos), aircraft)

    neutral = after([0.0, 0.0, 0.0])
    assert after([0.2, 0.0, 0.0]).gyro[0] > neutral.gyro[0] + 0.1
    assert after([0.0, 0.2, 0.0]).gyro[1] > neutral.gyro[1] + 0.05
    assert after([0.0, 0.0, 0.2]).gyro[2] > neutral.gyro[2] + 0.02


def test_throttle_works_only_when_armed() -> None:
    pulled, idle, disarmed = (
        flown(4.0, ActuatorCommands(armed=armed, motors=[throttle])).airspeed
        for armed, throttle in ((True, 1.0), (True, 0.0), (False, 1.0))
    )
    assert pulled > 52.0 > idle
    assert disarmed == pytest.approx(idle, abs=0.05)


def test_on_the_ground_it_stands_on_its_wheels() -> None:
    adapter = JsbsimAdapter(noise=False)
    adapter.connect()
    adapter.add_vehicle(Placed(7, "parked", "plane", (100.0, 50.0, 0.0), 1.0))
    adapter.step(2_000_000)
    data = adapter.receive_sensors(7)
    assert data is not None
    assert np.linalg.norm(data.velocity) < 0.05 and data.airspeed < 0.5
    assert data.altitude == pytest.approx(41.3, abs=0.5)  # its centre of gravity, 4.3 ft above the runway


def test_several_fly_side_by_side_and_a_wind_drifts_them() -> None:
    adapter = JsbsimAdapter(noise=False, wind=(-10.0, 0.0, 0.0))
    adapter.connect()
    for number in (3, 1, 2):
        adapter.add_vehicle(Placed(number, f"p{number}", "plane", (0.0, 100.0 * number, -500.0 * number), 0.0))
    adapter.step(1_000_000)
    assert adapter.vehicles == (1, 2, 3)
    heights = [round(data.altitude - 40.0, -1) for data in map(adapter.receive_sensors, (1, 2, 3)) if data is not None]
    assert heights == [500.0, 1000.0, 1500.0]
    adapter.remove_vehicle(1)
    adapter.step(20_000_000)
    left = adapter.receive_sensors(3)
    assert left is not None and left.altitude > 1400.0
    # true airspeed is calibrated airspeed over the root of the density ratio: 0.929 at 1540 m
    assert left.gnss_vn == pytest.approx(left.airspeed / 0.929 - 10.0, abs=1.5)


def test_noise_is_that_of_the_sensors_and_a_reset_repeats_it() -> None:
    adapter = JsbsimAdapter(seed=5)
    adapter.connect()
    adapter.add_vehicle(Placed(1, "parked", "plane"))

    def readings() -> list[SensorData]:
        rows = []
        for _ in range(200):
            adapter.step(20_000)
            received = adapter.receive_sensors()
            assert received is not None
            rows.append(received)
        return rows

    first = readings()
    gyro = np.array([row.gyro for row in first[100:]])
    assert gyro.std(axis=0) == pytest.approx([0.01, 0.01, 0.01], rel=0.25)
    adapter.reset()
    assert adapter.sim_time_us == 0
    np.testing.assert_array_equal([row.row for row in first], [row.row for row in readings()])


def test_aircraft_keep_their_state_when_another_is_removed() -> None:
    adapter = JsbsimAdapter(noise=False)
    adapter.connect()
    for number in (5, 2, 9):
        adapter.add_vehicle(Placed(number, f"p{number}", "plane", (0.0, 0.0, -100.0 * number)))
    adapter.remove_vehicle(5)
    adapter.send_actuators(ActuatorCommands(armed=True, motors=[0.7], servos=[0.2]), 9)
    adapter.step(600_000)
    straight, rolling = (adapter.receive_sensors(number) for number in (2, 9))
    assert straight is not None and rolling is not None
    assert [round(data.altitude - 40.0, -1) for data in (straight, rolling)] == [200.0, 900.0]
    assert rolling.gyro[0] > straight.gyro[0] + 0.1


def test_steps_of_any_length_are_exact() -> None:
    adapter = JsbsimAdapter()
    adapter.connect()
    adapter.add_vehicle(HIGH)
    for dt in (1, 333, 20_000, 8_333, 7):
        adapter.step(dt)
    assert adapter.sim_time_us == 28_674


def test_invalid_arguments_are_errors_of_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    adapter = JsbsimAdapter(aircraft="c127")
    adapter.connect()
    with pytest.raises(AdapterError, match=r"^adapter 'jsbsim': JSBSim has no aircraft 'c127'; try c172x"):
        adapter.add_vehicle(HIGH)
    assert capfd.readouterr() == ("", "")
    slow = JsbsimAdapter(speed=12.0)
    slow.connect()
    with pytest.raises(AdapterError, match="c172x cannot fly level at 12 m/s and 1040 m"):
        slow.add_vehicle(HIGH)
    assert "trimmable" in "".join(capfd.readouterr())  # JSBSim's own words on it
    with pytest.raises(AdapterError, match="supports craft 'plane' only, not 'rover'"):
        slow.add_vehicle(Placed(1, "r", "rover"))
    with pytest.raises(InvalidValueError, match="speed must be a positive number"):
        JsbsimAdapter(speed=0.0)
    with pytest.raises(InvalidValueError, match=r"adapter 'jsbsim': wind must be 3 numbers \[m/s .*\], not 5"):
        JsbsimAdapter(wind=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="adapter 'jsbsim': aircraft must be a text, not 172"):
        JsbsimAdapter(aircraft=172)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="barometer"):
        JsbsimAdapter(sensors={"barometr": {}})
    monkeypatch.setitem(sys.modules, "jsbsim", None)
    with pytest.raises(AdapterError, match=r"needs the package jsbsim: pip install 'paddock\[jsbsim\]'"):
        JsbsimAdapter().connect()
    assert capfd.readouterr() == ("", "")


def test_aircraft_can_be_added_and_removed_in_threads(capfd: pytest.CaptureFixture[str]) -> None:
    """Begun in one thread, flown in another, dropped in a third; threads end meanwhile."""
    flying: list[JsbsimAdapter] = []
    heights: list[float] = []

    def begin() -> None:
        adapter = JsbsimAdapter(noise=False, truth=True)
        adapter.connect()
        adapter.add_vehicle(HIGH)
        flying.append(adapter)

    def fly() -> None:
        flying[0].step(100_000)
        received = flying[0].receive_sensors()
        assert received is not None
        heights.append(received.altitude)
        flying.pop(0).disconnect()

    for work in (begin, fly) * 2:
        threads = [Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
            if work is fly:
                thread.join()
        for thread in threads:
            thread.join()
    assert heights == pytest.approx([1040.0] * 6, abs=0.1)
    assert capfd.readouterr() == ("", "")


def test_the_attitude_is_in_the_axes_of_autopilots() -> None:
    data = flown(0.02)
    w, x, y, z = data.row[-4:]
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    assert degrees(yaw) == pytest.approx(degrees(0.5), abs=0.1)
    pitch = np.arcsin(2.0 * (w * y - z * x))
    # at rest in the air, the accelerometers show the pitch
    assert np.arctan2(data.accel_x, -data.accel_z) == pytest.approx(pitch, abs=0.01)
