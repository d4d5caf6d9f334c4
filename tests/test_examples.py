from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
LONGER = ("06_renderer", "08_udp_driver", "10_autopilots")


def test_examples_exist() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, run_program: Callable[..., tuple[int, str, str]]) -> None:
    longest = 60 if path.stem in LONGER else 40
    assert len(path.read_text(encoding="utf-8").splitlines()) < longest
    code, out, err = run_program(path, ROOT)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) >= 3
    assert "DIFFERENT" not in out
