"""Whatever Python a torque is written in, the run is that of Python: compiled where numba can,
called back where it cannot.

Each source defines f(t, R); its value is that of plain Python, and the run must be the one that
Python alone computes.
"""

import textwrap

import numpy as np
import pytest

import polhode

CONSTRUCTS = {
    "Python behind a dispatcher": """
        import numba
        @numba.njit
        def g(x):
            return 2.0 * x
        def f(t, R):
            return (g.py_func(0.1) + g(0.1), 0.0, 0.0)""",
    "import": "def f(t, R):\n    import math\n    return (math.cos(t), 0.0, 0.0)",
    "import from": "def f(t, R):\n    from math import cos\n    return (cos(t), 0.0, 0.0)",
    "import as": "def f(t, R):\n    import numpy.linalg as la\n    return (la.norm(R[0]), 0.0, 0.0)",
    "global": "count = 0.0\ndef f(t, R):\n    global count\n    count += 1.0\n    return (count, 0.0, 0.0)",
    "global read elsewhere": """
        count = 0.0
        def tick():
            global count
            count += 1.0
        def f(t, R):
            tick()
            return (count, 0.0, 0.0)""",
    "nonlocal": """
        def make():
            count = 0.0
            def f(t, R):
                nonlocal count
                count += 1.0
                return (count, 0.0, 0.0)
            return f
        f = make()""",
    "nonlocal inside": """
        def f(t, R):
            count = 0.0
            def add():
                nonlocal count
                count += 1.0
            add()
            return (count, t, 0.0)""",
    "try except": """
        def f(t, R):
            try:
                return (1.0 / t, 0.0, 0.0)
            except ZeroDivisionError:
                return (2.0, 0.0, 0.0)""",
    "try except any": """
        def f(t, R):
            try:
                x = 1.0 / t
            except Exception:
                x = 2.0
            return (x, 0.0, 0.0)""",
    "try finally": """
        def f(t, R):
            x = 1.0
            try:
                x += t
            finally:
                x *= 2.0
            return (x, 0.0, 0.0)""",
    "try else": """
        def f(t, R):
            try:
                x = 1.0 / (t + 1.0)
            except ZeroDivisionError as error:
                x = float(len(str(error)))
            else:
                x += 1.0
            return (x, 0.0, 0.0)""",
    "exception group": """
        def f(t, R):
            try:
                raise ExceptionGroup("two", [ValueError("a")])
            except* ValueError:
                pass
            return (t, 1.0, 0.0)""",
    "raise": "def f(t, R):\n    if t < -1.0:\n        raise ValueError('early')\n    return (t, 1.0, 0.0)",
    "raise from": """
        def f(t, R):
            if t < -1.0:
                raise ValueError("early") from RuntimeError("clock")
            return (t, 1.0, 0.0)""",
    "raise from inside": """
        def f(t, R):
            try:
                if t < 9.0:
                    raise ValueError("early") from None
            except ValueError:
                return (1.0, t, 0.0)
            return (t, 1.0, 0.0)""",
    "f-string": "def f(t, R):\n    return (float(len(f'{t:.3f}')), 0.0, 0.0)",
    "format": "def f(t, R):\n    return (float(len('{:.3f}'.format(t))), 0.0, 0.0)",
    "percent": "def f(t, R):\n    return (float(len('%.2f' % t)), 0.0, 0.0)",
    "string methods": "def f(t, R):\n    return (float(len('a b'.split())), float('a'.upper() == 'A'), t)",
    "starred assignment": "def f(t, R):\n    a, *b = (1.0, t, 2.0)\n    return (a, b[0], b[1])",
    "starred call": "def g(a, b, c):\n    return (a, b, c)\ndef f(t, R):\n    return g(*(t, 1.0, 2.0))",
    "starred tuple": "def f(t, R):\n    return (*(t, 1.0), 2.0)",
    "*args": "def g(*x):\n    return (x[0], x[1], 0.0)\ndef f(t, R):\n    return g(t, 1.0)",
    "**kwargs": "def g(**x):\n    return (x['a'], x['b'], 0.0)\ndef f(t, R):\n    return g(a=t, b=1.0)",
    "torque of *args": "def f(*x):\n    return (x[0], 1.0, 0.0)",
    "torque of **kwargs": "def f(t, R, **rest):\n    return (t, float(len(rest)), 0.0)",
    "recursion": """
        def power(x, n):
            return 1.0 if n == 0 else x * power(x, n - 1)
        def f(t, R):
            return (power(t, 3), 1.0, 0.0)""",
    "recursion of the torque": "def f(t, R):\n    return (t, 1.0, 0.0) if t < 0.15 else f(t - 0.15, R)",
    "mutual recursion": """
        def even(n):
            return 1.0 if n == 0 else odd(n - 1)
        def odd(n):
            return 0.0 if n == 0 else even(n - 1)
        def f(t, R):
            return (even(4) * t, odd(4), 1.0)""",
    "generator": """
        def g():
            yield 1.0
            yield 2.0
        def f(t, R):
            s = 0.0
            for x in g():
                s += x
            return (s, t, 0.0)""",
    "generator expression": "def f(t, R):\n    return (sum(x * t for x in (1.0, 2.0)), 1.0, 0.0)",
    "yield from": "def g():\n    yield from (1.0, 2.0)\ndef f(t, R):\n    return (sum(g()), t, 0.0)",
    "async": """
        async def g(t):
            return (t, 1.0, 0.0)
        def f(t, R):
            coroutine = g(t)
            try:
                coroutine.send(None)
            except StopIteration as done:
                return done.value""",
    "with": "from contextlib import nullcontext\ndef f(t, R):\n    with nullcontext(2.0) as x:\n        return (x, t, 0.0)",
    "walrus": "def f(t, R):\n    if (x := t + 1.0) > 0.0:\n        return (x, 0.0, 0.0)\n    return (0.0, x, 0.0)",
    "match": """
        def f(t, R):
            match int(10 * t):
                case 0 | 1:
                    return (1.0, 0.0, 0.0)
                case n if n > 2:
                    return (0.0, float(n), 0.0)
                case _:
                    return (0.0, 0.0, 1.0)""",
    "match sequence": """
        def f(t, R):
            match (t, 1.0):
                case (a, b):
                    return (a, b, 0.0)
            return (0.0, 0.0, 0.0)""",
    "list comprehension": "def f(t, R):\n    return [x * t for x in (1.0, 2.0, 3.0)]",
    "dict comprehension": "def f(t, R):\n    d = {i: i * t for i in range(3)}\n    return (d[0], d[1], d[2])",
    "set": "def f(t, R):\n    return (float(len({1.0, 2.0, t})), 1.0, 0.0)",
    "in a set": "def f(t, R):\n    return (1.0 if round(t, 1) in {0.1, 0.3} else 2.0, 0.0, 0.0)",
    "in a set of strings": "def f(t, R):\n    return (1.0 if 'up' in {'up', 'down', 'left'} else 2.0, t, 0.0)",
    "dict": "def f(t, R):\n    d = {'x': t, 'y': 1.0}\n    return (d['x'], d['y'], 0.0)",
    "dict global": "D = {'x': 1.5}\ndef f(t, R):\n    return (D['x'], t, 0.0)",
    "list global": "L = [1.5]\ndef f(t, R):\n    L.append(t)\n    return (float(len(L)), t, 0.0)",
    "default list": "def f(t, R, memory=[]):\n    memory.append(t)\n    return (float(len(memory)), t, 0.0)",
    "lambda in default": "def f(t, R, g=lambda x: 2.0 * x):\n    return (g(t), 1.0, 0.0)",
    "keyword-only default": "def f(t, R, *, k=3.0):\n    return (k, t, 0.0)",
    "positional-only": "def f(t, R, /, k=3.0):\n    return (k, t, 0.0)",
    "decorator": """
        import functools
        def twice(g):
            @functools.wraps(g)
            def inner(*a, **k):
                x = g(*a, **k)
                return (2.0 * x[0], 2.0 * x[1], 2.0 * x[2])
            return inner
        @twice
        def f(t, R):
            return (t, 1.0, 0.0)""",
    "cached": "import functools\n@functools.lru_cache\ndef g(x):\n    return 2.0 * x\ndef f(t, R):\n    return (g(t), 1.0, 0.0)",
    "partial": "import functools\ndef g(t, R, k):\n    return (k, t, 0.0)\nf = functools.partial(g, k=2.0)",
    "class inside": "def f(t, R):\n    class P:\n        x = 2.0\n    return (P.x, t, 0.0)",
    "class attribute": "class P:\n    x = 2.0\ndef f(t, R):\n    return (P.x, t, 0.0)",
    "method": "class P:\n    k = 2.0\n    def f(self, t, R):\n        self.k += t\n        return (self.k, t, 0.0)\nf = P().f",
    "callable object": "class P:\n    def __call__(self, t, R):\n        return (2.0, t, 0.0)\nf = P()",
    "nested closures": """
        def make(a):
            def inner(b):
                def f(t, R):
                    return (a + b * t, a, b)
                return f
            return inner
        f = make(2.0)(3.0)""",
    "nested function": "def f(t, R):\n    def g(x):\n        return x * t\n    return (g(1.0), g(2.0), 0.0)",
    "del": "def f(t, R):\n    x = t\n    y = x\n    del x\n    return (y, 1.0, 0.0)",
    "del global": "def f(t, R):\n    global x\n    x = t\n    y = x\n    del x\n    return (y, 1.0, 0.0)",
    "assert": "def f(t, R):\n    assert t >= -1.0, 'early'\n    return (t, 1.0, 0.0)",
    "annotations": "def f(t: float, R: 'array') -> tuple:\n    x: float = 2.0\n    return (x, t, 0.0)",
    "eval": "def f(t, R):\n    return (eval('t + 1.0', {'t': t}), 0.0, 0.0)",
    "exec": "def f(t, R):\n    d = {}\n    exec('x = 2.0', d)\n    return (d['x'], t, 0.0)",
    "getattr": "import math\ndef f(t, R):\n    return (getattr(math, 'cos')(t), 0.0, 0.0)",
    "globals": "K = 2.0\ndef f(t, R):\n    return (globals()['K'], t, 0.0)",
    "print": "def f(t, R):\n    print(end='')\n    return (t, 1.0, 0.0)",
    "while else": """
        def f(t, R):
            n = 0
            while n < 3:
                n += 1
            else:
                n = 10
            return (float(n), t, 0.0)""",
    "for else": """
        def f(t, R):
            for i in range(3):
                if i > t + 5:
                    break
            else:
                i = 7
            return (float(i), t, 0.0)""",
    "chained": "def f(t, R):\n    a = b = t\n    return (float(0.0 <= a < 0.2), b, 1.0 if a else 2.0)",
    "slices": "def f(t, R):\n    return R[0, ::-1] * t",
    "matrix product": "def f(t, R):\n    return R.T @ np.array([1.0, t, 0.0])",
    "in place": "def f(t, R):\n    R[0] *= 2.0\n    R += t\n    return R[0].copy()",
    "complex": "def f(t, R):\n    z = (1.0 + 2.0j) * t\n    return (z.real, z.imag, abs(z))",
    "bytes": "def f(t, R):\n    return (float(b'ab'[0]), t, 0.0)",
    "star import name": "from math import *\ndef f(t, R):\n    return (cos(t), pi, e)",
    "isinstance": "def f(t, R):\n    return (1.0 if isinstance(t, float) else 2.0, t, 0.0)",
    "sorted with key": "def f(t, R):\n    return sorted((3.0, t, 1.0), key=lambda x: -x)",
    "map and zip": "def f(t, R):\n    return tuple(a * b for a, b in zip((1.0, 2.0, t), map(abs, (-1.0, 1.0, 2.0))))",
    "enumerate reversed": """
        def f(t, R):
            s = t
            for i, x in enumerate(reversed((1.0, 2.0))):
                s += i * x
            return (s, 1.0, 0.0)""",
    "np.vectorize": "g = np.vectorize(lambda x: 2.0 * x)\ndef f(t, R):\n    return g(R[0])",
    "np.errstate": "def f(t, R):\n    with np.errstate(all='ignore'):\n        return R[0] / 2.0",
    "array of objects": "def f(t, R):\n    return np.array([1, t, None], dtype=object)[[0, 1, 1]]",
    "returns a list": "def f(t, R):\n    return [1.0, t, 0.0]",
    "returns integers": "def f(t, R):\n    return (1, 0, 2)",
    "returns booleans": "def f(t, R):\n    return (True, t > 0.1, False)",
    "mixed returns": "def f(t, R):\n    if t > 0.1:\n        return R[0]\n    return (1.0, 0.0, 0.0)",
    "undefined in a dead branch": "def f(t, R):\n    if t < -1.0:\n        return nowhere\n    return (t, 1.0, 0.0)",
    "unbound in a dead branch": "def f(t, R):\n    if t < -1.0:\n        return x\n        x = 1.0\n    return (t, 1.0, 0.0)",
    "fraction": "from fractions import Fraction\ndef f(t, R):\n    return (float(Fraction(1, 3)), t, 0.0)",
    "namedtuple": """
        from collections import namedtuple
        P = namedtuple('P', 'x y')
        def f(t, R):
            p = P(t, 1.0)
            return (p.x, p.y, 0.0)""",
    "enum": "import enum\nclass E(enum.IntEnum):\n    A = 2\ndef f(t, R):\n    return (float(E.A), t, 0.0)",
    "dataclass": """
        import dataclasses
        @dataclasses.dataclass
        class P:
            x: float = 2.0
        p = P()
        def f(t, R):
            return (p.x, t, 0.0)""",
    "attribute of itself": "def f(t, R):\n    f.calls += 1.0\n    return (f.calls, t, 0.0)\nf.calls = 0.0",
    "empty cell": """
        def make():
            def f(t, R):
                return (later if t > 9.0 else t, 1.0, 0.0)
            return f
            later = 1.0
        f = make()""",
}


# numba takes a second or more for each of these
SLOW = {
    "nonlocal inside",
    "try except any",
    "try finally",
    "raise",
    "string methods",
    "starred call",
    "starred tuple",
    "torque of *args",
    "recursion of the torque",
    "mutual recursion",
    "list comprehension",
    "dict comprehension",
    "set",
    "in a set",
    "in a set of strings",
    "dict",
    "positional-only",
    "nested function",
    "assert",
    "annotations",
    "while else",
    "for else",
    "slices",
    "matrix product",
    "in place",
    "complex",
    "bytes",
    "star import name",
    "isinstance",
    "sorted with key",
    "returns a list",
    "returns integers",
    "namedtuple",
}


def run(source, **options):
    scope = {"np": np, "__name__": "a_torque_of_this_test"}
    exec(compile(textwrap.dedent(source).lstrip("\n"), "torque.py", "exec"), scope)
    return polhode.integrate(
        [1.0, 1.5, 2.0], scope["f"], (0.0, 0.4), 0.1, "LP2", omega0=(0.1, 0.2, 0.3), **options
    )


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CONSTRUCTS]
)
def test_every_construct_runs_as_python_does(name):
    here, python = run(CONSTRUCTS[name]), run(CONSTRUCTS[name], compiled=False)
    assert python.mode == "python" and here.mode in ("compiled", "callback")
    assert here.mode == "compiled" or here.note
    np.testing.assert_allclose(here.quaternion, python.quaternion, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(here.omega, python.omega, rtol=0.0, atol=1e-14)
    assert np.abs(here.omega[-1] - here.omega[0]).max() > 1e-3  # it did act
