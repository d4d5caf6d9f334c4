"""No-fly zones and ways around them."""
