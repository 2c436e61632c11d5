"""The pictures of the gallery: every matplotlib Figure that a cell of an example leaves in a
variable.

The figures of `polhode.plots` belong to no window and no global state, where sphinx-gallery would
look for them.
"""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


class Figures:
    """Saves each figure once, in the cell that made it."""

    def __init__(self):
        self.example, self.saved = None, []

    def __repr__(self):
        return "Figures()"

    def __call__(self, block, variables, settings, **options):
        if variables["src_file"] != self.example:
            self.example, self.saved = variables["src_file"], []
        paths, titles = [], []
        for figure in variables["example_globals"].values():
            if isinstance(figure, Figure) and not any(figure is known for known in self.saved):
                self.saved.append(figure)
                path = next(variables["image_path_iterator"])
                figure.savefig(path, dpi=120)
                paths.append(path)
                titles.append(title(figure))
        return figure_rst(paths, settings["src_dir"], ", ".join(titles))


def title(figure):
    """The figure's title, or its first panel's: what a reader hears who does not see it."""
    first = figure.axes[0]
    return figure.get_suptitle() or first.get_title("left") or first.get_title()
