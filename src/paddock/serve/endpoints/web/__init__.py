"""The page over HTTP, and its WebSocket with the frames and calls of the stream."""

from __future__ import annotations

from paddock.serve.endpoints.web.endpoint import WebServer

ENDPOINT = WebServer
