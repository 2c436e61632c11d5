"""Shared by all tests.

Machine code is kept in a folder of its own, so that a run neither uses nor fills the user's cache.  Where CI is set, hypothesis
draws the same examples every time: a verdict on a commit does not depend on luck, and new luck is tried on developers' machines.
A job in the background ignores Ctrl-C, and so would every process that the tests start and interrupt: here it is heard again.
"""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("POLHODE_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"polhode-test-cache-{os.getuid()}"))

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(autouse=True)
def leave_no_trace():
    """What a command has noted about itself, and the methods that a test has registered, are not for the next test."""
    def registered():
        return getattr(sys.modules.get("polhode.methods._registry"), "_methods", {})

    before = set(registered())
    yield
    if "polhode.provenance" in sys.modules:
        sys.modules["polhode.provenance"].note_command("Python")
    for name, method in list(registered().items()):
        if name not in before and not method.step.__module__.startswith("polhode."):
            del registered()[name]


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
