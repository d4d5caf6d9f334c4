"""The built-in autopilot: it reads SensorData and writes ActuatorCommands.

`autopilot.py` is the loop; `vehicle_types.py` has the vehicle types, `modes/` their flight modes; `parameter_tables.py`
lists every parameter with its limits, `commands.py` every MAV_CMD.
"""
