"""The HTTP side of the page: files, and WebSockets that are let in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from paddock.serve.endpoints.web.files import NOT_BUILT, File, find_file
from paddock.serve.endpoints.web.guard import SAFE, host_problem, origin_problem

SOCKET = "/ws"
Serve = Callable[[Scope, Receive, Send], Awaitable[None]]


class Application:
    """An ASGI application: `serve` takes over a WebSocket that may be accepted."""

    def __init__(self, folder: Path, local: bool, serve: Serve, count: Callable[[str], None]) -> None:
        """`local`: only this machine may connect; `count` is told the reason of every refusal."""
        self._folder = folder
        self._local = local
        self._serve = serve
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = None
        if problem := host_problem(scope["headers"], self._local):
            answer = self._refusal("host", 421, problem)
        elif scope["type"] == "websocket":
            answer = self._socket_problem(scope)
            if answer is None:
                await self._serve(scope, receive, send)
                return
        else:
            answer = await self._page(Request(scope))
        answer.headers.update(SAFE)
        await answer(scope, receive, send)

    def _socket_problem(self, scope: Scope) -> Response | None:
        if scope["path"] != SOCKET:
            return self._refusal("path", 404, f"the WebSocket is at {SOCKET}")
        problem = origin_problem(scope["headers"])
        return self._refusal("origin", 403, problem) if problem else None

    async def _page(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response("only GET is served\n", 405, {"Allow": "GET, HEAD"}, "text/plain")
        path = request.scope["path"]
        gzip = "gzip" in request.headers.get("accept-encoding", "")
        file = await asyncio.to_thread(find_file, self._folder, path, gzip)
        if file is not None:
            return _sent(file, request)
        if path in ("/", "/index.html"):
            return Response(NOT_BUILT, 200, {"Cache-Control": "no-store"}, "text/html")
        return Response("there is no such file\n", 404, media_type="text/plain")

    def _refusal(self, reason: str, status: int, problem: str) -> Response:
        self._count(reason)
        return Response(f"{problem}\n", status, media_type="text/plain")


def _sent(file: File, request: Request) -> Response:
    """The file, or that the browser has it."""
    if file.headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(None, 304, file.headers)
    return Response(file.content, 200, file.headers)
