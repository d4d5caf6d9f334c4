"""Where the files of the page are."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(os.environ.get("PADDOCK_PAGE") or Path(__file__).parent / "page")
"""Where the build puts the page; whoever works on it may name another folder."""
