"""The tick: stages, run modes, mailbox, events, and `build`, which turns a Scenario into a Simulation."""
