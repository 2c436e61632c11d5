"""The documentation: `make docs` builds it, offline, with warnings as errors."""

import sys
from pathlib import Path
from types import ModuleType

import matplotlib

import polhode

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
matplotlib.use("Agg")

from figures import Figures  # noqa: E402

# public modules lie in layers: autodoc finds `polhode.facts` by its public name
for name in polhode.__all__:
    if isinstance(getattr(polhode, name), ModuleType):
        sys.modules[f"polhode.{name}"] = getattr(polhode, name)

project = "polhode"
author = "the polhode developers"
copyright = author
version = release = polhode.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "mathml",
    "docstrings",
    "generated",
    "playground",
]
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
# as the docstrings use it: a name in backquotes, linked where it is documented
default_role = "py:obj"
smartquotes = False  # R' is the attitude after a step
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]
suppress_warnings = [
    "config.cache",  # the gallery's settings hold functions
    "ref.python",  # `.step` in a docstring may be that of several classes
]

# --- what autodoc and numpydoc make of the docstrings ---------------------------------------------

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# --- literature, from the one file that `polhode cite` reads --------------------------------------

bibtex_bibfiles = ["../src/polhode/methods/references.bib"]
bibtex_default_style = "unsrt"
bibtex_reference_style = "author_year"

# --- the gallery: every example is run ------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "plot_gallery": True,
    "write_computation_times": False,
    "remove_config_comments": True,
    "doc_module": ("polhode",),
    "reference_url": {"polhode": None},
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (480, 320),
    "default_thumb_file": str(HERE / "images" / "overview.png"),
    "image_scrapers": (Figures(),),
    "reset_modules": ("matplotlib",),
}

# --- the pages ------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "polhode"
html_static_path = ["_static"]
html_css_files = ["polhode.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "polhode"},
    "show_prev_next": True,
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "tutorial": [], "which_method": [], "playground": [], "changelog": []}
