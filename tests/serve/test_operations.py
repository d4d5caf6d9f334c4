"""Every entry of the table of operations has a handler, and every handler an entry."""

from inspect import signature
from operator import attrgetter

import pytest

import paddock
from paddock.bench.suites.clients import rovers_with_radio
from paddock.serve.live import handlers
from paddock.serve.methods import HUB_HANDLERS
from paddock.serve.replay import REPLAYED
from paddock.wire.operations import OPERATIONS
from paddock.wire.operations.operation import entry

HANDLERS = handlers()


def test_every_operation_has_one_handler() -> None:
    hub = {name for name, operation in OPERATIONS.items() if operation.entry.handling == "hub"}
    assert set(HUB_HANDLERS) == hub
    assert set(HANDLERS) == set(OPERATIONS) - hub
    assert set(HANDLERS) > REPLAYED


def test_handlers_take_the_arguments_of_their_entries() -> None:
    for name, handler in {**HANDLERS, **HUB_HANDLERS}.items():
        code = handler.__code__
        first = 2 if name in HANDLERS else 1  # run and client, or client
        taken = code.co_varnames[first : code.co_argcount]
        declared = [argument.name for argument in OPERATIONS[name].arguments]
        collects = bool(code.co_flags & 0x08)  # **arguments
        assert set(taken) == set(declared) or (collects and set(taken) < set(declared)), name


def test_operations_without_a_handler_are_methods_of_the_simulation() -> None:
    derived = [OPERATIONS[name] for name, handler in HANDLERS.items() if handler.__name__ == "handler"]
    with paddock.load(rovers_with_radio(1)) as sim:
        for operation in derived:
            method = attrgetter(".".join(filter(None, operation.client)))(sim)
            taken = signature(method).parameters
            assert {argument.name for argument in operation.arguments} <= {*taken}, operation.name


def test_hub_operations_are_those_of_json_rpc() -> None:
    assert all(operation.entry.rpc for operation in OPERATIONS.values() if operation.entry.handling == "hub")
    with pytest.raises(ValueError, match="operations of the hub are JSON-RPC only"):
        entry("hub", rpc=True, zmq="Call")


def test_examples_are_valid_arguments() -> None:
    examples = {name: operation.entry.example for name, operation in OPERATIONS.items()}
    assert sum(bool(example) for example in examples.values()) >= 20
    for name, example in examples.items():
        if example is not None:
            saved = {"state": b""} if name == "restore" else {}  # what the bench has saved before
            OPERATIONS[name].checked({**example, **saved})
