"""Subscribers over any wire: what they may ask for, what they are shown and when."""
