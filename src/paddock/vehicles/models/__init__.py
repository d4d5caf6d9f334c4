"""The vehicle models. A file here is the registration: `models/car/bicycle.py` is the model `car.bicycle`.

Some write a zero as `0.0 * s.x`, because its sign is part of recorded states. New models write `0.0`.
"""
