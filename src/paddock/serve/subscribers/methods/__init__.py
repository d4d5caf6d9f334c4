"""The RPC methods, one file per family. Importing this makes all of them known."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from paddock.serve.subscribers.method import METHODS

for _family in iter_modules(__path__):
    import_module(f"{__name__}.{_family.name}")

__all__ = ["METHODS"]
