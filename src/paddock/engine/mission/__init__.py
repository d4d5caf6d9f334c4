"""Missions in the world: vehicles follow their routes with their dynamics."""
