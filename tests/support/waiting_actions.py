"""Simulations in whose mailboxes actions of every kind wait, for the tests of saved states."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.engine.actions import (
    Action,
    CommandAction,
    EventAction,
    FrameAction,
    MissionAction,
    OverrideAction,
    PacketAction,
    PlaceAction,
    RadioAction,
    RemoveAction,
    SpawnAction,
)
from paddock.engine.simulation import Simulation

ORDERS: dict[str, Any] = {
    "clock": {"rate": 100},
    "radio": {
        "rate": 10,
        "messages": {},
        "stations": [{"name": "base", "position": [0, 0, 5]}],
        "jammers": [{"name": "noise", "kind": "barrage", "position": [500, 0, 5], "power": 10}],
    },
    "vehicles": [
        {"name": "dots", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 5, "z": 20}}, "radio": "default"},
        {"name": "cart", "model": "rover", "pose": [20, 0, 0, 0], "radio": "default", "via": "radio", "timeout": 0.05},
    ],
}
MISSION: dict[str, Any] = {
    "clock": {"rate": 100},
    "vehicles": [{"name": "uav", "count": 2, "model": "point", "spawn": {"grid": {"spacing": 20, "z": 20}}}],
    "mission": {"tasks": [{"name": "first", "point": {"at": [300, 100]}}]},
}
ACTIONS: dict[str, list[Action]] = {
    "orders": [
        CommandAction("dots[0]", {"vx": 1.0}, 0.02),
        CommandAction("dots", {"vx": np.array([1.0, 2.0, 3.0])}),
        CommandAction(np.array([2, 3]), {"vx": np.array([1.0, 2.0])}),
        CommandAction("cart", {"speed": 2.0}, 0.5),
        OverrideAction(["dots[0]", 3], {"hold": {}}),
        OverrideAction("dots[2]", None),
        PlaceAction("dots[1]", [0.0, 1.0, 5.0, 0.5], 2.0),
        PlaceAction("dots", np.array([[0, 0, 5, 0], [3, 0, 5, 0], [6, 0, 5, 0.0]]), np.ones(3)),
        FrameAction("camera", "dots[1]", [0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
        FrameAction("map", "world", [0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], True),
        RadioAction("send", {"source": "dots[0]", "to": "base", "text": "[1, 2]", "hops": 2, "lifetime": 1.0}),
        RadioAction("jammer", {"name": "noise", "on": True, "power": 12.0, "position": [100.0, 0.0, 5.0]}),
        RadioAction("allocate", {"groups": ["dots", "base"], "channels": [1, 2], "method": "least_used"}),
        PacketAction("dots[0]", "base", 100, 8, 1, 5),
        EventAction("autopilot", "dots[0]", "low battery"),
        SpawnAction({"name": "late", "model": "point", "pose": [9.0, 9.0, 9.0, 0.0]}),
        RemoveAction("dots[2]"),
    ],
    "mission": [
        MissionAction("add_task", {"name": "more", "point": {"at": [100, 50]}}),
        MissionAction("add_zone", {"name": "shut", "circle": {"at": [400, 400], "radius": 20}}),
        MissionAction("add_vehicle", {"name": "late", "model": "point", "pose": [9.0, 9.0, 20.0, 0.0]}),
        MissionAction("damage", {"vehicle": "uav[0]"}),
        MissionAction("move_task", {"task": "more", "x": 120.0, "y": 60.0}),
        MissionAction("remove_task", {"task": "first"}),
        MissionAction("remove_zone", {"zone": "shut"}),
    ],
}
"""Actions that wait in the saved states of a scenario, all due in the next ticks."""


def post_actions(sim: Simulation, name: str) -> None:
    """Queue the actions of a scenario, if it has any, in their order for the next three ticks."""
    actions = ACTIONS.get(name, [])
    for k, action in enumerate(actions):
        sim.engine.mailbox.post(action, sim.tick + 3 * k // len(actions), "eve")
