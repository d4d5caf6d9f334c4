"""Sphinx configuration of the documentation: `sphinx-build -W docs docs/_build`."""

from importlib import metadata

project = "Paddock"
author = "The Paddock developers"
try:
    release = metadata.version("paddock")
except metadata.PackageNotFoundError:  # the pages can be built without the package
    release = ""
extensions = ["myst_parser"]
exclude_patterns = ["_build", "generate.py", "requirements.txt"]
html_theme = "furo"
html_title = f"Paddock {release}".strip()
myst_heading_anchors = 3
