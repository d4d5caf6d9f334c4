"""Geometry of plans: paths, no-fly zones and ways around them, shapes of tasks and their coverage."""
