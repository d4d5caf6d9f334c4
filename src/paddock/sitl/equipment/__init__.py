"""What vehicles with autopilots carry: sensors with real noise, and what a craft has unless somebody says otherwise."""
