"""JSON-RPC calls of one client: parsed, validated, answered; each in a task of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from difflib import get_close_matches
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError, suggestion
from paddock.serve.hub import OperationError
from paddock.serve.methods import answer
from paddock.wire.error import WireError
from paddock.wire.operations import METHODS, ArgumentError, Operation
from paddock.wire.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
    RpcError,
    failure,
    notification,
    parse,
    result,
)
from paddock.wire.stream.commands import Commands, decode_commands
from paddock.wire.stream.split import JsonLine, StreamFrame

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

REFUSED = -32000  # the simulation refuses the operation
TOKEN_NEEDED = -32001
TOO_MANY = -32002
MOST_AT_ONCE = 1000  # unanswered calls of one client
NOTIFY_EVERY = 0.5  # s between two notifications about refused commands
LOG = logging.getLogger("paddock.subscribers")


class CallHandler:
    """Answers the calls of one client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._tasks: set[asyncio.Task[None]] = set()
        self._refused = 0  # calls without an answer, since the last notification
        self._notified = 0.0  # time of that notification

    def receive(self, message: StreamFrame | JsonLine) -> None:
        """Handle a message."""
        if isinstance(message, StreamFrame):
            if self._allowed(None):
                self._start(self._command(message.payload))
            return
        try:
            parsed = parse(message.line)
        except RpcError as error:
            if self._allowed(error.id):
                self._count(error.reason)
                self._put(failure(error.id, error.code, str(error)))
            return
        if isinstance(parsed, list):
            if all(self._allowed(getattr(message, "id", None)) for message in parsed):
                self._start(self._batch(parsed))
        elif self._allowed(getattr(parsed, "id", None)):
            self._start(self._single(parsed))

    def cancel(self) -> None:
        """Cancel all calls."""
        for task in self._tasks:
            task.cancel()

    def _allowed(self, id: Any) -> bool:
        """Whether one more call is within the limits: one warning, then the connection ends."""
        allowance = self.client.allowance
        if allowance.take(monotonic()):
            if len(self._tasks) < MOST_AT_ONCE:
                return True
            self._count("too_many_at_once")
            self._put(failure(id, TOO_MANY, f"more than {MOST_AT_ONCE} unanswered requests"))
            return False
        text = f"more than {allowance.rate:g} requests per second"
        if allowance.warned:
            self.client.connection.cut_off("requests", text)
        else:
            allowance.warned = True
            self._put(failure(id, TOO_MANY, f"{text}: the connection ends if this continues"))
        return False

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.client.hub.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _batch(self, messages: list[Any]) -> None:
        answers = await asyncio.gather(*map(self._answered, messages))
        lines = [answer.rstrip(b"\n") for answer in answers if answer]
        if lines:
            self._put(b"[" + b",".join(lines) + b"]\n")

    async def _single(self, message: Request | Notification | Response) -> None:
        if answer := await self._answered(message):
            self._put(answer)

    async def _answered(self, message: Request | Notification | Response | RpcError) -> bytes:
        """The line that answers a message; empty for a notification."""
        if isinstance(message, RpcError):
            self._count(message.reason)
            return failure(message.id, message.code, str(message))
        if isinstance(message, Response):
            self._count("response")  # to no request
            return b""
        try:
            value = await self._called(message)
            return result(message.id, value) if isinstance(message, Request) else b""
        except Exception as error:
            code, text, data = _described(error, message.method)
            if isinstance(message, Request):
                return failure(message.id, code, text, data)
            self._refuse(text, message.method)
            return b""

    async def _called(self, call: Request | Notification) -> Any:
        operation = _find(call.method)
        params = call.params
        if isinstance(params, dict) and "token" in params and call.method != "authenticate":
            params = dict(params)
            token = params.pop("token")
            if not isinstance(token, str):
                raise RpcError("token", f"{call.method}: 'token' must be a text", TOKEN_NEEDED)
            self.client.show(token)
        if not (operation.entry.public or self.client.admitted):
            raise RpcError("token", f"{call.method}: call authenticate with the token first", TOKEN_NEEDED)
        return await answer(self.client, operation, operation.read(params))

    async def _command(self, payload: memoryview) -> None:
        try:
            if not self.client.admitted:
                raise RpcError("token", "call authenticate with the token first", TOKEN_NEEDED)
            commands: Commands = decode_commands(payload)
            inputs = {name: commands.values[:, k] for k, name in enumerate(commands.names)}
            await self.client.request("command_many", ids=commands.ids, inputs=inputs)
        except Exception as error:
            self._refuse(_described(error, "commands")[1], "commands")

    def _refuse(self, text: str, what: str) -> None:
        """Count a refused call without an answer; notify the client at a limited rate."""
        self._refused += 1
        self.client.endpoint.count("refused_commands")
        if monotonic() - self._notified < NOTIFY_EVERY:
            return
        name = "command_refused" if what == "commands" else "refused"
        self._put(notification(name, {"of": what, "reason": text, "count": self._refused}))
        self._refused, self._notified = 0, monotonic()

    def _count(self, reason: str) -> None:
        self.client.endpoint.count("malformed", reason=reason)

    def _put(self, line: bytes) -> None:
        self.client.connection.put(line)


def _find(method: str) -> Operation:
    """The operation of a JSON-RPC method; RpcError -32601 with the closest name otherwise."""
    if method not in METHODS:
        near = get_close_matches(method[:60], METHODS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else suggestion(method[:60], METHODS)
        raise RpcError("method", f"unknown method {method[:60]!r}; {hint}", METHOD_NOT_FOUND)
    return METHODS[method]


def _described(error: Exception, what: str) -> tuple[int, str, Any]:
    """(code, one line, data) for an error."""
    text = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    if isinstance(error, RpcError):
        return error.code, text, None
    if isinstance(error, ArgumentError):
        return INVALID_PARAMS, text, None
    if isinstance(error, OperationError):
        internal = error.kind == "InternalError"
        return (INTERNAL_ERROR if internal else REFUSED), text, {"kind": error.kind}
    if isinstance(error, WireError | PaddockError):
        return REFUSED, text, {"kind": type(error).__name__}
    LOG.error("%s failed", what, exc_info=error)
    return INTERNAL_ERROR, f"{what} failed inside the server", None
