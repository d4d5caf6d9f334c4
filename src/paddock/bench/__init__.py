"""`paddock bench`: speeds and ratios measured in one run, with their targets."""
