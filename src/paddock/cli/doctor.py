"""`paddock doctor`: check the installation and show how to add missing features."""

import importlib
import os
import platform
import re
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from paddock.cli.options import Flag

MARKS = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "broken": "[red]broken[/]"}


def doctor(*, json: Flag = False) -> int:
    """Check the installation and show how to add missing features. Exits with 1 if the simulator does not work.

    Parameters
    ----------
    json
        Print only a JSON list of findings.
    """
    findings = [*machine(), *core(), *accelerator(), *storage(), *extras(), *ports()]
    if json:
        from json import dumps

        print(dumps([finding._asdict() for finding in findings], indent=2))
    else:
        print_table(findings)
    return 1 if any(finding.mark == "broken" for finding in findings) else 0


NOT_FEATURES = ("all", "dev")
SHARED_MEMORY = Path("/dev/shm")
SMALL_SHARED_MEMORY = 256e6  # bytes: a ring of snapshots of 100,000 vehicles takes about half of it


class Finding(NamedTuple):
    """One checked item."""

    group: str
    name: str
    mark: str  # ok, warn (missing or degraded), broken (the simulator does not work)
    value: str
    advice: str = ""


def print_table(findings: Sequence[Finding]) -> None:
    """Print a line per finding."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    group = ""
    for finding in findings:
        title = f"[bold]{finding.group}[/]" if finding.group != group else ""
        group = finding.group
        advice = f"  [dim]{escape(finding.advice)}[/]" if finding.advice else ""
        table.add_row(title, finding.name, MARKS[finding.mark], escape(finding.value) + advice)
    Console().print(table)


def machine() -> Iterator[Finding]:
    """Check Python, system and processor."""
    from paddock import __version__
    from paddock.compute.threads import available_threads

    yield Finding("machine", "paddock", "ok", __version__)
    yield Finding("machine", "python", "ok", f"{platform.python_implementation()} {platform.python_version()}")
    yield Finding("machine", "system", "ok", f"{platform.system()} {platform.release()} {platform.machine()}")
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        model = match.group(1).strip() if match else platform.machine()
    except OSError:
        model = platform.processor() or platform.machine()
    yield Finding("machine", "processor", "ok", model)
    yield Finding("machine", "cores", "ok", f"{os.cpu_count()}, {available_threads()} used by kernels")


def core() -> Iterator[Finding]:
    """Check that the simulation works."""
    try:
        numba = importlib.import_module("numba")
        yield Finding("core", "numba", "ok", numba.__version__)
        yield vector_width()
        started = time.perf_counter()
        _short_run()
        took = time.perf_counter() - started
    except Exception as error:  # any failure is a finding, not a crash
        advice = "reinstall Paddock: pip install --force-reinstall paddock"
        yield Finding("core", "simulation", "broken", f"{type(error).__name__}: {error}", advice)
        return
    try:  # it starts with the first fleet that uses several threads
        layer = str(numba.threading_layer())
    except ValueError:
        layer = "not started"
    yield Finding("core", "threading layer", "ok", layer)
    yield Finding("core", "simulation", "ok", f"ok; kernels ready in {took:.2f} s")


def _short_run() -> None:
    import paddock

    vehicle = {"model": "point", "speed": 1.0, "commands": {"vx": 1.0}}
    with paddock.load({"clock": {"rate": 100}, "vehicles": [vehicle]}) as sim:
        sim.step(100)
        moved = float(sim.snapshot().fleet("point_0").position[0, 0])
    if abs(moved - 1.0) > 1e-9:
        raise RuntimeError(f"a vehicle at 1 m/s moved {moved} m in one second")


def vector_width() -> Finding:
    """Check the vector width of the CPU, as known to the compiler."""
    features = importlib.import_module("llvmlite.binding").get_host_cpu_features()
    for feature, name, bits in (("avx512f", "AVX-512", 512), ("avx2", "AVX2", 256), ("neon", "NEON", 128)):
        if features.get(feature):
            return Finding("core", "vector width", "ok", f"{name}, {bits // 64} float64 lanes")
    return Finding("core", "vector width", "warn", "128 bit or less: expect about half the speed")


def accelerator() -> Iterator[Finding]:
    """Check for a GPU (optional)."""
    from paddock.compute.cuda import find_gpu

    gpu = find_gpu()
    yield Finding("core", "gpu", "ok" if gpu.available else "warn", gpu.name if gpu.available else "none", gpu.reason)


def storage() -> Iterator[Finding]:
    """Check the kernel cache and shared memory."""
    from paddock.compute.cache import cache_root, is_lasting

    root = cache_root()
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file()) / 1e6
    lasting = is_lasting(root)
    advice = "" if lasting else "the default folder is not writable: set PADDOCK_CACHE, or kernels are lost with /tmp"
    yield Finding("storage", "kernel cache", "ok" if lasting else "warn", f"{root}, {size:.0f} MB", advice)
    if SHARED_MEMORY.is_dir():
        usage = shutil.disk_usage(SHARED_MEMORY)
        enough = usage.free >= SMALL_SHARED_MEMORY
        advice = "" if enough else "low for snapshots of large fleets; in a container use --shm-size=1g"
        value = f"{usage.free / 1e6:,.0f} MB free of {usage.total / 1e6:,.0f} MB"
        yield Finding("storage", "shared memory", "ok" if enough else "warn", value, advice)


def extras() -> Iterator[Finding]:
    """Check the optional dependencies."""
    try:
        needed = metadata.requires("paddock") or []
    except metadata.PackageNotFoundError:
        advice = "pip install paddock"
        yield Finding("extras", "package", "warn", "running from source: extras unknown", advice)
        return
    features: dict[str, list[str]] = {}
    for requirement in needed:
        match = re.match(r"([A-Za-z0-9._-]+).*extra\s*==\s*['\"]([\w-]+)['\"]", requirement)
        if match and match[2] not in NOT_FEATURES:
            features.setdefault(match[2], []).append(match[1])
    for feature, packages in features.items():
        versions: list[str] = []
        missing: list[str] = []
        for package in packages:
            try:
                versions.append(f"{package} {metadata.version(package)}")
            except metadata.PackageNotFoundError:
                missing.append(package)
        advice = f"pip install 'paddock[{feature}]'" if missing else ""
        value = f"missing {', '.join(missing)}" if missing else ", ".join(versions)
        yield Finding("extras", feature, "warn" if missing else "ok", value, advice)


def ports() -> Iterator[Finding]:
    """Check that the default ports are free."""
    from paddock.scenario.serve import MetricsEndpoint, StreamEndpoint, Vds1Endpoint, WebEndpoint, ZmqEndpoint
    from paddock.scenario.sitl import Mavlink
    from paddock.sitl.ardupilot_frames import JSON_PORT
    from paddock.sitl.external_autopilot import PX4_PORT

    for port, protocol, purpose in (
        (WebEndpoint().port, "tcp", "web page"),
        (StreamEndpoint().port, "tcp", "stream"),
        (Vds1Endpoint().port, "udp", "vehicle data stream"),
        (ZmqEndpoint().port, "tcp", "ZeroMQ requests"),
        (ZmqEndpoint().port + 1, "tcp", "ZeroMQ publications"),
        (MetricsEndpoint().port, "tcp", "metrics"),
        (JSON_PORT, "udp", "physics of an ArduPilot"),
        (PX4_PORT, "tcp", "physics of a PX4"),
        (Mavlink().port, "udp", "MAVLink of system 1"),
    ):
        free = port_is_free(port, protocol)
        advice = "" if free else "in use by another program; choose another port in the scenario"
        value = f"{purpose}, {'free' if free else 'in use'}"
        yield Finding("ports", f"{port}/{protocol}", "ok" if free else "warn", value, advice)


def port_is_free(port: int, protocol: str) -> bool:
    """Return whether this process can bind the port."""
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as probe:
        if protocol == "tcp" and sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ignore connections in TIME_WAIT
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
