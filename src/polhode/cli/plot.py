"""The command `polhode plot`: stored runs in, one figure out."""

from polhode.cli._app import point_to
from polhode.errors import InputError, unknown
from polhode.io import store
from polhode.io.read import read
from polhode.support.regular import named

FORMATS = ("png", "pdf", "svg")
OF_ONE, OF_SEVERAL = ("overview", "polhode", "flip"), ("errors", "drift")


def run(runs, kind, output, force):
    """Draw the figure and say where it is; what is in the way is refused before any work."""
    if kind not in OF_ONE + OF_SEVERAL:
        raise unknown("kind of figure", kind, OF_ONE + OF_SEVERAL)
    if kind in OF_ONE and len(runs) > 1:
        raise InputError(f"the figure {kind!r} is of one run, got {len(runs)}; {' and '.join(OF_SEVERAL)} take several")
    output = output or named(runs[0]).with_name(f"{runs[0].stem}-{kind}.png")
    store.check(output, None, force, FORMATS)
    records = [read(path) for path in runs]

    from polhode.show import plots

    getattr(plots, kind)(records if kind in OF_SEVERAL else records[0], output)
    point_to("Figure", output)
