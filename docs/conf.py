"""How Sphinx makes the site of these pages: `make docs`."""

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference_pages  # noqa: E402

project = "gardenpath"
author = "the authors of gardenpath"
project_copyright = f"2026, {author}"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "gardenpath"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["../experiment/setup/study.schema.json"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

reference_pages.write_pages(HERE / "reference")


def setup(app):
    """Send links out of the docs to what they name: Sphinx knows only the pages of the site."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", reference_pages.drop_outside_links)
