"""The cache of compiled kernels: one folder per entry, named after a digest of everything that shapes its machine code.

Entries never change, so stale code is never used: after an edit the key differs and a new entry is compiled. A lock per
entry makes processes that need the same kernel compile it once. Entries that were not used for long are removed.

Machine code is as private as the programs that run it: the folder and its files belong to the user, or to root, and no
one else can write them. A file begins with a digest of its name and content. One that does not match is not read any
further, and its code is compiled again.
"""

import atexit
import gc
import getpass
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import xxhash

from paddock.compute.twin import described
from paddock.errors import PaddockError

MOST_BYTES = 512 * 1024 * 1024
"""The size to which the cache is cut back."""
OLDEST = 60 * 86400.0
"""Entries that were not used for this long (s) are removed."""
SPARED = 3600.0
"""Entries used within this time (s) are never removed: another process may be about to load them."""
SETTINGS = (
    "BOUNDSCHECK",
    "CPU_FEATURES",
    "CPU_NAME",
    "DEBUGINFO_DEFAULT",  # $NUMBA_DEBUGINFO; the other variables are NUMBA_ and the name
    "DEBUG_ARRAY_OPT_RUNTIME",
    "DISABLE_INTEL_SVML",
    "ENABLE_AVX",
    "EXTEND_VARIABLE_LIFETIMES",
    "LLVM_REFPRUNE_FLAGS",
    "LLVM_REFPRUNE_PASS",
    "LOOP_VECTORIZE",
    "OPT",
    "PARFOR_MAX_TUPLE_SIZE",
    "SLP_VECTORIZE",
)
"""Settings of Numba that change the machine code; docs/architecture.md lists them."""
WRITABLE_BY_OTHERS = 0o022
SEAL_BYTES = 16
CALLEES = "callees"
"""The folder of code that kernels share (`numba_extensions.py`): files instead of folders."""
USED = "used"
"""The file of an entry whose time is that of the last use; Numba forbids touching the source."""
SWEPT_EVERY = 86400.0
"""Time between two removals of old entries (s), over all processes."""


class DamagedError(Exception):
    """A file of the cache is not what was written."""


@cache
def cache_root() -> Path:
    """Return the user's cache folder ($PADDOCK_CACHE overrides it), or one for temporary files if that is read-only."""
    user = str(os.getuid()) if hasattr(os, "getuid") else getpass.getuser()
    shared = Path(tempfile.gettempdir()) / f"paddock-kernels-{user}"
    with suppress(OSError, RuntimeError):  # RuntimeError: the user has no home folder
        if _usable(root := _preferred_root()):
            return root
    with suppress(OSError):  # the same in every run, unless it belongs to another user, who could change the code
        if _usable(shared):
            return shared
    folder = tempfile.mkdtemp(prefix="paddock-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def is_lasting(root: Path) -> bool:
    """Return whether a cache folder is the user's, not one for temporary files."""
    with suppress(RuntimeError):
        return root == _preferred_root()
    return False


def _usable(folder: Path) -> bool:
    """Return whether this user can write to a folder, which is created, and no one else."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or not os.access(folder, os.W_OK):
        return False
    about = folder.stat()
    if hasattr(os, "getuid") and about.st_uid == os.getuid() and about.st_mode & WRITABLE_BY_OTHERS:
        folder.chmod(about.st_mode & ~WRITABLE_BY_OTHERS & 0o7777)
    return _is_private(folder.stat())


def _is_private(about: os.stat_result) -> bool:
    """Return whether a file belongs to this user or to root, and no one else can write it."""
    owned = not hasattr(os, "getuid") or about.st_uid in (0, os.getuid())
    return owned and (os.name == "nt" or not about.st_mode & WRITABLE_BY_OTHERS)


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file of the cache in one step, under a digest of its name and content."""
    handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".part")  # with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_seal(path, content))
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def read_sealed(path: Path) -> bytes:
    """Return the content of a file of the cache; DamagedError unless it is what was written, by this user."""
    with path.open("rb") as file:
        if not _is_private(os.fstat(file.fileno())):
            raise DamagedError(f"{path} can be written by other users")
        data = file.read()
    seal, content = data[:SEAL_BYTES], data[SEAL_BYTES:]
    if seal != _seal(path, content):
        raise DamagedError(f"{path} is damaged")
    return content


def _seal(path: Path, content: bytes) -> bytes:
    digest = xxhash.xxh3_128(path.name.encode() + b"\0")
    digest.update(content)
    return digest.digest()


def _preferred_root() -> Path:
    if chosen := os.environ.get("PADDOCK_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "paddock" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/paddock/kernels"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paddock" / "kernels"


def cache_key(text: str, functions: Iterable[Callable[..., Any]], tuples: Iterable[type] = (), flags: Any = ()) -> str:
    """Return the digest of everything that shapes the machine code of a kernel, a routine or a neighbour search.

    `text` is the generated source, `functions` are those it calls, `tuples` the named tuple classes it builds, `flags`
    the compiler's options. The digest also covers the code of this package, the compiler's version and the processor.
    """
    digest = xxhash.xxh3_128()
    parts = [text, repr(flags), *(line for function in functions for line in described(function))]
    parts += [line for tuple_class in tuples for line in described(tuple_class)]
    for part in (*parts, *toolchain()):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:20]


@cache
def toolchain() -> tuple[str, ...]:
    """Return the generator of the source, the compiler and the processor it compiles for."""
    import llvmlite  # type: ignore[import-untyped]
    import llvmlite.binding as llvm  # type: ignore[import-untyped]
    import numba

    own = Path(__file__).parent
    generator = xxhash.xxh3_64()
    for name in ("cache.py", "kernel.py", "neighbours.py", "numba_extensions.py", "routine.py", "twin.py"):
        generator.update((own / name).read_bytes())
    settings = [f"{name}={getattr(numba.config, name, None)}" for name in SETTINGS]
    return (
        generator.hexdigest(),
        f"numba {numba.__version__} llvmlite {llvmlite.__version__} python {platform.python_version()}",
        f"{platform.machine()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}",
        " ".join(settings),
    )


class CacheEntry:
    """The folder of one compiled function: the generated source, the machine code beside it and a lock."""

    def __init__(self, name: str, key: str, text: str) -> None:
        self.folder = cache_root() / f"{name}-{key}"
        self.source = self.folder / f"{name.replace('.', '_')}.py"
        self._text = text
        self.write()

    def write(self) -> None:
        """Write the source unless another process has, and mark the entry as used."""
        if not self.source.exists():
            _sweep_sometimes(self.folder.parent)
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self.folder, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self._text)
            os.replace(draft, self.source)  # another process may have been faster: the content is the same
        with suppress(OSError):
            (self.folder / USED).touch()

    def is_compiled(self, signature: str) -> bool:
        """Return whether the machine code for this signature is in the entry."""
        return self._mark(signature).exists()

    def guard(self, dispatcher: Any) -> Any:
        """Compile or load with a Numba dispatcher under the entry's lock; return the dispatcher."""
        if not hasattr(dispatcher, "compile"):
            raise PaddockError("NUMBA_DISABLE_JIT is set, but kernels must be compiled: unset it")
        compile_or_load = dispatcher.compile
        files = _Files(dispatcher)

        def guarded(types: Any) -> Any:
            with locked(self.folder / "lock"), _no_garbage_collection():
                self.write()  # the entry may have been removed since
                files.select(types)
                result = compile_or_load(types)
                with suppress(OSError):
                    self._mark(str(dispatcher.signatures[-1])).touch()
            return result

        dispatcher.compile = guarded
        return dispatcher

    def _mark(self, signature: str) -> Path:
        return self.folder / f"{xxhash.xxh3_64(signature.encode()).hexdigest()}.compiled"


class _Files:
    """The files in which Numba keeps the machine code of one dispatcher.

    Numba pickles the types of the arguments, and a named tuple class is pickled as its name: loading fails once the
    class is renamed, and succeeds although its fields have another order. So each set of classes has files of its own.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._store = dispatcher._cache
        self._load = self._store.load_overload
        self._store.load_overload = self._load_if_valid

    def select(self, types: Any) -> None:
        """Keep the machine code for arguments of these types apart from that for other named tuple classes."""
        from paddock.compute.numba_extensions import SealedFiles  # Numba is imported late

        lines = [
            line for tuple_class in argument_classes(getattr(types, "args", types)) for line in described(tuple_class)
        ]
        digest = xxhash.xxh3_64("\0".join(lines).encode()).hexdigest()
        name = self._store._impl.filename_base + (f"-{digest}" if lines else "")
        kept = self._store._cache_file
        self._store._cache_file = SealedFiles(self._store.cache_path, name, kept._source_stamp)

    def _load_if_valid(self, *what: Any) -> Any:
        """Return the machine code, or None if there is none or its file is damaged: then it is compiled."""
        try:
            return self._load(*what)
        except Exception:
            with suppress(OSError):
                self._store.flush()
            return None


def argument_classes(types: Iterable[Any]) -> Iterator[type]:
    """Yield the named tuple classes of Numba types, with those of their fields."""
    for kind in types:
        if hasattr(kind, "instance_class"):
            yield kind.instance_class
        if hasattr(kind, "types"):  # of any tuple
            yield from argument_classes(kind.types)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Switch the collector off: a compiler makes millions of objects, and visiting them takes a tenth of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on a file across processes and threads; yields False if it is taken and `wait` is off."""
    try:
        import fcntl
    except ImportError:  # unsupported by this system: at worst a kernel is compiled twice
        yield True
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True  # closing the file releases the lock


def _sweep_sometimes(root: Path) -> None:
    mark = root / ".swept"
    with suppress(OSError):
        if not mark.exists() or time.time() - mark.stat().st_mtime > SWEPT_EVERY:
            root.mkdir(parents=True, exist_ok=True)
            mark.touch()
            sweep(root)


def sweep(root: Path, most_bytes: int = MOST_BYTES, oldest: float = OLDEST, spared: float = SPARED) -> list[str]:
    """Remove entries that are too old, then the least recently used ones until the cache is small enough.

    Entries that another process has locked or used within the last `spared` seconds stay. Returns the removed names.
    """
    now, removed = time.time(), []
    folders = [path for path in root.iterdir() if path.is_dir() and path.name != CALLEES]
    files = list((root / CALLEES).iterdir()) if (root / CALLEES).is_dir() else []
    entries = sorted((_last_use(path), path) for path in [*folders, *files])
    sizes = {path: _size(path) for _, path in entries}
    total = sum(sizes.values())
    for used, path in entries:
        if now - used > spared and (now - used > oldest or total > most_bytes):
            if path.parent.name == CALLEES:
                path.unlink(missing_ok=True)
                total -= sizes[path]
                removed.append(path.name)
                continue
            with locked(path / "lock", wait=False) as free:
                if free and _last_use(path) <= used:
                    shutil.rmtree(path, ignore_errors=True)
                    total -= sizes[path]
                    removed.append(path.name)
    return removed


def _size(entry: Path) -> int:
    return sum(file.stat().st_size for file in (entry, *entry.rglob("*")) if file.is_file())


def _last_use(entry: Path) -> float:
    mark = entry / USED
    return (mark if mark.exists() else entry).stat().st_mtime
