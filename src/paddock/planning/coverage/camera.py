"""A camera that looks straight down: from its sensor and a height to the spacing of swaths and of pictures."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.errors import InvalidValueError
from paddock.planning.coverage.checks import check_positive


@dataclass(frozen=True)
class Camera:
    """A sensor behind a lens. Its wide side lies across the track, unless it is mounted `portrait`."""

    width_px: int
    height_px: int
    sensor_width_mm: float
    focal_length_mm: float  # the real one, not the equivalent for 35 mm film
    sensor_height_mm: float | None = None  # None: square pixels
    portrait: bool = False

    def __post_init__(self) -> None:
        check_positive("camera", width_px=self.width_px, height_px=self.height_px)
        check_positive("camera", sensor_width_mm=self.sensor_width_mm, focal_length_mm=self.focal_length_mm)
        if self.sensor_height_mm is not None:
            check_positive("camera", sensor_height_mm=self.sensor_height_mm)

    def gsd(self, height: float) -> float:
        """Ground sample distance: m of ground across for each pixel, from `height` m above it."""
        check_positive("camera", height=height)
        return self.sensor_width_mm * height / (self.focal_length_mm * self.width_px)

    def height_for(self, gsd: float) -> float:
        """The height in m above ground at which a pixel shows `gsd` m."""
        check_positive("camera", gsd=gsd)
        return gsd * self.focal_length_mm * self.width_px / self.sensor_width_mm

    def footprint(self, height: float) -> tuple[float, float]:
        """Ground in one picture, m across the track and m along it."""
        check_positive("camera", height=height)
        wide = self.sensor_width_mm / self.focal_length_mm * height
        high = self._sensor_height() / self.focal_length_mm * height
        return (high, wide) if self.portrait else (wide, high)

    def spacing(self, height: float, side_overlap: float = 0.7) -> float:
        """m between swaths so that pictures of neighbouring ones share `side_overlap` (0 to below 1) of their width."""
        return self.footprint(height)[0] * (1.0 - _share("side_overlap", side_overlap))

    def trigger_distance(self, height: float, front_overlap: float = 0.8) -> float:
        """m flown between pictures so that they share `front_overlap` (0 to below 1) of their length."""
        return self.footprint(height)[1] * (1.0 - _share("front_overlap", front_overlap))

    def _sensor_height(self) -> float:
        if self.sensor_height_mm is not None:
            return self.sensor_height_mm
        return self.sensor_width_mm * self.height_px / self.width_px


def _share(name: str, value: float) -> float:
    if not 0.0 <= value < 1.0:
        raise InvalidValueError(f"camera: {name} is {value!r}; it must be a share from 0 to below 1, such as 0.7")
    return value
