"""Clients of the stream and web endpoints: their calls, subscriptions and frames."""
