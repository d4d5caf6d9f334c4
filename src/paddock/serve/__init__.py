"""Sockets: everyone may watch and drive. All endpoints live in a hub process that cannot slow the simulation down."""
