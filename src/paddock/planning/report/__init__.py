"""What a plan looks like: tables, pictures, a report to read, an animation."""
