"""Co-simulation by FMI: models as FMUs for other tools, and FMUs of other tools as vehicles."""
