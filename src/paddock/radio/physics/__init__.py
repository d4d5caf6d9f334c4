"""Radio signals: propagation, obstacles, fading, antennas, noise and errors."""
