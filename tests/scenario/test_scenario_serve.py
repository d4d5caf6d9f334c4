"""The `serve` section: short forms, and errors with their location."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.scenario import ScenarioError, load_scenario, scenario_schema
from paddock.scenario.serve import split_address


def serve(**fields: Any) -> Any:
    return load_scenario({"vehicles": [], "serve": fields}).serve


def test_a_port_a_name_or_true_are_short_forms() -> None:
    options = serve(stream=5000, vds1=True, zmq={"port": 6000}, shm="screen", metrics=True)
    assert list(options.endpoints) == ["stream", "vds1", "zmq", "shm", "metrics"]
    assert (options.stream.port, options.vds1.port, options.zmq.port, options.metrics.port) == (5000, 7001, 6000, 9464)
    assert options.shm.name == "screen" and options.vds1.state == "127.0.0.1:7002" and options.vds1.timeout == 0.1
    assert serve(stream=None).endpoints == {}
    assert serve(stream=0, web=0, zmq=0, vds1=9464, metrics=True).tcp_ports == {"metrics": 9464}  # vds1 is UDP


def test_it_loads_back_equal() -> None:
    scenario = load_scenario({"vehicles": [], "serve": {"stream": 5000, "zmq": True, "token": "a secret"}})
    assert load_scenario(scenario.to_dict()) == scenario
    assert load_scenario(scenario.to_yaml()) == scenario


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"strem": 1}, "serve.strem: unknown key 'strem' in serve; did you mean 'stream'?"),
        ({"stream": 70000}, "serve.stream: must be <= 65535, not 70000"),
        ({"stream": {"rate": 0}}, "serve.stream.rate: must be > 0, not 0"),
        ({"stream": {"dial": [{"to": "host"}]}}, "serve.stream.dial[0].to: an address is written host:port"),
        ({"bind": "example"}, "serve.bind: bind is an IP address such as 127.0.0.1"),
        ({"bind": "0.0.0.0", "stream": True}, "serve.bind: listening on 0.0.0.0 needs a token"),
        ({"bind": "::", "stream": True}, "serve.bind: listening on :: needs a token"),
        ({"bind": "0.0.0.0", "token": "12345678", "vds1": True}, "serve.vds1: vds1 cannot check a token"),
        ({"token": "short"}, "serve.token: "),
        (
            {"hosts": ["sim.lan:8000"]},
            "serve.hosts: hosts are names such as sim.example, without a port, not 'sim.lan:8000'",
        ),
        ({"vds1": {"cookie": "none"}}, "serve.vds1.cookie: "),
        ({"shm": "a/b"}, "serve.shm"),
        (
            {"web": 6001, "zmq": 6000},
            "serve.zmq: port 6001 is that of web and of the states of zmq (the next port, unless `publish` is set)",
        ),
        ({"stream": 6001, "zmq": {"publish": 6001}}, "serve.zmq: port 6001 is that of stream and of the states of zmq"),
        ({"stream": 6001, "metrics": 6001}, "serve.metrics: port 6001 is that of stream and of metrics"),
    ],
)
def test_errors_name_the_field(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        serve(**fields)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("bind", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_needs_no_token(bind: str) -> None:
    assert serve(bind=bind, stream=True, vds1=True).local


def test_other_addresses_need_a_token_or_insecure() -> None:
    assert not serve(bind="0.0.0.0", token="12345678", stream=True).local
    assert not serve(bind="0.0.0.0", insecure=True, vds1=True).local


def test_addresses() -> None:
    assert split_address("127.0.0.1:7002") == ("127.0.0.1", 7002)
    assert split_address("[::1]:7002") == ("::1", 7002)
    for wrong in ("7002", "host:", "host:0", "host:70000", ":1", "host:1x"):
        with pytest.raises(ValueError, match="host:port"):
            split_address(wrong)


def test_the_schema_knows_the_short_forms() -> None:
    fields = scenario_schema()["$defs"]["Serve"]["properties"]
    assert {"type": "integer"} in fields["stream"]["anyOf"] and {"const": True} in fields["zmq"]["anyOf"]
    assert {"type": "string"} in fields["shm"]["anyOf"]
