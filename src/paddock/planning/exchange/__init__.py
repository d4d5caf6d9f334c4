"""Missions and routes to and from the files of other programs."""
