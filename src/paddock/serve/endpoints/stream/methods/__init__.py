"""The RPC methods, one file per family. Importing this makes all of them known."""

from __future__ import annotations

from paddock.serve.endpoints.stream.method import METHODS
from paddock.serve.endpoints.stream.methods import clock, debug, drones, looking, markers, session, vehicles

__all__ = ["METHODS", "clock", "debug", "drones", "looking", "markers", "session", "vehicles"]
