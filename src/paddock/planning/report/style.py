"""The one look of all pictures, and how they become bytes that are the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from paddock.errors import MissingFeatureError

INK, SOFT, GRID, PAPER, ALARM = "#1f2a36", "#5f6b78", "#dfe4e9", "#ffffff", "#c4262e"
DARK, LIGHT = "#202b37", "#fdfdfd"
"""Text on coloured ground: it stays as it is when a page turns the others into those of the night."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195", "#8c6d5a")
"""Told apart by colour-blind people too, on light and on dark paper (after Okabe and Ito)."""
STROKES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
"""When there are more vehicles than colours."""
SETTINGS: Any = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "paddock",
    "path.simplify_threshold": 0.1,
}


@contextmanager
def styled() -> Iterator[Any]:
    """While the block runs, figures look alike; gives the class of figures. No window system is touched."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingFeatureError("pictures need matplotlib: pip install 'paddock[plan]'") from None
    with rc_context(SETTINGS):
        yield Figure


def colour(index: int) -> str:
    """Of the vehicle with that place in the problem."""
    return COLOURS[index % len(COLOURS)]


def stroke(index: int) -> Any:
    """The dashes of its line."""
    return STROKES[index // len(COLOURS) % len(STROKES)]


def dress(axes: Any, title: str, note: str = "") -> None:
    """Title, note, grid and no needless frame."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10)
    if note:
        axes.set_title(note, loc="right", fontsize=8.5, color=SOFT, pad=10)
    axes.grid(True)
    axes.tick_params(length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def minutes(axis: Any, until: float) -> None:
    """Mark a time axis (s) with minutes and seconds, at round moments."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    from paddock.planning.report.words import clock

    steps = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
    step = next((step for step in steps if until / step <= 9.0), max(until / 8.0, steps[-1]))
    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(FuncFormatter(lambda value, _: clock(max(value, 0.0))))


def png(figure: Any) -> bytes:
    """The picture; nothing in it tells when or by what it was made."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=144, facecolor=PAPER, metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Any) -> str:
    """The picture for a page that has a title of its own, with text as text."""
    for axes in figure.axes:
        axes.set_title("", loc="left")
    if figure.get_suptitle():
        figure.suptitle("")
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return buffer.getvalue().decode()
