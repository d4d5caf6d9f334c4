"""Fixtures: a real browser in front of a real server; tests click in the page and check the simulation.

The first page of a browser takes seconds to open, the next ones a fraction of it. A process has one browser for its
tests of this folder; each file has windows, which are used again with empty storage, and one server per scenario, which
is reset for each test.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import sleep
from typing import Any

import pytest

import paddock
from paddock.serve.host import Host

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
PATIENCE = 60.0
"""Timeout in s; software rendering on a busy machine is slow."""
LOOK_EVERY = 30
"""ms between two evaluations in the page."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
]
SIZE = {"width": 1280, "height": 720}
SETTLED = """new Promise((settled) => {
  let [drawn, unchanged] = [-1, 0]; // pictures of the world, and animation frames without another one
  const look = () => {
    unchanged = window.paddock.drawn() === drawn ? unchanged + 1 : 0;
    drawn = window.paddock.drawn();
    if (unchanged < 6) requestAnimationFrame(look);
    else settled(true);
  };
  look();
})"""


def missing(what: str) -> None:
    """Skip, or fail if browser tests are required."""
    if os.environ.get("PADDOCK_REQUIRE_BROWSER") == "1":
        pytest.fail(f"browser tests are required here: {what}")
    pytest.skip(f"{what} (PADDOCK_REQUIRE_BROWSER=1 makes this a failure)")


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the package; if its sources have changed since and Node is available, one built from them."""
    if chosen := os.environ.get("PADDOCK_PAGE"):
        return Path(chosen)
    node, built = shutil.which("node"), ROOT / "src" / "paddock" / "serve" / "page"
    stale = runpy.run_path(str(ROOT / "hatch_build.py"))["stale"](ROOT)
    if stale and node is not None and (WEB / "node_modules").is_dir():
        folder = tmp_path_factory.mktemp("built") / "page"
        command = [node, str(WEB / "build.mjs"), "--out", str(folder)]
        done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return folder
    if not (built / "index.html").is_file():
        missing("the page is not built, and Node or web/node_modules is missing")
    return built


class Chromium:
    """A browser that is started at its first use, and again if it is used after its end."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._running: Any = None

    def start(self) -> Any:
        if self._running is None:
            try:
                from playwright.sync_api import sync_playwright
            except ImportError:
                missing("the package playwright is not installed")
            browser = next(filter(None, map(shutil.which, BROWSERS)), None)
            if browser is None:
                missing(f"no browser found: {', '.join(BROWSERS)}")
            driver = self._open.enter_context(sync_playwright())
            self._running = driver.chromium.launch(executable_path=browser, args=ARGUMENTS)
            self._open.callback(self._running.close)
        return self._running

    def close(self) -> None:
        self._running = None
        self._open.close()


CHROMIUM = Chromium()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Close the browser after the last test of this folder: its event loop would interfere with other tests."""
    try:
        yield
    finally:
        if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
            CHROMIUM.close()


@pytest.fixture(scope="module")
def browser() -> Any:
    return CHROMIUM.start()


class Window:
    """A page in its own browser context (no shared storage); collects its errors."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(viewport=SIZE, accept_downloads=True, reduced_motion="reduce")
        self.context.set_default_timeout(1000 * PATIENCE)
        self.page = self.context.new_page()
        self.url = ""
        self.errors: list[str] = []
        self.foreign: list[str] = []  # requests to other servers
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        self.page.on("request", self._on_request)

    def open(self, url: str) -> Window:
        """Load the page of a server."""
        self.url = url
        self.page.goto(url)
        return self

    def leave(self) -> None:
        """Disconnect, and clear the page's storage."""
        self.ask("[localStorage, sessionStorage].forEach((kept) => kept.clear())")
        self.page.goto("about:blank")

    def _on_console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _on_request(self, request: Any) -> None:
        own = re.escape(self.url.split("?")[0].removeprefix("http"))
        if not re.match(rf"(http|ws){own}|blob:|data:|about:", request.url):
            self.foreign.append(request.url)

    def ask(self, expression: str) -> Any:
        """A value of the page."""
        return self.page.evaluate(expression)

    def signal(self, name: str) -> Any:
        """One of the page's signals, such as `clock.tick`."""
        head, _, rest = name.partition(".")
        return self.ask(f"window.paddock?.store?.{head}.value{'?.' + rest if rest else ''}")

    def until(self, condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Return the first truthy value of `condition`; fail after a timeout."""
        for _ in range(round(1000 * seconds / LOOK_EVERY)):
            if value := condition():
                return value
            self.page.wait_for_timeout(LOOK_EVERY)
        pytest.fail(f"timeout after {seconds:g} s; notices {self.notices()}, errors {self.errors}")

    def notices(self) -> list[str]:
        """The texts of the shown notices."""
        return list(self.ask("(window.paddock?.store?.notices.value ?? []).map((one) => one.text)"))

    def ready(self) -> Window:
        """Wait until the page is connected and has a frame."""
        self.until(lambda: self.signal("connection.state") == "open" and self.signal("metadata") is not None)
        self.until(lambda: self.ask("window.paddock.store.source.value?.sample(performance.now()) != null"))
        return self

    def settle(self) -> None:
        """Wait until the view of a paused world is drawn and its camera has stopped."""
        assert self.ask(SETTLED)

    def shown_at(self, id: int) -> tuple[float, float] | None:
        """Window position (CSS px) of a vehicle."""
        inside = self.ask(f"window.paddock?.project?.({id}) ?? null")
        if inside is None:
            return None
        left, top = self.ask("(({ x, y }) => [x, y])(window.paddock.stage.canvas.getBoundingClientRect())")
        return left + inside[0], top + inside[1]

    def button(self, name: str) -> Any:
        """A button by its accessible name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def close(self) -> None:
        self.context.close()


class Served:
    """A simulation with its page."""

    def __init__(self, scenario: Any, port: int = 0, **fields: Any) -> None:
        with ExitStack() as stack:
            self.sim = stack.enter_context(paddock.load(scenario))
            self.sim.engine.prepare()  # kernels may take a minute to compile, for which no page waits
            web = {"web": {"port": port}, **fields}
            self.host: Host = stack.enter_context(paddock.share(self.sim, lambda line: None, **web))
            self._open = stack.pop_all()
        self.port: int = self.host.addresses["web"]["port"]
        self.url = f"http://127.0.0.1:{self.port}/"
        self._start = (self.sim.scenario.seed, self.sim.clock.pace)

    def reset(self) -> None:
        """Start again, when the clients of the last test have left."""
        while (figures := self.host.source.figures())["claims"] or figures["owner"]:
            sleep(0.01)
        seed, self.sim.clock.pace = self._start
        self.sim.clock.resume()
        self.sim.reset(seed)

    def close(self) -> None:
        self._open.close()


Serve = Callable[..., Served]
Open = Callable[..., Window]


@pytest.fixture(scope="module")
def servers(page_folder: Path) -> Iterator[dict[str, Served]]:
    """The servers of a file: scenario -> server."""
    started: dict[str, Served] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PADDOCK_PAGE", str(page_folder))
        yield started
        for served in started.values():
            served.close()


@pytest.fixture
def serve(servers: dict[str, Served]) -> Iterator[Serve]:
    """`serve(scenario, running=False)`: a simulation and its page, at tick 0; with `port` or other fields a new one."""
    with ExitStack() as stack:

        def start(scenario: Any, running: bool = False, **fields: Any) -> Served:
            if fields or not isinstance(scenario, dict):
                served = Served(scenario, **fields)
                stack.callback(served.close)
            elif (served := servers.get(key := json.dumps(scenario))) is not None:
                served.reset()
            else:
                served = servers[key] = Served(scenario)
            if running:
                stack.enter_context(served.sim.clock.running())
            return served

        yield start


@pytest.fixture(scope="module")
def windows(browser: Any) -> Iterator[list[Window]]:
    """The windows of a file that are not in use."""
    yield (unused := [])
    for window in unused:
        window.close()


@pytest.fixture
def open_page(browser: Any, windows: list[Window], request: pytest.FixtureRequest) -> Iterator[Open]:
    """`open_page(url)`: a window; the test fails on console errors and on requests to other servers."""
    opened: list[tuple[Window, str]] = []
    failed = request.session.testsfailed

    def start(url: str, expected_errors: str = "") -> Window:
        """`expected_errors`: a pattern of console errors to ignore."""
        window = windows.pop() if windows else Window(browser)
        window.errors, window.foreign = [], []
        opened.append((window, expected_errors))
        return window.open(url)

    yield start
    wrong = []
    for window, expected in opened:
        wrong += [error for error in window.errors if not (expected and re.search(expected, error))] + window.foreign
        if request.session.testsfailed == failed:
            window.leave()
            windows.append(window)
        else:  # in an unknown state
            window.close()
    assert wrong == []


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for screenshots: $PADDOCK_SCREENSHOTS, or a temporary one."""
    folder = os.environ.get("PADDOCK_SCREENSHOTS")
    if folder is None:
        return tmp_path_factory.mktemp("screenshots")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)
