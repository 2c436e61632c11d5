"""How many bound loops a process has compiled, and how many it has loaded from disk."""

import os
from pathlib import Path

from polhode.core import jit


def cache_statistics():
    """{"compiled": ..., "loaded": ...} for the loops that are bound."""
    machines = [machine for machine in jit._bound.values() if hasattr(machine, "stats")]
    return {
        "compiled": sum(sum(one.stats.cache_misses.values()) for one in machines),
        "loaded": sum(sum(one.stats.cache_hits.values()) for one in machines),
    }


def with_cache(folder, *paths):
    """The environment of a process with a cache folder of its own, which can import this module and
    those in the given folders."""
    path = [*map(str, paths), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "POLHODE_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(path)}
