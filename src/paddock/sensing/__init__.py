"""Sensors with rate, delay, noise and bias; one file per sensor in `sensors/`."""
