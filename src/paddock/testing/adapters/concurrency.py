"""Called from several threads at once, and from coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import SimulatorAdapter
from paddock.testing.adapters.rig import AdapterRig

ROUNDS = 100


def check_threads(rig: AdapterRig) -> str:
    """Two threads step, others read, command and look: nothing fails, no time is lost."""
    adapter = rig.connected(rig.several())
    start, failures = adapter.sim_time_us, []
    jobs = [
        _stepping(rig, adapter),
        _stepping(rig, adapter),
        _reading(adapter),
        _commanding(adapter),
        _looking(adapter),
    ]

    def work(job: Callable[[], None]) -> None:
        try:
            for _ in range(ROUNDS):
                job()
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    if any(thread.is_alive() for thread in threads):
        rig.fail("calls from several threads at once hang")
    if failures:
        rig.fail(f"a call fails when others run at the same time: {failures[0]}")
    passed, wanted = adapter.sim_time_us - start, 2 * ROUNDS * rig.step_us
    if adapter.supports_lockstep and passed != wanted:
        rig.fail(f"two threads stepped {wanted} us together, but {passed} us have passed: hold self.lock")
    return f"{len(jobs)} threads, {ROUNDS} calls each"


def _stepping(rig: AdapterRig, adapter: SimulatorAdapter) -> Callable[[], None]:
    return lambda: rig.step(adapter)


def _reading(adapter: SimulatorAdapter) -> Callable[[], None]:
    def read() -> None:
        for number in adapter.vehicles:
            adapter.receive_sensors(number)

    return read


def _commanding(adapter: SimulatorAdapter) -> Callable[[], None]:
    return lambda: adapter.send_actuators(ActuatorCommands(armed=True, motors=[0.1, 0.1]), 1)


def _looking(adapter: SimulatorAdapter) -> Callable[[], None]:
    return lambda: None if adapter.is_connected and adapter.sim_time_us >= 0 else _fail()


def _fail() -> None:
    raise RuntimeError("is_connected became False, or time negative, while others call")


def check_coroutines(rig: AdapterRig) -> str:
    """The variants for coroutines do the same, also several at once."""
    adapter = rig.connected()

    async def exchange() -> bool:
        await adapter.send_actuators_async(ActuatorCommands(), 1)
        stepped = await adapter.step_async(rig.step_us, 5.0)
        return stepped and await adapter.receive_sensors_async(1) is not None

    async def together() -> list[bool]:
        return list(await asyncio.gather(*(adapter.step_async(rig.step_us, 5.0) for _ in range(3))))

    if not asyncio.run(exchange()):
        rig.fail("step_async and receive_sensors_async give nothing")
    before = adapter.sim_time_us
    if not all(asyncio.run(together())):
        rig.fail("three steps awaited together are not all answered")
    if adapter.supports_lockstep and adapter.sim_time_us - before != 3 * rig.step_us:
        rig.fail(f"three steps awaited together advance the time by {adapter.sim_time_us - before} us")
    return "step, receive and send awaited"
