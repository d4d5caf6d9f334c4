"""Fixtures: a real browser in front of a real server; tests click in the page and check the simulation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.serve.host import Host

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
PATIENCE = 30.0
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


def missing(what: str) -> None:
    """Skip, or fail if browser tests are required."""
    if os.environ.get("PADDOCK_REQUIRE_BROWSER") == "1":
        pytest.fail(f"browser tests are required here: {what}")
    pytest.skip(f"{what} (PADDOCK_REQUIRE_BROWSER=1 makes this a failure)")


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, built from its present sources; without Node the one built before."""
    if given := os.environ.get("PADDOCK_PAGE"):
        return Path(given)
    node = shutil.which("node")
    if node is not None and (WEB / "node_modules").is_dir():
        folder = tmp_path_factory.mktemp("built") / "page"
        command = [node, str(WEB / "build.mjs"), "--out", str(folder)]
        done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return folder
    built = ROOT / "src" / "paddock" / "serve" / "page"
    if not (built / "index.html").is_file():
        missing("the page is not built, and Node or web/node_modules is missing")
    return built


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, one per test file: its event loop would interfere with other tests."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the package playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        missing(f"no browser found: {', '.join(BROWSERS)}")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield running
        running.close()


class Window:
    """A page in its own browser context (no shared storage); collects its errors."""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url
        self.context = browser.new_context(viewport=SIZE, accept_downloads=True)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.foreign: list[str] = []  # requests to other servers
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        self.page.on("request", self._on_request)
        self.page.goto(url)

    def _on_console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _on_request(self, request: Any) -> None:
        own = re.escape(self.url.split("?")[0].removeprefix("http"))
        if not re.match(rf"(http|ws){own}|blob:|data:", request.url):
            self.foreign.append(request.url)

    def ask(self, expression: str) -> Any:
        """A value of the page."""
        return self.page.evaluate(expression)

    def signal(self, name: str) -> Any:
        """One of the page's signals, such as `clock.tick`."""
        head, _, rest = name.partition(".")
        return self.ask(f"window.paddock?.store?.{head}.value{'?.' + rest if rest else ''}")

    def until(self, true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Return the first truthy value of `true`; fail after a timeout."""
        for _ in range(round(1000 * seconds / LOOK_EVERY)):
            if found := true():
                return found
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

    def __init__(self, stack: ExitStack, scenario: Any, running: bool, pace: float, port: int, **fields: Any) -> None:
        self.sim = stack.enter_context(paddock.load(scenario))
        web = {"web": {"port": port}, **fields}
        self.host: Host = stack.enter_context(paddock.share(self.sim, lambda line: None, **web))
        self.port: int = self.host.addresses["web"]["port"]
        self.url = f"http://127.0.0.1:{self.port}/"
        if running:
            stack.enter_context(self.sim.clock.running(pace=pace))


Serve = Callable[..., Served]
Open = Callable[..., Window]


@pytest.fixture
def serve(page_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """`serve(scenario, running=True, pace=1.0, port=0)`: a simulation and its page."""
    monkeypatch.setenv("PADDOCK_PAGE", str(page_folder))
    with ExitStack() as stack:

        def start(scenario: Any, running: bool = False, pace: float = 1.0, port: int = 0, **fields: Any) -> Served:
            return Served(stack, scenario, running, pace, port, **fields)

        yield start


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """`open_page(url)`: a window; the test fails on console errors and on requests to other servers."""
    windows: list[Window] = []
    forgiven: list[str] = []

    def opened(url: str, forgive: str = "") -> Window:
        """`forgive`: a pattern of expected console errors."""
        windows.append(Window(browser, url))
        forgiven.append(forgive)
        return windows[-1]

    yield opened
    for window in windows:
        window.close()
    for window, forgive in zip(windows, forgiven, strict=True):
        wrong = [error for error in window.errors if not (forgive and re.search(forgive, error))]
        assert wrong == [] and window.foreign == []


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for screenshots: $PADDOCK_SCREENSHOTS, or a temporary one."""
    folder = os.environ.get("PADDOCK_SCREENSHOTS")
    if folder is None:
        return tmp_path_factory.mktemp("screenshots")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)
