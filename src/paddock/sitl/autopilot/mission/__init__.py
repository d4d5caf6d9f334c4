"""Missions: the items that are accepted, their order, and the targets they give to AUTO."""
