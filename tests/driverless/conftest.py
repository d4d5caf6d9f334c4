"""The example programs of `examples/driverless/`, importable as a reader runs them: from their folder."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent.parent / "examples" / "driverless"
sys.path.insert(0, str(FOLDER))


@pytest.fixture(scope="session")
def example() -> Callable[[str], ModuleType]:
    return importlib.import_module
