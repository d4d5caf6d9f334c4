"""Vehicle models: one file per model in `models/`, shared parts (tyres, motors, ...) in `parts/`."""
