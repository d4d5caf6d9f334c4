"""Clients of the stream and web endpoints: their calls, their subscriptions and the frames that they get."""
