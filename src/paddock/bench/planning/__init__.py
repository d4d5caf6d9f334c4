"""What planning is measured with."""
