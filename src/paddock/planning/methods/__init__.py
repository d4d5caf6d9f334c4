"""Who does what, in which order. A file here *is* the registration: `methods/greedy.py` is the method `greedy`."""
