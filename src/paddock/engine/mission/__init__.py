"""Missions in the world: vehicles follow the paths of their routes with their own dynamics."""
