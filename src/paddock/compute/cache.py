"""Where compiled kernels are kept between runs: one folder for each state of the sources they were made from."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from functools import cache
from pathlib import Path

import xxhash


@cache
def cache_root() -> Path:
    """The user's cache folder for Paddock ($PADDOCK_CACHE overrides it), or a temporary one if it cannot be written."""
    root = _preferred_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="paddock-kernels-"))


def _preferred_root() -> Path:
    if chosen := os.environ.get("PADDOCK_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "paddock" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/paddock/kernels"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paddock" / "kernels"


def source_path(name: str, text: str, sources: set[str], identity: str = "") -> Path:
    """The file that holds one generated kernel, written once; its folder is keyed on everything that shapes the code.

    `identity` describes what the text does not show: the functions it calls and the constants they use.
    """
    folder = cache_root() / f"{name}-{_key(text + identity, sources)}"
    path = folder / f"{name.replace('.', '_')}.py"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)  # another process may have been faster: the content is the same
    return path


def _key(text: str, sources: set[str]) -> str:
    """A digest of the kernel's text, the sources of the functions it calls, Numba's version and the machine."""
    import numba

    digest = xxhash.xxh3_128()
    for part in (text, numba.__version__, platform.machine(), platform.python_version(), *sorted(sources)):
        digest.update(part.encode())
    for source in sorted(sources):
        digest.update(_content(source))
    return digest.hexdigest()[:20]


@cache
def _content(source: str) -> bytes:
    try:
        return Path(source).read_bytes()
    except OSError:  # a function typed into a notebook has no file; its code is in the kernel's own key
        return b""
