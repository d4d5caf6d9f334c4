"""Twins: the same function as compiled code and on arrays, and clear errors where that is impossible."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from paddock.compute import math as scalar
from paddock.compute.math import select, sin, sqrt
from paddock.compute.twin import bound, compiled, dressed, fingerprint, float32, reached, rebound, vectorised
from paddock.errors import PaddockError

FACTOR = 3.0
PAIR = (0.25, 0.5)


class Pair(NamedTuple):
    a: float
    b: float


def inner(x: float) -> float:
    return FACTOR * sin(x)


def outer(p: Pair) -> Pair:
    return Pair(inner(p.a) + sqrt(p.b), select(p.a > p.b, p.a, p.b))


def other_inner(x: float) -> float:
    return -x


def with_tuple_constants(x: float) -> tuple[float, float]:
    low, high = PAIR
    first, second = (0.125, 0.375)
    return x * low + high, x * first + second


def with_default(x: float, scale: float = 0.5) -> float:
    return x * scale


def with_keyword_default(x: float, *, bias: float = 0.1) -> float:
    return x + bias


def calls_keyword_default(x: float) -> float:
    return with_keyword_default(x)


def calls_default(x: float) -> float:
    return with_default(x) + 1.0


def through_module(x: float) -> float:
    return scalar.sin(x)


def through_math(x: float) -> float:
    return math.sqrt(x)


def enclosing() -> Callable:
    hidden = 2.0

    def inside(x: float) -> float:
        return hidden * x

    return inside


def test_compiled_twin_equals_the_oracle() -> None:
    for a, b in [(0.3, 2.0), (-7.0, 0.0), (3.0, 1.0)]:
        assert compiled(outer)(Pair(a, b)) == outer(Pair(a, b))
    assert compiled(outer) is compiled(outer)


def test_numpy_twin_runs_on_arrays() -> None:
    a, b = np.linspace(-3.0, 3.0, 11), np.linspace(0.0, 2.0, 11)
    result = vectorised(outer)(Pair(a, b))
    expected = np.array([outer(Pair(x, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]).T
    np.testing.assert_array_equal(np.array(result), expected)


def test_native_numpy_twin_is_close() -> None:
    a, b = np.linspace(-3.0, 3.0, 11), np.linspace(0.0, 2.0, 11)
    ours, native = vectorised(outer)(Pair(a, b)), vectorised(outer, native=True)(Pair(a, b))
    np.testing.assert_allclose(native.a, ours.a, rtol=1e-14)


def test_reached_lists_each_function_once() -> None:
    names = [f.__name__ for f in reached(outer)]
    assert names[0] == "outer"
    assert sorted(names) == ["inner", "nearest", "outer", "select", "sin", "sincos"]


def test_bound_replaces_a_helper() -> None:
    swapped = bound(outer, {"inner": other_inner})
    assert swapped(Pair(2.0, 4.0)) == (-2.0 + 2.0, 4.0)
    assert compiled(swapped)(Pair(2.0, 4.0)) == swapped(Pair(2.0, 4.0))
    assert outer(Pair(2.0, 4.0)) != swapped(Pair(2.0, 4.0))


def test_fingerprint_sees_code_constants_and_bindings() -> None:
    assert fingerprint(outer) == fingerprint(outer)
    assert fingerprint(outer) != fingerprint(bound(outer, {"inner": other_inner}))
    assert fingerprint(outer) != fingerprint(bound(outer, {"sqrt": other_inner}))
    changed = bound(inner, {"FACTOR": 4.0})  # type: ignore[dict-item]
    assert fingerprint(inner) != fingerprint(changed)


def test_float32_constants_alone_and_in_tuples() -> None:
    assert type(float32(0.5)) is np.float32
    assert [type(v) for v in float32((0.5, 1.5))] == [np.float32, np.float32]
    assert float32(3) == 3
    assert type(float32(3)) is int
    assert float32(True) is True


@pytest.mark.parametrize("function", [with_tuple_constants, calls_default, calls_keyword_default, inner])
def test_float32_twin_returns_float32(function: Callable) -> None:
    from numba import float32 as single

    twin = compiled(function, "float32")
    twin.compile((single,))
    assert "float64" not in str(twin.overloads[(single,)].signature.return_type)


def test_default_arguments_work_in_every_twin() -> None:
    assert compiled(calls_default)(4.0) == vectorised(calls_default)(4.0) == calls_default(4.0) == 3.0
    keyword = calls_keyword_default
    assert compiled(keyword)(4.0) == vectorised(keyword)(4.0) == keyword(4.0) == 4.1
    assert compiled(keyword, "float32")(np.float32(4.0)) == np.float32(4.1)


def test_the_math_module_itself_is_allowed() -> None:
    assert compiled(through_math)(9.0) == 3.0


def test_closure_is_refused() -> None:
    for make in (compiled, vectorised, lambda f: list(reached(f))):
        with pytest.raises(
            PaddockError, match=r"inside reads variables of an enclosing function; pass them as arguments"
        ):
            make(enclosing())


def test_call_through_a_module_is_refused() -> None:
    message = r"test_twin.through_module calls functions through the module 'scalar'; import the functions by name"
    with pytest.raises(PaddockError, match=message):
        compiled(through_module)
    with pytest.raises(PaddockError, match=message):
        vectorised(through_module)


@pytest.mark.parametrize("function", [len, math.sin, Pair, "sin"])
def test_builtin_or_class_is_refused(function: Callable) -> None:
    with pytest.raises(PaddockError, match="is not a plain Python function, so it has no compiled twin"):
        compiled(function)


def test_nested_functions_are_replaced() -> None:
    p = Pair(0.5, 4.0)
    other = rebound(outer, {inner: other_inner})
    assert other(p) == Pair(-0.5 + 2.0, 4.0) == compiled(other)(p)
    assert outer(p) == Pair(3.0 * sin(0.5) + 2.0, 4.0) == compiled(outer)(p)
    assert rebound(outer, {inner: other_inner}) is other  # compiled once
    assert rebound(calls_default, {inner: other_inner}) is calls_default


def test_compiled_functions_of_equal_name_get_unique_names() -> None:
    names = [
        dressed(f, dtype, False).__qualname__
        for f in (outer, rebound(outer, {inner: other_inner}))
        for dtype in ("float64", "float32")
    ]
    assert len(set(names)) == 4
    assert dressed(outer, "float64", False).__qualname__ == names[0]


def test_only_the_outermost_function_has_machine_code() -> None:
    caller, callee = compiled(calls_default), compiled(with_default, from_python=False)
    assert caller(3.0) == calls_default(3.0)
    for function, has_code in ((caller, True), (callee, False)):
        (result,) = function.overloads.values()
        assert bool(result.library.get_pointer_to_function(result.fndesc.llvm_func_name)) is has_code
