"""Studies that make many runs: facts of methods, comparisons, advice, sweeps."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["facts"])
