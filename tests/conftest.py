"""Shared by all tests: machine code is kept in a folder of its own, so that a run neither uses nor fills the user's cache."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("POLHODE_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"polhode-test-cache-{os.getuid()}"))
