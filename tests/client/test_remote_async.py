from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.world.snapshot import CommandRequest


def test_the_same_verbs_as_coroutines(serve: Any) -> None:
    served = serve()
    with paddock.load(served.sim.scenario) as local:
        local.command("red", steer=0.1, throttle=0.4)
        local.command("scouts", vx=np.array([1.0, 2.0, 3.0, 4.0]))
        local.step(50)
        expected, position = local.state_hash(), local.snapshot()["red"].position.copy()

    async def story() -> None:
        async with await paddock.connect_async(served.url, name="alice") as sim:
            await asyncio.gather(
                sim.command("red", steer=0.1, throttle=0.4),
                sim.command("scouts", vx=np.array([1.0, 2.0, 3.0, 4.0])),
            )
            await sim.step(50)
            assert await sim.tick() == 50
            assert await sim.time() == 0.125
            assert await sim.state_hash() == expected
            snapshot = await sim.snapshot()
            np.testing.assert_array_equal(snapshot["red"].position, position)
            blob = await sim.save()
            await sim.run(until=0.5)
            assert await sim.tick() == 200
            await sim.restore(blob)
            assert await sim.state_hash() == expected
            assert (await sim.metadata())["owner"] == "alice (zmq 1)"
            with pytest.raises(paddock.PaddockError, match="did you mean 'red'"):
                await sim.command("rad", steer=0.1)

    asyncio.run(story())


def test_handlers_run_in_the_loop(serve: Any) -> None:
    served = serve()

    async def story() -> None:
        async with await paddock.connect_async(served.url) as sim:
            asked: list[int] = []

            async def drive(request: CommandRequest) -> dict[str, dict[str, float]]:
                await asyncio.sleep(0)
                asked.append(request.tick)
                return {"red": {"throttle": 0.5}}

            await sim.control.on_request("red", handler=drive)
            await sim.control.on_request("scouts[0]", handler=lambda request: {"scouts[0]": {"vx": 2.0}})
            beats = 0

            async def count() -> None:
                nonlocal beats
                while True:
                    await asyncio.sleep(0.001)
                    beats += 1

            counting = asyncio.create_task(count())
            await sim.step(20)
            counting.cancel()
            assert asked == list(range(20))
            assert beats > 0  # the loop went on meanwhile
            assert (await sim.vehicles.inspect("red"))["command"]["throttle"] == 0.5
            assert (await sim.vehicles.inspect("scouts[0]"))["command"]["vx"] == 2.0

    asyncio.run(story())


def test_a_handlers_error_is_raised_by_step(serve: Any) -> None:
    served = serve()

    async def story() -> None:
        async with await paddock.connect_async(served.url) as sim:

            async def drive(request: CommandRequest) -> None:
                raise ZeroDivisionError("in my controller")

            await sim.control.on_request("red", handler=drive)
            with pytest.raises(ZeroDivisionError):
                await sim.step(5)

    asyncio.run(story())


def test_states_arrive_in_the_loop(serve: Any) -> None:
    served = serve()

    async def story() -> None:
        async with await paddock.connect_async(served.url) as sim:
            seen: asyncio.Queue[paddock.Snapshot] = asyncio.Queue()
            sim.clock.watch(seen.put, every=50)
            await sim.step(500)  # the first states arrive, too
            received = [await asyncio.wait_for(seen.get(), 30) for _ in range(10)]
            assert [snapshot.tick for snapshot in received] == list(range(50, 501, 50))
            assert received[0]["red"].speed > 7.0

    asyncio.run(story())


def test_the_verbs_of_a_local_simulation_are_coroutines(serve: Any) -> None:
    served = serve(drive=True)

    async def story() -> None:
        async with await paddock.connect_async(served.url, name="loop") as sim:
            await sim.vehicles.place("red", [4.0, 5.0, 0.0, 0.0])
            async with sim.clock.running(pace=0.0):
                while await sim.tick() < 50:
                    await asyncio.sleep(0.01)
            assert await sim.clock.paused()
            assert (
                [entry.kind for entry in await sim.control.log.complete()]
                == ["place"]
                == [entry.kind for entry in await sim.control.log.entries()]
            )
            with pytest.raises(paddock.PaddockError, match="the server has no page"):
                await sim.show()

    asyncio.run(story())


def test_no_answer_is_an_error() -> None:
    async def story() -> None:
        with pytest.raises(paddock.PaddockError, match="is the server running"):
            await paddock.connect_async("tcp://127.0.0.1:1", timeout=0.3)

    asyncio.run(story())
