"""Measuring the page: what it costs the server, and how it keeps up in a browser."""
