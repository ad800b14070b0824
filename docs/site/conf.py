"""Configuration of Sphinx for one language of the site; ``build.py`` beside sets ``language`` and the source folder."""

import re
from typing import Any

from sphinx.search.zh import SearchChinese

# Sphinx 9.0 ships the English stemmer with a Chinese site, whose search looks for one of this name.
SearchChinese.language_name = "English"

project = "elolab"
copyright = "elolab contributors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]  # console blocks show output, not a language

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False

html_theme = "furo"
html_title = "elolab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}


def list_attributes(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Turn the list of attributes that ``help()`` shows into a list of reStructuredText."""
    text = "\n".join(lines)
    text = re.sub(r"^- (\w+): (.+)$", r"\n- **\1** (``\2``)\n", text, flags=re.MULTILINE)
    lines[:] = re.sub(r"^    (?=\S)", "  ", text, flags=re.MULTILINE).split("\n") if what == "class" else lines


def setup(app: Any) -> None:
    """Connect to Sphinx."""
    app.connect("autodoc-process-docstring", list_attributes)
