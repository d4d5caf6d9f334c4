"""The MAVLink side of the built-in autopilot: each vehicle is one MAVLink system.

`hub.py` owns the sockets and the systems; `commands.py`, `mission_protocol.py` and `parameter_protocol.py` handle
incoming messages; `messages.py` encodes and schedules telemetry.
"""
