"""Searches for who does what, compiled: what the methods have in common."""
