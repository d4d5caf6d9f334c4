"""ArduPilot in the loop: Paddock is the physics of unmodified ArduPilot binaries started with `--model JSON`."""
