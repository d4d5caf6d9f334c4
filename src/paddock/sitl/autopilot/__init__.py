"""The built-in autopilot: it reads SensorData, writes ActuatorCommands, and speaks to nobody else."""
