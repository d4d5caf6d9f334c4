"""Packets: queues, the shared channel, routes and messages."""
