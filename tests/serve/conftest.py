"""Fixtures of all tests of serving."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from paddock.serve.host import Host

PATIENCE = 60.0


@pytest.fixture(scope="session")
def metrics() -> Callable[[Host, str], list[Any]]:
    """`metrics(host, name)`: the samples of the metrics endpoint under a name."""

    def read(host: Host, name: str) -> list[Any]:
        url = f"http://127.0.0.1:{host.addresses['metrics']['port']}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE) as page:
            families = text_string_to_metric_families(page.read().decode())
        return [sample for family in families for sample in family.samples if sample.name == name]

    return read


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], bool]:
    """`eventually(condition)`: whether it becomes true in time."""

    def wait(true: Callable[[], bool]) -> bool:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(OSError, EOFError):
                if true():
                    return True
            time.sleep(0.05)
        return False

    return wait
