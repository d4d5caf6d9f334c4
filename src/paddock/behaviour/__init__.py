"""Behaviours of vehicles: one file per rule in `rules/`; every rule works with every vehicle model."""
