"""No-fly zones and paths around them."""
