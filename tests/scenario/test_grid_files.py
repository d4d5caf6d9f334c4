"""Maps in files: every format gives the same numbers; errors name the file and the reason."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from paddock.errors import PaddockError
from paddock.scenario import ScenarioError, load_scenario, scenario_from_text
from paddock.scenario.grid_files import read_grid

HEIGHTS = np.array([[1, 2, 3], [4, 5, 60000]])  # rows from the south
ESRI = "ncols 3\nnrows 2\nxllcorner 100\nyllcorner 200\ncellsize 10\nNODATA_value -1\n4 5 60000\n1 2 3\n"


def test_every_format_has_the_same_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", HEIGHTS)
    np.savez(tmp_path / "a.npz", HEIGHTS)
    (tmp_path / "a.csv").write_text("# heights\n1, 2, 3\n4, 5, 60000\n")
    (tmp_path / "a.asc").write_text(ESRI)
    Image.fromarray(HEIGHTS[::-1].astype(np.uint16)).save(tmp_path / "a.png")  # a picture begins in the north
    for name in ("a.npy", "a.npz", "a.csv", "a.asc", "a.png"):
        assert_array_equal(read_grid(tmp_path / name).values, HEIGHTS, name)
    grid = read_grid(tmp_path / "a.asc")
    assert (grid.cell, grid.origin) == (10.0, (105.0, 205.0))  # the centre of the first cell


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_pictures_with_every_filter(tmp_path: Path, kind: type) -> None:
    """Pillow writes the file; a second one is written here with each of the five filters in turn."""
    most = np.iinfo(kind).max
    y, x = np.mgrid[:40, :50]
    picture = (0.5 * most * (1.0 + np.sin(0.1 * x) * np.cos(0.17 * y))).astype(kind)
    Image.fromarray(picture).save(tmp_path / "a.png")
    assert_array_equal(read_grid(tmp_path / "a.png").values, picture[::-1])
    raw, step = (
        picture.astype(picture.dtype.newbyteorder(">")).view(np.uint8).reshape(40, -1).astype(int),
        kind().nbytes,
    )
    lines = b""
    for k, line in enumerate(raw):
        up = raw[k - 1] if k else np.zeros_like(line)
        left, corner = (np.concatenate([np.zeros(step, int), row[:-step]]) for row in (line, up))
        near = np.abs(np.array([up - corner, left - corner, left + up - 2 * corner]))
        paeth = np.choose(near.argmin(axis=0), [left, up, corner])
        guess = [0 * line, left, up, (left + up) // 2, paeth][k % 5]
        lines += bytes([k % 5]) + ((line - guess) % 256).astype(np.uint8).tobytes()
    head = struct.pack(">IIBBBBB", 50, 40, 8 * step, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    packed = [struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in chunks]
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))
    assert_array_equal(read_grid(tmp_path / "b.png").values, picture[::-1])


def test_errors_name_the_file_and_the_reason(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "rgb.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "rgb.png").read_bytes()[:50])
    (tmp_path / "short.asc").write_text(ESRI.replace("ncols 3", "ncols 4"))
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "words.csv").write_text("1,2\n3,x\n")
    for name, reason in {
        "no.png": "no such file", "a.tif": "the format of a grid is one of .npy", "cut.png": "damaged or cut off",
        "rgb.png": "8-bit or 16-bit greyscale, not interlaced; this is 8-bit RGB", "ragged.csv": "row 2 has 1 values",
        "short.asc": "6 values, but nrows x ncols is 2 x 4", "words.csv": "not a valid .csv file",
    }.items():  # fmt: skip
        with pytest.raises(PaddockError, match=f"{name}: .*{reason}"):
            read_grid(tmp_path / name)


def test_a_map_is_found_beside_its_scenario_and_travels_with_it(tmp_path: Path) -> None:
    np.save(tmp_path / "hill.npy", HEIGHTS)
    text = "world: {ground: {height_map: {values: hill.npy, cell: 2, scale: 0.5}}}\nvehicles: []\n"
    (tmp_path / "s.yaml").write_text(text)
    scenario = load_scenario(tmp_path / "s.yaml")
    copy = scenario_from_text(scenario.to_yaml(), files=False)  # as in a recording: no file is needed
    assert copy == scenario and copy.world.ground and copy.world.ground.height_map
    assert_array_equal(copy.world.ground.height_map.array(), 0.5 * HEIGHTS)
    assert scenario.to_text() == text
    with pytest.raises(ScenarioError, match="files are not read here"):
        scenario_from_text(text, files=False)


@pytest.mark.parametrize(
    ("ground", "problem"),
    [
        ({"height_map": {"values": [[0, 1], [2]], "cell": 1}}, r"values\[1\]: row 1 has 1 values, row 0 has 2"),
        ({"height_map": {"values": [[0, 1]], "cell": 1}}, r"2 to 8192 rows .* shape \(1, 2\)"),
        ({"height_map": {"values": [[0, 1], [2, 3]]}}, "missing key 'cell'"),
        ({"height_map": {"values": [[0, 1], [2, 2e5]], "cell": 1}}, "within -100000 to 100000, not 0 to 200000"),
        ({"height_map": {"values": [[0, 1], [2, "x"]], "cell": 1}}, "a map has only numbers"),
        ({"height_map": {"values": "nan.npy", "cell": 1}}, r"value \[1\]\[0\] is nan \(1 such\)"),
        ({"friction_map": {"values": [[0, 1], [2, -1]], "cell": 1}}, "within 0 to 10, not -1 to 2"),
        ({"grade": 1.5}, "grade: must be <= 1, not 1.5"),
        ({"roughness": "I"}, "roughness: must be 'A', .* or 'H', not 'I'"),
        ({"patches": [{"mu": 1}]}, "exactly one of circle, rectangle, polygon, half_plane; it has none"),
        ({"patches": [{"circle": {"center": [0, 0], "radius": 1}, "mu": 11}]}, r"patches\[0\].mu: must be <= 10"),
    ],
)
def test_bad_ground_is_refused_with_key_and_range(
    ground: object, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("nan.npy", np.array([[1.0, 2.0], [np.nan, 3.0]]))
    with pytest.raises(ScenarioError, match=problem):
        load_scenario({"world": {"ground": ground}, "vehicles": []})
