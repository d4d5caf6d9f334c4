"""TCP: binary frames and JSON-RPC on one socket, to subscribers that connect and to renderers that are dialled."""

from __future__ import annotations

from paddock.serve.endpoints.stream.endpoint import StreamEndpoint

ENDPOINT = StreamEndpoint
