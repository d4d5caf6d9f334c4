"""How actuators move the vehicles of this world: one file per kind of vehicle model, each with `AIRFRAME = ...`."""
