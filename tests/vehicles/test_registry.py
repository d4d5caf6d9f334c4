"""Models are found by name: shipped, installed, or a user's own dotted name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.errors import PaddockError, UnknownNameError
from paddock.vehicles.model import MODELS, find_model, model_names


@pytest.fixture
def own_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "my_fleet_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mine.py").write_text("from paddock.vehicles.models.point import MODEL\n")
    (package / "empty.py").write_text("MODEL = 3\n")
    (package / "broken.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    return package


def test_shipped_models_are_listed() -> None:
    assert {"fixed_wing", "point", "rover"} <= set(model_names())
    assert model_names() == sorted(model_names())


@pytest.mark.parametrize("name", ["fixed_wing", "point", "rover"])
def test_model_knows_its_name(name: str) -> None:
    assert find_model(name).name == name
    assert find_model(name) is find_model(name)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model 'rovr'; did you mean 'rover'\?"):
        find_model("rovr")


def test_unknown_dotted_name_is_unknown_too() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model 'car.bycicle'"):
        find_model("car.bycicle")
    with pytest.raises(UnknownNameError, match=r"unknown model 'point.x'"):
        find_model("point.x")


def test_own_dotted_name(own_package: Path) -> None:
    assert find_model("my_fleet_package.mine").name == "my_fleet_package.mine"


def test_module_without_model_is_refused(own_package: Path) -> None:
    with pytest.raises(PaddockError, match=r"'my_fleet_package.empty' has no MODEL = VehicleModel"):
        find_model("my_fleet_package.empty")


def test_error_inside_an_own_module_is_not_hidden(own_package: Path) -> None:
    with pytest.raises(PaddockError, match=r"failed: ModuleNotFoundError: .*a_package_that_is_not_there"):
        find_model("my_fleet_package.broken")


def test_entry_points_add_names(own_package: Path) -> None:
    metadata = own_package.parent / "my_fleet-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-fleet\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{MODELS.group}]\nglider = my_fleet_package.mine\n")
    code = "from paddock.vehicles.model import *; print('glider' in model_names(), find_model('glider').name)"
    assert run(code, own_package.parent) == "True glider"


def test_finding_a_model_does_not_load_numba() -> None:
    code = "import sys; from paddock.vehicles.model import find_model as f; f('point'); print('numba' in sys.modules)"
    assert run(code) == "False"


def run(code: str, *folders: Path) -> str:
    """What a fresh interpreter prints, with more folders to import from."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, folders), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()
