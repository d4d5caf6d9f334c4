"""Who can talk to whom: propagation, antennas, signals, fading and what follows from them."""
