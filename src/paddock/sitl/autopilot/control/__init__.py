"""The control laws of each kind of craft: from setpoints to actuator commands, compiled, and the ways they follow."""
