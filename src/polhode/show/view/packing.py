"""Arrays as text, for the page."""

import base64

import numpy as np


def pack_array(array, kind="f4"):
    """An array as text: "f4:" (or "f8:", "u4:") and its little-endian bytes in base64."""
    return f"{kind}:{base64.b64encode(np.ascontiguousarray(array, dtype='<' + kind).tobytes()).decode()}"
