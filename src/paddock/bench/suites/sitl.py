"""Latency and throughput with autopilots in the loop.

`python -m paddock.bench.suites.sitl PORT...` plays ArduPilots that send the next servo packet as soon as they have a
state: one process plays them all. As ArduPilot does, a stand-in sleeps until its state arrives, and its motor outputs
change with every frame. When terminated, it prints its processor time per frame, in us.
"""

import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter, process_time, thread_time
from typing import Any

from paddock.bench.result import Bench, Result, best_time, measured

OWN_PORTS = {"port": 28570, "station": 24550}
"""Ports other than the defaults, so that a running simulation is not disturbed."""
MOST_VEHICLES, RATE = 254, 250  # vehicles, Hz of the clock
GUIDED, TAKEOFF = 4, 22  # mode of copters, MAV_CMD_NAV_TAKEOFF

PATIENCE = struct.pack("@ll", 0, 100_000)  # s and us without a state after which a packet is sent again
SERVOS = struct.Struct("<HHI16H")
CHANGING = struct.Struct("<I4H")
FIRST = 4  # offset of the frame count and the motors
IDLE, HOVER, SPREAD = 1000, 1480, 64  # us of PWM


def run(quick: bool) -> Iterator[Result]:
    """Measure latency, 254 autopilots, the lightweight adapter, and ArduPilot's exchange."""
    for part in (_latency, _throughput, _lightweight, _ardupilot):
        yield from part(quick)


def _latency(quick: bool) -> Iterator[Result]:
    """Measure the time from sensors to actuator commands, with ten vehicles in lockstep."""
    import paddock
    from paddock.sitl.from_scenario import quick_scenario
    from paddock.sitl.host import SitlHost

    for vehicle_type in ("rover", "copter"):
        with paddock.load(quick_scenario(vehicle_type, 10, mavlink=OWN_PORTS)) as sim:
            host = _host(sim, SitlHost)
            sim.step(250)  # kernels compiled, positions estimated
            sim.step(250 * (5 if quick else 30))
            rows = host.status()
        p50, p99 = (max(getattr(row, name) for row in rows) / 1e3 for name in ("latency_p50_us", "latency_p99_us"))
        yield measured(f"10 {vehicle_type}s in lockstep: sensors to actuators, p50", p50, "ms", "< 2")
        yield measured(f"10 {vehicle_type}s in lockstep: sensors to actuators, p99", p99, "ms", "< 20")


def _throughput(quick: bool) -> Iterator[Result]:
    """Measure simulated seconds per second, as fast as possible, with MAVLink to every vehicle's ground station."""
    import paddock
    from paddock.sitl.from_scenario import quick_scenario
    from paddock.sitl.host import SitlHost

    for vehicle_type in ("copter", "rover", "plane"):
        with paddock.load(quick_scenario(vehicle_type, MOST_VEHICLES, mavlink=OWN_PORTS)) as sim:
            sim.step(2 * RATE)  # kernels compiled
            yield _pace(sim, f"{vehicle_type}s", quick)
            if vehicle_type == "copter":
                sim.step(4 * RATE)  # positions estimated
                for vehicle in _host(sim, SitlHost).vehicles:
                    vehicle.autopilot.set_mode(GUIDED)
                    vehicle.autopilot.arm()
                    vehicle.autopilot.command(TAKEOFF, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 20.0))
                sim.step(2 * RATE)
                yield _pace(sim, "copters in flight", quick)
    scenario = quick_scenario("copter", MOST_VEHICLES, mavlink=OWN_PORTS)
    scenario["sitl"]["pilots"][0]["mission"] = [[0, 60, 10], [30, 60, 12], [30, 0, 10], [0, 0, 10]]
    with paddock.load(scenario) as sim:
        sim.step(10 * RATE)  # taken off
        yield _pace(sim, "copters on missions", quick)


def _pace(sim: Any, vehicles: str, quick: bool) -> Result:
    """Measure how much faster than real time a simulation runs."""
    seconds, started = 3 if quick else 10, perf_counter()
    sim.step(seconds * RATE)
    factor = seconds / (perf_counter() - started)
    return measured(f"{MOST_VEHICLES} built-in autopilots, {vehicles} at {RATE} Hz", factor, "x real time", ">= 1")


def _lightweight(quick: bool) -> Iterator[Result]:
    from paddock.autopilot.vehicle_data import ActuatorCommands
    from paddock.sitl.adapter import Placed, find_adapter

    adapter = find_adapter("lightweight")("lightweight")
    adapter.connect()
    adapter.add_vehicle(Placed(1, "rover", "rover"))
    adapter.send_actuators(ActuatorCommands(armed=True, motors=(0.5, 0.4)))

    def steps() -> None:
        for _ in range(1000):
            adapter.step(20_000)

    steps()
    each = best_time(steps, 0.5 if quick else 2.0) / 1000
    adapter.disconnect()
    yield measured("lightweight adapter, one step", each * 1e6, "us", "< 50")


def _ardupilot(quick: bool) -> Iterator[Result]:
    """Measure lockstep with peers that answer when they wake up, with a quadrotor's physics and sensors in between.

    The motor outputs change at every step. On a free machine an exchange takes the processor time of the simulation and
    of the peer, which are given, and the time in which the operating system wakes them.
    """
    import paddock
    from paddock.sitl.from_scenario import quick_scenario
    from paddock.sitl.host import SitlHost

    for count in (1, 10):
        with paddock.load(quick_scenario("copter", count, "ardupilot", instance=90)) as sim:
            pilots: list[Any] = [vehicle.autopilot for vehicle in _host(sim, SitlHost).vehicles]
            steps = (2_000 if quick else 12_000) // (1 if count == 1 else 4)
            with _echo([pilot.port for pilot in pilots]) as spent:
                while not all(pilot.live for pilot in pilots):
                    sim.step(12)
                sim.step(500)
                started, own = perf_counter(), thread_time()
                sim.step(steps)
                rate, own = steps / (perf_counter() - started), (thread_time() - own) / steps
        if count == 1:
            yield measured("ArduPilot JSON, exchanges with a local peer", rate, "steps per s", ">= 5000")
        else:
            factor = rate / sim.engine.world.clock.rate
            yield measured(f"{count} ArduPilots in lockstep, JSON at 1200 Hz", factor, "x real time", ">= 1")
        yield measured(f"{count} ArduPilot JSON, processor time of the simulation", own * 1e6, "us per step")
        yield measured(f"{count} ArduPilot JSON, processor time of the peer", spent[0] * count, "us per step")


@contextmanager
def _echo(ports: list[int]) -> Iterator[list[float]]:
    """Run stand-ins for ArduPilots; the list gets their processor time per frame, us, when they have ended."""
    command = [sys.executable, "-m", "paddock.bench.suites.sitl", *map(str, ports)]
    peer, spent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True), list[float]()
    try:
        yield spent
    finally:
        peer.terminate()
        text, _ = peer.communicate()
        spent.append(float(text or "nan"))


def _host(sim: Any, kind: type) -> Any:
    return next(
        owner for call in sim.engine.listeners.close if isinstance(owner := getattr(call, "__self__", None), kind)
    )


class StandIn:
    """One connected socket and its packet; the number of the frame and the motors change."""

    def __init__(self, port: int) -> None:
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.connect(("127.0.0.1", port))
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, PATIENCE)
        self.packet = bytearray(SERVOS.pack(18458, 1200, 0, *[IDLE] * 16))
        self.frame = 0
        self.buffer = bytearray(4096)

    def send(self) -> None:
        """Send the present frame, again if it was sent before."""
        with suppress(OSError):  # no peer yet
            self.link.send(self.packet)

    def answer(self) -> None:
        """Wait for a state and send the next frame; the present one again after a while without a state."""
        try:
            self.link.recv_into(self.buffer)
        except OSError:
            self.send()
            return
        self.frame += 1
        pwm = HOVER + self.frame * 7 % SPREAD
        CHANGING.pack_into(self.packet, FIRST, self.frame, pwm, pwm, pwm, pwm)
        self.send()


def play_ardupilots(ports: list[int]) -> None:
    """Answer the states on these UDP ports until terminated."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    peers = [StandIn(port) for port in ports]
    for peer in peers:
        peer.send()
    for peer in peers:
        peer.answer()
    started, first = process_time(), peers[0].frame
    try:
        while True:
            for peer in peers:
                peer.answer()
    finally:
        frames = (peers[0].frame - first) * len(peers)
        print(1e6 * (process_time() - started) / max(frames, 1), flush=True)


BENCH = Bench("latency and throughput with autopilots in the loop", run, by_default=False)

if __name__ == "__main__":
    play_ardupilots(list(map(int, sys.argv[1:])))
