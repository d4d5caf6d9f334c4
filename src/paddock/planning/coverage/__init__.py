"""Shapes of tasks and the paths that cover them."""
