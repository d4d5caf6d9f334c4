"""Radio in a run: the stage, `sim.radio`, saved links."""
