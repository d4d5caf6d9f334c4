"""Methods about time. It has one owner: the first client that steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.serve.endpoints.stream.method import method
from paddock.serve.endpoints.stream.parameters import number, whole

if TYPE_CHECKING:
    from paddock.serve.endpoints.stream.client import Client


@method(whole("ticks", "how many", 1, low=0, high=(1 << 53) - 1))
async def simulation_step(client: Client, ticks: int) -> dict[str, Any]:
    """Exactly so many ticks; answered when they have passed. The clock belongs to this client from now on."""
    reached = (await client.request("step", ticks=ticks)).result
    await client.changed_layout()
    return {"tick": reached, "time": reached / client.hub.rate}


@method()
async def pause(client: Client) -> dict[str, Any]:
    """Hold the run."""
    return await client.done("pause", show=True)


@method()
async def resume(client: Client) -> dict[str, Any]:
    """Go on."""
    return await client.done("resume")


@method(whole("seed", "another seed; null keeps it", None, low=0))
async def reset(client: Client, seed: int | None) -> dict[str, Any]:
    """From tick 0 again."""
    return await client.done("reset", seed=seed)


@method(number("position", "s from the beginning of the recording"))
async def seek(client: Client, position: float) -> dict[str, Any]:
    """Jump within a recording that is played, and tell where to; the frames follow. A live simulation cannot."""
    return {"position": (await client.request("seek", position=position)).result}


@method(number("pace", "simulated s per s of wall time; 0: as fast as possible", low=0.0))
async def set_pace(client: Client, pace: float) -> dict[str, Any]:
    """Let time pass faster or slower."""
    return await client.done("pace", pace=pace)
