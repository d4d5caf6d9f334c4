"""Airframes: one file per kind of vehicle model, each with `AIRFRAME = ...`."""
