"""What the benchmarks of autopilots need beside themselves."""
