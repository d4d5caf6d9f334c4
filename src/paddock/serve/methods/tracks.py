"""Methods about edited tracks; another process does the work, so that frames are not delayed."""

from paddock.serve.subscribers.client import Client
from paddock.wire.operations.results import TrackCheckTree, TrackFileTree


async def check_track(
    client: Client, cones: list[list[float]], colours: list[str], start: list[float]
) -> TrackCheckTree:
    found = await client.hub.checker.track({"cones": cones, "colours": colours, "start": start}, client.name)
    return {"track": found["track"], "problems": found["problems"], "warnings": found["warnings"]}


async def read_track(client: Client, text: str, name: str = "track") -> TrackFileTree:
    found = await client.hub.checker.track({"file": name, "text": text}, client.name)
    return {
        "format": found["format"],
        "cones": found["cones"],
        "colours": found["colours"],
        "covariances": found["covariances"],
        "start": found["start"],
        "notes": found["notes"],
    }


async def write_track(
    client: Client,
    cones: list[list[float]],
    colours: list[str],
    start: list[float],
    format: str,
    covariances: list[list[float]] | None = None,
) -> str:
    request = {"cones": cones, "colours": colours, "start": start, "format": format, "covariances": covariances}
    return str((await client.hub.checker.track(request, client.name))["text"])
