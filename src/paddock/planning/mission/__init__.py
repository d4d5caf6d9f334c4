"""A plan in execution: states, events, replanning."""
