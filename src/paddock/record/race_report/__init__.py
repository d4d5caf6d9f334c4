"""The report of a race: results as Markdown and JSON, speed over distance, g-g diagram, racing lines."""
