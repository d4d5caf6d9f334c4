from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MarkerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POINTS: _ClassVar[MarkerKind]
    LINE_STRIP: _ClassVar[MarkerKind]
    LINE_LIST: _ClassVar[MarkerKind]
    CIRCLE: _ClassVar[MarkerKind]
    RING: _ClassVar[MarkerKind]
    ARROW: _ClassVar[MarkerKind]
    TEXT: _ClassVar[MarkerKind]
    TRIANGLE_LIST: _ClassVar[MarkerKind]
    CAR: _ClassVar[MarkerKind]
    MESH: _ClassVar[MarkerKind]
    AXES: _ClassVar[MarkerKind]
POINTS: MarkerKind
LINE_STRIP: MarkerKind
LINE_LIST: MarkerKind
CIRCLE: MarkerKind
RING: MarkerKind
ARROW: MarkerKind
TEXT: MarkerKind
TRIANGLE_LIST: MarkerKind
CAR: MarkerKind
MESH: MarkerKind
AXES: MarkerKind

class Values(_message.Message):
    __slots__ = ("f64_le", "shape")
    F64_LE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    f64_le: bytes
    shape: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, f64_le: _Optional[bytes] = ..., shape: _Optional[_Iterable[int]] = ...) -> None: ...

class Input(_message.Message):
    __slots__ = ("number", "text", "values")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    number: float
    text: str
    values: Values
    def __init__(self, number: _Optional[float] = ..., text: _Optional[str] = ..., values: _Optional[_Union[Values, _Mapping]] = ...) -> None: ...

class Ids(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ids: _Optional[_Iterable[int]] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ("x", "y", "z")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    x: float
    y: float
    z: float
    def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., z: _Optional[float] = ...) -> None: ...

class Quaternion(_message.Message):
    __slots__ = ("x", "y", "z", "w")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    W_FIELD_NUMBER: _ClassVar[int]
    x: float
    y: float
    z: float
    w: float
    def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., z: _Optional[float] = ..., w: _Optional[float] = ...) -> None: ...

class Color(_message.Message):
    __slots__ = ("r", "g", "b", "a")
    R_FIELD_NUMBER: _ClassVar[int]
    G_FIELD_NUMBER: _ClassVar[int]
    B_FIELD_NUMBER: _ClassVar[int]
    A_FIELD_NUMBER: _ClassVar[int]
    r: float
    g: float
    b: float
    a: float
    def __init__(self, r: _Optional[float] = ..., g: _Optional[float] = ..., b: _Optional[float] = ..., a: _Optional[float] = ...) -> None: ...

class Request(_message.Message):
    __slots__ = ("id", "token", "hello", "heartbeat", "admin", "command", "control", "markers", "call", "goodbye")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CONTROL_FIELD_NUMBER: _ClassVar[int]
    MARKERS_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    id: int
    token: str
    hello: Hello
    heartbeat: Heartbeat
    admin: Admin
    command: Command
    control: Control
    markers: MarkerCommand
    call: Call
    goodbye: Goodbye
    def __init__(self, id: _Optional[int] = ..., token: _Optional[str] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., admin: _Optional[_Union[Admin, _Mapping]] = ..., command: _Optional[_Union[Command, _Mapping]] = ..., control: _Optional[_Union[Control, _Mapping]] = ..., markers: _Optional[_Union[MarkerCommand, _Mapping]] = ..., call: _Optional[_Union[Call, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("protocol", "client")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    client: str
    def __init__(self, protocol: _Optional[int] = ..., client: _Optional[str] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Admin(_message.Message):
    __slots__ = ("reset", "pause", "run", "step", "set_mode", "get_metadata", "resume", "stop", "set_pace")
    RESET_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SET_MODE_FIELD_NUMBER: _ClassVar[int]
    GET_METADATA_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    SET_PACE_FIELD_NUMBER: _ClassVar[int]
    reset: Reset
    pause: Pause
    run: Run
    step: Step
    set_mode: SetMode
    get_metadata: GetMetadata
    resume: Resume
    stop: Stop
    set_pace: SetPace
    def __init__(self, reset: _Optional[_Union[Reset, _Mapping]] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ..., run: _Optional[_Union[Run, _Mapping]] = ..., step: _Optional[_Union[Step, _Mapping]] = ..., set_mode: _Optional[_Union[SetMode, _Mapping]] = ..., get_metadata: _Optional[_Union[GetMetadata, _Mapping]] = ..., resume: _Optional[_Union[Resume, _Mapping]] = ..., stop: _Optional[_Union[Stop, _Mapping]] = ..., set_pace: _Optional[_Union[SetPace, _Mapping]] = ...) -> None: ...

class Reset(_message.Message):
    __slots__ = ("seed",)
    SEED_FIELD_NUMBER: _ClassVar[int]
    seed: int
    def __init__(self, seed: _Optional[int] = ...) -> None: ...

class Pause(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Resume(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Stop(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Run(_message.Message):
    __slots__ = ("until", "pace")
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    PACE_FIELD_NUMBER: _ClassVar[int]
    until: float
    pace: float
    def __init__(self, until: _Optional[float] = ..., pace: _Optional[float] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("ticks", "control", "state")
    TICKS_FIELD_NUMBER: _ClassVar[int]
    CONTROL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ticks: int
    control: Control
    state: bool
    def __init__(self, ticks: _Optional[int] = ..., control: _Optional[_Union[Control, _Mapping]] = ..., state: _Optional[bool] = ...) -> None: ...

class SetPace(_message.Message):
    __slots__ = ("pace",)
    PACE_FIELD_NUMBER: _ClassVar[int]
    pace: float
    def __init__(self, pace: _Optional[float] = ...) -> None: ...

class SetMode(_message.Message):
    __slots__ = ("mode", "vehicles")
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ASYNCHRONOUS: _ClassVar[SetMode.Mode]
        SYNCHRONOUS: _ClassVar[SetMode.Mode]
    ASYNCHRONOUS: SetMode.Mode
    SYNCHRONOUS: SetMode.Mode
    MODE_FIELD_NUMBER: _ClassVar[int]
    VEHICLES_FIELD_NUMBER: _ClassVar[int]
    mode: SetMode.Mode
    vehicles: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, mode: _Optional[_Union[SetMode.Mode, str]] = ..., vehicles: _Optional[_Iterable[str]] = ...) -> None: ...

class GetMetadata(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Command(_message.Message):
    __slots__ = ("name", "vehicle", "vehicles", "inputs", "at_tick", "timeout")
    class InputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Input
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Input, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    VEHICLE_FIELD_NUMBER: _ClassVar[int]
    VEHICLES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    AT_TICK_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    vehicle: int
    vehicles: Ids
    inputs: _containers.MessageMap[str, Input]
    at_tick: int
    timeout: float
    def __init__(self, name: _Optional[str] = ..., vehicle: _Optional[int] = ..., vehicles: _Optional[_Union[Ids, _Mapping]] = ..., inputs: _Optional[_Mapping[str, Input]] = ..., at_tick: _Optional[int] = ..., timeout: _Optional[float] = ...) -> None: ...

class Control(_message.Message):
    __slots__ = ("tick", "vehicles")
    TICK_FIELD_NUMBER: _ClassVar[int]
    VEHICLES_FIELD_NUMBER: _ClassVar[int]
    tick: int
    vehicles: _containers.RepeatedCompositeFieldContainer[VehicleControl]
    def __init__(self, tick: _Optional[int] = ..., vehicles: _Optional[_Iterable[_Union[VehicleControl, _Mapping]]] = ...) -> None: ...

class VehicleControl(_message.Message):
    __slots__ = ("name", "vehicle", "inputs")
    class InputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Input
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Input, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    VEHICLE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    vehicle: int
    inputs: _containers.MessageMap[str, Input]
    def __init__(self, name: _Optional[str] = ..., vehicle: _Optional[int] = ..., inputs: _Optional[_Mapping[str, Input]] = ...) -> None: ...

class Call(_message.Message):
    __slots__ = ("method", "json", "arrays", "blob")
    METHOD_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    BLOB_FIELD_NUMBER: _ClassVar[int]
    method: str
    json: str
    arrays: _containers.RepeatedCompositeFieldContainer[Values]
    blob: bytes
    def __init__(self, method: _Optional[str] = ..., json: _Optional[str] = ..., arrays: _Optional[_Iterable[_Union[Values, _Mapping]]] = ..., blob: _Optional[bytes] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("id", "tick", "sim_time", "error", "done", "welcome", "control_ack", "result", "state", "control_request", "event")
    ID_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_TIME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    CONTROL_ACK_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CONTROL_REQUEST_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    id: int
    tick: int
    sim_time: float
    error: Error
    done: Done
    welcome: Welcome
    control_ack: ControlAck
    result: Result
    state: StateUpdate
    control_request: ControlRequest
    event: Event
    def __init__(self, id: _Optional[int] = ..., tick: _Optional[int] = ..., sim_time: _Optional[float] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., done: _Optional[_Union[Done, _Mapping]] = ..., welcome: _Optional[_Union[Welcome, _Mapping]] = ..., control_ack: _Optional[_Union[ControlAck, _Mapping]] = ..., result: _Optional[_Union[Result, _Mapping]] = ..., state: _Optional[_Union[StateUpdate, _Mapping]] = ..., control_request: _Optional[_Union[ControlRequest, _Mapping]] = ..., event: _Optional[_Union[Event, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class Done(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("protocol", "version", "client", "rate", "run", "heartbeat", "publish")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    PUBLISH_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    version: str
    client: str
    rate: float
    run: int
    heartbeat: float
    publish: int
    def __init__(self, protocol: _Optional[int] = ..., version: _Optional[str] = ..., client: _Optional[str] = ..., rate: _Optional[float] = ..., run: _Optional[int] = ..., heartbeat: _Optional[float] = ..., publish: _Optional[int] = ...) -> None: ...

class ControlAck(_message.Message):
    __slots__ = ("tick",)
    TICK_FIELD_NUMBER: _ClassVar[int]
    tick: int
    def __init__(self, tick: _Optional[int] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("json", "arrays", "blob")
    JSON_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    BLOB_FIELD_NUMBER: _ClassVar[int]
    json: str
    arrays: _containers.RepeatedCompositeFieldContainer[Values]
    blob: bytes
    def __init__(self, json: _Optional[str] = ..., arrays: _Optional[_Iterable[_Union[Values, _Mapping]]] = ..., blob: _Optional[bytes] = ...) -> None: ...

class ControlRequest(_message.Message):
    __slots__ = ("tick", "deadline", "vehicles", "state")
    TICK_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    VEHICLES_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    tick: int
    deadline: float
    vehicles: _containers.RepeatedScalarFieldContainer[str]
    state: StateUpdate
    def __init__(self, tick: _Optional[int] = ..., deadline: _Optional[float] = ..., vehicles: _Optional[_Iterable[str]] = ..., state: _Optional[_Union[StateUpdate, _Mapping]] = ...) -> None: ...

class StateUpdate(_message.Message):
    __slots__ = ("tick", "sim_time", "wall_time", "run", "roster_number", "roster", "blocks", "arrays")
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_TIME_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    ROSTER_NUMBER_FIELD_NUMBER: _ClassVar[int]
    ROSTER_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    tick: int
    sim_time: float
    wall_time: float
    run: int
    roster_number: int
    roster: Roster
    blocks: _containers.RepeatedScalarFieldContainer[bytes]
    arrays: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, tick: _Optional[int] = ..., sim_time: _Optional[float] = ..., wall_time: _Optional[float] = ..., run: _Optional[int] = ..., roster_number: _Optional[int] = ..., roster: _Optional[_Union[Roster, _Mapping]] = ..., blocks: _Optional[_Iterable[bytes]] = ..., arrays: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Roster(_message.Message):
    __slots__ = ("number", "fleets")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    FLEETS_FIELD_NUMBER: _ClassVar[int]
    number: int
    fleets: _containers.RepeatedCompositeFieldContainer[Fleet]
    def __init__(self, number: _Optional[int] = ..., fleets: _Optional[_Iterable[_Union[Fleet, _Mapping]]] = ...) -> None: ...

class Fleet(_message.Message):
    __slots__ = ("name", "kind", "model", "columns", "ids", "members", "single", "arrays")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    SINGLE_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    model: str
    columns: _containers.RepeatedScalarFieldContainer[str]
    ids: _containers.RepeatedScalarFieldContainer[int]
    members: _containers.RepeatedScalarFieldContainer[int]
    single: bool
    arrays: _containers.RepeatedCompositeFieldContainer[Array]
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., model: _Optional[str] = ..., columns: _Optional[_Iterable[str]] = ..., ids: _Optional[_Iterable[int]] = ..., members: _Optional[_Iterable[int]] = ..., single: _Optional[bool] = ..., arrays: _Optional[_Iterable[_Union[Array, _Mapping]]] = ...) -> None: ...

class Array(_message.Message):
    __slots__ = ("name", "shape", "type")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FLOAT32: _ClassVar[Array.Type]
        FLOAT64: _ClassVar[Array.Type]
    FLOAT32: Array.Type
    FLOAT64: Array.Type
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    type: Array.Type
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., type: _Optional[_Union[Array.Type, str]] = ...) -> None: ...

class Marker(_message.Message):
    __slots__ = ("namespace", "id", "kind", "color", "scale", "position", "quaternion", "frame", "text", "points", "ttl")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    QUATERNION_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    id: int
    kind: MarkerKind
    color: Color
    scale: Vector
    position: Vector
    quaternion: Quaternion
    frame: str
    text: str
    points: bytes
    ttl: float
    def __init__(self, namespace: _Optional[str] = ..., id: _Optional[int] = ..., kind: _Optional[_Union[MarkerKind, str]] = ..., color: _Optional[_Union[Color, _Mapping]] = ..., scale: _Optional[_Union[Vector, _Mapping]] = ..., position: _Optional[_Union[Vector, _Mapping]] = ..., quaternion: _Optional[_Union[Quaternion, _Mapping]] = ..., frame: _Optional[str] = ..., text: _Optional[str] = ..., points: _Optional[bytes] = ..., ttl: _Optional[float] = ...) -> None: ...

class MarkerArray(_message.Message):
    __slots__ = ("markers",)
    MARKERS_FIELD_NUMBER: _ClassVar[int]
    markers: _containers.RepeatedCompositeFieldContainer[Marker]
    def __init__(self, markers: _Optional[_Iterable[_Union[Marker, _Mapping]]] = ...) -> None: ...

class MarkerCommand(_message.Message):
    __slots__ = ("put", "delete", "clear", "visible")
    PUT_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    put: MarkerArray
    delete: DeleteMarkers
    clear: ClearMarkers
    visible: ShowMarkers
    def __init__(self, put: _Optional[_Union[MarkerArray, _Mapping]] = ..., delete: _Optional[_Union[DeleteMarkers, _Mapping]] = ..., clear: _Optional[_Union[ClearMarkers, _Mapping]] = ..., visible: _Optional[_Union[ShowMarkers, _Mapping]] = ...) -> None: ...

class DeleteMarkers(_message.Message):
    __slots__ = ("namespace", "ids")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, namespace: _Optional[str] = ..., ids: _Optional[_Iterable[int]] = ...) -> None: ...

class ClearMarkers(_message.Message):
    __slots__ = ("namespace",)
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    def __init__(self, namespace: _Optional[str] = ...) -> None: ...

class ShowMarkers(_message.Message):
    __slots__ = ("namespace", "visible")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    visible: bool
    def __init__(self, namespace: _Optional[str] = ..., visible: _Optional[bool] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("tick", "sequence", "source", "kind", "json", "arrays")
    TICK_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    tick: int
    sequence: int
    source: str
    kind: str
    json: str
    arrays: _containers.RepeatedCompositeFieldContainer[Values]
    def __init__(self, tick: _Optional[int] = ..., sequence: _Optional[int] = ..., source: _Optional[str] = ..., kind: _Optional[str] = ..., json: _Optional[str] = ..., arrays: _Optional[_Iterable[_Union[Values, _Mapping]]] = ...) -> None: ...

class StateHash(_message.Message):
    __slots__ = ("tick", "run", "hash")
    TICK_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    tick: int
    run: int
    hash: str
    def __init__(self, tick: _Optional[int] = ..., run: _Optional[int] = ..., hash: _Optional[str] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("tick", "sim_time", "run", "roster_number", "roster", "precision", "blocks", "arrays")
    class Precision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DOUBLE: _ClassVar[State.Precision]
        SINGLE: _ClassVar[State.Precision]
    DOUBLE: State.Precision
    SINGLE: State.Precision
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_TIME_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    ROSTER_NUMBER_FIELD_NUMBER: _ClassVar[int]
    ROSTER_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    tick: int
    sim_time: float
    run: int
    roster_number: int
    roster: Roster
    precision: State.Precision
    blocks: _containers.RepeatedScalarFieldContainer[bytes]
    arrays: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, tick: _Optional[int] = ..., sim_time: _Optional[float] = ..., run: _Optional[int] = ..., roster_number: _Optional[int] = ..., roster: _Optional[_Union[Roster, _Mapping]] = ..., precision: _Optional[_Union[State.Precision, str]] = ..., blocks: _Optional[_Iterable[bytes]] = ..., arrays: _Optional[_Iterable[bytes]] = ...) -> None: ...

class RunStart(_message.Message):
    __slots__ = ("run", "seed", "scenario_json", "versions_json", "reason", "state")
    class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        START: _ClassVar[RunStart.Reason]
        RESET: _ClassVar[RunStart.Reason]
        RESTORE: _ClassVar[RunStart.Reason]
    START: RunStart.Reason
    RESET: RunStart.Reason
    RESTORE: RunStart.Reason
    RUN_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_JSON_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    run: int
    seed: int
    scenario_json: str
    versions_json: str
    reason: RunStart.Reason
    state: bytes
    def __init__(self, run: _Optional[int] = ..., seed: _Optional[int] = ..., scenario_json: _Optional[str] = ..., versions_json: _Optional[str] = ..., reason: _Optional[_Union[RunStart.Reason, str]] = ..., state: _Optional[bytes] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("number", "tick", "kind", "subject", "detail")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    number: int
    tick: int
    kind: str
    subject: str
    detail: str
    def __init__(self, number: _Optional[int] = ..., tick: _Optional[int] = ..., kind: _Optional[str] = ..., subject: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...
