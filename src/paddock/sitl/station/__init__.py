"""A ground station without a window: it uploads a scenario's missions over MAVLink, arms the vehicles, starts them."""
