"""The built-in autopilot: it reads SensorData and writes ActuatorCommands.

`autopilot.py` is the loop; `copter.py`, `rover.py` and `plane.py` are the vehicle types; `modes/<type>/` holds their
flight modes, one concept per file; `parameter_tables.py` lists every parameter with its limits; `commands.py` lists
every MAV_CMD.
"""
