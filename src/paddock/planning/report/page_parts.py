"""Pieces of the report: tables and pictures as HTML. Whatever a user wrote is escaped here, and only here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from paddock.planning.report.style import ALARM, GRID, INK, PAPER, SOFT

NUMBER = "n"
"""The class of columns of numbers."""
_TAG = re.compile(r"<[^>]*>")
_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_ID = re.compile(r'(\bid="|url\(#|href="#)')


def text(value: object) -> str:
    """As it stands, whatever is in it."""
    return escape(str(value), quote=True)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), classes: Sequence[str] = ()
) -> str:
    """Cells are HTML already. `numbers` are the columns that are set to the right, `classes` those of the rows."""
    right = set(numbers)

    def cells(tag: str, values: Sequence[str]) -> str:
        marks = [f' class="{NUMBER}"' if k in right else "" for k in range(len(values))]
        return "".join(f"<{tag}{mark}>{value}</{tag}>" for mark, value in zip(marks, values, strict=True))

    lines = [f"<table>\n<thead><tr>{cells('th', heads)}</tr></thead>\n<tbody>"]
    for k, row in enumerate(rows):
        kind = f' class="{classes[k]}"' if k < len(classes) and classes[k] else ""
        lines.append(f"<tr{kind}>{cells('td', row)}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def picture(svg: str, name: str, caption: str) -> str:
    """A drawing that takes the page's colours, by day and by night."""
    drawing = _TAG.sub(lambda tag: _adapted(tag[0], name), _PROLOGUE.sub("", svg))
    drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{text(caption)}" ', 1)
    return f"<figure>\n{drawing.strip()}\n<figcaption>{text(caption)}</figcaption>\n</figure>"


def _adapted(tag: str, name: str) -> str:
    """Ids that differ from those of other drawings, and colours that the page chooses."""
    tag = _ID.sub(rf"\g<1>{name}-", tag)
    for tone, variable in ((INK, "ink"), (SOFT, "soft"), (GRID, "grid"), (PAPER, "paper"), (ALARM, "alarm")):
        tag = tag.replace(tone, f"var(--{variable})")
    return tag


def cards(pairs: Iterable[tuple[str, str]]) -> str:
    """Figures to be seen at a glance: value and what it is."""
    boxes = (f'<div class="card"><b>{text(value)}</b><span>{text(what)}</span></div>' for value, what in pairs)
    return f'<div class="cards">{"".join(boxes)}</div>'


def dot(colour: str) -> str:
    """The mark of a vehicle's colour."""
    return f'<span class="dot" style="background:{colour}"></span>'
