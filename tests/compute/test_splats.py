"""Fields of splats against their formula, written out in NumPy."""

import numpy as np
import pytest

from paddock.compute.splats import FLOOR, REACH, WIDTH, bell, build_grid, evaluate_splats
from paddock.compute.threads import available_threads, limit_threads

PRIOR = np.array([-30.0, 2.5, 10.0, -20.0, 5.0, 64.0])


def random_splats(count: int = 150, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    table = np.zeros((count, WIDTH))
    table[:, :3] = random.uniform(-40.0, 40.0, (count, 3))
    turned = np.linalg.qr(random.normal(size=(count, 3, 3)))[0] / random.uniform(3.0, 12.0, (count, 1, 3))
    precision = turned @ turned.transpose(0, 2, 1)
    for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), 3):
        table[:, column] = precision[:, i, j]
    table[:, 9] = random.normal(0.0, 10.0, count)
    table[:, 10:13] = random.normal(0.0, 0.5, (count, 3))
    table[:, 13:] = random.uniform(0.5, 3.0, (count, 3))
    return table


def formula(places: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Value and variance of the module's docstring, over all splats."""
    precision = table[:, [3, 6, 7, 6, 4, 8, 7, 8, 5]].reshape(-1, 3, 3)
    apart = places[:, None] - table[:, :3]
    q = np.einsum("nki,kij,nkj->nk", apart, precision, apart)
    w = table[:, 15] * np.exp(-0.5 * q) * np.where(q < REACH, 1.0 - q / REACH, 0.0) ** 2
    values = table[:, 9] + np.einsum("nki,ki->nk", apart, table[:, 10:13])
    total = w.sum(axis=1) + FLOOR
    prior = PRIOR[0] - 10.0 * PRIOR[1] * np.log10(np.sqrt(((places - PRIOR[2:5]) ** 2).sum(axis=1) + 1.0))
    near = (w * table[:, 14]).sum(axis=1)
    spread = (w * table[:, 13]).sum(axis=1) * (1.0 + 1.0 / (1.0 + near)) + FLOOR * PRIOR[5]
    return prior + (w * values).sum(axis=1) / total, spread / total


def places(count: int = 600) -> np.ndarray:
    return np.random.default_rng(2).uniform(-70.0, 70.0, (count, 3))


def test_values_and_variances_are_those_of_the_formula() -> None:
    table, at = random_splats(), places()
    values = evaluate_splats(at, table, build_grid(table), PRIOR)
    value, variance = formula(at, table)
    np.testing.assert_allclose(values[:, 0], value, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(values[:, 4], variance, rtol=1e-7)


def test_an_uncertain_prior_adds_to_the_variance() -> None:
    """By the derivatives of the prior, here from differences, and the share of the prior in the mixture."""
    table, at, h = random_splats(), places(200), 1e-4
    half = np.random.default_rng(4).normal(size=(5, 5)) * np.array([1.0, 0.1, 2.0, 2.0, 2.0])
    spread = half.T @ half

    def prior(values: np.ndarray) -> np.ndarray:
        return values[0] - 5.0 * values[1] * np.log10(((at - values[2:5]) ** 2).sum(axis=1) + 1.0)

    slopes = np.stack([(prior(PRIOR[:5] + step) - prior(PRIOR[:5] - step)) / (2.0 * h) for step in h * np.eye(5)])
    precision = table[:, [3, 6, 7, 6, 4, 8, 7, 8, 5]].reshape(-1, 3, 3)
    apart = at[:, None] - table[:, :3]
    q = np.minimum(np.einsum("nki,kij,nkj->nk", apart, precision, apart), REACH)
    total = (table[:, 15] * np.exp(-0.5 * q) * (1.0 - q / REACH) ** 2).sum(axis=1) + FLOOR
    expected = formula(at, table)[1] + FLOOR / total * np.einsum("in,ij,jn->n", slopes, spread, slopes)
    uncertain = evaluate_splats(at, table, build_grid(table), PRIOR, spread)
    np.testing.assert_allclose(uncertain[:, 4], expected, rtol=1e-6)


def test_gradients_are_those_of_differences() -> None:
    table, at, h = random_splats(), places(200), 1e-4
    values = evaluate_splats(at, table, build_grid(table), PRIOR)
    for axis in range(3):
        step = h * np.eye(3)[axis]
        slope = (formula(at + step, table)[0] - formula(at - step, table)[0]) / (2.0 * h)
        np.testing.assert_allclose(values[:, 1 + axis], slope, rtol=1e-5, atol=1e-5)


def test_a_point_alone_has_the_same_bits_as_among_others() -> None:
    table, at = random_splats(), places(700)
    grid = build_grid(table)
    together = evaluate_splats(at, table, grid, PRIOR)
    for k in (0, 13, 699):
        assert evaluate_splats(at[k : k + 1], table, grid, PRIOR).tobytes() == together[k].tobytes()
    assert evaluate_splats(at[::-1].copy(), table, grid, PRIOR)[::-1].tobytes() == together.tobytes()


@pytest.mark.skipif(available_threads() < 2, reason="needs two threads")
@pytest.mark.usefixtures("all_threads")
def test_results_do_not_depend_on_threads() -> None:
    table, at = random_splats(), places(5000)
    both = evaluate_splats(at, table, build_grid(table), PRIOR)
    limit_threads(1)
    assert evaluate_splats(at, table, build_grid(table), PRIOR).tobytes() == both.tobytes()


def test_far_away_and_at_infinity_only_the_prior_remains() -> None:
    table = random_splats()
    far = np.array([[1e4, 0.0, 0.0], [0.0, -5e6, 100.0]])
    values = evaluate_splats(far, table, build_grid(table), PRIOR)
    apart = far - PRIOR[2:5]
    d2 = (apart**2).sum(axis=1) + 1.0
    np.testing.assert_allclose(values[:, 0], -30.0 - 12.5 * np.log10(d2), rtol=1e-13)
    np.testing.assert_allclose(values[:, 1:4], -25.0 / np.log(10.0) * apart / d2[:, None], rtol=1e-13)
    np.testing.assert_allclose(values[:, 4], PRIOR[5])


def test_the_bell_is_a_gaussian() -> None:
    q = np.linspace(0.0, REACH, 500)
    np.testing.assert_allclose([bell(float(distance)) for distance in q], np.exp(-0.5 * q), rtol=1e-9)
