"""What autodoc and numpydoc do not know about the docstrings of this project.

Module docstrings state their mathematics in indented blocks, which on a page are blocks of code,
not quotations; and |x| is the size of x, not a substitution.
"""

import re

from restructured import prose

SIZE = re.compile(r"(?<!`)\|([^|`]+)\|")


def adapt(app, what, name, obj, options, lines):
    text = "\n".join(lines)
    lines[:] = (prose(text) if what == "module" else SIZE.sub(r"\\|\1\\|", text)).splitlines()


def setup(app):
    app.connect("autodoc-process-docstring", adapt, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
