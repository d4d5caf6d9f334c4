"""The stream endpoint: subscribers that connect over TCP, and renderers that are dialled."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from paddock.serve.endpoints.stream.connection import TcpConnection
from paddock.serve.endpoints.stream.dial import Dialer, Renderer
from paddock.serve.endpoints.stream.listener import Listener
from paddock.serve.subscribers.audience import Audience, Viewer
from paddock.serve.subscribers.connection import Hear, Lost
from paddock.wire.stream.frames import FrameType
from paddock.world.layout import Layout

if TYPE_CHECKING:
    from paddock.serve.hub import Hub


class StreamEndpoint(Audience):
    """Frames and calls over TCP."""

    name = "stream"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, options, every)
        self.dialers = [Dialer(self, dial) for dial in options["dial"]]
        self._listener = Listener(hub.loop, self._accept)
        self._port = int(options["port"])

    async def open(self) -> dict[str, Any]:
        """Listen, and dial the renderers."""
        port = self._listener.open(self.hub.options.bind, self._port)
        self.begin()
        for dialer in self.dialers:
            dialer.open()
        return {"port": port}

    async def close(self) -> None:
        """Tell the clients and let go."""
        self._listener.close()
        for dialer in self.dialers:
            dialer.close()
        await super().close()

    def viewers(self) -> list[Viewer]:
        """Clients and renderers."""
        return [*self.clients, *self._renderers()]

    def has_news_of(self, layout: Layout) -> bool:
        """Whether a client or a renderer does not know this roster."""
        return super().has_news_of(layout) or not all(link.informed(layout) for link in self._renderers())

    def tell_roster(self, layout: Layout) -> None:
        """Tell who is there to whoever does not know."""
        super().tell_roster(layout)
        for renderer in self._renderers():
            renderer.hear_roster(layout)

    def _renderers(self) -> list[Renderer]:
        return [link for dialer in self.dialers if (link := dialer.link) is not None]

    def _accept(self, peer: socket.socket, address: str) -> None:
        """Someone has connected."""

        def connect(hear: Hear, lost: Lost) -> TcpConnection:
            return TcpConnection(self.hub.loop, peer, hear, lost, (FrameType.COMMANDS,))

        try:
            self.welcome(connect, address)
        except OSError:  # gone already
            peer.close()
