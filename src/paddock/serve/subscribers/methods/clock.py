"""Methods about time. It has one owner: the first client that steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import number, whole
from paddock.serve.subscribers.shapes import Moment, Position

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client


@method(whole("ticks", "how many", 1, low=0, high=(1 << 53) - 1))
async def simulation_step(client: Client, ticks: int) -> Moment:
    """Exactly so many ticks; answered when they have passed. The clock belongs to this client from now on."""
    reached = (await client.request("step", ticks=ticks)).result
    await client.changed_layout()
    return {"tick": reached, "time": reached / client.hub.rate}


@method()
async def let_go(client: Client) -> Moment:
    """Give the clock back, which a step has taken; time goes on. Nothing happens to whoever has not got it."""
    return await client.done("let_go")


@method()
async def pause(client: Client) -> Moment:
    """Hold the run."""
    return await client.done("pause", show=True)


@method()
async def resume(client: Client) -> Moment:
    """Go on."""
    return await client.done("resume")


@method(whole("seed", "another seed; null keeps it", None, low=0))
async def reset(client: Client, seed: int | None) -> Moment:
    """From tick 0 again."""
    return await client.done("reset", seed=seed)


@method(number("position", "s from the beginning of the recording"))
async def seek(client: Client, position: float) -> Position:
    """Jump within a recording that is played, and tell where to; the frames follow. A live simulation cannot."""
    return {"position": (await client.request("seek", position=position)).result}


@method(number("pace", "simulated s per s of wall time; 0: as fast as possible", low=0.0))
async def set_pace(client: Client, pace: float) -> Moment:
    """Let time pass faster or slower."""
    return await client.done("pace", pace=pace)
