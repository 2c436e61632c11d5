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
def as_python():
    """What a command in this process has noted about itself is not for the runs of the next test."""
    yield
    if "polhode.provenance" in sys.modules:
        sys.modules["polhode.provenance"].note_command("Python")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
