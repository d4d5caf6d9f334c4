"""The table of operations: everything that a client can request from a simulation, defined once.

`table/` has the entries, `operation.py` validates their arguments, `arguments.py` and `results.py` have the types.
JSON-RPC, ZeroMQ, both Python clients, the page's TypeScript types and the documentation are derived from it.
"""

from paddock.wire.operations.arguments import ArgumentError
from paddock.wire.operations.operation import Operation
from paddock.wire.operations.table import METHODS, OPERATIONS

__all__ = ["METHODS", "OPERATIONS", "ArgumentError", "Operation"]
