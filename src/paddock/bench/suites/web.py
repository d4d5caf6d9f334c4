"""Cost of the page for the server, and its speed in a browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from paddock.bench.processes import Server, Subscriber, swarm
from paddock.bench.result import Bench, Result, measured
from paddock.errors import PaddockError


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process, s, over all threads; 0 if unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


RATE = 30  # groups per s


def cost(quick: bool) -> Iterator[Result]:
    """Measure 100,000 vehicles at 30 Hz to one page."""
    count, seconds = (10_000, 2.0) if quick else (100_000, 10.0)
    with Server(swarm(count, RATE), {"web": {"port": 0, "rate": RATE}}) as server:
        page = Subscriber("web", server.addresses["web"]["port"], RATE).started()
        sleep(1.0)
        hub, publishing = _shares(server, seconds)
        figures = page.result()
    case = f"{count:,} vehicles at {RATE} Hz"
    yield measured(f"{case}: the hub's processor time", 100.0 * hub, "% of a core", None if quick else "<= 10")
    yield measured(f"{case}: publishing, within the tick", 100.0 * publishing, "% of a core")
    yield measured(f"{case}: groups that arrived", figures["rate"], "Hz", None if quick else ">= 29")
    yield measured(f"{case}: bytes to the page", figures["bytes_per_second"] / 1e6, "MB/s")


def _shares(server: Server, seconds: float) -> tuple[float, float]:
    """Return processor time of the hub, and time of the ticking thread for snapshots, per second."""

    def spent() -> tuple[float, float, float]:
        figures = server.figures()
        return processor_seconds(figures["hub"]), float(figures["stages"]["publish"]["seconds"]), monotonic()

    hub, publishing, begun = spent()
    sleep(seconds)
    hub_end, publishing_end, end = spent()
    return (hub_end - hub) / (end - begun), (publishing_end - publishing) / (end - begun)


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = (
    "--no-sandbox",
    "--disable-gpu",  # compositing in software, too: with ANGLE it is four times slower
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTH, HEIGHT = 1280, 720
PATIENCE = 30.0  # s: timeout of the first drawing
FIRST = "() => window.paddock?.drawn?.() > 0"


def browser(quick: bool) -> Iterator[Result]:
    """Measure first frame, decoding, and frame rate with 10,000 and 100,000 vehicles."""
    yield from _light(quick)
    cases = ((1_000, None),) if quick else ((10_000, ">= 20"), (100_000, ">= 3"))
    for count, target in cases:
        with Server(swarm(count, 30), {"web": {"port": 0, "rate": 30}}) as server, opened(server) as (page, _):
            _wait(page)
            sleep(4.0)  # until the rates are steady
            frames, age = _pictures(page, 3.0 if quick else 8.0)
        yield measured(f"{count:,} vehicles: frame rate in software", frames, "Hz", target)
        yield measured(f"{count:,} vehicles: age of received frames", 1000 * age, "ms")


def _light(quick: bool) -> Iterator[Result]:
    """Measure figures that do not depend on the number of vehicles."""
    with Server(swarm(100, 30), {"web": {"port": 0}}) as server, opened(server) as (page, begun):
        _wait(page)
        yield measured("first frame after opening the link", monotonic() - begun, "s", None if quick else "<= 2")
        times = page.evaluate("() => window.paddock.measureDecode(100000)")
        yield measured("decoding 100,000 vehicles, median", times["median"], "ms", None if quick else "<= 5")
        sizes = page.evaluate("async () => (await fetch('sizes.json')).json()")
        yield measured("gzipped download before the first frame", sizes["initial"] / 1000, "kB", "<= 240")


@contextmanager
def opened(server: Server) -> Iterator[tuple[Any, float]]:
    """Yield the page of a server in a new browser, and the time (s, monotonic) when its link was opened."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise PaddockError("this part needs a package: pip install playwright") from None
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise PaddockError(f"this part needs a browser: install one of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(SOFTWARE))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        begun = monotonic()
        page.goto(f"http://127.0.0.1:{server.addresses['web']['port']}/", wait_until="commit")
        yield page, begun
        browser.close()


def _wait(page: Any) -> None:
    """Wait until a frame with vehicles is drawn."""
    end = monotonic() + PATIENCE
    while not page.evaluate(FIRST):  # Playwright's own wait needs eval, which the page's policy forbids
        if monotonic() > end:
            raise PaddockError(f"nothing was drawn within {PATIENCE:g} s")
        sleep(0.02)


def _pictures(page: Any, seconds: float) -> tuple[float, float]:
    """Return (frames per s, age in s), averaged over a few seconds."""
    counted = page.evaluate(
        """async (ms) => {
          const before = window.paddock.drawn(), begun = performance.now();
          await new Promise((done) => setTimeout(done, ms));
          const rates = window.paddock.store.pageRates.value;
          return [(window.paddock.drawn() - before) / (performance.now() - begun) * 1000, rates.age];
        }""",
        1000 * seconds,
    )
    return float(counted[0]), float(counted[1])


def run(quick: bool) -> Iterator[Result]:
    """Measure the server, then the browser."""
    for part in (cost, browser):
        yield from part(quick)


BENCH = Bench("the page: its cost for the server, and its speed in a browser", run, by_default=False)
