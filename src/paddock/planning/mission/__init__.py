"""A plan being carried out: states, events, replanning."""
