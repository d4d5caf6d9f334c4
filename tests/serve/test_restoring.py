"""Clients restore what they saved, of any scenario; what they crafted is refused in words of the state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from asked import ask
from waiting_actions import ACTIONS, MISSION, ORDERS, post_actions

import paddock
from paddock.errors import PaddockError
from paddock.scenario.serve import ClientLimits
from paddock.serve.live import LiveSource
from paddock.world.archive import pack, unpack

RADIO: dict[str, Any] = {
    "clock": {"rate": 100},
    "radio": {"rate": 10, "stations": [{"name": "base", "position": [0, 0, 5]}]},
    "vehicles": [
        {"name": "dots", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 5, "z": 20}}, "radio": "default"}
    ],
}
RACE: dict[str, Any] = {
    "clock": {"rate": 100},
    "track": {"generate": {"seed": 3, "length": [200, 300]}},
    "rules": {"discipline": "autocross"},
    "contact": {},
    "vehicles": [{"name": "cars", "count": 2, "model": "car.bicycle", "spawn": {"track": {}}, "sensors": ["gnss"]}],
}
PILOTS: dict[str, Any] = {
    "clock": {"rate": 100},
    "vehicles": [{"name": "cart", "model": "rover", "preset": "skid"}],
    "sitl": {"pilots": [{"vehicles": "cart", "mission": [[0, 20, 0], [15, 20, 0]]}]},
}
SCENARIOS = {"radio": RADIO, "race": RACE, "autopilots": PILOTS, "orders": ORDERS, "mission": MISSION}


@contextmanager
def served(name: str) -> Iterator[LiveSource]:
    """A simulation after 60 ticks, with handlers of operations but without a hub, and with actions that wait."""
    with paddock.load(SCENARIOS[name]) as sim:
        source = LiveSource(sim, limits=ClientLimits())
        source.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)
        sim.step(60)
        post_actions(sim, name)
        yield source
        source.detach()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_client_restores_its_own_state(name: str) -> None:
    with served(name) as source:
        saved, before = ask(source, "save"), ask(source, "state_hash")
        source.sim.step(40)
        later = ask(source, "state_hash")
        ask(source, "restore", state=saved)
        assert ask(source, "state_hash") == before != later
        source.sim.step(40)
        assert ask(source, "state_hash") == later
        assert not [event for event in source.sim.events.since() if event.kind == "refused"]


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value of a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def mutated(value: Any, rng: np.random.Generator) -> Any:
    """Return another value, often of the same type."""
    if isinstance(value, np.ndarray):
        kind = rng.integers(6)
        if kind == 0:
            return value[..., :-1] if value.ndim else value[None]
        if kind == 1:
            with np.errstate(all="ignore"):
                return value.astype(rng.choice(["f4", "f8", "i4", "u1", "b1", "c16"]))
        other = value.copy()
        if other.size:
            numbers = (
                [np.nan, np.inf, -1.0, 0.5, 1e9, -1e300] if other.dtype.kind == "f" else [-1, 0, 1, 255, 2**31 - 1]
            )
            with np.errstate(all="ignore"):
                other.reshape(-1)[rng.integers(other.size)] = np.array(rng.choice(numbers)).astype(other.dtype)
        return other
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return type(value)(rng.choice([-1, 0, 1, 7, 10**6, 2**62]))
    choices: list[Any] = [
        None,
        True,
        -1,
        0,
        2**62,
        10**30,
        1e300,
        float("nan"),
        "",
        "\x1b[31m",
        "text",
        [],
        {},
        [[]],
        {"x": 1},
    ]
    return choices[rng.integers(len(choices))]


def attack(source: LiveSource, count: int, seed: int, part: str = "") -> tuple[int, int]:
    """Restore states with a mutation, of one part if given; return how many were refused and how many accepted."""
    rng, valid = np.random.default_rng(seed), ask(source, "save")
    before, paths = ask(source, "state_hash"), list(places(unpack(valid)))
    paths = [path for path in paths if not part or path[0] == part]
    refused = accepted = 0
    for _ in range(count):
        tree = unpack(valid)
        *above, last = paths[rng.integers(len(paths))]
        holder: Any = tree
        for key in above:
            holder = holder[key]
        what = rng.random()
        if what < 0.1 and isinstance(holder, dict):
            del holder[last]
        elif what < 0.15 and isinstance(holder, dict):
            holder["other"] = holder[last]
        else:
            holder[last] = mutated(holder[last], rng)
        try:
            ask(source, "restore", state=pack(tree))
        except PaddockError as error:
            text = str(error)
            assert text.isprintable() and not re.search(r"\b[A-Z]\w+(Error|Exception)\b", text), (above, last, text)
            refused += 1
            continue
        accepted += 1
        with np.errstate(all="ignore"):
            source.sim.step(3)
        ask(source, "restore", state=valid)
        assert ask(source, "state_hash") == before
    assert ask(source, "state_hash") == before
    source.sim.step(20)
    return refused, accepted


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(("count", "seed"), [(40, 0), pytest.param(7000, 1, marks=pytest.mark.soak)])
def test_mutated_states_are_refused_or_run(name: str, count: int, seed: int) -> None:
    with served(name) as source:
        refused, accepted = attack(source, count, seed)
    assert refused > accepted > 0


@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.parametrize(("count", "seed"), [(40, 0), pytest.param(7000, 1, marks=pytest.mark.soak)])
def test_mutated_actions_are_refused_or_run(name: str, count: int, seed: int) -> None:
    """Each action is due within three ticks: it is applied, or its refusal is an event."""
    with served(name) as source:
        refused, accepted = attack(source, count, seed, "mailbox")
    assert min(refused, accepted) > count // 10
