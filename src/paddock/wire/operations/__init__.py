"""The table of operations: everything that a client can request from a simulation, defined once.

`*_entries.py` have the entries, a module per subject: a signature declares an operation, `@entry` where and for whom.
`operation.py` validates their arguments, whose types are in `arguments.py`; those of results are in `wire/results.py`
and `wire/radio_results.py`. JSON-RPC, ZeroMQ, both Python clients, the page's TypeScript types and the documentation
are derived from it.

To add one: write its entry in a module of this folder and its handler in `paddock.serve.operations` (or, for `hub`, in
`paddock.serve.methods`). The classes are only the table; nothing implements them.
"""

from paddock.wire.operations.arguments import ArgumentError
from paddock.wire.operations.clock_entries import ClockOperations, ScenarioOperations
from paddock.wire.operations.operation import Operation, collected
from paddock.wire.operations.radio_entries import RadioOperations
from paddock.wire.operations.vehicle_entries import MissionOperations, VehicleOperations
from paddock.wire.operations.world_entries import WorldOperations

OPERATIONS = collected(
    *(ClockOperations, VehicleOperations, WorldOperations, MissionOperations, RadioOperations, ScenarioOperations)
)  # every operation by its name
METHODS = {operation.entry.rpc: operation for operation in OPERATIONS.values() if operation.entry.rpc}
"""The operations that JSON-RPC offers, by method name."""
__all__ = ["METHODS", "OPERATIONS", "ArgumentError", "Operation"]
