"""How the figures of the papers look: print quality, one colour and one symbol for each method,
everywhere the same.

The symbols are those of Krysl & Endres's legends; the colours Okabe and Ito's.
"""

from contextlib import contextmanager

from polhode.show.plots.style import PALETTE, new_figure, styled

BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK = PALETTE
GREY, BROWN = "#777777", "#8C510A"
PRINT_DPI = 200

# method: colour, symbol, line
LOOKS = {
    "NMB": (BLUE, "o", "-"),
    "NMS": (SKY, ".", "--"),
    "NMB-cay": (SKY, "o", "--"),
    "SW": (VERMILION, "", ":"),
    "SW1": (VERMILION, "1", "--"),
    "SW-buss": (VERMILION, "1", ":"),
    "LS": (GREEN, "", "-."),
    "HSTAGM": (PINK, "s", "-"),
    "AKW": (ORANGE, "<", "-"),
    "AKW-exp": (ORANGE, ">", "--"),
    "LP2": (BLACK, "$*$", "-"),
    "DMV": (GREY, "*", "-"),
    "DMV4": (GREY, "D", "--"),
    "DMV6": (GREY, "x", ":"),
    "CG-RK4": (BROWN, "P", "-"),
    "CG4": (BROWN, "P", "--"),
    "RKMK4": (BROWN, "^", "-"),
    "CF4": (BROWN, "v", "-"),
    "LIEMID[I]": (GREEN, "^", "-"),
    "LIEMID[EA]": (GREEN, "d", "-"),
    "VLV": (BLACK, "v", "-"),
    "EXACT": (BLACK, "h", "--"),
    "taylor1": (GREY, "1", "-"),
    "taylor2": (SKY, "2", "-"),
    "taylor3-false": (PINK, "3", "--"),
    "taylor2-augmented": (ORANGE, "4", "-"),
    "taylor3": (GREEN, "^", "-"),
    "taylor4": (BLUE, "s", "-"),
    "taylor5": (PINK, "p", "-"),
    "taylor6": (BLACK, "h", "-"),
    "MR2-123": (BLACK, "$*$", ":"),
    "MR2-231": (BLACK, "X", "-"),
    "MR4-231": (BLACK, "P", "-"),
    "RK-buss": (BROWN, "x", ":"),
    "ABAM-buss": (BROWN, "+", ":"),
    "ABAM": (BROWN, "+", "-"),
}
RULES = {
    "lines.markersize": 4.5,
    "lines.linewidth": 1.3,
    "figure.titlesize": 11.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "polhode",
    "axes.formatter.useoffset": False,
}


def look(method, **changes):
    """Keywords for `axes.plot` that draw a method as in every other figure; a label is its name
    unless another is given.

    >>> look("NMB")["marker"], look("NMB", marker="")["marker"]
    ('o', '')
    """
    base = method.removesuffix("+ep")
    colour, marker, line = LOOKS.get(base, (GREY, ".", "-"))
    hollow = {"markerfacecolor": "none"} if marker in "o<>sD^vdhp" and marker else {}
    return {
        "label": method,
        "color": colour,
        "marker": marker,
        "linestyle": line,
        **hollow,
        **changes,
    }


def plain_ticks(axis, values=None):
    """Plain numbers on a logarithmic axis: at the values, or at 1, 2 and 5 of every decade."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(
        FixedLocator(values) if values is not None else LogLocator(subs=(1.0, 2.0, 5.0))
    )
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.10g}"))
    axis.set_minor_formatter(NullFormatter())


@contextmanager
def style():
    """The style of all figures of the papers, while the block runs."""
    import matplotlib

    with styled(), matplotlib.rc_context(RULES):
        yield


def painted(result):
    """A matplotlib Figure with what the result draws, or None where it draws nothing."""
    if result.draw is None:
        return None
    with style():
        figure = new_figure(*result.size)
        result.draw(figure)
    return figure
