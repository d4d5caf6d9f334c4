"""Old spellings of verbs: they work, and warn with the new one."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import Any

import pytest

import paddock
from paddock.client import control
from paddock.client.simulation import AsyncRemoteSimulation

MISSION = {
    "vehicles": [{"name": "bus", "model": "rover"}],
    "mission": {"tasks": [{"name": "a", "point": {"at": [9, 0]}}]},
}


def test_every_old_spelling_warns_and_leads_to_the_new_one(serve: Any) -> None:
    served = serve(MISSION)

    async def check(url: str) -> None:
        async with await paddock.connect_async(url) as sim:
            _check(sim)

    with paddock.connect(served.url) as sim:
        _check(sim)
    asyncio.run(check(served.url))


def _check(sim: Any) -> None:
    for old, new in sim._RENAMED.items():
        with pytest.warns(DeprecationWarning, match=f"sim.{old} is deprecated: use sim.{new}$"):
            found = getattr(sim, old)
        present = attrgetter(new)(sim)
        same = (present.__qualname__, getattr(present, "__func__", None)) if callable(present) else present
        assert same == ((found.__qualname__, getattr(found, "__func__", None)) if callable(found) else found)
    with pytest.raises(AttributeError, match=r"has no attribute 'metdata'; did you mean 'metadata'\?$"):
        _ = sim.metdata


def test_the_pace_can_be_set_by_its_old_spelling(serve: Any) -> None:
    served = serve(drive=True)
    with paddock.connect(served.url) as sim:
        with pytest.warns(DeprecationWarning, match=r"sim.pace is deprecated: use sim.clock.pace$"):
            sim.pace = 2.0
        assert sim.clock.pace == 2.0 == served.sim.clock.pace
        with pytest.warns(DeprecationWarning, match=r"use sim.clock.paused$"):
            assert sim.paused


def test_old_spellings_of_an_asynchronous_client(serve: Any) -> None:
    served = serve(drive=True)

    async def check() -> None:
        async with await paddock.connect_async(served.url) as sim:
            with pytest.warns(DeprecationWarning, match=r"use sim.clock.set_pace$"):
                await sim.set_pace(2.0)
            with pytest.warns(DeprecationWarning, match=r"use sim.clock.pace$"):
                assert await sim.pace() == 2.0 == await sim.clock.pace()
            with pytest.warns(DeprecationWarning, match=r"use sim.behaviours.overrides$"):
                assert await sim.orders() == []

    asyncio.run(check())


def test_the_old_call_of_an_asynchronous_mission(serve: Any) -> None:
    served = serve(MISSION)

    async def view() -> Any:
        async with await AsyncRemoteSimulation.connected(served.url, None, None, 5.0) as sim:
            with pytest.warns(DeprecationWarning, match="use sim.mission.view"):
                return await sim.mission()

    assert [task.name for task in asyncio.run(view()).tasks] == ["a"]


def test_the_old_name_of_a_control_request() -> None:
    with pytest.warns(DeprecationWarning, match=r"control\.ControlRequest is now RemoteControlRequest$"):
        assert control.ControlRequest is control.RemoteControlRequest
