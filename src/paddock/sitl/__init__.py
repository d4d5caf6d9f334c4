"""Autopilots in the loop: simulators behind adapters, the bridge, ArduPilot and PX4."""
