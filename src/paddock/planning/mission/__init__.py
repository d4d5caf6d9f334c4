"""Missions: plans in execution, with states, events and replanning."""
