"""What ground stations see: one MAVLink system per vehicle."""
