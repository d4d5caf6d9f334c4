"""Reports of planned missions: text, figures, an animation, an HTML page, files."""
