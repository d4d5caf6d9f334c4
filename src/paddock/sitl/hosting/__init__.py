"""From a scenario's `sitl` section to autopilots beside a running simulation."""
