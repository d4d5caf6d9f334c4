"""One file (or folder) per endpoint; each has a class that follows `serve/endpoint.py`, named ENDPOINT."""
