"""Callees: functions that only compiled code calls. They have no machine code of their own, and are kept in the cache.

Numba optimises a function and generates its machine code, then does both again in every caller that it is linked into.
Here a callee stays unoptimised until its outermost caller is complete: up to a third less compile time.

Half of the rest is spent on callees, and kernels share most of them. So their typed, unoptimised code is kept, one file
per function and types of its arguments: another kernel, or another process, loads it instead of compiling it.
"""

import os
import pickle
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import xxhash
import zstandard
from numba.core import codegen, compiler, serialize
from numba.core.caching import NullCache
from numba.core.environment import Environment

from paddock.compute.cache import CALLEES, argument_classes, cache_root, toolchain
from paddock.compute.twin import described

LIBRARY: Any = codegen.JITCodeLibrary
COMPILER: Any = compiler.Compiler
NULL_CACHE: Any = NullCache
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


OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": CalleeCompiler}
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
            packed = path.read_bytes()
            result = _unpacked(pickle.loads(zstandard.decompress(packed)), target)
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
            packed = zstandard.compress(serialize.dumps(_packed(result)), 3)  # type: ignore[no-untyped-call]
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(packed)
            os.replace(draft, path)

    def _path(self, types: Any) -> Path | None:
        """Return the file for arguments of some types; None if these are known to this process only."""
        given = getattr(types, "args", types)
        text = repr(given)
        if " at 0x" in text:
            return None
        lines = [line for found in argument_classes(given) for line in described(found)]
        digest = xxhash.xxh3_64("\0".join((text, *lines, *toolchain())).encode()).hexdigest()
        return cache_root() / CALLEES / f"{self._name}-{digest}"


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
    environment = Environment.from_fndesc(description)  # type: ignore[no-untyped-call]
    return compiler.compile_result(  # type: ignore[no-untyped-call]
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
