"""Methods that tell what there is: the scenario, one vehicle in full, named frames, models."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING

from paddock.errors import PaddockError
from paddock.scenario import preset_names
from paddock.serve.describe import column_trees
from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import vehicle
from paddock.serve.subscribers.shapes import FramesTree, InspectedTree, MetadataTree, ModelsTree, ModelTree
from paddock.vehicles.model import find_model, model_names

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client


@method()
async def get_metadata(client: Client) -> MetadataTree:
    """What is being simulated or played: scenario, clock, fleets with their inputs and columns."""
    found: MetadataTree = (await client.request("overview")).result
    return found


@method(vehicle())
async def inspect(client: Client, vehicle: str | int) -> InspectedTree:
    """Every state, command, parameter and sensor column of a vehicle, with units; of a recording, what it has."""
    found: InspectedTree = (await client.request("examine", vehicle=vehicle)).result
    return found


@method()
async def get_frames(client: Client) -> FramesTree:
    """The named frames (ENU, m), each where it was placed in its parent last."""
    return {"frames": client.hub.mirror.frame_trees()}


@method()
async def list_models(client: Client) -> ModelsTree:
    """The models of which vehicles can be brought in, with their presets (the default first) and inputs."""
    return {"models": await asyncio.to_thread(_models)}


@cache
def _models() -> list[ModelTree]:
    return [tree for name in model_names() if (tree := _model(name)) is not None]


def _model(name: str) -> ModelTree | None:
    """One model; None for a plug-in that is broken, which is told whoever uses it."""
    try:
        model = find_model(name)
    except PaddockError:
        return None
    return {
        "model": name,
        "kind": model.kind,
        "summary": model.summary,
        "presets": preset_names(name),
        "inputs": column_trees(model.command),
    }
