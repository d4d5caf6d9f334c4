"""Methods about markers; everyone who subscribed to them sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import flag, text, trees, whole
from paddock.serve.subscribers.shapes import Moment

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

ID_MAX = 2**32 - 1


@method(trees("markers", "with namespace, id, kind; position, quaternion, scale, color, vertices, label, frame, ttl"))
async def put_markers(client: Client, markers: list[dict[str, Any]]) -> Moment:
    """Show markers (ENU, m) in place of those of the same namespace and id: all, or none if one is refused."""
    return await client.done("mark", markers=markers)


@method(
    text("namespace", "whose; null: all markers there are", None),
    whole("id", "which of them; null: all", None, low=0, high=ID_MAX),
)
async def delete_markers(client: Client, namespace: str | None, id: int | None) -> Moment:
    """Take markers away."""
    return await client.done("unmark", namespace=namespace, number=id)


@method(text("namespace", "whose"), flag("visible", "whether they are to be seen"))
async def set_marker_visibility(client: Client, namespace: str, visible: bool) -> Moment:
    """Show or hide the markers of a namespace, for everyone."""
    return await client.done("show_markers", namespace=namespace, visible=visible)
