"""Ways from one pose to another that a vehicle can follow."""
