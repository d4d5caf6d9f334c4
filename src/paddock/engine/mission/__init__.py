"""Missions in the world: members follow the paths of their routes with their own dynamics."""
