"""`paddock export tyre`: peaks against the coefficients of the file, and a picture."""

import json
from math import atan, sin
from pathlib import Path

import pytest

from paddock.cli.main import exit_code

FILE = Path(__file__).parents[1] / "support" / "tyres" / "touring_61.tir"


def test_the_peaks_are_those_of_the_coefficients(capsys: pytest.CaptureFixture[str]) -> None:
    """Friction PDY1 + PDY2 dfz and PDX1 + PDX2 dfz, stiffness PKY1 Fz0 sin(PKY4 atan(Fz / (PKY2 Fz0)))."""
    values = dict(
        (part.strip() for part in line.split("=")) for line in FILE.read_text().splitlines() if line.count("=") == 1
    )
    k = {name: float(values[name]) for name in ("PDX1", "PDX2", "PDY1", "PDY2", "PKY1", "PKY2", "PKY4")}
    assert exit_code(["export", "tyre", str(FILE), "--json", "--loads", "2000", "6000"]) == 0
    peaks = json.loads(capsys.readouterr().out)
    for row, load in zip(peaks["peaks"], (2000.0, 6000.0), strict=True):
        change = (load - 4000.0) / 4000.0
        stiffness = abs(k["PKY1"]) * 4000.0 * sin(k["PKY4"] * atan(load / (k["PKY2"] * 4000.0)))
        assert row["load"] == load
        assert row["mu_x"] == pytest.approx(k["PDX1"] + k["PDX2"] * change, rel=0.01)
        assert row["mu_y"] == pytest.approx(abs(k["PDY1"] + k["PDY2"] * change), rel=0.015)  # vertical shift
        assert row["cornering_stiffness"] == pytest.approx(stiffness, rel=0.01)
    assert peaks["relaxation_lateral"] == pytest.approx(0.52, abs=0.01)


def test_table_picture_and_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "t.png"
    assert exit_code(["export", "tyre", str(FILE), "--output", str(picture), "--camber-deg", "-2"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 and lines[3].split()[0] == "4000" and lines[-1] == str(picture)
    for arguments, problem in (
        ([str(tmp_path / "no.tir")], "cannot read"),
        ([str(FILE), "--loads", "-3"], "--loads: a load must lie in 0 to 1e+06 N, not -3"),
        ([str(FILE), "--camber-deg", "95"], "--camber-deg must lie in -90 to 90 degrees, not 95"),
        ([str(FILE), "--output", str(tmp_path / "no" / "x.png")], "cannot write"),
    ):
        assert exit_code(["export", "tyre", *arguments]) == 2
        assert problem in capsys.readouterr().err
