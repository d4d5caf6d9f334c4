"""Serving: clients watch and drive. All endpoints run in a hub process, which cannot slow down the simulation."""
