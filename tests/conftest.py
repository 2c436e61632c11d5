"""Shared by all tests.

Machine code is kept in a folder of its own, so that a run neither uses nor fills the user's cache.
Where CI is set, hypothesis draws the same examples every time: a verdict on a commit does not
depend on luck, and new luck is tried on developers' machines.  A job in the background ignores
Ctrl-C, one under nohup SIGHUP, and so would every process that the tests start and interrupt: a
handler, unlike what is ignored, is not inherited.
"""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from polhode.core.jit import compiling

os.environ.setdefault(
    "POLHODE_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"polhode-test-cache-{os.getuid()}")
)

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


# Files are given out whole, so that what one sets up or compiles is there for all of its tests; the
# longest first, so that no worker waits at the end.
LONGEST = (
    "sweep reproduce krysl_methods certify docs facts adaptive memory checkpoint ensemble "
    "papers_krysl papers_buss plots machines cuda digest page reference packaging torques"
)
PLACE = {name: place for place, name in enumerate(LONGEST.split())}


def pytest_configure(config):
    # numpy's numbers warn where machine code goes on, as it should, with inf or NaN
    if not compiling():
        config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")


def pytest_collection_modifyitems(items):
    """The longest files come first.  Where numba is told not to compile, all kernels run as Python,
    and tests of machine code have nothing to look at."""
    items.sort(key=lambda item: PLACE.get(item.path.stem.removeprefix("test_"), len(PLACE)))
    for item in items:
        if not compiling() and item.get_closest_marker("compiled"):
            item.add_marker(
                pytest.mark.skip(reason="needs the JIT, which NUMBA_DISABLE_JIT turns off")
            )


@pytest.fixture(autouse=True)
def leave_no_trace():
    """What a command has noted about itself, and the methods that a test has registered, are not
    for the next test."""

    def registered():
        return getattr(sys.modules.get("polhode.methods._registry"), "_methods", {})

    before = set(registered())
    yield
    if "polhode.support.provenance" in sys.modules:
        sys.modules["polhode.support.provenance"].note_command("Python")
    for name, method in list(registered().items()):
        if name not in before and not method.step.__module__.startswith("polhode."):
            del registered()[name]


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)
