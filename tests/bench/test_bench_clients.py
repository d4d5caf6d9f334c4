"""The benchmark of a run beside busy clients."""

from __future__ import annotations

import json

import pytest

from paddock.bench.processes import Server, Subscriber
from paddock.bench.suites.clients import asked, rovers, rovers_with_radio
from paddock.wire.operations import OPERATIONS


def test_every_operation_that_notebooks_may_call_without_the_clock_is_measured() -> None:
    calls = ("Call", "Command", "GetMetadata", "Reset")
    theirs = {name for name, operation in OPERATIONS.items() if operation.entry.zmq in calls}
    of_the_clock = {"hold", "release_clock", "seek"}
    of_missions = {
        "mission_view",
        "add_task",
        "move_task",
        "remove_task",
        "add_zone",
        "remove_zone",
        "add_vehicle",
        "damage_vehicle",
    }
    assert theirs - of_the_clock - of_missions - {"command_many"} == {*asked(radio=False), *asked(radio=True)}
    assert len(asked(radio=True)) == 23


@pytest.mark.slow
def test_operations_of_the_radio_are_answered() -> None:
    with Server(rovers_with_radio(10), {"zmq": {"port": 0}}) as server:
        port = server.addresses["zmq"]["port"]
        for operation in ("link_budget", "radio_view", "set_jammer", "set_spoofer", "radio_commands", "radio_send"):
            example, figures = json.dumps(OPERATIONS[operation].entry.example), {"answers": 0.0}
            while figures["answers"] == 0.0:  # the first answer may wait for code to be compiled
                figures = Subscriber("ask", port, operation, example, 0.3, 1).result()
            assert figures["refused"] == 0, operation


@pytest.mark.slow
def test_clients_are_answered_while_the_run_ticks() -> None:
    with Server(rovers(10), {"zmq": {"port": 0}}) as server:
        before = server.figures()
        for operation, fewest in (("inspect", 10), ("command", 10), ("restore", 0)):
            port, params = server.addresses["zmq"]["port"], json.dumps(OPERATIONS[operation].entry.example)
            figures = Subscriber("ask", port, operation, params, 2.0, 4).result()
            assert figures["answers"] > fewest and figures["refused"] == 0
        assert server.figures()["ticked"] > before["ticked"]
