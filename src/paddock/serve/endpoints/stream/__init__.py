"""TCP: binary frames and JSON-RPC on one socket, for clients that connect and renderers that are dialled."""

from __future__ import annotations

from paddock.serve.endpoints.stream.endpoint import StreamServer

ENDPOINT = StreamServer
