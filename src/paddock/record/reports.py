"""What reports share: the style of figures, pages from templates, tables in Markdown, and a folder of files."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paddock.errors import MissingFeatureError, file_errors

T = TypeVar("T")
INK, SOFT, GRID, PAPER, ALARM = "#1f2a36", "#5f6b78", "#dfe4e9", "#ffffff", "#c4262e"
DARK, LIGHT = "#202b37", "#fdfdfd"
"""Text on a coloured background; unlike other colours it is the same in dark mode."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195", "#8c6d5a")
"""Colours distinguishable by colour-blind readers, on light and dark backgrounds (after Okabe and Ito)."""
STROKES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))  # for more vehicles than colours
SETTINGS: Any = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",  # included in matplotlib: the same everywhere
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
def styled(extra: str = "plan") -> Iterator[Any]:
    """Apply the common style while the block runs; yield the figure class. Needs no window system.

    `extra`: the extra of the package that installs matplotlib.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingFeatureError(f"pictures need matplotlib: pip install 'paddock[{extra}]'") from None
    with rc_context(SETTINGS):
        yield Figure


def colour(index: int) -> str:
    """Return the colour of a vehicle by its index in the problem."""
    return COLOURS[index % len(COLOURS)]


def stroke(index: int) -> Any:
    """Return the dashes of a vehicle's line."""
    return STROKES[index // len(COLOURS) % len(STROKES)]


def dress(axes: Any, title: str, note: str = "") -> None:
    """Add title, note and grid; remove the upper and right frame."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10)
    if note:
        axes.set_title(note, loc="right", fontsize=8.5, color=SOFT, pad=10)
    axes.grid(True)
    axes.tick_params(length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def png(figure: Any) -> bytes:
    """Return the figure as PNG without date and software name."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=144, facecolor=PAPER, metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Any) -> str:
    """Return the figure as SVG for a page, without title, with text as text."""
    for axes in figure.axes:
        axes.set_title("", loc="left")
    if figure.get_suptitle():
        figure.suptitle("")
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return buffer.getvalue().decode()


def drawn(draw: Callable[[Any], T]) -> tuple[T | None, str]:
    """Return what `draw` makes with the figure class; without matplotlib None, and the reason."""
    try:
        with styled() as figure_class:
            return draw(figure_class), ""
    except MissingFeatureError as error:
        return None, str(error)


def write_files(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> list[str]:
    """Write the files of a report by name; return their names."""
    with file_errors(f"cannot write to {os.fspath(folder)}"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (Path(folder) / name).write_bytes(content)
    return list(contents)


def plain_text(text: Any) -> str:
    """Return a text for Markdown that cannot end a cell of a table, nor begin a link or markup."""
    return "".join(f"\\{c}" if c in "\\|`*_[]<>#" else c for c in str(text))


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], numeric: str = "") -> list[str]:
    """Return the lines of a table in Markdown; `numeric` has an `n` for each column of numbers, aligned right."""
    rules = ["---:" if mark == "n" else "---" for mark in numeric.ljust(len(heads), ".")]
    cells = ([plain_text(cell) for cell in row] for row in rows)
    return [f"| {' | '.join(row)} |" for row in (heads, rules, *cells)]


_TAG = re.compile(r"<[^>]*>")
_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_ID = re.compile(r'(\bid="|url\(#|href="#)')


class Drawing(NamedTuple):
    """A figure of a page."""

    svg: Markup
    caption: str


def picture(svg: str, name: str, caption: str) -> Drawing:
    """Return an SVG drawing in the page's colours, light or dark."""

    def adapted(match: re.Match[str]) -> str:
        """Make ids unique among drawings, and replace colours by those of the page."""
        tag = _ID.sub(rf"\g<1>{name}-", match[0])
        for tone, variable in ((INK, "ink"), (SOFT, "soft"), (GRID, "grid"), (PAPER, "paper"), (ALARM, "alarm")):
            tag = tag.replace(tone, f"var(--{variable})")
        return tag

    drawing = _TAG.sub(adapted, _PROLOGUE.sub("", svg))
    drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
    return Drawing(Markup(drawing.strip()), caption)


def render(template: str, **values: Any) -> str:
    """Return the page of a template; texts are escaped. The same values give the same bytes."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    loader = PackageLoader("paddock.record")
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
