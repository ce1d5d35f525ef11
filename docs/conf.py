"""Sphinx configuration of the documentation site."""

from importlib.metadata import version as installed_version

project = "homenode"
author = "The homenode authors"
copyright = "2026, the homenode authors"
release = installed_version("homenode")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"homenode {release}"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
