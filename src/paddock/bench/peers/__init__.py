"""Programs that run other simulators, in a virtual environment of their own (`make bench-peers`)."""
