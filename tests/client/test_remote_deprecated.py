"""Old spellings of verbs: they work, and warn with the new one."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import Any

import pytest

import paddock
from paddock.client import control
from paddock.client.asynchronous import AsyncRemoteSimulation
from paddock.client.simulation import RENAMED

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
    for old, new in RENAMED.items():
        with pytest.warns(DeprecationWarning, match=f"sim.{old} is deprecated: use sim.{new}$"):
            found = getattr(sim, old)
        assert found.__func__ is attrgetter(new)(sim).__func__
    with pytest.raises(AttributeError, match=r"has no attribute 'overide'; did you mean 'override'\?$"):
        _ = sim.overide


def test_the_old_call_of_an_asynchronous_mission(serve: Any) -> None:
    served = serve(MISSION)

    async def view() -> Any:
        async with await AsyncRemoteSimulation.connected(served.url, None, None, 5.0) as sim:
            with pytest.warns(DeprecationWarning, match="use sim.mission.view"):
                return await sim.mission()

    assert [task.name for task in asyncio.run(view()).tasks] == ["a"]


def test_the_old_name_of_a_control_request() -> None:
    with pytest.warns(DeprecationWarning, match="use RemoteControlRequest"):
        assert control.ControlRequest is control.RemoteControlRequest
