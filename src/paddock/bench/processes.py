"""Other processes of the wire benchmarks: a served simulation, subscribers, driving clients and a page without a
browser.

`python -m paddock.bench.processes KIND ...` runs one of them. The scenarios of the benchmarks are here, too.
"""

import asyncio
import gc
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, Self

from paddock.wire import rpc
from paddock.wire.stream.frames import FrameType, Splitter, StreamFrame, Tick, decode_tick, frames_in
from paddock.wire.stream.positions import decode_positions
from paddock.wire.vds1 import CarCommand, encode_command

if TYPE_CHECKING:
    from paddock.engine.pipeline import MotionStage

LIMIT = 1 << 26  # largest message, bytes
AT_ONCE = 32  # unanswered calls of one connection
SHORT = 400  # bytes: an answer that may be an error
COMMAND_EVERY = 0.01  # seconds between two commands of a driving client


def start_process(*arguments: str) -> subprocess.Popen[str]:
    """Start a process of this module; its standard input and output are pipes."""
    command = [sys.executable, "-m", "paddock.bench.processes", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Server:
    """`with Server(scenario, {"stream": {"port": 0}}) as server: server.addresses["stream"]["port"]`."""

    def __init__(self, scenario: dict[str, Any], serve: dict[str, Any]) -> None:
        """Start the process and wait until it serves."""
        self.process = start_process("serve")
        self._send(json.dumps({"scenario": scenario, "serve": serve}))
        self.addresses: dict[str, Any] = self._receive()

    def figures(self) -> dict[str, Any]:
        """Return the simulation's figures, with `hub`, the hub's process id, and `ticked`, the ticks of all runs."""
        self._send("figures")
        return self._receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=30)

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        return answer


def swarm(count: int, rate: int) -> dict[str, Any]:
    """Return a scenario: quadrotors with full physics at about 240 Hz, published at `rate` Hz, in real time."""
    ticks = max(1, round(240 / rate))
    side = 5.0 * count**0.5
    spawn = {"random": {"low": [-side / 2, -side / 2, 12], "high": [side / 2, side / 2, 28]}}
    return {
        "clock": {"rate": rate * ticks, "pace": 1.0},
        "vehicles": [{"name": "scouts", "count": count, "model": "quad", "preset": "micro", "spawn": spawn}],
    }


def cars(count: int, rate: int) -> dict[str, Any]:
    """Return a scenario: individually named cars at standstill, waiting for commands, in real time."""
    vehicles = [
        {"id": k + 1, "name": f"car_{k + 1}", "model": "car.bicycle", "preset": "sedan", "pose": [0, 5 * k, 0]}
        for k in range(count)
    ]
    return {"clock": {"rate": rate, "pace": 1.0}, "vehicles": vehicles}


def serve() -> None:
    """Run the served simulation; requests come in on standard input."""
    import paddock

    config = json.loads(sys.stdin.readline())
    with paddock.load(config["scenario"]) as sim:
        sim.step(1)  # compile the kernels before the measurement
        sim.engine.stages.pipeline.motion = TickCounter(sim.engine.stages.pipeline.motion)
        with paddock.share(sim, **config["serve"]) as host:
            print(json.dumps(host.addresses), flush=True)
            asked = threading.Thread(target=_answer, args=(sim, host))
            asked.start()
            gc.collect()
            gc.freeze()
            # from the heartbeat, not from that thread: a stop before the run begins would be lost
            sim.run(heartbeat=lambda: None if asked.is_alive() else sim.clock.stop())


class TickCounter:
    """Counts the ticks of all runs; a reset starts the simulation's own count again."""

    name = "move"

    def __init__(self, motion: "MotionStage") -> None:
        self._motion = motion
        self.ticked = 0

    def run(self, tick: int, ticks: int) -> int:
        """Advance by at most that many ticks; return how many."""
        moved = self._motion.run(tick, ticks)
        self.ticked += moved
        return moved


def _answer(sim: Any, host: Any) -> None:
    from paddock.serve.describe import simulation_figures

    for _ in sys.stdin:
        more = {"hub": host.hub_pid, "ticked": sim.engine.stages.pipeline.motion.ticked}
        print(json.dumps(simulation_figures(sim) | more), flush=True)


class Subscriber:
    """A client process; `result()` waits for its figures."""

    def __init__(self, kind: str, *arguments: float | str) -> None:
        """Start it. `kind`: stream, shm, stalled (subscribes to the stream, never reads), drive (VDS1), web or ask."""
        self.process = start_process(kind, *map(str, arguments))

    def started(self) -> Self:
        """Wait until a page has its first group of frames, or clients that ask have connected."""
        assert self.process.stdout is not None
        self.process.stdout.readline()
        return self

    def result(self) -> dict[str, Any]:
        """End a page, wait for the end of other clients, and return the figures: ages in ms, rates, ..."""
        out, _ = self.process.communicate(timeout=120)
        answer: dict[str, Any] = json.loads(out)
        return answer


def subscribed(port: int, rate: float) -> socket.socket:
    """Connect and subscribe to positions."""
    connection = socket.create_connection(("127.0.0.1", port), 10)
    connection.sendall(rpc.request(1, "subscribe", {"rate": rate, "kinds": ["positions"], "frame": "enu"}))
    return connection


def from_stream(port: int, rate: float, seconds: float) -> Iterator[tuple[Tick, int]]:
    """Yield (tick, vehicles) of every group after decoding its positions."""
    splitter = Splitter(LIMIT, LIMIT)
    with subscribed(port, rate) as connection:
        moment, end = None, monotonic() + seconds
        while monotonic() < end:
            for message in splitter.feed(connection.recv(1 << 20)):
                if isinstance(message, StreamFrame) and message.type is FrameType.TICK:
                    moment = decode_tick(message.payload)
                elif isinstance(message, StreamFrame) and message.type is FrameType.POSITIONS and moment is not None:
                    yield moment, _used(message.payload)


def from_shm(name: str, seconds: float) -> Iterator[tuple[Tick, int]]:
    """Yield the same from shared memory, read in place."""
    from paddock.world.ring import FrameRingReader

    with FrameRingReader(name) as reader:
        last, end = 0, monotonic() + seconds
        while monotonic() < end:
            with reader.view() as frames:
                if frames.sequence != last:
                    for message in frames_in(frames.data):
                        if message.type is FrameType.POSITIONS:
                            moment = Tick(frames.tick, frames.time, frames.wall_time, frames.run, frames.roster)
                            yield moment, _used(message.payload)
                    last = frames.sequence
                    continue
            sleep(0.0005)


def _used(payload: memoryview) -> int:
    """Decode and touch every vehicle; return their number."""
    records = decode_positions(payload)
    records["position"].sum()
    return len(records)


def drive(port: int, vehicle: int, seconds: float) -> float:
    """Command one car and count the states of all; return datagrams per second."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        udp.settimeout(COMMAND_EVERY)
        begin, received, sequence, due = monotonic() + 1.0, 0, 0, 0.0
        while (now := monotonic()) < begin + seconds:
            if now >= due:
                sequence, due = sequence + 1, now + COMMAND_EVERY
                udp.sendto(encode_command(CarCommand(sequence, vehicle, 0.0, 0.1, 0.2, 0.0)), ("127.0.0.1", port))
            try:
                udp.recv(2048)
                received += now >= begin
            except TimeoutError:
                continue
        return received / seconds


async def watch(port: int, rate: float) -> dict[str, float]:
    """Count groups and bytes until standard input ends."""
    from websockets.asyncio.client import connect

    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    groups = size = 0
    async with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_size=LIMIT) as socket:
        kinds = ["poses", "markers", "events", "figures"]
        await socket.send(rpc.request(1, "subscribe", {"rate": rate, "kinds": kinds}).decode())
        begun = monotonic()
        async for message in socket:
            if isinstance(message, bytes):
                groups, size = groups + 1, size + len(message)
                if groups == 1:
                    print(flush=True)
                    begun = monotonic()
            if ended.done():
                break
    seconds = monotonic() - begun
    return {"rate": groups / seconds, "bytes_per_second": size / seconds}


def ask(port: int, method: str, arguments: str, seconds: float, connections: int) -> dict[str, float]:
    """Call an operation from several ZeroMQ clients, each with `AT_ONCE` unanswered calls; count answers."""
    import zmq

    import paddock
    from paddock.wire.messages import requests
    from paddock.wire.operations import OPERATIONS

    values, context = json.loads(arguments), zmq.Context()
    restore, named = method == "restore", OPERATIONS[method].callable_by_name
    body: requests.Body = requests.Call(method, values) if named else requests.Direct(method, values)
    if restore:
        with paddock.connect(f"tcp://127.0.0.1:{port}") as remote:
            body = requests.Call(method, values, remote.save())
    question, poller, answers, refused = requests.encode_request(requests.RequestMessage(1, body)), zmq.Poller(), 0, 0
    for k in range(connections):
        client = context.socket(zmq.DEALER)
        client.linger = 0
        client.connect(f"tcp://127.0.0.1:{port}")
        client.send(requests.encode_request(requests.RequestMessage(1, requests.Hello(f"asker {k}"))))
        for _ in range(0 if restore else AT_ONCE - 1):  # a saved state is large
            client.send(question)
        poller.register(client, zmq.POLLIN)
    print(flush=True)
    end = monotonic() + seconds
    while monotonic() < end:
        for client, _ in poller.poll(100):
            answers += 1
            answer = client.recv()
            refused += len(answer) < SHORT and isinstance(requests.decode_reply(answer).body, requests.Error)
            client.send(question)
    context.destroy(0)
    return {"answers": (answers - connections) / seconds, "refused": refused / seconds}


def measure(wire: str, address: str, rate: float, seconds: float) -> None:
    """Subscribe, and print the ages of the decoded positions as JSON."""
    if wire == "stalled":
        with subscribed(int(address), rate):
            sleep(seconds)
        print("{}")
        return
    groups = from_stream(int(address), rate, seconds) if wire == "stream" else from_shm(address, seconds)
    ages, vehicles, begun = [], 0, monotonic()
    for moment, count in groups:
        age = time() - moment.wall_time
        if monotonic() - begun > min(1.0, 0.2 * seconds):  # the first ones are warm-up
            ages.append(1000 * age)
            vehicles = count
    ages.sort()
    figures = {"groups": len(ages), "vehicles": vehicles, "seconds": seconds - min(1.0, 0.2 * seconds)}
    quantiles = {name: ages[int(q * (len(ages) - 1))] for name, q in (("p50", 0.5), ("p99", 0.99))} if ages else {}
    print(json.dumps({**figures, **quantiles}))


def main(kind: str, *arguments: str) -> None:
    """Run one process; clients print their figures as JSON."""
    if kind == "serve":
        serve()
    elif kind == "drive":
        port, vehicle, seconds = arguments
        print(json.dumps({"rate": drive(int(port), int(vehicle), float(seconds))}))
    elif kind == "ask":
        port, method, values, seconds, connections = arguments
        print(json.dumps(ask(int(port), method, values, float(seconds), int(connections))))
    elif kind == "web":
        print(json.dumps(asyncio.run(watch(int(arguments[0]), float(arguments[1])))))
    else:
        address, rate, seconds = arguments
        measure(kind, address, float(rate), float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
