"""Mission items: the supported MAV_CMDs, their ranges, the checks of an upload, and the legs that they become."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from math import hypot, inf, isfinite, isnan, nan, pi, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.autopilot.contract import drives, find_vehicle
from paddock.autopilot.estimate import Ned
from paddock.autopilot.telemetry import Landed
from paddock.compute.scalars import atan2, cos, sin

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot
    from paddock.autopilot.parameters import AutopilotParameters

MIN_ALTITUDE, MAX_ALTITUDE = -1_000.0, 100_000.0  # m


class PlanKind(IntEnum):
    """MAV_MISSION_TYPE."""

    MISSION = 0
    FENCE = 1
    RALLY = 2


class AltitudeFrame(IntEnum):
    """The supported MAV_FRAMEs; the _INT variants map to these."""

    GLOBAL = 0  # altitude above sea level
    MISSION = 2  # no position
    RELATIVE = 3  # altitude above home
    TERRAIN = 10  # altitude above ground, which is flat here: as RELATIVE


POSITION_FRAMES = (AltitudeFrame.GLOBAL, AltitudeFrame.RELATIVE, AltitudeFrame.TERRAIN)
INT_FRAMES = {5: 0, 6: 3, 11: 10}  # frames with integer positions on the wire -> the equivalent frame


def plain_frame(frame: int) -> int:
    """Return the frame without the distinction between integer and float positions."""
    return INT_FRAMES.get(frame, frame)


def altitude_frame(frame: int) -> AltitudeFrame | None:
    """Return the frame of a MAV_FRAME; None if it is not supported."""
    plain = plain_frame(frame)
    return AltitudeFrame(plain) if plain in tuple(AltitudeFrame) else None


@dataclass(frozen=True)
class MissionItem:
    """An item of a mission, fence or rally plan; `x`, `y` are latitude and longitude in deg, `z` an altitude in m."""

    command: int  # MAV_CMD
    frame: int = AltitudeFrame.RELATIVE
    p1: float = 0.0
    p2: float = 0.0
    p3: float = 0.0
    p4: float = nan
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    autocontinue: bool = True


class Role(Enum):
    """How an item is executed."""

    NAV = "nav"  # moves the vehicle; one after the other
    CONDITION = "condition"  # delays the DO items that follow, while the vehicle moves on
    DO = "do"  # done immediately
    CAMERA = "camera"  # as DO; reported only, there is no gimbal and no video on board
    JUMP = "jump"


class NavTask(Enum):
    """The task of AUTO for a NAV item."""

    TAKEOFF = "takeoff"  # climb to the target altitude
    WAYPOINT = "waypoint"  # go there on the line from `start`; `hold` s there
    SPLINE = "spline"  # go there on a curve
    LOITER = "loiter"  # go there and stay
    CIRCLE = "circle"  # circle `target` at `radius` (+ clockwise), `turns` times
    LOITER_TO_ALT = "loiter to altitude"  # circle until the altitude is reached; `p1` 1: and it heads for `after`
    CLIMB = "climb"  # straight ahead until the altitude is reached; `p1` 1: or above, 2: or below
    LAND = "land"  # go there and land
    RETURN = "return"  # as the mode RTL
    DELAY = "delay"  # hold the position
    HEADING = "heading"  # turn to `yaw` at `pace`
    DONE = "done"  # mission complete: hold


@dataclass(frozen=True)
class ItemKind:
    """Properties of all items with one command."""

    name: str  # in status texts
    role: Role
    has_position: bool = False  # x and y are a position
    height: bool = False  # z is an altitude
    flying: bool = False  # not for rovers
    driving: bool = False  # for rovers only
    only: str = ""  # the vehicle type that it is for; "": all
    ranges: Mapping[int, tuple[float, float]] = field(default_factory=dict)  # of p1 to p4; others are not checked
    task: NavTask | None = None  # of a NAV item
    wait: float = 0.0  # s at the target of a NAV item; NaN: p1


TIME = (0.0, 86_400.0)  # s
RADIUS = (0.0, 10_000.0)  # m
SIGNED_RADIUS = (-10_000.0, 10_000.0)  # m, + clockwise
YAW_RANGES = {1: (-360.0, 360.0), 3: (-1.0, 1.0), 4: (0.0, 1.0)}  # deg, direction, 1 relative
YAW_SPEED = {1: (-360.0, 360.0), 2: (-100.0, 100.0), 3: (0.0, 1.0)}  # deg, m/s, 1 relative
NAV, CONDITION, DO = Role.NAV, Role.CONDITION, Role.DO
DO_CHANGE_SPEED = 178
CAMERA_ITEMS = {
    **{205: "MountControl", 530: "SetCameraMode", 1000: "GimbalPitchYaw", 1001: "GimbalConfigure"},
    **{2500: "VideoStartCapture", 2501: "VideoStopCapture"},
}
SERVO_ITEMS = (183, 184)  # their p1 is a servo channel
CHANNEL, WIDTH, RELAY, COUNT, PERIOD = (1.0, 16.0), (500.0, 2500.0), (0.0, 3.0), (1.0, 32767.0), (0.001, 3600.0)

ITEM_KINDS: Mapping[int, ItemKind] = {
    16: ItemKind("Waypoint", NAV, True, True, ranges={1: TIME, 2: RADIUS}, task=NavTask.WAYPOINT, wait=nan),
    17: ItemKind("LoitUnlim", NAV, True, True, task=NavTask.LOITER, wait=inf),
    18: ItemKind("LoitTurns", NAV, True, True, ranges={1: (0.0, 1e3), 3: SIGNED_RADIUS}, task=NavTask.CIRCLE),
    19: ItemKind("LoitTime", NAV, True, True, ranges={1: TIME}, task=NavTask.LOITER, wait=nan),
    20: ItemKind("RTL", NAV, task=NavTask.RETURN),
    21: ItemKind("Land", NAV, True, flying=True, task=NavTask.LAND),
    22: ItemKind("Takeoff", NAV, height=True, flying=True, task=NavTask.TAKEOFF),
    30: ItemKind("ContinueAndChangeAlt", NAV, height=True, only="plane", ranges={1: (0.0, 2.0)}, task=NavTask.CLIMB),
    31: ItemKind("LoiterToAlt", NAV, True, True, flying=True, ranges={2: SIGNED_RADIUS}, task=NavTask.LOITER_TO_ALT),
    82: ItemKind(*("SplineWaypoint", NAV, True, True), only="copter", ranges={1: TIME}, task=NavTask.SPLINE, wait=nan),
    93: ItemKind("Delay", NAV, ranges={1: TIME}, task=NavTask.DELAY, wait=nan),
    112: ItemKind("CondDelay", CONDITION, ranges={1: TIME}),  # CONDITION_DELAY
    114: ItemKind("CondDistance", CONDITION, ranges={1: (0.0, 1e6)}),  # CONDITION_DISTANCE
    115: ItemKind("CondYaw", CONDITION, flying=True, ranges=YAW_RANGES),  # CONDITION_YAW
    177: ItemKind("Jump", Role.JUMP, ranges={1: (1.0, 65535.0), 2: (-1.0, 32767.0)}),  # DO_JUMP
    DO_CHANGE_SPEED: ItemKind("ChangeSpeed", DO, ranges={1: (0.0, 3.0), 2: (-2.0, 1000.0)}),
    179: ItemKind("SetHome", DO, True, True, ranges={1: (0.0, 1.0)}),  # DO_SET_HOME
    181: ItemKind("SetRelay", DO, ranges={1: RELAY, 2: (0.0, 1.0)}),  # DO_SET_RELAY
    182: ItemKind("RepeatRelay", DO, ranges={1: RELAY, 2: COUNT, 3: PERIOD}),  # DO_REPEAT_RELAY
    183: ItemKind("SetServo", DO, ranges={1: CHANNEL, 2: WIDTH}),  # DO_SET_SERVO
    184: ItemKind("RepeatServo", DO, ranges={1: CHANNEL, 2: WIDTH, 3: COUNT, 4: PERIOD}),  # DO_REPEAT_SERVO
    189: ItemKind("LandStart", DO, flying=True),
    194: ItemKind("SetReverse", DO, driving=True, ranges={1: (0.0, 1.0)}),  # DO_SET_REVERSE
    195: ItemKind("SetROI", DO, True, True, flying=True),  # DO_SET_ROI_LOCATION
    197: ItemKind("ClearROI", DO, flying=True),  # DO_SET_ROI_NONE
    201: ItemKind("SetROI", DO, True, True, flying=True),  # DO_SET_ROI
    203: ItemKind("DigiCamCtrl", DO),  # DO_DIGICAM_CONTROL
    206: ItemKind("SetCamTrigDst", DO, ranges={1: (0.0, 1000.0)}),  # DO_SET_CAM_TRIGG_DIST
    2000: ItemKind("ImageStartCapture", DO, ranges={2: (0.0, 3600.0), 3: (0.0, 1e6)}),
    2001: ItemKind("ImageStopCapture", DO),
    207: ItemKind("FenceEnable", DO, ranges={1: (0.0, 2.0)}),  # DO_FENCE_ENABLE
    213: ItemKind("SetYawSpeed", NAV, driving=True, ranges=YAW_SPEED, task=NavTask.HEADING),  # NAV_SET_YAW_SPEED
    **{number: ItemKind(name, Role.CAMERA) for number, name in CAMERA_ITEMS.items()},
}
"""Any other MAV_CMD is refused with MAV_MISSION_UNSUPPORTED: grippers, winches, parachutes, VTOL..."""

SPEED_PARAMETERS = {"WPNAV_SPEED": 0.01, "WP_SPEED": 1.0}  # of copters and rovers -> m/s per unit


def speed_limits(parameters: "AutopilotParameters") -> tuple[float, float, str]:
    """Return the lowest and highest speed (m/s) that a mission may ask for, and the parameters they come from."""
    if "AIRSPEED_MIN" in parameters:
        return parameters.value("AIRSPEED_MIN"), parameters.value("AIRSPEED_MAX"), "AIRSPEED_MIN, AIRSPEED_MAX"
    name = next(name for name in SPEED_PARAMETERS if name in parameters)
    known, scale = parameters.known(name), SPEED_PARAMETERS[name]
    return known.low * scale, known.high * scale, f"range of {name}"


CLIMB_SPEEDS = {2.0: "WPNAV_SPEED_UP", 3.0: "WPNAV_SPEED_DN"}
"""Vertical speed types of DO_CHANGE_SPEED -> the parameter (cm/s) that each changes."""


class MissionResult(IntEnum):
    """MAV_MISSION_RESULT."""

    ACCEPTED = 0
    UNSUPPORTED_FRAME = 2
    UNSUPPORTED = 3
    NO_SPACE = 4
    INVALID = 5
    INVALID_PARAM1 = 6
    INVALID_PARAM2 = 7
    INVALID_PARAM5_X = 10
    INVALID_PARAM6_Y = 11
    INVALID_PARAM7 = 12


def check_mission(items: Sequence[MissionItem], vehicle_kind: str) -> tuple[int, int]:
    """Return the MAV_MISSION_RESULT of a whole mission, and the sequence of the item at fault (or 0)."""
    for sequence, item in enumerate(items):
        result = check_mission_item(item, vehicle_kind)
        if not result and ITEM_KINDS[item.command].role is Role.JUMP and item.p1 >= len(items):
            result = MissionResult.INVALID_PARAM1
        if result:
            return result, sequence
    return MissionResult.ACCEPTED, 0


def check_mission_item(item: MissionItem, vehicle_kind: str) -> int:
    """Return the MAV_MISSION_RESULT of one item for a vehicle type. A NaN yaw is valid."""
    kind = ITEM_KINDS.get(item.command)
    if kind is None or (kind.flying if drives(vehicle_kind) else kind.driving) or kind.only not in ("", vehicle_kind):
        return MissionResult.UNSUPPORTED
    frame = altitude_frame(item.frame)
    if frame is None or (frame is AltitudeFrame.MISSION and (kind.has_position or kind.height)):
        return MissionResult.UNSUPPORTED_FRAME
    values = (item.p1, item.p2, item.p3, item.p4)
    for number, (low, high) in kind.ranges.items():
        if not low <= values[number - 1] <= high:  # NaN is in no range
            return MissionResult.INVALID_PARAM1 + number - 1
    channels = [channel for channel, *_ in find_vehicle(vehicle_kind).channels] if item.command in SERVO_ITEMS else []
    numbered = kind.role is Role.JUMP or item.command in SERVO_ITEMS  # p1 is a whole number
    if (numbered and item.p1 != int(item.p1)) or item.p1 in channels:  # that of a motor or a surface is in use
        return MissionResult.INVALID_PARAM1
    if item.command == DO_CHANGE_SPEED and (result := _check_speed(item, vehicle_kind)):
        return result
    if kind.has_position and (result := _check_latitude_longitude(item)):
        return result
    if kind.height and not (isfinite(item.z) and MIN_ALTITUDE <= item.z <= MAX_ALTITUDE):
        return MissionResult.INVALID_PARAM7
    return MissionResult.ACCEPTED


def _check_speed(item: MissionItem, vehicle_kind: str) -> int:
    """Check the type and value of a DO_CHANGE_SPEED against the vehicle's parameters."""
    name = CLIMB_SPEEDS.get(item.p1)
    setting = next((known for known in find_vehicle(vehicle_kind).parameters if known.name == name), None)
    if item.p1 not in (0.0, 1.0) and setting is None:
        return MissionResult.INVALID_PARAM1
    possible = item.p2 > 0.0 and (setting is None or setting.fit(item.p2 * 100.0) is not None)
    return MissionResult.ACCEPTED if possible or item.p2 in (-1.0, -2.0) else MissionResult.INVALID_PARAM2


def _check_latitude_longitude(item: MissionItem) -> int:
    if not -90.0 <= item.x <= 90.0:  # NaN is in no range
        return MissionResult.INVALID_PARAM5_X
    return MissionResult.ACCEPTED if -180.0 <= item.y <= 180.0 else MissionResult.INVALID_PARAM6_Y


def check_position(item: MissionItem) -> int:
    """Check frame, latitude and longitude of a fence or rally item."""
    if plain_frame(item.frame) not in POSITION_FRAMES:
        return MissionResult.UNSUPPORTED_FRAME
    return _check_latitude_longitude(item)


CLIMB_TOLERANCE = 0.5  # m below the target altitude at which a take-off is done
ALTITUDE_REACHED = 5.0  # m: of LOITER_TO_ALT and CONTINUE_AND_CHANGE_ALT, as in ArduPlane
ON_CIRCLE = 0.25  # of its radius off a circle, at most, at the end of LOITER_TO_ALT
LINED_UP = radians(6.0)  # course from the bearing of the next waypoint, at the end of LOITER_TO_ALT
STRAIGHT = 5000.0  # m ahead that CONTINUE_AND_CHANGE_ALT aims
HEADED = radians(5.0)  # from the heading at the end of NAV_SET_YAW_SPEED, as in ArduRover
MIN_CIRCLE = 1.0  # m
ACCEPTANCE_RADIUS = {"WP_RADIUS": 1.0, "WPNAV_RADIUS": 0.01}  # parameter -> m per unit
CIRCLE_RADIUS = {"CIRC_RADIUS": 1.0, "CIRCLE_RADIUS": 0.01, "WP_LOITER_RAD": 1.0}  # of rovers, copters, planes
MIN_RADIUS = 0.2  # m: smallest acceptance radius


@dataclass(frozen=True)
class NavTarget:
    """The executor's target for AUTO."""

    task: NavTask
    target: Ned = (0.0, 0.0, 0.0)
    start: Ned = (0.0, 0.0, 0.0)  # start of the leg: the previous waypoint
    after: Ned | None = None  # the next waypoint, for rounding corners
    curved: bool = False  # the leg to it is a spline
    radius: float = 0.0  # m
    turns: float = 0.0
    hold: float = 0.0  # s
    yaw: float = nan  # rad, NaN: along the path
    speed: float = nan  # m/s over the ground, NaN: from the parameters
    p1: float = 0.0  # of the item
    pace: float = 0.0  # m/s along the nose while it turns to `yaw`, negative backwards


def position_of(item: MissionItem, autopilot: "BuiltInAutopilot", default: Ned) -> Ned:
    """Return an item's position in the local frame.

    As in ArduPilot, latitude and longitude 0 mean those of `default`, and so does an altitude of 0 or NaN. Without a
    local frame everything is `default`.
    """
    if autopilot.frame is None:
        return default
    north, east, down = autopilot.frame.to_ned(item.x, item.y, _altitude(item, autopilot))
    if not ITEM_KINDS[item.command].has_position or (item.x == 0.0 and item.y == 0.0):
        north, east = default[:2]
    if (item.z == 0.0 and ITEM_KINDS[item.command].task is not NavTask.LAND) or item.z != item.z:
        down = default[2]
    return north, east, down


def _altitude(item: MissionItem, autopilot: "BuiltInAutopilot") -> float:
    """Return m above sea level; terrain is as high as home."""
    if plain_frame(item.frame) == AltitudeFrame.GLOBAL:
        return item.z
    home = autopilot.home
    return item.z + (home[2] if home is not None else autopilot.frame.altitude if autopilot.frame else 0.0)


@dataclass
class MissionLeg:
    """A NAV item in progress."""

    sequence: int
    target: NavTarget
    radius: float  # m: acceptance radius
    wait: float = 0.0  # s to stay there
    flying: bool = False  # altitude counts
    yaw: float = nan  # rad, as the item asks
    arrived: bool = False
    waited: float = 0.0  # s
    swept: float = 0.0  # rad around the centre of a circle
    bearing: float = nan  # rad, last seen from the centre
    altitude: float = nan  # m down, to which a copter changes once it is there

    def done(self, autopilot: "BuiltInAutopilot", lead: float, dt: float) -> bool:
        """Return whether the item is done, `dt` s after the last call; `lead` m may shorten the acceptance radius."""
        task, here, radius = self.target.task, autopilot.estimate.position, min(self.radius, lead)
        if task is NavTask.TAKEOFF:
            return here[2] <= self.target.target[2] + CLIMB_TOLERANCE
        if task in (NavTask.LOITER_TO_ALT, NavTask.CLIMB):
            return self._levelled(autopilot)
        if task is NavTask.LAND or (task is NavTask.RETURN and self.flying):  # a plane rolls out and disarms
            return autopilot.telemetry.landed == Landed.ON_GROUND and autopilot.vehicle.kind != "plane"
        if task is NavTask.RETURN:
            return self.reached(here, radius)
        if task is NavTask.CIRCLE:
            return self._circled(here)
        if task is NavTask.HEADING:
            return abs(remainder(self.yaw - autopilot.estimate.yaw, tau)) <= HEADED
        if task is NavTask.DELAY or (self.arrived and self.wait > 0.0):
            self.waited += dt
        if task is NavTask.SPLINE:  # AUTO knows where the curve ends
            self.arrived = self.arrived or autopilot.executor.passed
            return self.arrived and self.waited >= self.wait
        if self.altitude == self.altitude and self.reached(here, radius):
            north, east, _ = self.target.target
            self.target = replace(self.target, start=self.target.target, target=(north, east, self.altitude))
            self.altitude = nan
        self.arrived = self.arrived or task is NavTask.DELAY or (isnan(self.altitude) and self.reached(here, radius))
        return self.arrived and self.waited >= self.wait

    def _levelled(self, autopilot: "BuiltInAutopilot") -> bool:
        """Return whether the altitude is reached and, if the item wants that, the course leads to the next waypoint."""
        here, goal, p1 = autopilot.estimate, self.target.target, self.target.p1
        missing = here.down - goal[2]  # m that it is too low
        near = abs(missing) <= ALTITUDE_REACHED
        if self.target.task is NavTask.CLIMB:
            return near or (p1 == 1.0 and missing <= 0.0) or (p1 == 2.0 and missing >= 0.0)
        away, size = here.distance(goal), abs(self.target.radius)
        self.arrived = self.arrived or (near and away <= 1.2 * size)  # reached once is enough
        after = self.target.after
        if not self.arrived or p1 <= 0.0 or after is None or hypot(after[0] - goal[0], after[1] - goal[1]) < size:
            return self.arrived
        bearing = atan2(after[1] - here.east, after[0] - here.north)
        lined_up = abs(remainder(bearing - atan2(here.ve, here.vn), tau)) <= LINED_UP
        return lined_up and abs(away - size) <= ON_CIRCLE * size

    def _circled(self, here: Ned) -> bool:
        """Count turns once the vehicle is on the circle, within a third of its radius."""
        north, east = here[0] - self.target.target[0], here[1] - self.target.target[1]
        radius, bearing = abs(self.target.radius), atan2(east, north)
        self.arrived = self.arrived or abs(hypot(north, east) - radius) <= max(radius / 3.0, 1.0)
        if self.arrived and self.bearing == self.bearing:
            turn = remainder(bearing - self.bearing, tau)
            self.swept += turn if self.target.radius >= 0.0 else -turn
        self.bearing = bearing
        return self.swept >= self.target.turns * 2.0 * pi

    def distance(self, position: Ned) -> float:
        """Return the distance to the target, m."""
        return hypot(*self._offset(position, self.target.target))

    def _offset(self, a: Ned, b: Ned) -> Ned:
        return b[0] - a[0], b[1] - a[1], b[2] - a[2] if self.flying else 0.0

    def reached(self, position: Ned, radius: float) -> bool:
        """Return whether the target is within a radius, or the plane through it across the leg is passed."""
        missing = self._offset(position, self.target.target)
        if hypot(*missing) <= radius:
            return True
        leg = self._offset(self.target.start, self.target.target)
        return hypot(*leg) > radius and sum(along * m for along, m in zip(leg, missing, strict=True)) <= 0.0


def make_leg(sequence: int, item: MissionItem, autopilot: "BuiltInAutopilot", start: Ned) -> MissionLeg:
    """Return the leg from `start` to an item."""
    kind = ITEM_KINDS[item.command]
    assert kind.task is not None
    position = (
        autopilot.home_position.return_point() if kind.task is NavTask.RETURN else position_of(item, autopilot, start)
    )
    wait, yaw = item.p1 if isnan(kind.wait) else kind.wait, nan
    radius = _first_of(autopilot.parameters, ACCEPTANCE_RADIUS)
    if kind.task is NavTask.WAYPOINT:
        yaw = radians(item.p4) if item.p4 != 0.0 else nan  # 0 means unspecified, as in ArduPilot
        radius = max(item.p2, MIN_RADIUS) if item.p2 > 0.0 else radius
    pace = 0.0
    if kind.task is NavTask.HEADING:
        yaw = remainder(radians(item.p1) + (autopilot.estimate.yaw if item.p3 else 0.0), tau)
        position, pace = autopilot.estimate.position, item.p2
    circle, turns = 0.0, item.p1 if kind.task is NavTask.CIRCLE else 0.0
    if kind.task in (NavTask.CIRCLE, NavTask.LOITER) and abs(item.p3) >= MIN_CIRCLE:  # planes circle to loiter
        circle = item.p3
    elif kind.task is NavTask.LOITER_TO_ALT and abs(item.p2) >= MIN_CIRCLE:
        circle = item.p2
    elif kind.task in (NavTask.CIRCLE, NavTask.LOITER_TO_ALT):
        circle = max(abs(_first_of(autopilot.parameters, CIRCLE_RADIUS)), MIN_CIRCLE)
    hold = wait if kind.task is not NavTask.DELAY and wait < inf else 0.0
    if kind.task is NavTask.CLIMB:
        now, ahead = autopilot.estimate, atan2(autopilot.estimate.ve, autopilot.estimate.vn)
        start, position = (
            now.position,
            (now.north + STRAIGHT * cos(ahead), now.east + STRAIGHT * sin(ahead), position[2]),
        )
    if kind.task is NavTask.LOITER_TO_ALT and autopilot.vehicle.kind == "copter":
        over = NavTarget(NavTask.LOITER, (position[0], position[1], autopilot.estimate.down), start)
        return MissionLeg(sequence, over, radius, 0.0, True, yaw, altitude=position[2])
    target = NavTarget(
        kind.task, position, start, radius=circle, turns=turns, hold=hold, yaw=yaw, p1=item.p1, pace=pace
    )
    return MissionLeg(sequence, target, radius, wait, not drives(autopilot.vehicle.kind), yaw)


def _first_of(parameters: "AutopilotParameters", scales: Mapping[str, float]) -> float:
    """Return the scaled value of the first parameter that the vehicle type has."""
    name = next(name for name in scales if name in parameters)
    return parameters.value(name) * scales[name]
