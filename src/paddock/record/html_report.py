"""HTML reports: the templates of `record/templates`, filled with texts, tables and drawings; one file each."""

import re
from functools import cache
from html import escape
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paddock.record.mission_report.map_figure import ALARM, GRID, INK, PAPER, SOFT

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
