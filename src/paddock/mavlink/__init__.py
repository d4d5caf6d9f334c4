"""The MAVLink side of the built-in autopilot: each vehicle is one MAVLink system.

`hub.py` owns the sockets and the systems; `commands.py`, `protocols.py` and `file_transfer.py` handle incoming
messages; `messages.py` encodes and schedules telemetry.
"""
