"""Runs as one self-contained page: the body in 3D, Poinsot's picture, and plots that follow.

    >>> import polhode
    >>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01, omega0=(0.01, 1, 0))
    >>> page = polhode.view.page(run)
    >>> page.title
    'A body turning freely'
"""

from polhode.show.view._page import Page, page

__all__ = ["Page", "page"]
