"""Pages from templates: everything that is put into one is escaped, and each is one file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

import polhode


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("polhode", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"version": polhode.__version__, "built": built}
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return environment


def render(template: str, **values: Any) -> str:
    """The page that a template of the package, named by its path, makes of these values."""
    return _environment().get_template(template).render(values)


def built(name: str) -> str:
    """A file of the viewer, as `make web` builds it."""
    return (files("polhode.show.view") / "static" / name).read_text(encoding="utf-8")
