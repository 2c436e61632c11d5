"""GPU ensembles: on a GPU where there is one, otherwise in numba's simulator, which is chosen
before numba starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import polhode
from polhode.core.loops import cuda
from polhode.core.single import SinglePrecision, single
from polhode.errors import InputError

WHY_NOT = cuda.obstacle()

if WHY_NOT is None:
    from gpu_checks import *  # noqa: F403
else:

    @pytest.mark.parametrize("which", ["not slow", pytest.param("slow", marks=pytest.mark.slow)])
    def test_in_the_simulator(which):
        pytest.importorskip("numba_cuda", reason="pip install numba-cuda")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-m",
                which,
                Path(__file__).with_name("gpu_checks.py"),
            ],
            env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]

    def test_without_a_gpu_the_error_names_what_to_install():
        with pytest.raises(
            InputError, match=r"device='cuda' needs a CUDA GPU.*pip install 'polhode\[cuda\]'"
        ):
            polhode.ensemble(
                [1.0, 2.0, 3.0], t_span=(0, 1), step=0.1, n=2, omega0=(1, 0, 0), device="cuda"
            )


def test_constants_of_single_precision():
    import numpy as np

    assert single(0.1) == np.float32(0.1) and single((0.5, (1e-300, 2))) == (
        np.float32(0.5),
        (np.float32(1e-30), 2),
    )
    assert (
        single(-1e300) == np.float32(-1e30)
        and single(float("inf")) == np.inf
        and single("x") == "x"
    )

    def function(x):
        return (x * 0.1, [0.3 for _ in range(2)])

    value, many = SinglePrecision(lambda copy: copy).copy(function)(np.float32(1.0))
    assert value.dtype == np.float32 and many[0].dtype == np.float32


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 4000.0, 2e5])
def test_sincos_in_single_precision(scale):
    import numpy as np

    from polhode.core.fma import fma, product_and_sum
    from polhode.core.scalars import sincos

    sine = SinglePrecision(lambda copy: copy, {fma: product_and_sum})(sincos)
    for x in np.float32(np.random.default_rng(1).uniform(-scale, scale, 200)):
        s, c = sine(x)
        assert s.dtype == np.float32
        worst = max(abs(float(s) - np.sin(float(x))), abs(float(c) - np.cos(float(x))))
        assert worst < max(1.2e-7, 0.5 * np.spacing(np.abs(x)))
