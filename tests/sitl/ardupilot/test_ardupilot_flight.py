"""Stand-ins of ArduPilot fly and drive on our physics: through UDP, the bridge and the world."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import asin, atan2, cos, hypot, pi, sin, sqrt
from typing import Any

import pytest

from paddock.autopilot.vehicle_data import SensorData
from paddock.sitl import ardupilot as module
from paddock.sitl.adapter import Placed
from paddock.sitl.ardupilot import ArduPilotAutopilot
from paddock.sitl.ardupilot_frames import find_frame
from paddock.sitl.bridge import Bridge

RATE = 720.0  # the least for which a copter arms: fewer frames, a shorter test
State = dict[str, list[float]]
Controller = Callable[[State, float], list[int]]


def clip(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def euler(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    roll = atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return roll, asin(clip(2 * (w * y - z * x), 1.0)), atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def fly_to(north: float, east: float, down: float, heading: float) -> Controller:
    """A cascade of proportional loops; shares of thrust become PWM by the inverse of the stock thrust curve."""

    def control(state: State, time: float) -> list[int]:
        if time < 0.5 or not state:
            return [1000] * 4  # disarmed
        (n, e, d), (vn, ve, vd) = state["position"], state["velocity"]
        roll, pitch, yaw = euler(*state["quaternion"])
        p, q, r = state["gyro"]
        an, ae = (clip(0.8 * (w - x) - 1.2 * v, 3.0) for w, x, v in ((north, n, vn), (east, e, ve)))
        ahead, right = an * cos(yaw) + ae * sin(yaw), ae * cos(yaw) - an * sin(yaw)
        climb = clip(1.2 * (d - down), 2.0) + vd  # m/s wanted, less the present speed
        total = clip(0.43 + 0.15 * climb - 0.43, 0.3) + 0.43
        turn = atan2(sin(heading - yaw), cos(heading - yaw))
        a = clip(0.10 * (6.0 * (right / 9.8 - roll) - p), 0.1)
        b = clip(0.10 * (6.0 * (-ahead / 9.8 - pitch) - q), 0.1)
        c = clip(0.15 * (clip(1.5 * turn, 1.0) - r), 0.1)
        shares = (total - a + b + c, total + a - b + c, total + a + b - c, total - a - b - c)
        return [1000 + round(500 * (sqrt(0.1225 + 2.6 * max(s, 0.01)) - 0.35) / 0.65) for s in shares]

    return control


class Flown(ArduPilotAutopilot):
    """The pilot with its peer in the same thread: each answer is followed by the next frame."""

    peer: Any = None
    controller: Controller

    def offer(self, sensors: SensorData) -> None:
        super().offer(sensors)
        if self.status.exchanges > self.peer.frame:
            self.peer.receive()
        self.peer.send(self.controller(self.peer.state, self.peer.time_s))


def place(bridge: Bridge, world: Any, stand_in: Any, *crafts: tuple[str, Controller]) -> list[Flown]:
    """A vehicle for every frame, 20 m apart along the east axis."""
    bridge.register(world(scenario={"clock": {"rate": RATE}, "vehicles": []}, imu_rate=RATE, truth=True))
    pilots = []
    for k, (frame, controller) in enumerate(crafts, 1):
        pilot = Flown(frame, 1.0 / RATE, port=0)
        craft = find_frame(frame).craft
        bridge.spawn(Placed(k, f"{craft}_{k}", craft, (0.0, 20.0 * (k - 1), 0.0)), pilot, "world")
        pilot.peer, pilot.controller = stand_in(pilot.port), controller
        pilots.append(pilot)
    return pilots


@pytest.fixture
def fly(standalone_world: Any, stand_in: Any, step: Any) -> Any:
    """`fly(seconds, (frame, controller), ...)`: the peers after so many seconds."""

    def run(seconds: float, *crafts: tuple[str, Controller]) -> list[Any]:
        with Bridge(tick_rate=RATE, timeout=5.0, fallback="stop") as bridge:
            pilots = place(bridge, standalone_world, stand_in, *crafts)
            while min(pilot.peer.time_s for pilot in pilots) < seconds:
                step(bridge, 20)
        return [pilot.peer for pilot in pilots]

    return run


def test_a_copter_takes_off_turns_and_hovers(fly: Any) -> None:
    (peer,) = fly(7.0, ("copter", fly_to(2.0, -1.0, -3.0, pi / 2)))
    assert peer.state["position"] == pytest.approx([2.0, -1.0, -3.0], abs=0.4)
    assert euler(*peer.state["quaternion"])[2] == pytest.approx(pi / 2, abs=0.1)
    assert hypot(*peer.state["velocity"]) < 0.3
    assert peer.steps > 7 * RATE - 5 and peer.resets == 0  # every frame advanced its time
    assert peer.state["accel_body"][2] == pytest.approx(-9.8, abs=1.0)


@pytest.mark.soak
def test_the_stock_plus_frame_flies(fly: Any) -> None:
    def plus(state: State, time: float) -> list[int]:
        """The same loops, mixed for motors right, left, front, rear."""
        pwm = x(state, time)
        if pwm == [1000] * 4:
            return pwm
        front_right, rear_left, front_left, rear_right = (
            0.35 * u + 0.65 * u * u for u in ((v - 1000) / 1e3 for v in pwm)
        )
        roll = (front_left + rear_left - front_right - rear_right) * sqrt(0.5) / 2
        pitch = (front_left + front_right - rear_left - rear_right) * sqrt(0.5) / 2
        ccw, cw = (front_right + rear_left) / 2, (front_left + rear_right) / 2
        shares = (ccw - roll, ccw + roll, cw + pitch, cw - pitch)
        return [1000 + round(500 * (sqrt(0.1225 + 2.6 * max(s, 0.01)) - 0.35) / 0.65) for s in shares]

    x = fly_to(1.0, 1.0, -2.0, 0.0)
    (peer,) = fly(5.0, ("copter-plus", plus))
    assert peer.state["position"] == pytest.approx([1.0, 1.0, -2.0], abs=0.5)


def test_rovers_follow_their_channels(fly: Any) -> None:
    def ackermann(state: State, time: float) -> list[int]:
        return [1600, 0, 1600] if time > 0.5 else [1500, 0, 1500]  # to the right, forward

    def skid(state: State, time: float) -> list[int]:
        return [1700, 0, 1600] if time > 0.5 else [1500, 0, 1500]  # left side faster: to the right

    car, rover = fly(1.5, ("rover", ackermann), ("rover-skid", skid))
    for peer in (car, rover):
        north, _, down = peer.state["position"]
        yaw = euler(*peer.state["quaternion"])[2]
        assert north > 0.1 and 0.02 < yaw < pi and down == pytest.approx(0.0, abs=0.5)
        assert peer.state["gyro"][2] > 0.02 and peer.steps > 1.5 * RATE - 5


def test_a_slow_peer_is_waited_for_until_it_is_killed(
    standalone_world: Any, stand_in: Any, step: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer in a thread: it is slow, then it ends without a word, then another one starts."""
    monkeypatch.setattr(module, "TAKEOVER_AFTER", 0.0)  # as if the next one had needed its time to start
    world = standalone_world(scenario={"clock": {"rate": RATE}, "vehicles": []}, imu_rate=RATE, truth=True)
    kinds: Counter[str] = Counter()
    with Bridge(
        tick_rate=RATE, timeout=0.1, fallback="free_run", report=lambda kind, *_: kinds.update([kind])
    ) as bridge:
        bridge.register(world)
        pilot = ArduPilotAutopilot("rover-skid", 1.0 / RATE, port=0)
        bridge.spawn(Placed(1, "scout", "rover"), pilot, "world")
        step(bridge, 3)  # no peer yet: no wait
        for restarts in (0, 1):
            peer, ended = stand_in(pilot.port), threading.Event()
            thread = threading.Thread(target=_drive, args=(peer, ended), daemon=True)
            thread.start()
            while peer.frame < 30:
                step(bridge, 1)
            ended.set()
            while thread.is_alive():
                step(bridge, 1)
            assert pilot.status.restarts == restarts and peer.steps >= 29 and peer.resets == 0
            before = world.sim_time_us
            step(bridge, 20)  # one deadline is missed, then the world runs freely
            assert world.sim_time_us > before
        assert kinds["timeout"] >= 1 and kinds["recovered"] >= 1


def _drive(peer: Any, ended: threading.Event) -> None:
    while not ended.is_set():
        time.sleep(0.002)
        peer.send([1600, 0, 1600])
        with suppress(TimeoutError):
            peer.receive()
