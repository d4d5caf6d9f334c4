"""Kernels: all kinds of arguments against the Python reference, for one thread and several."""

import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from paddock.compute.contract import _check_function
from paddock.compute.kernel import Each, Kernel, KernelSpec, Rows, Shared, Value, cpu_source, kernel, shared_tuple
from paddock.compute.math import select, sin
from paddock.compute.prepare import dumps
from paddock.compute.threads import SERIAL_BELOW, available_threads, limit_threads, thread_count
from paddock.compute.twin import compiled
from paddock.errors import InvalidValueError, PaddockError


class Motion(NamedTuple):
    x: float
    v: float


class Limits(NamedTuple):
    gain: float
    bias: float
    scale: float


class Seen(NamedTuple):
    where: float


def move(s: Motion, p: Limits, dt: float) -> Motion:
    v = s.v + dt * (p.gain * sin(s.x) + p.bias)
    return Motion(s.x + p.scale * dt * v, v)


def move_and_show(s: Motion, extra: int, table: Sequence[float], flag: bool, dt: float) -> tuple[Motion, Seen]:
    x = s.x + dt * s.v + table[0]
    return Motion(x, select(flag, s.v, -s.v)), Seen(x + extra)


def doubled(s: Motion) -> Motion:
    return Motion(2.0 * s.x, s.v)


def tripled(s: Motion) -> Motion:
    return Motion(3.0 * s.x, s.v)


def looked_up(s: Motion, p: Any, dt: float) -> Motion:
    """Read two tables of different shapes at a place that depends on the state."""
    row = int(s.v > 0.0)
    return Motion(s.x + dt * p.curve[row, 1] * p.gain, s.v + p.bias * p.last[0, p.last.shape[1] - 1])


MOVE = KernelSpec("test-move", move, (Rows("state", Motion, "update"), Shared("limits", Limits), Value("dt")))
VARYING = KernelSpec(
    "test-varying",
    move,
    (Rows("state", Motion, "update"), Shared("limits", Limits, ("bias", "gain")), Value("dt")),
)
TABLES = Shared("limits", Limits, ("bias",), ("curve", "last"))
LOOKUP = KernelSpec("test-lookup", looked_up, (Rows("state", Motion, "update"), TABLES, Value("dt")))
SHOW = KernelSpec(
    "test-show",
    move_and_show,
    (
        Rows("state", Motion, "update"),
        Each("extra"),
        Value("table"),
        Each("flag", "bool"),
        Value("dt"),
        Rows("seen", Seen, "write"),
    ),
)


def motion(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(2, n))


@pytest.mark.parametrize("n", [1, 5, 255, 256, 257, 1000])
def test_kernel_equals_the_oracle_at_every_size(n: int) -> None:
    state, limits = motion(n), np.array([1.5, 0.2, 0.7])
    expected = np.array([move(Motion(*s), Limits(*limits), 0.1) for s in state.T.tolist()]).T
    kernel(MOVE)(n, 1, state, limits, 0.1)
    np.testing.assert_array_equal(state, expected)


def test_only_the_first_agents_and_several_substeps() -> None:
    state, limits = motion(10), np.array([1.5, 0.2, 0.7])
    expected = state.copy()
    for k in range(6):
        agent = Motion(*expected[:, k].tolist())
        for _ in range(4):
            agent = move(agent, Limits(*limits), 0.1)
        expected[:, k] = agent
    kernel(MOVE)(6, 4, state, limits, 0.1)
    np.testing.assert_array_equal(state, expected)


def test_parameters_that_vary_between_agents() -> None:
    n = 300
    state, limits = motion(n), np.array([np.nan, np.nan, 0.7])
    varying = np.random.default_rng(3).normal(size=(2, n))  # rows: bias, gain
    cases = zip(state.T.tolist(), varying.T.tolist(), strict=True)
    expected = np.array([move(Motion(*s), Limits(gain, bias, 0.7), 0.1) for s, (bias, gain) in cases]).T
    kernel(VARYING)(n, 1, state, limits, varying, 0.1)
    np.testing.assert_array_equal(state, expected)


@pytest.mark.parametrize("n", [3, 1000])
def test_tables_of_a_shared_tuple_are_its_further_fields(n: int) -> None:
    state, limits, varying = motion(n), np.array([1.5, np.nan, 0.7]), np.random.default_rng(3).normal(size=(1, n))
    curve, last = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0, 7.0]])
    made = shared_tuple(TABLES)
    assert made._fields == ("gain", "bias", "scale", "curve", "last")
    cases = zip(state.T.tolist(), varying[0].tolist(), strict=True)
    expected = np.array([looked_up(Motion(*s), made(1.5, b, 0.7, curve, last), 0.1) for s, b in cases]).T
    kernel(LOOKUP)(n, 1, state, limits, varying, curve, last, 0.1)
    np.testing.assert_array_equal(state, expected)
    assert kernel(LOOKUP).variants(n)[0].signatures == list(kernel(LOOKUP).signatures().values())


def test_tables_leave_other_kernels_alone_and_can_be_sent_to_workers() -> None:
    assert shared_tuple(Shared("limits", Limits)) is Limits
    assert "curve" not in cpu_source(VARYING)
    assert pickle.loads(dumps(LOOKUP)) == LOOKUP
    _check_function(LOOKUP)
    for wrong in ("gain", "varying"):
        with pytest.raises(PaddockError, match=f"a table of Limits cannot be named '{wrong}'"):
            shared_tuple(Shared("limits", Limits, tables=(wrong,)))


def test_values_per_agent_whole_arrays_and_several_results() -> None:
    n = 50
    state, extra, table = motion(n), np.arange(n, dtype=np.int64), np.array([10.0, 20.0])
    flag, seen = np.arange(n) % 2 == 0, np.zeros((1, n))
    rows = zip(state.T.tolist(), extra.tolist(), flag.tolist(), strict=True)
    expected = [move_and_show(Motion(*s), e, table.tolist(), f, 0.5) for s, e, f in rows]
    kernel(SHOW)(n, 1, state, extra, table, flag, 0.5, seen)
    np.testing.assert_array_equal(state, np.array([s for s, _ in expected]).T)
    np.testing.assert_array_equal(seen, np.array([o for _, o in expected]).T)


def test_float32_kernel_keeps_float32_arrays() -> None:
    spec = KernelSpec("test-move", move, MOVE.arguments, "float32")
    state, limits = motion(400), np.array([1.5, 0.2, 0.7])
    single = state.astype(np.float32)
    kernel(spec)(400, 20, single, limits.astype(np.float32), np.float32(0.01))
    kernel(MOVE)(400, 20, state, limits, 0.01)
    np.testing.assert_allclose(single, state, atol=2e-6)


def test_functions_of_one_file_do_not_share_machine_code() -> None:
    """Same name, same arguments, same file: only the function differs."""
    results = []
    for function in (doubled, tripled):
        state = np.ones((2, 3))
        kernel(KernelSpec("test-scaled", function, (Rows("state", Motion, "update"),)))(3, 1, state)
        results.append(state[0, 0])
    assert results == [2.0, 3.0]


def test_kernel_is_built_once() -> None:
    assert kernel(MOVE) is kernel(KernelSpec("test-move", move, MOVE.arguments))


def test_source_binds_rows_before_the_loop() -> None:
    text = cpu_source(VARYING)
    assert text.index("limits_gain = limits_varying[1]") < text.index("prange")
    assert "limits_tuple(limits_gain[i], limits_bias[i], limits_scale)" in text


def test_thread_limit_is_checked_and_kept() -> None:
    limit_threads(1)
    assert thread_count() == 1
    with pytest.raises(InvalidValueError, match=f"threads must lie in 1..{available_threads()}, not 0"):
        limit_threads(0)
    limit_threads(None)
    assert thread_count() == available_threads()


def test_threads_do_not_change_a_bit() -> None:
    start, limits = motion(5000), np.array([1.5, 0.2, 0.7])
    ends = []
    for threads in (1, None):
        state = start.copy()
        limit_threads(threads)
        kernel(MOVE)(5000, 25, state, limits, 0.1)
        ends.append(state)
    np.testing.assert_array_equal(*ends)


@pytest.mark.usefixtures("all_threads")
def test_small_fleets_compile_no_parallel_code() -> None:
    fresh = Kernel(KernelSpec("test-small", move, MOVE.arguments))
    fresh(SERIAL_BELOW - 1, 1, motion(SERIAL_BELOW), np.array([1.5, 0.2, 0.7]), 0.1)
    assert list(fresh._variants) == [False]
    fresh.variants(SERIAL_BELOW)
    assert list(fresh._variants) == [False, available_threads() > 1]
    limit_threads(1)
    assert fresh.variants(SERIAL_BELOW) is fresh.variants(1)


@pytest.mark.parametrize("spec", [MOVE, VARYING], ids=["shared", "varying"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_declared_signature_is_that_of_a_call(spec: KernelSpec, dtype: str) -> None:
    fresh = Kernel(KernelSpec("test-signature", move, spec.arguments, dtype))
    limits = [np.array([1.5, 0.2, 0.7], dtype)] + ([np.ones((2, 5), dtype)] if spec is VARYING else [])
    fresh(5, 1, motion(5).astype(dtype), *limits, np.dtype(dtype).type(0.1))
    assert fresh.variants(5)[0].signatures == list(fresh.signatures().values())


class Craft(NamedTuple):
    x: float
    z: float
    gear: float


def with_literals(s: Craft, p: Limits, dt: float) -> Craft:
    """Constants need no type: neither a zero, nor a whole number, nor a shared value."""
    return Craft(s.x + dt * p.gain, 0.0, 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_literals_take_the_number_type_of_the_kernel(dtype: str) -> None:
    arguments = (Rows("state", Craft, "update"), Shared("limits", Limits), Value("dt"))
    state, limits = np.full((3, 400), 0.25, dtype), np.array([0.5, 0.0, 0.0], dtype)
    kernel(KernelSpec("test-literals", with_literals, arguments, dtype))(
        400, 4, state, limits, np.dtype(dtype).type(1.0)
    )
    np.testing.assert_array_equal(state, np.repeat(np.array([[2.25], [0.0], [1.0]], dtype), 400, axis=1))
    twin = compiled(with_literals, dtype)
    single = [np.dtype(dtype).type(v) for v in (0.25, 0.0, 0.0)]
    twin(Craft(*single), Limits(*single), single[0])
    kinds = [str(kind) for kind in twin.nopython_signatures[0].return_type]
    assert kinds == [dtype, dtype, "Literal[int](1)"] or kinds == [dtype, dtype, "int64"]
