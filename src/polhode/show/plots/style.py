"""What all figures share: colours, a quiet style, figures without windows, and curves thinned to
what can be seen.

The colours are Okabe and Ito's, which readers with any kind of colour vision can tell apart.
"""

from __future__ import annotations

import io
import textwrap
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from polhode.errors import InputError, as_path, printable, disk_advice, unknown
from polhode.results._run import Run
from polhode.results.conserved import acting

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, PALE = "#555555", "#D9D9D9"
_SCREEN = 80  # pixels an inch in a notebook; the picture has more, for screens that show them
_LINE = 84  # characters of a title
_COLOURS = 64  # of a picture in a notebook
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
POINTS = 4000  # per curve: more cannot be seen
_RULES: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "figure.titleweight": "bold",
    "axes.labelsize": 9.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.solid_joinstyle": "round",
    "figure.titlesize": 12.5,
}


def styled() -> AbstractContextManager[None]:
    """A context in which figures are drawn."""
    return matplotlib.rc_context(_RULES)


class Picture(Figure):
    """A figure that a notebook shows, whatever it knows of matplotlib."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = (round(_SCREEN * size) for size in self.get_size_inches())
        return small_png(self, 1.5 * _SCREEN), {"width": width, "height": height}


def small_png(figure: Figure, dpi: float) -> bytes:
    """A figure for a notebook: with a palette, a PNG has a third of the bytes."""
    full, small = io.BytesIO(), io.BytesIO()
    figure.savefig(full, format="png", dpi=dpi)
    image = Image.open(full).convert("RGB")
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to no window and no global state."""
    figure = Picture(figsize=(width, height), layout="constrained", dpi=150, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def target(path: Any) -> Path | IO[bytes] | None:
    """Where a figure is to go, checked before it is drawn: None, a path, or something to write
    to."""
    if path is None or hasattr(path, "write"):
        return path
    path = as_path("path", path)
    formats = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix and path.suffix[1:].lower() not in formats:
        raise unknown(f"suffix of the figure {str(path)!r}:", path.suffix[1:], formats)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(
            f"cannot write the figure {str(path)!r}: {'it' if path.is_dir() else 'its parent'} is "
            f"{'a folder' if path.is_dir() else 'no folder'}; give the name of a file in a folder that exists"
        )
    return path


def saved(figure: Figure, path: str | PathLike[str] | IO[bytes] | None) -> Figure:
    """The figure, written where there is a path."""
    if path is not None:
        try:
            figure.savefig(path)
        except OSError as error:
            raise InputError(
                f"cannot write the figure {str(path)!r}: {error.strerror or error}; {disk_advice(error)}"
            ) from error
    return figure


def literal(text):
    """Text of others for a figure: no character of it is taken for a command or for the beginning
    of a formula."""
    return printable(text).replace("$", r"\$")


def lowered(number: int) -> str:
    """A number as an index: 12 becomes ₁₂."""
    return str(number).translate(_LOWERED)


def titled(run: Run, text: str) -> str:
    """A text with the title of the run before it, or the name of its body."""
    name = run.title or run.body.name
    return textwrap.fill(literal(f"{name}: {text}" if name else text), _LINE)


def caption(run: Run) -> str:
    """Title or body, method, step and loads of a run in one line."""
    shown = (
        run.body.units.value(f"{run.step:g}", "s")
        if isinstance(run.step, (int, float))
        else f"by rtol {run.tolerance[0]:g}"
        if run.tolerance
        else "uneven"
    )
    return titled(run, f"{run.method.name}, step {shown}, {run.steps} steps, {acting(run)}")


def thin(t, y):
    """At most `POINTS` points that look the same: the smallest and the largest of each interval."""
    if len(t) <= POINTS:
        return t, y
    bins = np.array_split(np.arange(len(t)), POINTS // 2)
    keep = sorted(
        {i for part in bins for i in (part[np.argmin(y[part])], part[np.argmax(y[part])])}
    )
    return t[keep], y[keep]


def towards_viewer(axes):
    """The unit vector from a 3D picture to who looks at it."""
    elevation, azimuth = np.radians((axes.elev, axes.azim))
    return np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )


def curve_around(axes, points, normals, **look):
    """A curve on a convex surface: what lies behind is paler.  `normals` point out of the
    surface."""
    behind = normals @ towards_viewer(axes) < 0.0
    for mask, alpha in ((np.ones(len(points)), 0.3), (np.where(behind, np.nan, 1.0), 0.95)):
        axes.plot(*(points * mask[:, None]).T, alpha=alpha, **look)


def bare(axes, reach):
    """A 3D picture without walls."""
    axes.set_axis_off()
    axes.set_proj_type("ortho")
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach))


def pins(axes, lengths, names, colour=GREY):
    """The three axes, each from where it leaves the picture's surface, with its name."""
    for tip, name in zip(np.diag(lengths), names, strict=True):
        axes.plot(*zip(0.82 * tip, tip, strict=True), color=colour, lw=0.8)
        axes.text(*(1.1 * tip), name, color=colour, ha="center", va="center", fontsize=9)
