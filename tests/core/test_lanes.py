"""Numbers in one register: the bits of each by itself, and really one instruction."""

import re
import struct

import numpy as np
import pytest

from polhode.core import lanes
from polhode.core.fma import fused
from polhode.core.jit import compiled
from polhode.core.lanes import axpy7
from processor import X86, has_fma

DRAWS = 300


def drawn(rng, shape):
    return tuple((rng.standard_normal(shape) * 10.0 ** rng.integers(-150, 150, shape)).tolist())


@pytest.mark.compiled
@pytest.mark.parametrize(("together", "alone"), lanes.ALONE)
def test_together_and_alone_give_the_same_bits(together, alone):
    rng, size = np.random.default_rng(5), 2 if together is lanes.fma2 else 7
    machine, one_by_one = compiled(lambda a, b, c: together(a, b, c)), compiled(alone)
    for _ in range(DRAWS):
        a = drawn(rng, 2) if size == 2 else float(rng.standard_normal())
        b, c = drawn(rng, size), drawn(rng, size)
        with np.errstate(all="ignore"):
            found = {struct.pack(f"{size}d", *f(a, b, c)) for f in (machine, one_by_one, together)}
        assert len(found) == 1, (a, b, c)


@pytest.mark.compiled
@pytest.mark.skipif(not X86, reason="reads x86 assembly")
def test_four_products_are_one_instruction():
    if fused() and not has_fma():
        pytest.skip(
            "numba compiles for a processor without fma, where products and sums are calls of the C library"
        )
    step = compiled(lambda c, x, y: axpy7(c, x, y))
    step(2.0, (1.0,) * 7, (3.0,) * 7)
    assembly = next(iter(step.inspect_asm().values()))
    body = assembly[: assembly.index(".Lfunc_end0")]
    product = r"\bvfn?madd\d+" if fused() else r"\bv?mul"
    assert len(re.findall(product + r"pd\b", body)) == 2 and not re.findall(product + r"sd\b", body)
