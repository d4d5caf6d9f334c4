"""Synchronous control: the simulation asks clients for commands at the barrier and waits for them."""

from __future__ import annotations

import logging
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.engine.barrier import Claim, CommandRequest
from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.serve.live import LiveRun

LOG = logging.getLogger(__name__)


def claim(run: LiveRun, client: str, vehicles: list[str]) -> dict[str, Any]:
    """A client has one claim at a time: this one replaces an earlier one."""
    claimed = run.sim.claim(*vehicles, source=client, instead_of=run.claims.get(client))
    run.states.forget(client)
    claimed.on_request = lambda request: _ask(run, client, claimed, request)
    run.claims[client] = claimed
    sync = run.sim.engine.barrier.sync
    return {"every": sync.every, "timeout": sync.timeout, "on_timeout": sync.on_timeout}


def release(run: LiveRun, client: str) -> None:
    """Refused without a claim."""
    claimed = run.claims.pop(client, None)
    if claimed is None:
        raise PaddockError("release: this client has claimed nothing")
    claimed.release()


def control(run: LiveRun, client: str, tick: int, commands: dict[str, dict[str, Any]]) -> int:
    """A reply to another tick, or after its deadline, is refused."""
    run.claim_of(client).reply(tick, commands)
    run.commands += len(commands)
    return tick


def control_unasked(run: LiveRun, client: str, tick: int, commands: dict[str, dict[str, Any]]) -> None:
    """The client hears of a refusal only."""
    try:
        control(run, client, tick, commands)
    except PaddockError as error:
        run.push("refused", {"client": client, "kind": type(error).__name__, "message": str(error)})


def _ask(run: LiveRun, client: str, claimed: Claim, request: CommandRequest) -> None:
    """Send a control request. Runs in the thread that ticks; a client that cannot be reached loses its claim."""
    try:
        left = request.deadline - monotonic()
        message = run.states.control_request(client, request.snapshot, left, request.vehicles)
        run.push("control_request", {"client": client, "tick": request.tick, "message": message})
        if client not in run.claims:  # it has left meanwhile
            run.states.forget(client)
    except Exception as error:  # must not stop the tick
        claimed.release()
        if run.claims.get(client) is claimed:
            del run.claims[client]
        LOG.exception("cannot send a control request to %s; its claim has ended", client)
        reason = f"the simulation could not send the control request of tick {request.tick}: the claim has ended"
        with suppress(Exception):  # pushing may be what failed
            run.push("refused", {"client": client, "kind": type(error).__name__, "message": reason})
