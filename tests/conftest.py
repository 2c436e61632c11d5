"""Shared by all tests.

Machine code is kept in a folder of its own, so that a run neither uses nor fills the user's cache.  Where CI is set, hypothesis
draws the same examples every time: a verdict on a commit does not depend on luck, and new luck is tried on developers' machines.
"""

import os
import tempfile
from pathlib import Path

from hypothesis import settings

os.environ.setdefault("POLHODE_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"polhode-test-cache-{os.getuid()}"))

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
