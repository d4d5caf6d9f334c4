"""Cars, one file per fidelity level; all take the same commands and parameters and show the same pose."""
