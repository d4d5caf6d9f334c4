"""What answers and notifications look like, described once: the page's TypeScript types are made from it."""

from __future__ import annotations

from paddock.serve.subscribers.shapes import answers, notifications, roster, run, scenarios, vehicles
from paddock.serve.subscribers.shapes.answers import (
    DrawnTree,
    EventsTree,
    FleetStateTree,
    GrantedRate,
    ModelsTree,
    Moment,
    Nothing,
    OrdersTree,
    Position,
    ProblemsTree,
    Removed,
    RoutesTree,
    ScenariosTree,
    ScenarioText,
    Spawned,
    SpawnedDrone,
    StatesTree,
    StateTree,
    Subscribed,
    WantedColumns,
    WantedNumber,
)
from paddock.serve.subscribers.shapes.notifications import (
    ClosedTree,
    Notifications,
    RefusedTree,
    RestartTree,
)
from paddock.serve.subscribers.shapes.roster import (
    FleetTree,
    FramesTree,
    FrameTree,
    Point,
    Quaternion,
    Range,
    RosterTree,
)
from paddock.serve.subscribers.shapes.run import (
    EventTree,
    FiguresTree,
    OrderTree,
    RouteTree,
    StageTree,
    SubscriberTree,
)
from paddock.serve.subscribers.shapes.scenarios import (
    ModelTree,
    ProblemTree,
    ScenarioCardTree,
)
from paddock.serve.subscribers.shapes.vehicles import (
    ColumnTree,
    FleetInfoTree,
    InspectedTree,
    MetadataTree,
    RecordingTree,
    ValueTree,
)

MODULES = (roster, vehicles, run, scenarios, answers, notifications)
"""In the order in which the page's types are written."""

__all__ = [
    "MODULES",
    "ClosedTree",
    "ColumnTree",
    "DrawnTree",
    "EventTree",
    "EventsTree",
    "FiguresTree",
    "FleetInfoTree",
    "FleetStateTree",
    "FleetTree",
    "FrameTree",
    "FramesTree",
    "GrantedRate",
    "InspectedTree",
    "MetadataTree",
    "ModelTree",
    "ModelsTree",
    "Moment",
    "Nothing",
    "Notifications",
    "OrderTree",
    "OrdersTree",
    "Point",
    "Position",
    "ProblemTree",
    "ProblemsTree",
    "Quaternion",
    "Range",
    "RecordingTree",
    "RefusedTree",
    "Removed",
    "RestartTree",
    "RosterTree",
    "RouteTree",
    "RoutesTree",
    "ScenarioCardTree",
    "ScenarioText",
    "ScenariosTree",
    "Spawned",
    "SpawnedDrone",
    "StageTree",
    "StateTree",
    "StatesTree",
    "Subscribed",
    "SubscriberTree",
    "ValueTree",
    "WantedColumns",
    "WantedNumber",
]
