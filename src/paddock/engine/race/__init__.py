"""The race in a run: the stage that times cars and applies the rules, cones that contact knocks over, saved states."""
