"""The table of operations, a module per subject: a signature declares an operation, `@entry` where and for whom.

To add one: write its entry in a module of this folder and its handler in `paddock.serve.operations` (or, for `hub`, in
`paddock.serve.methods`). Validation, JSON-RPC, the page's types and the documentation follow from the entry. The
classes are only the table; nothing implements them.
"""

from paddock.wire.operations.operation import collected
from paddock.wire.operations.table.clock import ClockOperations
from paddock.wire.operations.table.mission import MissionOperations
from paddock.wire.operations.table.radio import RadioOperations
from paddock.wire.operations.table.scenarios import ScenarioOperations
from paddock.wire.operations.table.vehicles import VehicleOperations
from paddock.wire.operations.table.world import WorldOperations

OPERATIONS = collected(
    *(ClockOperations, VehicleOperations, WorldOperations, MissionOperations, RadioOperations, ScenarioOperations)
)  # every operation by its name
METHODS = {operation.entry.rpc: operation for operation in OPERATIONS.values() if operation.entry.rpc}
"""The operations that JSON-RPC offers, by method name."""
