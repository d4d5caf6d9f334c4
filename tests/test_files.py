"""Files that users name: devices, FIFOs and files that are too large are refused before anything is read."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.files import LARGEST_FILE, read_file
from paddock.planning.exchange import origin_in
from paddock.radio.maps.samples import read_samples
from paddock.record import open_run
from paddock.record.export import recorded_inputs
from paddock.sitl.ground_station import mission_file
from paddock.wire.radio_map import read_map
from paddock.wire.tir import read_tir
from paddock.wire.tracks import read_track

CAR = {"name": "red", "model": "car.bicycle"}
GIB = 1 << 30


def load_ground(path: Path) -> Any:
    return paddock.load({"world": {"ground": {"height_map": {"values": str(path), "cell": 1.0}}}, "vehicles": []})


LOADERS: dict[str, Callable[[Path], Any]] = {
    "s.yaml": lambda path: paddock.load(str(path)),
    "track.csv": lambda path: paddock.load({"track": str(path), "vehicles": [CAR]}),
    "cones.csv": read_track,
    "hill.npy": load_ground,
    "hill.npz": load_ground,
    "hill.csv": load_ground,
    "hill.asc": load_ground,
    "hill.png": load_ground,
    "a.tir": read_tir,
    "tyre.tir": lambda path: paddock.load({"vehicles": [{**CAR, "subsystems": {"tyre": str(path)}}]}),
    "a.fmu": lambda path: paddock.load({"vehicles": [{"name": "a", "model": "fmu", "fmu": {"file": str(path)}}]}),
    "a.plan": lambda path: mission_file(path, "copter"),
    "b.plan": origin_in,
    "samples.csv": read_samples,
    "samples.parquet": read_samples,
    "map.npz": read_map,
    "run.mcap": open_run,
    "inputs.csv": recorded_inputs,
}


@pytest.mark.parametrize("name", LOADERS)
def test_devices_and_fifos_are_refused_also_behind_links(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    for target, kind in (("/dev/zero", "a device"), (str(tmp_path / "fifo"), "a FIFO")):
        if kind == "a FIFO":
            os.mkfifo(target)
        file.symlink_to(target)
        with pytest.raises(PaddockError, match=f"it is {kind}, not a regular file") as refused:
            LOADERS[name](file)
        assert "\n" not in str(refused.value)
        file.unlink()


@pytest.mark.parametrize("name", [name for name in LOADERS if name not in ("a.fmu", "run.mcap", "samples.parquet")])
def test_the_size_is_checked_before_anything_is_read(tmp_path: Path, name: str) -> None:
    """3 GiB of zeros, which take no room on the disk."""
    with (tmp_path / name).open("wb") as file:
        file.truncate(3 * GIB)
    with pytest.raises(PaddockError, match=r"it has more than [0-9]+ [KM]iB, the most that are read"):
        LOADERS[name](tmp_path / name)


def test_a_file_without_a_size_is_read_up_to_the_limit() -> None:
    assert read_file("/proc/self/stat", LARGEST_FILE)  # a regular file of 0 bytes
    with pytest.raises(OSError, match="it has more than 1 KiB"):
        read_file("/proc/self/smaps", 1 << 10)


def test_arrays_are_refused_by_their_header(tmp_path: Path) -> None:
    """8 TiB in a file of 128 bytes, in an archive, and objects that only pickle can read."""
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 20, 1 << 20)})
    (tmp_path / "a.npy").write_bytes(header.getvalue())
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("values.npy", header.getvalue())
    for name in ("a.npy", "a.npz"):
        with pytest.raises(PaddockError, match=r"an array of shape \(1048576, 1048576\); at most 16777216 values"):
            load_ground(tmp_path / name)
    text = b"{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}".ljust(63) + b"\n"
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"cos\nsystem\n")
    with pytest.raises(PaddockError, match="it has objects, not numbers"):
        load_ground(tmp_path / "b.npy")
