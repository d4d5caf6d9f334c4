"""Numbers about the run and about those who watch it, in the shape that subscribers are told."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.shapes import FiguresTree, SubscriberTree

if TYPE_CHECKING:
    from paddock.serve.hub import Hub


def figures_tree(hub: Hub) -> FiguresTree:
    """What the simulation said last, with who is connected and what was counted; 0 for what a recording has not."""
    known = hub.mirror.figures

    def number(name: str) -> float:
        value = float(known.get(name, 0.0))
        return value if isfinite(value) else 0.0

    return {
        "tick": int(known["tick"]),
        "time": number("time"),
        "wall": number("wall"),
        "rate": number("rate"),
        "pace": number("pace"),
        "paused": bool(known["paused"]),
        "running": bool(known["running"]),
        "run": int(known["run"]),
        "vehicles": int(known["vehicles"]),
        "slips": int(number("slips")),
        "lag_seconds": number("lag_seconds"),
        "tick_seconds": number("tick_seconds"),
        "events": int(number("events")),
        "commands": int(number("commands")),
        "refused": int(number("refused")),
        "owner": str(known.get("owner", "")),
        "stages": known.get("stages", {}),
        "subscribers": _subscribers(hub),
        "counts": {_label(*key): int(value) for key, value in sorted(hub.counters.values.items())},
    }


def _subscribers(hub: Hub) -> list[SubscriberTree]:
    return [one for endpoint in hub.endpoints.values() for one in getattr(endpoint, "subscribers_now", ())]


def _label(name: str, labels: tuple[tuple[str, Any], ...]) -> str:
    """A count in words: `cut_off stream token`."""
    return " ".join([name, *(str(text) for _, text in labels if text)])
