"""What a run was computed with: results may differ between versions."""

from __future__ import annotations

import platform
from importlib import import_module

import numpy as np


def versions() -> dict[str, str]:
    """Versions of Paddock and of what computes its numbers."""
    import numba

    package = import_module(__name__.partition(".")[0])  # by name: this room must not depend on the whole house
    return {
        "paddock": package.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
