"""How each kind of vehicle moves: one file per model in `models/`, shared parts (tyres, motors, ...) in `parts/`."""
