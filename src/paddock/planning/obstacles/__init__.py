"""Where nobody may fly, and ways around it."""
