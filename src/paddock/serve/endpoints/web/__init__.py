"""The page over HTTP, and its WebSocket: the same frames and calls as on the stream, to browsers."""

from __future__ import annotations

from paddock.serve.endpoints.web.endpoint import WebEndpoint

ENDPOINT = WebEndpoint
