"""What the page costs, and how it keeps up."""

from __future__ import annotations

from collections.abc import Iterator

from paddock.bench.result import Bench, Result


def run(quick: bool) -> Iterator[Result]:
    """The server's side, then the browser's."""
    from paddock.bench.web.browser import browser
    from paddock.bench.web.cost import cost

    for part in (cost, browser):
        yield from part(quick)


BENCH = Bench("the page: its cost for the server, and its speed in a browser", run, by_default=False)
