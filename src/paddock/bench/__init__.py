"""`paddock bench`: speed as ratios measured in one run, each with the target it must meet."""
