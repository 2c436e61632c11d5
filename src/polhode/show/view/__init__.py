"""Self-contained pages: runs in 3D with Poinsot's picture and plots that follow, and comparisons of
methods.

>>> import polhode
>>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01, omega0=(0.01, 1, 0))
>>> page = polhode.view.page(run)
>>> page.title
'A body turning freely'
"""

from polhode.show.view._card import card
from polhode.show.view._comparison import comparison
from polhode.show.view._page import Page, page

__all__ = ["Page", "card", "comparison", "page"]


def __dir__() -> list[str]:
    return __all__  # what completion offers
