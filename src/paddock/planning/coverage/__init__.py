"""What a task wants to be flown over: a file for each shape."""
