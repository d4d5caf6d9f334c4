"""Scenarios that clients write are checked in a process of their own, which can be ended when it takes too long."""
