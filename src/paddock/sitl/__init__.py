"""Autopilots in the loop: simulators behind adapters, the bridge, the built-in autopilot, MAVLink."""
