"""The JSON-RPC 2.0 envelope: one message per line, between the frames on the stream's socket."""

from typing import Any, NamedTuple

from paddock.wire import WireError
from paddock.wire.json_document import dumps, loads, loads_around_numbers

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MAX_BATCH = 1000  # messages in one batch

Id = str | int | None  # of a request and its response


class RpcError(WireError):
    """A message that is answered with an error: `failure(error.id, error.code, str(error))`."""

    def __init__(self, reason: str, message: str, code: int, id: Id = None) -> None:
        super().__init__(reason, message)
        self.code = code
        self.id = id


class Request(NamedTuple):
    """A call with an answer."""

    id: Id
    method: str
    params: dict[str, Any] | list[Any] | None


class Notification(NamedTuple):
    """A call without an answer."""

    method: str
    params: dict[str, Any] | list[Any] | None


class Failure(NamedTuple):
    """The reason why a call was refused."""

    code: int
    message: str
    data: Any = None


class Response(NamedTuple):
    """The answer to a call: a result or an error."""

    id: Id
    result: Any = None
    error: Failure | None = None


Message = Request | Notification | Response


def parse(line: bytes) -> Message | list[Message | RpcError]:
    """Parse a message or a batch; a malformed message of a batch becomes its error."""
    try:
        value = loads(line)
    except WireError as error:
        raise RpcError(error.reason, str(error), PARSE_ERROR, _readable_id(line, error)) from error
    if not isinstance(value, list):
        return _message(value)
    if not 1 <= len(value) <= MAX_BATCH:
        raise RpcError("count", f"a batch has 1 to {MAX_BATCH} messages, not {len(value)}", INVALID_REQUEST)
    messages: list[Message | RpcError] = []
    for item in value:
        try:
            messages.append(_message(item))
        except RpcError as error:
            messages.append(error)
    return messages


def _readable_id(line: bytes, error: WireError) -> Id:
    """Return the id of a message that is refused because of a number; otherwise None."""
    if error.reason != "value":
        return None
    try:
        value = loads_around_numbers(line)
    except (WireError, ValueError):
        return None
    id = value.get("id") if isinstance(value, dict) else None
    return id if _is_id(id) else None


def _message(value: Any) -> Message:
    if not isinstance(value, dict):
        raise RpcError("json", "a message is an object with 'jsonrpc' and 'method'", INVALID_REQUEST)
    id = value.get("id")
    if not _is_id(id):
        raise RpcError("value", "'id' must be a text, a whole number or null", INVALID_REQUEST)
    if value.get("jsonrpc") != "2.0":
        raise RpcError("version", "'jsonrpc' must be \"2.0\"", INVALID_REQUEST, id)
    return _call(value, id) if "method" in value else _response(value, id)


def _is_id(id: Any) -> bool:
    return id is None or (isinstance(id, str | int) and not isinstance(id, bool))


def _call(value: dict[str, Any], id: Id) -> Request | Notification:
    method, params = value["method"], value.get("params")
    _only(value, {"jsonrpc", "id", "method", "params"}, id)
    if not isinstance(method, str) or not method:
        raise RpcError("value", "'method' must be the name of a method", INVALID_REQUEST, id)
    if params is not None and not isinstance(params, dict | list):
        raise RpcError("value", f"{method[:40]}: 'params' must be an object", INVALID_REQUEST, id)
    return Request(id, method, params) if "id" in value else Notification(method, params)


def _response(value: dict[str, Any], id: Id) -> Response:
    _only(value, {"jsonrpc", "id", "result", "error"}, id)
    if "id" not in value or ("result" in value) == ("error" in value):
        raise RpcError("json", "a message has 'method', or 'id' with either 'result' or 'error'", INVALID_REQUEST, id)
    error = value.get("error")
    if "result" in value:
        return Response(id, value["result"])
    if not (isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)):
        raise RpcError("value", "'error' must have a whole 'code' and a text 'message'", INVALID_REQUEST, id)
    return Response(id, error=Failure(error["code"], error["message"], error.get("data")))


def _only(value: dict[str, Any], known: set[str], id: Id) -> None:
    """Refuse unknown members, most often a misspelt `params`."""
    if extra := value.keys() - known:
        name = min(extra)
        raise RpcError(
            "json", f"{name[:40]!r} is not part of a message; {', '.join(sorted(known))}", INVALID_REQUEST, id
        )


def request(id: Id, method: str, params: dict[str, Any] | None = None) -> bytes:
    """Encode a request."""
    return _line({"id": id, "method": method} | ({} if params is None else {"params": params}))


def notification(method: str, params: dict[str, Any] | None = None) -> bytes:
    """Encode a notification."""
    return _line({"method": method} | ({} if params is None else {"params": params}))


def result(id: Id, value: Any) -> bytes:
    """Encode a response."""
    return _line({"id": id, "result": value})


def failure(id: Id, code: int, message: str, data: Any = None) -> bytes:
    """Encode an error response."""
    return _line({"id": id, "error": {"code": code, "message": message} | ({} if data is None else {"data": data})})


def _line(members: dict[str, Any]) -> bytes:
    return dumps({"jsonrpc": "2.0"} | members) + b"\n"
