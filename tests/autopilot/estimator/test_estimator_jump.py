"""After an outage the first fix moves the estimate: the jump is reported, so that it does not count as motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddock.autopilot.estimate import ESTIMATE_COLUMN, LocalFrame
from paddock.autopilot.estimator import Estimator
from paddock.autopilot.vehicle_data import COLUMN, SensorData

BACK = 30.0  # s, when fixes are good again
OFF = 10.0  # m north


def follow(bench: Any, outage: float, off: float = OFF, use_truth: bool = False) -> tuple[Any, list[Any], list[Any]]:
    """A standing vehicle; the estimator, the reported jumps (with times, s), and the rows of its estimates."""
    reported, rows = [], []
    now = 0.0
    estimator = Estimator(use_truth=use_truth, on_jump=lambda jump: reported.append((now, *jump)))
    fixes: dict[str, float] = {}
    for _, data in bench.Flight(bench.motions["standing"], seconds=BACK + 5.0):
        now = data.row[0] * 1e-6
        spoil(data, now, outage, off, fixes)
        if use_truth:
            data.row[COLUMN["true_north"] :] = (0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
        estimator.update(data)
        rows.append(estimator.row.copy())
    return estimator, reported, rows


def spoil(data: SensorData, now: float, outage: float, off: float, fixes: dict[str, float]) -> None:
    """No fix during the outage, displaced ones afterwards; a fix stands in its row until the next."""
    latitude, longitude, altitude = (data.row[COLUMN[name]] for name in ("latitude", "longitude", "altitude"))
    if BACK - outage <= now < BACK:
        data.row[COLUMN["gnss_fix"]] = 0.0
    elif now >= BACK and fixes.get("last") != latitude:
        fixes["last"] = LocalFrame(latitude, longitude, altitude).to_geodetic(off, 0.0, 0.0)[0]
        data.row[COLUMN["latitude"]] = fixes["last"]


@pytest.mark.parametrize("outage", [6.0, 25.0])
def test_the_correction_after_an_outage_is_reported_as_a_jump(bench: Any, outage: float) -> None:
    estimator, reported, rows = follow(bench, outage)
    late = [jump for jump in reported if jump[0] >= BACK]
    assert len(late) == 1 and late[0][0] < BACK + 1.5
    steps = np.diff(np.array(rows)[:, ESTIMATE_COLUMN["north"]])
    assert late[0][1] == pytest.approx(steps[np.abs(steps).argmax()], rel=0.1)  # as the estimate shows it
    assert sum(jump[1] for jump in reported) == pytest.approx(estimator.jumped[0])


def test_a_lost_position_must_be_confirmed_before_it_is_valid(bench: Any) -> None:
    _, reported, rows = follow(bench, 25.0)
    table = np.array(rows)
    good = table[(table[:, 0] >= BACK * 1e6) & (table[:, ESTIMATE_COLUMN["position_ok"]] == 1.0), 0]
    assert good[0] * 1e-6 == pytest.approx(reported[-1][0] + 0.8, abs=0.25)  # five fixes at 5 Hz


def test_fixes_without_an_outage_are_no_jumps(bench: Any) -> None:
    _, reported, _ = follow(bench, 0.0, off=0.0)
    assert len(reported) == 1 and reported[0][0] < 2.0  # the origin


def test_the_truth_does_not_jump(bench: Any) -> None:
    assert follow(bench, 25.0, use_truth=True)[1] == []
