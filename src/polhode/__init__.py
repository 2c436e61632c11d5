"""polhode: simulate rotating rigid bodies.

    >>> import polhode
    >>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01, omega0=(0.01, 1, 0))
    >>> run.status
    'finished'

The public names are listed in `__init__.pyi`, where editors and type checkers find them.  Each is
imported when it is first used, so that `import polhode` is quick.
"""

import lazy_loader

__version__ = "0.1.0"

# the modules in them register methods; they are imported when a method is first looked for
METHOD_PACKAGES = ("polhode.methods", "polhode.papers.methods")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
