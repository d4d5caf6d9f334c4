"""Tyre property files: what is read, and errors that name line, section and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.wire.tir import TirError, parse_tir, read_tir

FILE = Path(__file__).parents[1] / "support" / "tyres" / "touring_61.tir"
TEXT = FILE.read_text()


def test_sections_keys_and_texts_are_read() -> None:
    file = read_tir(FILE)
    assert file.version == 61
    assert file.number("VERTICAL", "FNOMIN", 0.0) == 4000.0
    assert file.number("LATERAL_COEFFICIENTS", "PKY1", 0.0) == -15.324
    assert file.number("LATERAL_COEFFICIENTS", "PKY9", 0.5) == 0.5
    assert file.texts["MODEL"]["TYRESIDE"] == "LEFT"


def test_comments_case_spaces_and_fortran_numbers() -> None:
    text = TEXT.replace("PCX1 = 1.579", "  pcx1=1.579D+0   $ shape").replace("[VERTICAL]", "[ vertical ] ! loads")
    assert parse_tir(text, "a").numbers == read_tir(FILE).numbers


@pytest.mark.parametrize(("kind", "version"), [(5, 52), (6, 52), (21, 52), (52, 52), (61, 61), (62, 61)])
def test_versions(kind: int, version: int) -> None:
    assert parse_tir(TEXT.replace("FITTYP = 61", f"FITTYP = {kind}"), "a").version == version


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[MODEL]", "[MODELS]", "a.tir: the section [MODEL] is missing; is this a tyre property file?"),
        ("FITTYP = 61", "FITTYP = 70", "[MODEL] FITTYP is 70; valid: 5, 6, 21, 52 (MF 5.2) and 60, 61, 62 (MF 6.1)"),
        ("FITTYP = 61", "", "[MODEL] FITTYP is missing; valid: 5"),
        ("[VERTICAL]", "[VERTIKAL]", "the section [VERTICAL] is missing; did you mean 'VERTIKAL'?"),
        ("PKY1 = -15.324", "PKYY = -15.324", "[LATERAL_COEFFICIENTS] PKY1 is missing; did you mean 'PKYY'?"),
        ("PKY1 = -15.324", "PKY1 = soft", "a.tir:50: [LATERAL_COEFFICIENTS] PKY1 must be a number, not 'soft'"),
        ("PKY1 = -15.324", "PKY1 = nan", "a.tir:50: [LATERAL_COEFFICIENTS] PKY1 must be a finite number, not 'nan'"),
        ("PKY1 = -15.324", "PKY1 = 0", "a.tir:50: [LATERAL_COEFFICIENTS] PKY1 must not be 0"),
        ("FNOMIN = 4000", "FNOMIN = -1", "a.tir:17: [VERTICAL] FNOMIN must lie in 1 to 1e+06, not -1"),
        ("PKY3 = 0.3695", "PKY1 = 2", "a.tir:52: [LATERAL_COEFFICIENTS] PKY1 is given twice, first in line 50"),
        ("LENGTH = 'meter'", "LENGTH = 'mm'", "a.tir:6: [UNITS] LENGTH must be 'meter', not 'mm': convert the file"),
        ("[MODEL]\n", "X = 3\n[MODEL]\n", "a.tir:2: 'X' stands before the first [SECTION]"),
    ],
)
def test_errors_name_line_section_and_key(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(TirError, match=re.escape(message)) as caught:
        parse_tir(TEXT.replace(old, new), "a.tir")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (r"^PDX1 .*\n", "a.tir: [LONGITUDINAL_COEFFICIENTS] PDX1 is missing"),
        (r"^\[LATERAL_COEFFICIENTS\][^\[]*", "a.tir: the section [LATERAL_COEFFICIENTS] is missing"),
    ],
)
def test_other_names_of_the_format_are_not_suggested(lines: str, message: str) -> None:
    text, count = re.subn(lines, "", TEXT, flags=re.MULTILINE)
    assert count == 1
    with pytest.raises(TirError) as caught:
        parse_tir(text, "a.tir")
    assert str(caught.value) == message


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(TirError, match=r"cannot read .*none.tir: No such file"):
        read_tir(tmp_path / "none.tir")


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refusal = ""
    try:
        parse_tir(text, "a.tir")
    except TirError as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("coefficients", "message"),
    [
        ("LMUY = 0", "[SCALING_COEFFICIENTS] LMUY must lie in 0.01 to 100, not 0"),
        ("PKX3 = 500", "[LONGITUDINAL_COEFFICIENTS] PKX3 must lie in -10 to 10, not 500"),
        ("[SCALING_COEFFICIENTS]\nLFZO = -1", "[SCALING_COEFFICIENTS] LFZO must lie in 0.01 to 100, not -1"),
        ("[LONG_SLIP_RANGE]\nKPUMIN = -1.5\nKPUMAX = 0", "[LONG_SLIP_RANGE] KPUMAX must be above 0.01, not 0"),
        ("[SLIP_ANGLE_RANGE]\nALPMAX = 0", "[SLIP_ANGLE_RANGE] ALPMAX must be above 0.01, not 0"),
        (
            "[VERTICAL_FORCE_RANGE]\nFZMIN = 9000\nFZMAX = 5000",
            "[VERTICAL_FORCE_RANGE] FZMAX must be above 9000, not 5000",
        ),
    ],
)
def test_values_without_a_usable_curve_name_section_and_key(coefficients: str, message: str) -> None:
    key = coefficients.partition(" ")[0]
    text, count = re.subn(rf"^{re.escape(key)} *=.*", coefficients, TEXT, flags=re.MULTILINE)
    with pytest.raises(TirError) as caught:
        parse_tir(text if count else f"{TEXT}\n{coefficients}\n", "a.tir")
    assert re.sub(r":\d+:", ":", str(caught.value)) == f"a.tir: {message}"
