"""The vehicle models. A file here *is* the registration: `models/car/bicycle.py` is the model `car.bicycle`."""
