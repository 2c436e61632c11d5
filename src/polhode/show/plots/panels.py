"""Panels that figures of a body and of a system share."""

from __future__ import annotations

import numpy as np

from polhode.show.plots.style import GREY, PALETTE, thin

_SMALLEST = 1e-20  # of the values that an axis makes room for


def logarithmic(axes, t, curves, colours=PALETTE):
    """Curves by name on a logarithmic axis, with gaps where a value is zero; if all values are zero, a
    text says so."""
    positive = np.concatenate([values[values > 0.0] for values in curves.values()])
    if not len(positive):
        unchanged(axes, t)
        return
    for (name, values), colour in zip(curves.items(), colours, strict=False):
        still = "" if values.any() or not name else ", unchanged to the last bit"
        times, sizes = thin(t, values)
        sizes = np.where(sizes > 0.0, sizes, np.nan)
        axes.plot(times, sizes, color=colour, lw=0.9, label=f"{name}{still}")
        axes.plot(times, _single(sizes), ".", color=colour, ms=2.0)
    low, high = max(positive.min(), _SMALLEST), max(positive.max(), _SMALLEST)
    axes.set_yscale("log")
    axes.set_ylim(0.5 * low, max(3.0 * high, 20.0 * low))
    axes.set_xlim(t[0], t[-1])
    if len(curves) > 1:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0, ncols=2)


def _single(values):
    """The values between two gaps, which a line does not show."""
    gap = np.concatenate([[True], np.isnan(values), [True]])
    return np.where(gap[:-2] & gap[2:], values, np.nan)


def unchanged(axes, t):
    """Says that nothing has changed, where a logarithmic axis could show nothing."""
    axes.set_yticks([])
    axes.text(
        0.5, 0.5, "unchanged to the last bit", transform=axes.transAxes, ha="center", color=GREY
    )
    axes.set_xlim(t[0], t[-1])


def axes_in_space(axes, middle, reach):
    """A cube about what is drawn in space."""
    half = 0.55 * reach or 1.0
    limits = np.column_stack([middle - half, middle + half])
    axes.set(**dict(zip(("xlim", "ylim", "zlim"), limits.tolist(), strict=True)))
    axes.set(xlabel="x", ylabel="y", zlabel="z")
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize=7, pad=0)
    axes.tick_params(axis="z", pad=5)
    axes.set_proj_type("ortho")
    axes.set_box_aspect((1, 1, 1), zoom=0.92)
    axes.view_init(elev=24, azim=-58)
