"""The rules. A file here *is* the registration: `rules/flock.py` is the behaviour `flock`."""
