"""One file per simulator that autopilots can fly in."""
