"""One sentence about the machine on which the times of the certificates were measured.

`make certificates` stores what this prints.
"""

import os
import platform
import re
from pathlib import Path


def sentence():
    """Processor, cores and load: other programs that run meanwhile make times longer."""
    load = os.getloadavg()[0]
    return (
        f"Times were measured on one core of {processor()} ({os.cpu_count()} cores, load average {load:.1f}); "
        "each is the shortest of many short runs."
    )


def processor():
    cpus = Path("/proc/cpuinfo")
    found = cpus.exists() and re.search(r"model name\s*:\s*(.*)", cpus.read_text("utf-8"))
    return f"an {found[1]}" if found else platform.processor() or platform.machine()


if __name__ == "__main__":
    print(sentence())
