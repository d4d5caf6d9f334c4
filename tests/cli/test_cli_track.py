"""`paddock track`: figures, conversion, pictures and mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paddock import track
from paddock.cli.main import exit_code


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = exit_code(["track", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_figures(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "acceleration")
    assert code == 0
    assert [line.split(None, 1)[0] for line in out.splitlines()][:3] == ["track", "length", "width"]
    assert "180.0 m" in out and "32 blue" not in out and "rules             kept" in out
    code, out, _ = run(capsys, "speedway", "--json")
    tree = json.loads(out)
    assert code == 0 and tree["closed"] and tree["width"][0] > 13.9
    assert any(line.startswith("lap of 1955 m") for line in tree["problems"])


def test_generate_convert_and_read_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "made.yaml"
    assert run(capsys, "--generate", "3", "--to", "lanes", "-o", str(target)) == (0, f"{target}\n", "")
    made = track.load(target)
    assert (np.sort(made.cones, axis=0) == np.sort(track.generate(3).cones, axis=0)).all()
    code, out, _ = run(capsys, str(target), "--to", "csv")
    assert code == 0 and out.startswith("tag,x,y,direction,x_variance") and out.count("\n") == len(made.cones) + 2
    code, out, _ = run(capsys, str(target))
    assert code == 0 and out.startswith("track             made (closed)")


def test_a_picture_shows_asphalt_and_cones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "autocross.png"
    assert run(capsys, "autocross", "-o", str(target))[0] == 0
    pixels = np.asarray(Image.open(target).convert("RGB")).reshape(-1, 3).astype(int)
    assert pixels.size > 1_000_000
    for colour, least in (((0x50, 0x55, 0x5B), 20_000), ((0x1F, 0x6F, 0xE5), 2000), ((0xFF, 0xD2, 0x1F), 2000)):
        assert np.count_nonzero(np.abs(pixels - colour).max(axis=1) < 12) > least


def test_a_file_without_a_start_pose(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "nostart.csv"
    rows = track.dump(track.load("trackdrive")).splitlines()
    target.write_text("\n".join(row for row in rows if not row.startswith("car_start")) + "\n")
    code, out, err = run(capsys, str(target))
    assert (code, out) == (2, "")
    assert err.endswith("no start pose: add a car_start to the file, or give --start x,y,yaw\n") and "start=" not in err
    assert run(capsys, str(target), "--start=-5,0,0")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a track file or name, or --generate SEED"),
        (("park", "--generate", "1"), "give a track file or name, or --generate SEED"),
        (("prak",), "prak: no such track file or track of the catalog; did you mean 'park'?"),
        (("park", "--to", "csf"), "--to: unknown format 'csf'; did you mean 'csv'?"),
        (("park", "-o", "x.yaml"), "--output x.yaml: give the format with --to: csv, csv4, cones, lanes, png"),
        (("park", "--start", "1,2"), "--start takes x,y,yaw in m and rad, not '1,2'"),
        (("park", "--to", "csv", "-o", "/no/x.csv"), "cannot write /no/x.csv: No such file or directory"),
        (("--generate", "1", "--width", "2"), "the width of a track must be 3 to 8 m, not 2"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
