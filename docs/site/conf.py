# conf.py - how Sphinx builds the site. scripts/docs.sh gathers the pages in a folder of its own, generated ones among them,
# and runs Sphinx there; nothing is fetched, neither now nor when a page is read.
import os
import re

project = "neuropmd"
author = "the neuropmd developers"
copyright = "the neuropmd developers"
version = release = os.environ.get("NEUROPMD_VERSION", "")

extensions = ["myst_parser", "sphinx_copybutton", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
myst_heading_anchors = 3  # so that page.md#a-heading works here as it does elsewhere
highlight_language = "text"  # of indented blocks, which hold formulas
smartquotes = False  # a quote in a command must stay one
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

copybutton_selector = ", ".join(f"div.highlight-{tag} pre" for tag in ("sh", "c", "python", "r", "json"))

html_theme = "furo"
html_title = "neuropmd " + release
html_static_path = ["static"]
html_extra_path = ["extra"]  # pages that are whole already
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "tango"
pygments_dark_style = "monokai"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7db8e0", "color-brand-content": "#7db8e0"},
}


def plain_names(app, what, name, obj, options, lines):
    """Docstrings are plain text: model_, which would be a link in reStructuredText, is a name, and so is any other word like it."""
    in_example = False
    for i, line in enumerate(lines):
        in_example = line.lstrip().startswith((">>>", "...")) or (in_example and line.strip() != "")
        if not in_example:
            lines[i] = re.sub(r"(?<![`\w.])([A-Za-z]\w*_)(?![\w`])", r"``\1``", line)


def setup(app):
    app.connect("autodoc-process-docstring", plain_names, priority=400)  # before napoleon
