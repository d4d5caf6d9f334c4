"""Endpoints, one module or folder each: ENDPOINT is a class that implements `hub.Endpoint`."""
