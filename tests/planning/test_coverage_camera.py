"""Cameras: published ground sample distances and footprints."""

from __future__ import annotations

from math import nan

import pytest

from paddock.errors import InvalidValueError
from paddock.planning.coverage.shapes import SurveyCamera

PHANTOM = SurveyCamera(width_px=5472, height_px=3648, sensor_width_mm=13.2, focal_length_mm=8.8)


def test_the_ground_sample_distance_of_a_phantom_4_pro_is_the_published_one() -> None:
    assert PHANTOM.gsd(100.0) == pytest.approx(0.0274, abs=5e-5)  # 2.74 cm at 100 m; the maker: H / 36.5 cm


def test_a_footprint_is_as_wide_as_sensor_over_focal_length() -> None:
    assert PHANTOM.footprint(100.0) == pytest.approx((150.0, 100.0))
    upright = SurveyCamera(5472, 3648, 13.2, 8.8, portrait=True)
    assert upright.footprint(100.0) == pytest.approx((100.0, 150.0))
    assert SurveyCamera(5472, 3648, 13.2, 8.8, sensor_height_mm=4.4).footprint(100.0) == pytest.approx((150.0, 50.0))


def test_overlaps_make_spacing_and_trigger_distance() -> None:
    assert PHANTOM.spacing(100.0, side_overlap=0.7) == pytest.approx(45.0)
    assert PHANTOM.trigger_distance(100.0, front_overlap=0.8) == pytest.approx(20.0)
    assert PHANTOM.spacing(100.0, side_overlap=0.0) == pytest.approx(150.0)


def test_the_height_for_a_ground_sample_distance() -> None:
    assert PHANTOM.height_for(0.01) == pytest.approx(36.48)
    assert PHANTOM.gsd(PHANTOM.height_for(0.033)) == pytest.approx(0.033)


def test_impossible_values_are_named() -> None:
    with pytest.raises(InvalidValueError, match="camera: focal_length_mm is 0"):
        SurveyCamera(5472, 3648, 13.2, 0.0)
    with pytest.raises(InvalidValueError, match="camera: height is nan"):
        PHANTOM.footprint(nan)
    with pytest.raises(InvalidValueError, match=r"side_overlap is 1\.0; it must be a share from 0 to below 1"):
        PHANTOM.spacing(100.0, 1.0)
    with pytest.raises(InvalidValueError, match="front_overlap is 80"):
        PHANTOM.trigger_distance(100.0, 80)
