"""Synchronous control: clients that are asked for commands, and waited for."""

from __future__ import annotations

import logging
from contextlib import suppress
from time import monotonic
from typing import Any

from paddock.engine.barrier import Claim, CommandRequest
from paddock.errors import PaddockError
from paddock.serve.live.group import Group
from paddock.serve.operations import operation

LOG = logging.getLogger(__name__)


class Claiming(Group):
    """A client has one claim at a time."""

    @operation
    def claim(self, client: str, vehicles: list[str]) -> dict[str, Any]:
        """Be asked for these vehicles' commands at the barrier, instead of those claimed before."""
        claim = self.sim.claim(*vehicles, source=client, instead_of=self.stage.claims.get(client))
        self.stage.teller.forget(client)
        claim.on_request = lambda request: self._ask(client, claim, request)
        self.stage.claims[client] = claim
        sync = self.sim.engine.barrier.sync
        return {"every": sync.every, "timeout": sync.timeout, "on_timeout": sync.on_timeout}

    @operation
    def release(self, client: str) -> None:
        """Be asked no more."""
        if not self._let_go(client):
            raise PaddockError("release: this client has claimed nothing")

    @operation
    def control(self, client: str, tick: int, commands: dict[str, dict[str, Any]]) -> int:
        """Answer the request of a tick; returns that tick."""
        self.stage.claim_of(client).reply(tick, commands)
        self.stage.commands += len(commands)
        return tick

    @operation
    def control_unasked(self, client: str, tick: int, commands: dict[str, dict[str, Any]]) -> None:
        """The same for who waits for no answer; a refusal is pushed as `refused`."""
        try:
            self.control(client, tick, commands)
        except PaddockError as error:
            self.stage.push("refused", {"client": client, "kind": type(error).__name__, "message": str(error)})

    def _let_go(self, client: str) -> bool:
        claim = self.stage.claims.pop(client, None)
        if claim is not None:
            claim.release()
        return claim is not None

    def _ask(self, client: str, claim: Claim, request: CommandRequest) -> None:
        """Runs in the thread that ticks, which then waits for the reply; who cannot be asked loses its claim."""
        try:
            self._send(client, request)
        except Exception as error:  # the tick is everybody's
            claim.release()
            if self.stage.claims.get(client) is claim:
                del self.stage.claims[client]
            LOG.exception("%s cannot be asked for commands and has lost its claim", client)
            told = f"the simulation could not ask for commands at tick {request.tick}: the claim has ended"
            with suppress(Exception):  # telling is what may have failed
                self.stage.push("refused", {"client": client, "kind": type(error).__name__, "message": told})

    def _send(self, client: str, request: CommandRequest) -> None:
        left = request.deadline - monotonic()
        message = self.stage.teller.control_request(client, request.snapshot, left, request.vehicles)
        self.stage.push("control_request", {"client": client, "tick": request.tick, "message": message})
        if client not in self.stage.claims:  # it has left meanwhile
            self.stage.teller.forget(client)
