"""Control of each vehicle type: the paths it follows, and compiled loops from setpoints to actuator commands."""
