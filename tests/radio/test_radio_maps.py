"""Radio maps: fits against known fields and other methods, files, samples."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.bench.suites.radio import build_town, gaussian_process, inverse_distance, nearest_neighbour, rms
from paddock.compute.threads import available_threads, limit_threads
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.maps import RadioMap, RadioSamples, cross_validate, fit_map, load_map, places_of, read_samples
from paddock.radio.maps.kriging import bounds, fit_prior
from paddock.wire.radio_map import MapFile, read_map

TOWN_SAMPLES = 2000


@pytest.fixture(scope="module")
def town_samples() -> tuple[RadioSamples, RadioSamples]:
    samples = build_town(3).samples(TOWN_SAMPLES + 1000)
    return samples.chosen(slice(TOWN_SAMPLES)), samples.chosen(slice(TOWN_SAMPLES, None))


@pytest.fixture(scope="module")
def town_map(town_samples: tuple[RadioSamples, RadioSamples]) -> RadioMap:
    return fit_map(town_samples[0]).map


def beacon(count: int = 200, exponent: float = 2.7, seed: int = 3) -> tuple[np.ndarray, RadioSamples]:
    """Samples without noise of a transmitter in the open: -20 dBm at 1 m."""
    at = np.array([40.0, -25.0, 12.0])
    position = np.random.default_rng(seed).uniform((-100, -100, 0), (100, 100, 40), (count, 3))
    distance = np.sqrt(((position - at) ** 2).sum(axis=1) + 1.0)
    return at, RadioSamples.of(position, -20.0 - 10.0 * exponent * np.log10(distance))


def test_a_town_is_predicted_better_than_by_other_methods(
    town_samples: tuple[RadioSamples, RadioSamples], town_map: RadioMap
) -> None:
    train, held = town_samples
    error = rms(town_map.query(held.position).power - held.dbm)
    assert error < 0.82 * rms(nearest_neighbour(train, held.position) - held.dbm)
    assert error < 0.92 * rms(inverse_distance(train, held.position) - held.dbm)


@pytest.mark.slow
def test_a_town_is_predicted_better_than_by_a_gaussian_process(
    town_samples: tuple[RadioSamples, RadioSamples], town_map: RadioMap
) -> None:
    pytest.importorskip("sklearn")
    train, held = town_samples
    error = rms(town_map.query(held.position).power - held.dbm)
    assert error < 0.97 * rms(gaussian_process(train, held.position) - held.dbm)  # with all of the samples


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_many_samples_of_a_town_are_predicted_better_than_by_other_methods(seed: int) -> None:
    pytest.importorskip("sklearn")
    samples = build_town(seed).samples(10_000)
    train, held = samples.chosen(slice(8000)), samples.chosen(slice(8000, None))
    error = rms(fit_map(train).map.query(held.position).power - held.dbm)
    assert error < 0.7 * rms(gaussian_process(train, held.position, rough=False) - held.dbm)
    for method, margin in ((nearest_neighbour, 0.75), (inverse_distance, 0.9), (gaussian_process, 0.85)):
        assert error < margin * rms(method(train, held.position) - held.dbm)


def test_errors_of_held_out_samples_are_as_large_as_stated(
    town_samples: tuple[RadioSamples, RadioSamples], town_map: RadioMap
) -> None:
    held = town_samples[1]
    values = town_map.query(held.position)
    scores = np.abs(values.power - held.dbm) / values.deviation
    assert 0.8 < rms(scores) < 1.15
    assert 0.68 < np.mean(scores < 1.0) < 0.88  # the errors have long tails
    assert np.mean(scores < 2.0) > 0.92
    mean = values.deviation
    unsure = mean > np.median(mean)
    errors = values.power - held.dbm
    assert rms(errors[unsure]) > 1.2 * rms(errors[~unsure])


def test_the_transmitter_is_found_and_the_field_extrapolated() -> None:
    at, samples = beacon()
    fitted = fit_map(samples).map
    np.testing.assert_allclose(fitted.transmitter, at, atol=0.5)
    assert fitted.exponent == pytest.approx(2.7, abs=0.02)
    far = np.array([[800.0, 300.0, 50.0], [-2000.0, 0.0, 0.0]])
    expected = -20.0 - 27.0 * np.log10(np.sqrt(((far - at) ** 2).sum(axis=1)))
    np.testing.assert_allclose(fitted.query(far).power, expected, atol=0.5)
    gradient = fitted.query(far).gradient  # points at the transmitter
    toward = (at - far) / np.linalg.norm(at - far, axis=1)[:, None]
    assert np.all((gradient * toward).sum(axis=1) > 0.999 * np.linalg.norm(gradient, axis=1))


def test_a_shadowed_quadrant_does_not_move_the_transmitter() -> None:
    """20 dB less in one quadrant, errors of 1 dB: least squares alone place it 20 to 60 m away."""
    at = np.array([50.0, 20.0, 20.0])
    for seed in (1, 2):
        random = np.random.default_rng(seed)
        position = random.uniform((-100, -100, 0), (100, 100, 40), (200, 3))
        dbm = -20.0 - 20.0 * np.log10(np.linalg.norm(position - at, axis=1)) + random.normal(0.0, 1.0, 200)
        dbm -= 20.0 * ((position[:, 0] < 0.0) & (position[:, 1] > 0.0))
        estimate = fit_prior(position, dbm, np.ones(200), None)[2:5]
        np.testing.assert_allclose(estimate, at, atol=2.0)
        np.testing.assert_allclose(fit_map(RadioSamples.of(position, dbm)).map.transmitter, at, atol=8.0)


def test_a_transmitter_is_not_estimated_below_the_ground() -> None:
    position = np.random.default_rng(2).uniform((-100, -100, 0), (100, 100, 40), (500, 3))
    lowest, highest = bounds(position)
    assert lowest[2] == 0.0 and highest[2] == pytest.approx(60.0, abs=1.0)
    for up, expected in ((-5.0, position[:, 2].min() - 5.0), (10.0, 0.0), (400.0, 380.0)):
        assert bounds(position + np.array([0.0, 0.0, up]))[0][2] == pytest.approx(expected, abs=1.0)
    below = np.linalg.norm(position - [0.0, 0.0, -30.0], axis=1)
    prior = fit_prior(position, -20.0 - 20.0 * np.log10(below), np.ones(500), None)
    assert prior[4] >= lowest[2]


def test_a_given_transmitter_is_kept_and_weights_count() -> None:
    at, samples = beacon()
    wrong = samples.dbm + np.where(np.arange(len(samples.dbm)) % 4 == 0, 30.0, 0.0)
    weight = np.where(np.arange(len(samples.dbm)) % 4 == 0, 0.0, 1.0)
    fitted = fit_map(RadioSamples.of(samples.position, wrong, weight), at).map
    assert fitted.transmitter.tolist() == at.tolist() and fitted.file.given
    assert rms(fitted.query(samples.position).power - samples.dbm) < 0.5


def test_a_fit_has_fewer_splats_where_the_field_is_smooth() -> None:
    at, samples = beacon(400)
    step = np.where(samples.position[:, 0] > 0.0, -25.0, 0.0)  # a wall
    noise = np.random.default_rng(5).normal(0.0, 0.3, 400)
    fitted = fit_map(RadioSamples.of(samples.position, samples.dbm + step + noise), at).map
    assert 40 <= fitted.splats < 400
    near = np.abs(fitted.file.splats[:, 0]) < 25.0
    used, every = np.mean(near), np.mean(np.abs(samples.position[:, 0]) < 25.0)
    assert used > 1.1 * every


@pytest.mark.usefixtures("all_threads")
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    samples = beacon()[1]
    fit_map(samples, seed=4).map.save(tmp_path / "one.npz")
    limit_threads(1 if available_threads() > 1 else None)
    fit_map(samples, seed=4).map.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_cross_validation_holds_samples_out() -> None:
    _, samples = beacon(60)
    noisy = RadioSamples.of(samples.position, samples.dbm + np.random.default_rng(1).normal(0.0, 4.0, 60))
    error, errors = cross_validate(noisy, folds=3)
    assert errors.shape == (60,) and error == pytest.approx(rms(errors))
    assert 3.0 < error < 7.0  # not less than the noise, which no map can predict


@pytest.mark.parametrize("apart", [0.1, pytest.param(0.0, marks=pytest.mark.slow)])
def test_repeated_measurements_do_not_leak_into_the_cross_validation(apart: float) -> None:
    """A field that no map can predict: its error at other places is its standard deviation.

    `apart`: m between the measurements of one place.
    """
    random = np.random.default_rng(5)
    position, level = random.uniform(-100, 100, (40, 3)), random.normal(-70.0, 6.0, 40)
    visit = np.repeat(np.arange(40), 10)
    dbm = level[visit] + random.normal(0.0, 0.2, len(visit))
    samples = RadioSamples.of(position[visit] + random.normal(0.0, apart, (len(visit), 3)), dbm)
    groups = places_of(samples)
    assert len(set(zip(groups.tolist(), visit.tolist(), strict=True))) == groups.max() + 1 == 40
    assert 5.0 < cross_validate(samples)[0] < 8.0


def test_the_error_of_samples_at_too_few_places_is_unknown() -> None:
    _, samples = beacon(13)
    same = RadioSamples.of(np.tile([1.0, 2.0, 3.0], (30, 1)), np.full(30, -50.0))
    for few in (same, samples.chosen(slice(12))):
        error, errors = cross_validate(few)
        assert np.isnan(error) and np.isnan(errors).all() and len(errors) == len(few.dbm)
    assert np.isfinite(cross_validate(samples)[0])  # each part is predicted from ten places or more


@pytest.mark.parametrize("count", [10, 11, 14])
def test_few_samples_and_samples_in_one_place_or_plane_are_fitted(count: int) -> None:
    random = np.random.default_rng(count)
    position = np.column_stack([random.uniform(-50, 50, (count, 2)), np.full(count, 2.0)])
    position[5:8] = position[5]
    values = fit_map(RadioSamples.of(position, random.normal(-70.0, 5.0, count))).map.query(position)
    assert np.isfinite(values.power).all() and (values.deviation > 0.0).all()


def test_samples_at_one_place_give_a_map_that_can_be_read(tmp_path: Path) -> None:
    position = np.tile([10.0, 20.0, 5.0], (30, 1))
    fit_map(RadioSamples.of(position, np.random.default_rng(3).normal(-60.0, 2.0, 30))).map.save(tmp_path / "same.npz")
    here, far = load_map(tmp_path / "same.npz").query([[10.0, 20.0, 5.0], [5000.0, 20.0, 5.0]]).deviation
    assert here < 20.0 < far  # the exponent is unknown: 1 of it are 10 dB per decade of distance


def test_the_uncertainty_grows_with_the_distance_from_the_samples() -> None:
    """Of many data sets of one field, errors far away are as large as stated."""
    mast, far = np.array([20.0, -10.0, 15.0]), np.array([[5000.0, 0.0, 10.0]])
    inside, outside, missed = [], [], []
    for seed in range(6):
        random = np.random.default_rng(seed)
        position = random.uniform((-100.0, -100.0, 0.0), (100.0, 100.0, 30.0), (60, 3))
        true = -30.0 - 12.5 * np.log10(((position - mast) ** 2).sum(axis=1) + 1.0)
        fitted = fit_map(RadioSamples.of(position, true + random.normal(0.0, 3.0, 60)), mast).map
        values = fitted.query(far)
        missed.append(float(values.power[0]) - (-30.0 - 12.5 * np.log10(((far - mast) ** 2).sum() + 1.0)))
        inside.append(float(fitted.query(position).deviation.mean()))
        outside.append(float(values.deviation[0]))
        assert float(fitted.query(10.0 * far).deviation[0]) > outside[-1]
    assert (np.array(outside) > np.array(inside)).all()
    assert rms(np.array(missed)) < 1.5 * np.mean(outside)  # the mean of a new measurement has less noise
    # ordinary least squares: 3 dB of noise and the slope of 60 samples over 0.35 decades (standard deviation)
    decades = 5.0 * np.log10(((position - mast) ** 2).sum(axis=1) + 1.0)
    apart = 5.0 * np.log10(((far - mast) ** 2).sum() + 1.0) - decades.mean()
    expected = np.sqrt(9.0 * (1.0 + 1.0 / 60 + apart**2 / ((decades - decades.mean()) ** 2).sum()))
    assert np.mean(outside) == pytest.approx(expected, rel=0.3)


@given(
    st.lists(
        st.tuples(*[st.floats(-1e3, 1e3)] * 3, st.floats(-120.0, 0.0), st.floats(0.01, 100.0)), min_size=10, max_size=25
    )
)
def test_any_valid_samples_give_a_finite_map_that_survives_its_file(rows: list[tuple[float, ...]]) -> None:
    table = np.array(rows)
    fitted = fit_map(RadioSamples.of(table[:, :3], table[:, 3], table[:, 4])).map
    values = fitted.query(table[:, :3])
    assert all(np.isfinite(part).all() for part in values)


def test_a_map_survives_its_file(tmp_path: Path, town_map: RadioMap) -> None:
    town_map.save(tmp_path / "town.npz")
    again = load_map(tmp_path / "town.npz")
    at = np.random.default_rng(1).uniform(-300.0, 300.0, (50, 3))
    for first, other in zip(again.query(at), town_map.query(at), strict=True):
        assert first.tobytes() == other.tobytes()
    assert again.file.count == TOWN_SAMPLES and not again.file.given


def changed(contents: MapFile, **arrays: np.ndarray) -> dict[str, np.ndarray]:
    plain = {
        "format": np.array("paddock radio map 1"),
        "splats": contents.splats,
        "prior": contents.prior,
        "spread": contents.spread,
        "samples": contents.samples,
        "figures": np.array([1.0, 10.0, np.nan, 0.0]),
    }
    return {**plain, **arrays}


def column(contents: MapFile, index: int, value: float) -> np.ndarray:
    table = contents.splats.copy()
    table[0, index] = value
    return table


CRAFTED = {
    "another version": (lambda c: {"format": np.array("paddock radio map 9")}, "its format is"),
    "pickled": (lambda c: {"format": np.array(["x", {}], dtype=object)}, "not a radio map"),
    "no splats": (lambda c: {"splats": np.zeros((0, 16))}, "0 splats"),
    "wrong width": (lambda c: {"splats": np.ones((3, 15))}, "the shape"),
    "wrong type": (lambda c: {"splats": c.splats.astype(np.float32)}, "the type"),
    "NaN": (lambda c: {"splats": column(c, 9, np.nan)}, "not finite"),
    "indefinite": (lambda c: {"splats": column(c, 3, -1.0)}, "precision"),
    "too wide": (lambda c: {"splats": c.splats * np.where(np.arange(16) // 3 == 1, 1e-30, 1.0)}, "precision"),
    "far": (lambda c: {"splats": column(c, 0, 1e30)}, "farther"),
    "negative weight": (lambda c: {"splats": column(c, 15, -1.0)}, "weight"),
    "huge exponent": (lambda c: {"prior": np.array([0.0, 1e6, 0.0, 0.0, 0.0, 1.0])}, "prior"),
    "negative spread": (lambda c: {"spread": -np.eye(5)}, "not a covariance"),
    "skewed spread": (lambda c: {"spread": np.triu(np.ones((5, 5)))}, "not a covariance"),
    "negative count": (lambda c: {"figures": np.array([1.0, -4.0, np.nan, 0.0])}, "figures"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_files_are_refused(tmp_path: Path, town_map: RadioMap, name: str) -> None:
    change, message = CRAFTED[name]
    path = tmp_path / "crafted.npz"
    np.savez(path, **changed(town_map.file, **change(town_map.file)))
    with pytest.raises(PaddockError, match=message) as error:
        read_map(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_damaged_files_are_refused(tmp_path: Path, town_map: RadioMap) -> None:
    path = tmp_path / "map.npz"
    town_map.save(path)
    whole = path.read_bytes()
    for data in (b"", b"no zip", whole[:-30], whole[: len(whole) // 2] + b"\0" * 40 + whole[len(whole) // 2 + 40 :]):
        path.write_bytes(data)
        with pytest.raises(PaddockError, match=str(path)):
            read_map(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("splats.npy", b"")
    with pytest.raises(PaddockError, match="no array 'format'"):
        read_map(path)
    with pytest.raises(PaddockError, match="no such file"):
        read_map(tmp_path / "missing.npz")


HEADER = "East; north;z;RSSI;weight;note"
ROWS = [f"{k};{2 * k};1.5;{-60 - k};1;ok" for k in range(12)]


def test_columns_have_aliases_and_files_comments(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("\n".join(["# measured", HEADER, *ROWS, ""]))
    read = read_samples(path)
    assert read.position[3].tolist() == [3.0, 6.0, 1.5] and read.dbm[3] == -63.0 and len(read.dbm) == 12


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEADER, *ROWS[:4], "4;8;1.5;nan;1;", *ROWS[5:]], "s.csv:6:9: dbm must be a finite number, not nan"),
        ([HEADER, *ROWS[:4], "4;inf;1.5;-60;1;", *ROWS[5:]], "s.csv:6:3: y must be a finite number, not inf"),
        ([HEADER, *ROWS[:4], "4;8;high;-60;1;", *ROWS[5:]], "s.csv:6:5: z must be a number, not 'high'"),
        ([HEADER, *ROWS[:4], "4;8;1;-6000;1;", *ROWS[5:]], "s.csv:6:7: dbm must be within -400 to 200 dBm, not -6000"),
        ([HEADER, *ROWS[:4], "4;8;1;-60;-1;", *ROWS[5:]], "s.csv:6:11: weight must be within 0 to 1e"),
        ([HEADER, *ROWS[:4], "4;8", *ROWS[5:]], "s.csv:6:4: 2 values, but 6 columns"),
        ([HEADER, *ROWS[:4], "4;8;1;-60;1;;7", *ROWS[5:]], "s.csv:6:14: 7 values, but 6 columns"),
        (["x,y,dbm", "1,2,3"], "s.csv:1:1: no column 'z'"),
        (["x,y,z,dbm,rssi", "1,2,3,4,5"], "columns 'dbm' and 'rssi' both are dbm"),
        ([HEADER, *ROWS[:9]], "s.csv:10:1: a radio map needs at least 10 samples; the file ends after 9"),
        ([""], "s.csv:1:1: the file is empty"),
    ],
)
def test_errors_name_file_line_and_column(tmp_path: Path, lines: list[str], message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidValueError) as error:
        read_samples(path)
    assert message in str(error.value)


def test_parquet_gives_the_same_samples(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    _, samples = beacon(20)
    columns = {"x": samples.position[:, 0], "y": samples.position[:, 1], "altitude": samples.position[:, 2]}
    parquet.write_table(arrow.table({**columns, "dbm": samples.dbm}), tmp_path / "s.parquet")
    read = read_samples(tmp_path / "s.parquet")
    assert read.position.tobytes() == samples.position.tobytes() and read.dbm.tobytes() == samples.dbm.tobytes()
    dbm = samples.dbm.tolist()
    dbm[7] = None
    parquet.write_table(arrow.table({**columns, "dbm": dbm}), tmp_path / "s.parquet")
    with pytest.raises(InvalidValueError, match=r"s.parquet:8:4: dbm must be a finite number"):
        read_samples(tmp_path / "s.parquet")
    (tmp_path / "s.parquet").write_bytes(b"PAR1nonsense")
    with pytest.raises(InvalidValueError, match="not a valid Parquet file"):
        read_samples(tmp_path / "s.parquet")


def test_invalid_arguments_are_refused() -> None:
    _, samples = beacon(20)
    with pytest.raises(InvalidValueError, match="at least 10 samples, not 9"):
        fit_map(samples.chosen(slice(9)))
    with pytest.raises(InvalidValueError, match="weight > 0"):
        fit_map(RadioSamples.of(samples.position, samples.dbm, np.zeros(20)))
    with pytest.raises(InvalidValueError, match="transmitter"):
        fit_map(samples, np.array([0.0, np.nan, 1.0]))
    with pytest.raises(InvalidValueError, match="sample 4: dbm"):
        RadioSamples.of(samples.position, np.where(np.arange(20) == 4, np.inf, samples.dbm))
    fitted = fit_map(samples).map
    with pytest.raises(InvalidValueError, match=r"points\[1\] is not finite"):
        fitted.query([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]])
    with pytest.raises(InvalidValueError, match=r"shape \(n, 3\)"):
        fitted.query([[0.0, 1.0]])
