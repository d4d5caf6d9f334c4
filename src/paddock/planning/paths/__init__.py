"""Feasible paths between poses."""
