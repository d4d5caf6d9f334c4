"""The sections `world.ground` and `world.obstacles`: shape and friction of the ground, static obstacles."""

import base64
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo, model_validator

from paddock.errors import PaddockError
from paddock.scenario.base import (
    LONGEST_NAME,
    Flag,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Section,
    Text,
    Vector2,
    Whole,
    has_length,
    invalid,
)

if TYPE_CHECKING:  # scenarios without maps are read without NumPy
    import numpy as np
    from numpy.typing import NDArray

HIGHEST = 1e5  # m, of any height
SMALLEST, LARGEST = 2, 8192  # rows and columns of a map
MOST_VALUES = 1 << 24  # of a map
MOST_OBSTACLES = 100_000
TYPES = ("u1", "u2", "f4", "f8")
FILES = "files"
"""Key of a validation context: the folder of relative paths. Without it files are not read: not those that a client, a
recording or a saved state names."""


class Grid(Section):
    """A table of numbers, packed; users write the path of a file, or a list of rows from the south to the north."""

    rows: Whole = Field(ge=SMALLEST, le=LARGEST, description="Number of rows.")
    columns: Whole = Field(ge=SMALLEST, le=LARGEST, description="Number of columns.")
    type: Literal["u1", "u2", "f4", "f8"] = Field(description="Type of the numbers, little-endian.")
    data: Text = Field(description="The numbers, row by row: zlib, then base64.")
    cell: Positive | None = Field(default=None, description="Distance of neighbours that the file has, in m.")
    origin: Vector2 | None = Field(default=None, description="Position of the first number that the file has, in m.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        try:
            self.array()
        except (ValueError, zlib.error):
            raise invalid(f"data is not {self.rows} x {self.columns} numbers of type {self.type}", ("data",)) from None
        return self

    def array(self) -> "NDArray[np.float64]":
        """Return the numbers (rows, columns)."""
        import numpy as np

        kind = np.dtype(f"<{self.type}")
        size = self.rows * self.columns * kind.itemsize
        raw = zlib.decompressobj().decompress(base64.b64decode(self.data, validate=True), size + 1)
        if len(raw) != size:
            raise ValueError
        return np.frombuffer(raw, kind).reshape(self.rows, self.columns).astype(np.float64)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe what users write, and the packed form of recordings."""
        rows = {"type": "array", "minItems": SMALLEST, "items": {"type": "array", "items": {"type": "number"}}}
        packed = {"type": "object", "required": ["rows", "columns", "type", "data"]}
        return {"description": cls.__doc__, "anyOf": [{"type": "string", "minLength": 1}, rows, packed]}


def _grid(value: Any, info: ValidationInfo) -> Any:
    """Pack a file or a list of rows."""
    if isinstance(value, dict | Grid):
        return value
    if isinstance(value, str):
        folder = (info.context or {}).get(FILES)
        if folder is None:
            raise invalid("files are not read here: give the rows themselves, or a packed grid")
        from paddock.scenario.grid_files import read_grid

        try:
            grid = read_grid(Path(folder, value))
        except PaddockError as error:
            raise invalid(str(error)) from None
        return {**packed(grid.values), "cell": grid.cell, "origin": grid.origin}
    if not isinstance(value, list | tuple) or not all(isinstance(row, list | tuple) for row in value):
        raise invalid(f"a map is the path of a file, or a list of rows of numbers, not {value!r:.60}")
    for k, row in enumerate(value):
        if len(row) != len(value[0]):
            raise invalid(f"row {k} has {len(row)} values, row 0 has {len(value[0])}: all rows have the same", (k,))
    import numpy as np

    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid("a map has only numbers") from None
    return packed(numbers)


def packed(values: "NDArray[Any]") -> dict[str, Any]:
    """Return the fields of a grid, in the smallest type that keeps every bit; an error names an invalid value."""
    import numpy as np

    if values.ndim != 2 or not all(SMALLEST <= size <= LARGEST for size in values.shape) or values.size > MOST_VALUES:
        limits = f"{SMALLEST} to {LARGEST} rows and columns, at most {MOST_VALUES} values"
        raise invalid(f"a map has two dimensions of {limits}; this has the shape {values.shape}")
    if values.dtype.kind not in "fiu":
        raise invalid(f"a map has numbers, not {values.dtype}")
    wide = values.astype(np.float64)
    bad = np.argwhere(~np.isfinite(wide))
    if len(bad):
        row, column = bad[0].tolist()
        raise invalid(f"a map has finite numbers: value [{row}][{column}] is {wide[row, column]} ({len(bad)} such)")
    kind = next(name for name in TYPES if _fits(wide, np.dtype(f"<{name}")))
    raw = wide.astype(f"<{kind}").tobytes()
    data = base64.b64encode(zlib.compress(raw, 6)).decode()
    return {"rows": values.shape[0], "columns": values.shape[1], "type": kind, "data": data}


def _fits(values: "NDArray[np.float64]", kind: Any) -> bool:
    import numpy as np

    limits = np.iinfo(kind) if kind.kind == "u" else np.finfo(kind)
    if values.min() < limits.min or values.max() > limits.max:
        return False
    return bool((values.astype(kind).astype(np.float64) == values).all())


GridValues = Annotated[Grid, BeforeValidator(_grid)]
Point = Annotated[tuple[Number, ...], Field(min_length=2, max_length=3), has_length(2, 3, form="[x, y] or [x, y, z]")]
"""`[x, y]` (on the ground) or `[x, y, z]`, in m."""
Points = Annotated[tuple[Vector2, ...], Field(min_length=2, max_length=10_000)]


class _Map(Section):
    """Numbers on a grid."""

    LIMITS: ClassVar[tuple[float, float]]
    values: GridValues = Field(
        description="Path of a file (.npy, .npz, .csv, .txt, .asc, greyscale .png), or rows of numbers from the south."
    )
    cell: Positive | None = Field(default=None, le=1e5, description="Distance of neighbours, in m; .asc files have it.")
    origin: Vector2 | None = Field(
        default=None, description="Position [x, y] of the south-western value, in m; default [0, 0] or the file's."
    )
    scale: Number = Field(default=1.0, description="Factor on the values of the file.")
    offset: Number = Field(default=0.0, description="Added to the scaled values.")

    @model_validator(mode="after")
    def _valid(self) -> Self:
        if self.cell is None and self.values.cell is None:
            raise invalid("missing key 'cell': the distance of neighbours in m, > 0 and <= 100000")
        values, (low, high) = self.array(), self.LIMITS
        if not (low <= values.min() and values.max() <= high):
            span = f"{values.min():g} to {values.max():g}"
            raise invalid(f"values * scale + offset must be within {low:g} to {high:g}, not {span}", ("values",))
        return self

    def array(self) -> "NDArray[np.float64]":
        """Return the scaled numbers (rows from the south, columns from the west)."""
        return self.values.array() * self.scale + self.offset

    @property
    def spacing(self) -> float:
        """Distance of neighbours, m."""
        return float(self.cell or self.values.cell or 1.0)

    @property
    def corner(self) -> tuple[float, float]:
        """Position of the south-western value, m."""
        return self.origin or self.values.origin or (0.0, 0.0)


class HeightMap(_Map):
    """Heights on a grid, in m above `ground_z`; between them smooth (bicubic), beyond the edge as at the edge."""

    LIMITS: ClassVar[tuple[float, float]] = (-HIGHEST, HIGHEST)


class FrictionMap(_Map):
    """Friction on a grid, in place of the world's `mu`; between the values bilinear, beyond the edge as at the edge."""

    LIMITS: ClassVar[tuple[float, float]] = (0.0, 10.0)


class CirclePatch(Section):
    """A disc."""

    center: Vector2 = Field(description="Centre [x, y], in m.")
    radius: Positive = Field(description="Radius, in m.")


class RectanglePatch(Section):
    """A rectangle."""

    center: Vector2 = Field(description="Centre [x, y], in m.")
    size: Annotated[tuple[Positive, Positive], has_length(2, form="[length, width]")] = Field(
        description="[length, width], in m."
    )
    heading: Number = Field(default=0.0, description="Direction of the length, in rad.")


class HalfPlane(Section):
    """Everything to the left of a line."""

    point: Vector2 = Field(default=(0.0, 0.0), description="A point [x, y] of the line, in m.")
    heading: Number = Field(default=0.0, description="Direction of the line, in rad.")


class FrictionPatch(OneOf):
    """An area with a friction of its own; a later patch covers an earlier one."""

    ONE_OF: ClassVar[Any] = ("a patch", ("circle", "rectangle", "polygon", "half_plane"))
    circle: CirclePatch | None = Field(default=None, description="A disc.")
    rectangle: RectanglePatch | None = Field(default=None, description="A rectangle.")
    polygon: Annotated[tuple[Vector2, ...], Field(min_length=3, max_length=1000)] | None = Field(
        default=None, description="Corners [[x, y], ...] of an area, in m."
    )
    half_plane: HalfPlane | None = Field(default=None, description="All to the left of a line (split-mu).")
    mu: NotNegative = Field(le=10, description="Friction inside (no unit), in place of the world's `mu`.")
    transition: NotNegative = Field(
        default=0.0, le=1e5, description="Width over which the friction changes at the edge, in m."
    )


class GroundSection(Section):
    """The shape and the friction of the ground: the sum of a tilted plane, a height map and roughness."""

    grade: Number = Field(default=0.0, ge=-1, le=1, description="Rise along `heading`, in m per m.")
    bank: Number = Field(default=0.0, ge=-1, le=1, description="Rise to the left of `heading`, in m per m.")
    heading: Number = Field(default=0.0, description="Direction of the grade, in rad.")
    height_map: HeightMap | None = Field(default=None, description="Heights on a grid.")
    roughness: Literal["A", "B", "C", "D", "E", "F", "G", "H"] | None = Field(
        default=None, description="Class of roughness by ISO 8608, A (very good) to H."
    )
    roughness_seed: Whole = Field(default=0, ge=0, lt=2**63, description="Seed of the roughness.")
    patches: tuple[FrictionPatch, ...] = Field(default=(), max_length=1000, description="Areas of other friction.")
    friction_map: FrictionMap | None = Field(default=None, description="Friction on a grid, under the patches.")


class BoxObstacle(Section):
    """A box that stands upright."""

    center: Point = Field(description="Centre of its base [x, y], on the ground, or [x, y, z], in m.")
    size: Annotated[tuple[Positive, Positive, Positive], has_length(3, form="[length, width, height]")] = Field(
        description="[length, width, height], in m."
    )
    heading: Number = Field(default=0.0, description="Direction of the length, in rad.")


class WallObstacle(Section):
    """A wall along a line with corners; every part stands on the ground of its two ends."""

    points: Points = Field(description="Corners [[x, y], ...] of its middle line, in m.")
    height: Positive = Field(default=1.0, description="Height above the ground, in m.")
    thickness: Positive = Field(default=0.2, description="Thickness, in m.")
    closed: Flag = Field(default=False, description="Whether the last corner is joined to the first.")

    @model_validator(mode="after")
    def _different_corners(self) -> Self:
        corners = [*self.points, *(self.points[:1] if self.closed else ())]
        for k, (corner, other) in enumerate(pairwise(corners)):
            if corner == other:
                at = (k + 1) % len(self.points)
                raise invalid(f"two corners in a row are equal, [{corner[0]:g}, {corner[1]:g}]", ("points", at))
        return self


class RoundObstacle(Section):
    """A cylinder or cone that stands upright."""

    center: Point = Field(description="Centre of its base [x, y], on the ground, or [x, y, z], in m.")
    radius: Positive = Field(description="Radius of the base, in m.")
    height: Positive = Field(description="Height, in m.")


class ConeObstacle(RoundObstacle):
    """A traffic cone; the default is 0.5 m high. With contact it is a vehicle, `prop.cone`."""

    radius: Positive = Field(default=0.14, ge=0.005, le=50.0, description="Radius of the base, in m.")
    height: Positive = Field(default=0.5, ge=0.01, le=100.0, description="Height, in m.")
    mass: Positive | None = Field(
        default=None, le=1e6, description="Mass, in kg, with contact; null is that of a road cone of its size."
    )


class Obstacle(OneOf):
    """A static obstacle."""

    ONE_OF: ClassVar[Any] = ("an obstacle", ("box", "wall", "cylinder", "cone"))
    name: Text = Field(default="", max_length=LONGEST_NAME, description="Name, for people and events.")
    material: Literal["concrete", "metal", "wood", "vegetation", "glass"] = Field(
        default="concrete", description="Material, which attenuates radio signals."
    )
    box: BoxObstacle | None = Field(default=None, description="A box.")
    wall: WallObstacle | None = Field(default=None, description="A wall.")
    cylinder: RoundObstacle | None = Field(default=None, description="A cylinder.")
    cone: ConeObstacle | None = Field(default=None, description="A cone.")


Obstacles = Annotated[tuple[Obstacle, ...], Field(max_length=MOST_OBSTACLES)]
