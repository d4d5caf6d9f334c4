"""The vehicle models. A file here is the registration: `models/car/bicycle.py` is the model `car.bicycle`.

Some of them write a zero as `0.0 * s.x`: its sign is part of states that were recorded. A new model writes `0.0`.
"""
