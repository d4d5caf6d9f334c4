"""The page's types are those that Python declares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WEB = Path(__file__).parents[3] / "web"


@pytest.mark.skipif(not WEB.is_dir(), reason="the sources of the page are not here")
def test_the_pages_types_are_those_of_python() -> None:
    done = subprocess.run([sys.executable, WEB / "generate.py", "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
