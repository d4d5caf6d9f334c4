"""Validation of cars: standard manoeuvres at every level, analytic checks, and a report."""
