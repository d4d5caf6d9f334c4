"""The hub's copy of markers, frames and figures, and the encoding of markers for the link."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isinf
from time import monotonic
from typing import Any

from paddock.engine.markers import MarkerChange
from paddock.errors import PaddockError, unknown_name
from paddock.wire.results import FrameTree
from paddock.world.markers import Marker, PlacedMarker
from paddock.world.transforms import Transform, TransformTree

Key = tuple[str, int]


class Mirror:
    """Markers, frames and figures, updated by the simulation's pushes."""

    def __init__(self, on_redrawn: Callable[[], None] = lambda: None) -> None:
        """`on_redrawn` is called when a large drawing of the markers is ready."""
        self.on_redrawn = on_redrawn
        self.markers: dict[Key, dict[str, Any]] = {}  # (namespace, id) -> the marker as a tree, with `expires`
        self.hidden: set[str] = set()  # hidden namespaces
        self.frames = TransformTree()
        self._placed: dict[str, FrameTree] = {}
        self.figures: dict[str, Any] = {}  # of the last heartbeat
        self.updated = -inf  # monotonic s of that heartbeat
        self.preparing = ""  # what the simulation prepares before its clock can run; then empty
        self.version = 0  # incremented when markers or frames change

    def receive_figures(self, figures: dict[str, Any]) -> None:
        """Take the figures of a heartbeat."""
        self.figures, self.updated = figures, monotonic()

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Apply a push."""
        if kind == "preparing":
            self.preparing = str(content["text"])
            return
        if kind == "markers":
            if "namespace" in content:
                (self.hidden.discard if content["visible"] else self.hidden.add)(content["namespace"])
            for namespace, number in content.get("removed", ()):
                self.markers.pop((namespace, number), None)
            if content.get("cleared"):
                self.markers.clear()
            for tree in content.get("put", ()):
                self.markers[tree["namespace"], tree["id"]] = tree
        elif kind == "hidden":
            self.hidden = set(content["namespaces"])
        elif kind == "frames":
            self._take_frames(content)
        elif kind == "restart" and content["how"] == "reset":
            self.markers.clear()
        else:
            return
        self.version += 1

    def alive(self, time: float) -> list[dict[str, Any]]:
        """Return the visible markers at a simulation time, sorted by namespace and id; delete expired ones."""
        ends = {key: tree["expires"] for key, tree in self.markers.items() if tree["expires"] is not None}
        for key in [key for key, expires in ends.items() if expires <= time]:
            del self.markers[key]
            self.version += 1
        return [self.markers[key] for key in sorted(self.markers) if key[0] not in self.hidden]

    def frame_trees(self) -> list[FrameTree]:
        """Return the named frames, each with its last pose in its parent."""
        return list(self._placed.values())

    def _take_frames(self, content: dict[str, Any]) -> None:
        if "tree" in content:
            self.frames = TransformTree.restored(content["tree"])
            saved = content["tree"]["frames"]
            self._placed = {
                name: _frame_tree(name, frame["parent"], frame["poses"][-1]) for name, frame in saved.items()
            }
            return
        pose = Transform(content["position"], content["quaternion"])
        if content["moving"]:
            self.frames.set_dynamic(content["name"], content["parent"], content["time"], pose)
        else:
            self.frames.set_static(content["name"], content["parent"], pose)
        placed = [*content["position"], *content["quaternion"]]
        self._placed[content["name"]] = _frame_tree(content["name"], content["parent"], placed)


def _frame_tree(name: str, parent: str, pose: Sequence[float]) -> FrameTree:
    """Return a frame from a row of position and quaternion."""
    x, y, z, qx, qy, qz, qw = map(float, pose)
    return {"name": name, "parent": parent, "position": (x, y, z), "quaternion": (qx, qy, qz, qw)}


FIELDS = tuple(Marker.__dataclass_fields__)


def marker_from_tree(tree: Mapping[str, Any]) -> Marker:
    """Build a marker from a client's description."""
    for name in tree:
        if name not in FIELDS:
            raise unknown_name("field of a marker", name, FIELDS)
    for name in ("namespace", "id", "kind"):
        if name not in tree:
            raise PaddockError(f"a marker needs {name!r}")
    return Marker(**tree)


def placed_tree(placed: PlacedMarker) -> dict[str, Any]:
    """Return a marker as a tree, with the simulation time (s) at which it expires; None: never."""
    tree = {name: getattr(placed.marker, name) for name in FIELDS}
    return {**tree, "expires": None if isinf(placed.until) else placed.until}


def change_tree(change: MarkerChange) -> dict[str, Any]:
    """Return a change of the markers as a tree."""
    match change.kind:
        case "put":
            return {"put": list(map(placed_tree, change.placed))}
        case "removed":
            return {"removed": [(placed.marker.namespace, placed.marker.id) for placed in change.placed]}
        case "cleared":
            return {"cleared": True}
    return {"namespace": change.namespace, "visible": change.visible}
