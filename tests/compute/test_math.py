"""Branch-free mathematics: accuracy against references, and the same bits in Python, NumPy and compiled code."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from paddock.compute import math as scalar
from paddock.compute.twin import compiled, vectorised

RANDOM = np.random.default_rng(7)
ANGLES = np.concatenate([RANDOM.uniform(-s, s, 20_000) for s in (1e-8, 1.0, 10.0, 1e3, 1e5)])
QUARTERS = np.arange(-2000, 2001) * (math.pi / 2)
WIDE = np.concatenate([RANDOM.uniform(-s, s, 20_000) for s in (1e-6, 0.7, 3.0, 100.0, 1e9)])
POSITIVE = np.concatenate(
    [10.0 ** RANDOM.uniform(-300, 300, 40_000), RANDOM.uniform(0.5, 2.0, 40_000), [1.0, 2.0, 0.5]]
)


def ulps(value: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units of the last place of a correctly rounded extended-precision reference."""
    reference = exact.astype(np.float64)
    return float(np.max(np.abs(value.astype(exact.dtype) - exact) / np.spacing(np.abs(reference))))


@pytest.mark.parametrize(("ours", "reference"), [(scalar.sin, np.sin), (scalar.cos, np.cos)])
def test_sine_and_cosine_to_the_last_bit_or_so(ours: Callable, reference: Callable) -> None:
    x = np.concatenate([ANGLES, QUARTERS])
    error = vectorised(ours)(x) - reference(x.astype(np.longdouble))
    assert np.abs(error).max() <= 2.3e-16


def test_sine_and_cosine_at_special_angles() -> None:
    assert scalar.sincos(0.0) == (0.0, 1.0)
    assert scalar.sincos(math.pi / 2)[0] == 1.0
    assert scalar.sincos(-math.pi / 2)[0] == -1.0
    assert scalar.sincos(math.pi)[1] == -1.0


def test_tangent() -> None:
    x = RANDOM.uniform(-1.5, 1.5, 20_000)
    assert ulps(vectorised(scalar.tan)(x), np.tan(x.astype(np.longdouble))) <= 3.0


def test_arc_tangent() -> None:
    error = vectorised(scalar.atan)(WIDE) - np.arctan(WIDE.astype(np.longdouble))
    assert np.abs(error).max() <= 3e-16
    assert scalar.atan(0.0) == 0.0
    assert scalar.atan(1.0) == pytest.approx(math.pi / 4, abs=2e-16)


def test_functions_of_tyres_over_their_ranges() -> None:
    angles = np.concatenate([RANDOM.uniform(-math.pi / 2, 1.5 * math.pi, 40_000), RANDOM.uniform(0.0, 1e-6, 1000)])
    error = vectorised(scalar.sin_half_turn)(angles) - np.sin(angles.astype(np.longdouble))
    assert np.abs(error).max() <= 4e-16
    assert scalar.sin_half_turn(0.0) == 0.0
    positive = np.concatenate([np.abs(WIDE), np.linspace(0.4, 0.43, 2000), np.linspace(2.4, 2.43, 2000), [0.0]])
    error = vectorised(scalar.atan_positive)(positive) - np.arctan(positive.astype(np.longdouble))
    assert np.abs(error).max() <= 3e-16
    small = RANDOM.uniform(0.0, 1e-3, 1000)
    assert ulps(vectorised(scalar.atan_positive)(small), np.arctan(small.astype(np.longdouble))) <= 1.0


def test_arc_tangent_of_a_vector_in_all_quadrants() -> None:
    y, x = RANDOM.permutation(WIDE), WIDE
    error = vectorised(scalar.atan2)(y, x) - np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    assert np.abs(error).max() <= 5e-16


@pytest.mark.parametrize(
    ("y", "x", "angle"),
    [
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, -1.0, math.pi),
        (1.0, 0.0, math.pi / 2),
        (-1.0, 0.0, -math.pi / 2),
        (1.0, 1.0, math.pi / 4),
        (-1.0, -1.0, -3 * math.pi / 4),
        (1e-300, -1e300, math.pi),
        (1e300, 1e-300, math.pi / 2),
        (-5e-324, 0.0, -math.pi / 2),
    ],
)
def test_arc_tangent_on_the_axes(y: float, x: float, angle: float) -> None:
    assert scalar.atan2(y, x) == pytest.approx(angle, abs=5e-16)


def test_arc_sine_is_limited_to_its_domain() -> None:
    x = np.concatenate([RANDOM.uniform(-1.0, 1.0, 20_000), [-1.0, 1.0, 0.0]])
    assert np.abs(vectorised(scalar.asin)(x) - np.arcsin(x.astype(np.longdouble))).max() <= 5e-16
    assert scalar.asin(1.5) == scalar.asin(1.0) == pytest.approx(math.pi / 2)
    assert scalar.asin(-7.0) == pytest.approx(-math.pi / 2)


def test_exponential() -> None:
    x = np.concatenate([RANDOM.uniform(-700.0, 700.0, 40_000), RANDOM.uniform(-1.0, 1.0, 40_000), [0.0, 1.0, -1.0]])
    assert ulps(vectorised(scalar.exp)(x), np.exp(x.astype(np.longdouble))) <= 2.0
    assert scalar.exp(0.0) == 1.0
    assert scalar.exp(1e9) == scalar.exp(700.0)


def test_logarithm() -> None:
    exact = np.log(POSITIVE.astype(np.longdouble))
    value = vectorised(scalar.log)(POSITIVE)
    far = np.abs(exact) > 1e-3
    assert np.abs((value - exact)[far] / exact[far]).max() <= 1e-15
    assert np.abs((value - exact)[~far]).max() <= 1e-18 + 1e-15 * 1e-3
    assert scalar.log(1.0) == 0.0


def test_power() -> None:
    x, y = 10.0 ** RANDOM.uniform(-3, 3, 20_000), RANDOM.uniform(-5.0, 5.0, 20_000)
    exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    bound = 1e-15 * (4.0 + np.abs(y * np.log(x)))  # the logarithm's error grows with the exponent
    assert (np.abs(vectorised(scalar.power)(x, y) / exact - 1.0) <= bound).all()
    assert scalar.power(2.0, 10.0) == pytest.approx(1024.0, rel=1e-14)


def test_choices_and_rounding() -> None:
    assert (scalar.minimum(1.0, 2.0), scalar.maximum(1.0, 2.0), scalar.clamp(5.0, -1.0, 1.0)) == (1.0, 2.0, 1.0)
    assert (scalar.absolute(-2.5), scalar.sign(-3.0), scalar.sign(0.0), scalar.sign(9.0)) == (2.5, -1.0, 0.0, 1.0)
    x = np.concatenate([RANDOM.uniform(-1e6, 1e6, 10_000), np.arange(-5.0, 5.0, 0.5)])
    np.testing.assert_array_equal(vectorised(scalar.nearest)(x), np.rint(x))
    np.testing.assert_array_equal(vectorised(scalar.floor)(x), np.floor(x))
    places, indices = np.array([-2.0, 0.9, 1.0, 3.7, 9.0, np.inf, np.nan]), [0, 0, 1, 3, 3, 3, 0]
    assert vectorised(scalar.table_index)(places, 4).tolist() == indices
    assert [scalar.table_index(value, 4) for value in places] == indices
    assert [compiled(scalar.table_index)(value, 4) for value in places] == indices


def test_wrapped_angles_point_the_same_way() -> None:
    wrapped = vectorised(scalar.wrap_angle)(ANGLES)
    assert np.abs(wrapped).max() <= math.pi + 5e-16
    assert np.abs(np.sin(wrapped) - np.sin(ANGLES)).max() <= 1e-15
    assert abs(scalar.wrap_angle(3 * math.pi)) == pytest.approx(math.pi, abs=1e-15)


UNARY = {
    "sin": ANGLES,
    "cos": ANGLES,
    "tan": ANGLES,
    "atan": WIDE,
    "atan_positive": np.abs(WIDE),
    "sin_half_turn": RANDOM.uniform(-1.5, 4.7, 20_000),
    "asin": WIDE,
    "exp": WIDE[:60_000],
    "log": POSITIVE,
    "absolute": WIDE,
    "sign": WIDE,
    "floor": WIDE,
    "wrap_angle": ANGLES,
}
BINARY = {
    "atan2": (WIDE, WIDE[::-1].copy()),
    "power": (POSITIVE[:100], WIDE[:100]),
    "minimum": (WIDE, WIDE[::-1].copy()),
    "maximum": (WIDE, WIDE[::-1].copy()),
}
ARGUMENTS = {name: (x,) for name, x in UNARY.items()} | BINARY


@pytest.mark.parametrize("name", ARGUMENTS)
def test_python_numpy_and_compiled_code_agree_bit_for_bit(name: str) -> None:
    function, arguments = getattr(scalar, name), ARGUMENTS[name]
    in_numpy = np.asarray(vectorised(function)(*arguments), dtype=np.float64)
    twin = compiled(function)
    part = slice(None, None, 97)
    plain = np.array([function(*map(float, values)) for values in zip(*(a[part] for a in arguments), strict=True)])
    fast = np.array([twin(*values) for values in zip(*(a[part] for a in arguments), strict=True)])
    np.testing.assert_array_equal(plain.view(np.uint64), in_numpy[part].view(np.uint64))
    np.testing.assert_array_equal(fast.view(np.uint64), in_numpy[part].view(np.uint64))


@pytest.mark.parametrize(
    "name",
    [
        "sincos",
        "atan2",
        "asin",
        "exp",
        "log",
        "power",
        "wrap_angle",
        "floor",
        "sign",
        "tan",
        "atan_positive",
        "sin_half_turn",
    ],
)
def test_float32_twin_never_computes_in_float64(name: str) -> None:
    from numba import float32

    function = getattr(scalar, name)
    twin = compiled(function, "float32")
    signature = (float32,) * function.__code__.co_argcount
    twin.compile(signature)
    text = twin.inspect_llvm(signature)
    bodies = [
        b for b in re.split(r"\n(?=define )", text) if b.startswith("define") and "cpython" not in b.split("\n")[0]
    ]
    assert bodies
    assert not any(re.search(r"\bdouble\b", body) for body in bodies)
    assert "float64" not in str(twin.overloads[signature].signature.return_type)


@pytest.mark.parametrize(
    ("name", "arguments", "reference"),
    [
        ("sin", (RANDOM.uniform(-1e3, 1e3, 2000),), np.sin),
        ("cos", (RANDOM.uniform(-1e3, 1e3, 2000),), np.cos),
        ("atan", (RANDOM.uniform(-50, 50, 2000),), np.arctan),
        ("atan2", (RANDOM.uniform(-5, 5, 2000), RANDOM.uniform(-5, 5, 2000)), np.arctan2),
        ("exp", (RANDOM.uniform(-80, 80, 2000),), np.exp),
        ("log", (10.0 ** RANDOM.uniform(-30, 30, 2000),), np.log),
        ("power", (RANDOM.uniform(0.1, 10, 2000), RANDOM.uniform(-2, 2, 2000)), np.power),
    ],
)
def test_float32_twin_is_accurate(name: str, arguments: tuple, reference: Callable) -> None:
    twin = compiled(getattr(scalar, name), "float32")
    single = [a.astype(np.float32) for a in arguments]
    value = np.array([twin(*values) for values in zip(*single, strict=True)])
    exact = reference(*(a.astype(np.float64) for a in single))
    assert (np.abs(value - exact) / np.maximum(np.abs(exact), 1.0)).max() <= 1e-6
