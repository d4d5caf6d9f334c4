"""What a run shows beside its vehicles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from paddock.sitl.host import SitlHost


class Shown(NamedTuple):
    """A link to the page (may be empty), and the autopilots if there are any."""

    link: str = ""
    autopilots: SitlHost | None = None
