"""The modes of each vehicle type.

To add a mode, write a `Mode` in `modes/<type>/` (on top of that folder's `common.py`) with ArduPilot's name and
number, and list it in `modes/<type>/__init__.py`.
"""
