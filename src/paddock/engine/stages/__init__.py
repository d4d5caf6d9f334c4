"""The stages of a tick, one file each, in the order in which they run: latch, behave, move, sense, publish."""
