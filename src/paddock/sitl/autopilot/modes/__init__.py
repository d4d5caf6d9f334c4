"""Flight and drive modes: one folder per kind of craft, one file per mode."""
