"""Extensions of Numba: callees that are kept in the cache, and views of tables. Imported with Numba.

Callees are functions that only compiled code calls; they have no machine code of their own. Numba optimises a function
and generates its machine code, then does both again in every caller that it is linked into. Here a callee stays
unoptimised until its outermost caller is complete: up to a third less compile time. Half of the rest is spent on
callees, and kernels share most of them. So their typed, unoptimised code is kept, one file per function and types of
its arguments: another kernel, or another process, loads it instead of compiling it.

A view of a table is the address and the shape of a 2-D array, without a reference count. Numba counts the references of
every array in a tuple whenever the tuple is passed on, for each vehicle and call. A view has none; its values are
constant while the kernel runs, so that the compiler reads them once where it can.

Type inference asks for the type of each operator between numbers again, and compares the compiler's options for each
candidate. Both are kept: a sixth less compile time.
"""

# mypy: disable-error-code="no-untyped-call"

import operator
import os
import pickle
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import xxhash
import zstandard
from numba.core import cgutils, codegen, compiler, serialize, targetconfig, types
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.environment import Environment
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, make_attribute_wrapper, models, register_model

from paddock.compute.cache import CALLEES, argument_classes, cache_root, read_sealed, toolchain, write_sealed
from paddock.compute.twin import described

LIBRARY: Any = codegen.JITCodeLibrary
COMPILER: Any = compiler.Compiler
NULL_CACHE: Any = NullCache
INDEXED_FILES: Any = IndexDataCacheFile
KEPT = (
    *("native", "modname", "qualname", "unique_name", "doc", "restype", "args", "kws", "argtypes", "inline", "noalias"),
    *("mangled_name", "env_name", "abi_tags", "uid"),
)
"""What is kept of Numba's description of a function; the rest describes how it was compiled."""


class _Environments:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Ignore the environment: code without Python objects needs none, nor has it one if loaded from a cache."""


class CalleeLibrary(LIBRARY):  # type: ignore[misc]
    """The code of a callee."""

    codegen = _Environments

    def _optimize_final_module(self) -> None:
        """Leave optimising to the caller."""

    def _finalize_final_module(self) -> None:
        """Leave the machine code to the caller."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, Numba's value for functions without machine code."""
        return 0


class CalleeCompiler(COMPILER):  # type: ignore[misc]
    """Numba's compiler, with the library of a callee."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = CalleeLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


CALLEE_OPTIONS: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": CalleeCompiler,
}
"""Numba's options for a callee: no wrappers."""


class CalleeFiles(NULL_CACHE):  # type: ignore[misc]
    """The cache of one callee, in place of Numba's; the name of the function must be unique to its code."""

    def __init__(self, name: str) -> None:
        self._name = name

    def load_overload(self, types: Any, target: Any) -> Any:
        """Return the result of compiling for these types, or None if it is not known."""
        path = self._path(types)
        if path is None:
            return None
        with suppress(Exception):  # missing, or damaged: it is compiled
            result = _unpacked(pickle.loads(zstandard.decompress(read_sealed(path))), target)
            os.utime(path)  # the least recently used files are removed first
            return result
        return None

    def save_overload(self, types: Any, result: Any) -> None:
        """Keep the result of a compilation, unless it contains addresses or classes of this process."""
        path, signature = self._path(types), result.signature
        if path is None or result.library.has_dynamic_globals or result.lifted:
            return
        if not all(map(_is_importable, argument_classes((*signature.args, signature.return_type)))):
            return
        with suppress(OSError, pickle.PicklingError):
            packed = zstandard.compress(serialize.dumps(_packed(result)), 3)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_sealed(path, packed)

    def _path(self, types: Any) -> Path | None:
        """Return the file for arguments of some types; None if these are known to this process only."""
        kinds = getattr(types, "args", types)
        text = repr(kinds)
        if " at 0x" in text:
            return None
        lines = [line for tuple_class in argument_classes(kinds) for line in described(tuple_class)]
        digest = xxhash.xxh3_64("\0".join((text, *lines, *toolchain())).encode()).hexdigest()
        return cache_root() / CALLEES / f"{self._name}-{digest}"


class SealedFiles(INDEXED_FILES):  # type: ignore[misc]
    """The files of Numba's cache of one function: an index of signatures, and the machine code of each."""

    def _load_index(self) -> Any:
        try:
            version, stamp, overloads = pickle.loads(read_sealed(Path(self._index_path)))
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        write_sealed(Path(self._index_path), self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(read_sealed(Path(self._data_path(name))))

    def _save_data(self, name: str, data: Any) -> None:
        write_sealed(Path(self._data_path(name)), self._dump(data))


def _is_importable(tuple_class: type) -> bool:
    """Return whether another process imports the same class; not so one that was typed into a notebook."""
    module = sys.modules.get(tuple_class.__module__)
    return tuple_class.__module__ != "__main__" and getattr(module, tuple_class.__qualname__, None) is tuple_class


def _packed(result: Any) -> tuple[Any, ...]:
    """Return what is kept of the result of a compilation."""
    values = [getattr(result.fndesc, name) for name in KEPT]
    code = result.library._final_module.as_bitcode()
    return result.library.name, code, type(result.fndesc), values, result.signature, result.reload_init


def _unpacked(kept: tuple[Any, ...], target: Any) -> Any:
    """Return the result of a compilation from what `_packed` returned."""
    name, code, description_class, values, signature, reload_init = kept
    for function in reload_init:
        function()
    library = CalleeLibrary(target.codegen(), name)
    library._final_module = llvm.parse_bitcode(code)
    library._final_module.name = name
    library._finalize_final_module()
    library._reload_init.update(reload_init)
    description = description_class.__new__(description_class)
    for field, value in zip(KEPT, values, strict=True):
        setattr(description, field, value)
    description.typemap = description.calltypes = None
    description.global_dict = {"__builtins__": {}}  # without a module: callers do not keep its environment
    environment = Environment.from_fndesc(description)
    return compiler.compile_result(
        target_context=target,
        typing_context=target.typing_context,
        library=library,
        environment=environment,
        entry_point=target.get_executable(library, description, environment),
        fndesc=description,
        type_annotation="",
        signature=signature,
        objectmode=False,
        lifted=(),
        reload_init=reload_init,
        referenced_envs=(),
    )


class DistinctArrays(compiler.Compiler):
    """Compiles a kernel whose arrays do not overlap.

    A loop that reads a table at computed places vectorises only if what it stores cannot be part of the table.
    """

    def compile_extra(self, func: Any) -> Any:
        """Compile as Numba does, with arguments that are declared distinct."""
        self.state.flags.noalias = True
        return super().compile_extra(func)


OPTIONS: Any = targetconfig.TargetConfig
NUMBERS = (types.Number, types.Boolean)
_all_options = OPTIONS.values
FUNCTION: Any = BaseFunction
_inferred_type = FUNCTION.get_call_type


def _equal_options(options: Any, others: Any) -> Any:
    """Return whether two sets of compiler options are equal; those that are not set count with their defaults."""
    if not isinstance(others, OPTIONS):
        return NotImplemented
    return options._values == others._values or _all_options(options) == _all_options(others)


def _hash_of_options(options: Any) -> int:
    """Return a number that equal options share: few sets of them are in use."""
    return hash(type(options))


def _operator_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
    """Return the signature of a call; that of an operator between numbers is inferred once per process."""
    known = getattr(function.key[0], "__module__", "") == "_operator" and not named
    if not known or not all(isinstance(argument, NUMBERS) for argument in arguments):
        return _inferred_type(function, context, arguments, named)
    signatures = function.__dict__.setdefault("signatures_of_numbers", {})
    key = context, tuple(arguments), targetconfig.ConfigStack.top_or_none()
    if key not in signatures:
        inferred = _inferred_type(function, context, arguments, named)
        signatures[key] = inferred, function._impl_keys[inferred.args]
    inferred, implementation = signatures[key]
    function._impl_keys[inferred.args] = implementation
    return inferred


OPTIONS.__eq__, OPTIONS.__hash__, FUNCTION.get_call_type = _equal_options, _hash_of_options, _operator_type


class TableView(types.Type):
    """The type of views: `view[row, column]` and `view.shape`; indices are never negative."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"TableView({dtype})")


@register_model(TableView)
class TableViewModel(models.StructModel):
    """Address and shape."""

    def __init__(self, manager: Any, view: Any) -> None:
        members = [("data", types.CPointer(view.dtype)), ("shape", types.UniTuple(types.intp, 2))]
        super().__init__(manager, view, members)


make_attribute_wrapper(TableView, "shape", "shape")


@intrinsic
def table_view(typing_context: Any, array: Any) -> Any:
    """Return the view of a C-contiguous array (rows, columns), which must exist as long as the view is used."""

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        source = context.make_array(called.args[0])(context, builder, arguments[0])
        view = cgutils.create_struct_proxy(called.return_type)(context, builder)
        view.data, view.shape = source.data, source.shape
        return view._getvalue()

    return TableView(array.dtype)(array), generate


@infer_global(operator.getitem)
class TableItem(AbstractTemplate):
    """The type of `view[row, column]`."""

    def generic(self, arguments: Any, named: Any) -> Any:
        """Return the signature, None for other types."""
        table, index = arguments
        if isinstance(table, TableView) and isinstance(index, types.BaseTuple) and len(index) == 2:
            return signature(table.dtype, table, index)
        return None


@lower_builtin(operator.getitem, TableView, types.BaseTuple)  # type: ignore[untyped-decorator]
def table_item(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
    """Generate the code of `view[row, column]`."""
    view = cgutils.create_struct_proxy(called.args[0])(context, builder, value=arguments[0])
    indices = zip(cgutils.unpack_tuple(builder, arguments[1]), called.args[1], strict=True)
    row, column = (context.cast(builder, value, kind, types.intp) for value, kind in indices)
    columns = builder.extract_value(view.shape, 1)
    offset = builder.add(builder.mul(row, columns), column)
    value = builder.load(builder.gep(view.data, [offset]))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value
