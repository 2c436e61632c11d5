"""The digest under attack: functions that read values from everywhere, one of which is changed.

A torque returns what it reads.  Wherever Python returns something else after the change, the digest
must differ; where it does not, the digest must be the same; and a run must follow.
"""

import functools
import sys
import textwrap
import types
from collections import namedtuple

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import polhode
from polhode.core.digest import digest

ANY = st.one_of(
    st.floats(allow_nan=False),
    st.integers(),
    st.booleans(),
    st.text(max_size=3),
    st.none(),
    st.binary(max_size=3),
    st.tuples(st.floats(allow_nan=False), st.integers()),
    st.frozensets(st.text(max_size=2), max_size=3),
    st.sampled_from(
        [0.0, -0.0, 1, 1.0, True, (1,), (1.0,), (True,), 1j, np.float32(1.0), np.float64(1.0)]
    ),
)


class Holder:
    """An object with a state, a method and a call."""

    def __init__(self, value):
        self.value = value

    def __call__(self):
        return self.value

    def read(self):
        return self.value


Pair = namedtuple("Pair", "a")


class Slotted:
    __slots__ = ("value",)


# A place to read from: `definitions` of the source, the `expression` that reads, and how to `put` a
# value there.  {n} is its number; `put(scope, f, n, value)` gets the globals of the source and the
# function that reads.


def in_scope(make=lambda value: value):
    return lambda scope, f, n, value: scope.__setitem__(f"x{n}", make(value))


def in_object(way):
    return lambda scope, f, n, value: way(scope[f"x{n}"], value)


def in_function(name):
    def put(scope, f, n, value):
        function = scope.get(f"x{n}", f)
        function = getattr(function, "py_func", function)
        if name == "default":
            names = function.__code__.co_varnames[: function.__code__.co_argcount][
                -len(function.__defaults__) :
            ]
            pairs = zip(names, function.__defaults__, strict=True)
            function.__defaults__ = tuple(value if one == f"d{n}" else old for one, old in pairs)
        elif name == "keyword":
            function.__kwdefaults__ = {**function.__kwdefaults__, f"k{n}": value}
        elif name == "keyword in place":
            function.__kwdefaults__[f"k{n}"] = value
        elif name == "cell":
            function.__closure__[function.__code__.co_freevars.index(f"c{n}")].cell_contents = value
        elif name == "code":
            old = function.__code__
            function.__code__ = old.replace(
                co_consts=tuple(value if one == f"constant {n}" else one for one in old.co_consts)
            )
        elif name == "attribute":
            function.attribute = value

    return put


PLACES = {
    "global": ("", "x{n}", in_scope()),
    "default": ("", "d{n}", in_function("default")),
    "keyword": ("", "k{n}", in_function("keyword")),
    "keyword in place": ("", "k{n}", in_function("keyword in place")),
    "cell": ("", "c{n}", in_function("cell")),
    "inner function": ("", "(lambda: x{n})()", in_scope()),
    "inner cell": ("", "(lambda: c{n})()", in_function("cell")),
    "module": (
        "x{n} = types.ModuleType('m')",
        "x{n}.a",
        in_object(lambda m, v: setattr(m, "a", v)),
    ),
    "submodule": (
        "x{n} = types.ModuleType('m'); x{n}.s = types.ModuleType('m.s')",
        "x{n}.s.a",
        in_object(lambda m, v: setattr(m.s, "a", v)),
    ),
    "module handed on": (
        "x{n} = types.ModuleType('m')",
        "(lambda m: m.a)(x{n})",
        in_object(lambda m, v: setattr(m, "a", v)),
    ),
    "getattr": (
        "x{n} = types.ModuleType('m')",
        "getattr(x{n}, 'a')",
        in_object(lambda m, v: setattr(m, "a", v)),
    ),
    "helper": ("def h{n}():\n    return x{n}", "h{n}()", in_scope()),
    "helper's default": ("def x{n}(d{n}=None):\n    return d{n}", "x{n}()", in_function("default")),
    "helper's keyword": (
        "def x{n}(*, k{n}=None):\n    return k{n}",
        "x{n}()",
        in_function("keyword in place"),
    ),
    "helper's cell": (
        "def m{n}(c{n}):\n    return lambda: c{n}\nx{n} = m{n}(None)",
        "x{n}()",
        in_function("cell"),
    ),
    "helper's code": ("def x{n}():\n    return 'constant {n}'", "x{n}()", None),
    "function of a module": (
        "def h{n}():\n    return x{n}\nm{n} = types.ModuleType('m'); m{n}.h = h{n}",
        "m{n}.h()",
        in_scope(),
    ),
    "dispatcher": ("@numba.njit\ndef h{n}():\n    return x{n}", "h{n}.py_func()", in_scope()),
    "dispatcher's default": (
        "@numba.njit\ndef x{n}(d{n}=None):\n    return d{n}",
        "x{n}.py_func()",
        in_function("default"),
    ),
    "partial": (
        "",
        "x{n}()",
        in_scope(lambda value: functools.partial(Holder.read, Holder(value))),
    ),
    "partial's keyword": ("def h{n}(v):\n    return v", "x{n}()", None),
    "object": ("x{n} = Holder(None)", "x{n}()", in_object(lambda o, v: setattr(o, "value", v))),
    "method": (
        "o{n} = x{n} = Holder(None)\nm{n} = o{n}.read",
        "m{n}()",
        in_object(lambda o, v: setattr(o, "value", v)),
    ),
    "slots": ("x{n} = Slotted()", "x{n}.value", in_object(lambda o, v: setattr(o, "value", v))),
    "class": ("class x{n}:\n    pass", "x{n}.a", in_object(lambda c, v: setattr(c, "a", v))),
    "inherited": (
        "class x{n}:\n    pass\nclass D{n}(x{n}):\n    pass",
        "D{n}.a",
        in_object(lambda c, v: setattr(c, "a", v)),
    ),
    "property": (
        "class P{n}:\n    @property\n    def a(self):\n        return x{n}\np{n} = P{n}()",
        "p{n}.a",
        in_scope(),
    ),
    "attribute": ("def x{n}():\n    pass", "x{n}.attribute", in_function("attribute")),
    "list": ("x{n} = [None]", "x{n}[0]", in_object(lambda a, v: a.__setitem__(0, v))),
    "dict": ("x{n} = dict()", "x{n}['a']", in_object(lambda a, v: a.__setitem__("a", v))),
    "tuple": ("", "x{n}[0][0]", in_scope(lambda value: ((value,),))),
    "list in a tuple": (
        "x{n} = ([None],)",
        "x{n}[0][0]",
        in_object(lambda a, v: a[0].__setitem__(0, v)),
    ),
    "array of objects": (
        "x{n} = np.array([None])",
        "x{n}[0]",
        in_object(lambda a, v: a.__setitem__(0, (v,))),
    ),
    "set": (
        "x{n} = set()",
        "sorted(x{n}, key=repr)",
        in_object(lambda a, v: (a.clear(), a.add(v))),
    ),
    "namedtuple": ("", "x{n}.a", in_scope(Pair)),
    "import": (
        "",
        "h{n}()",
        lambda scope, f, n, value: setattr(sys.modules["a_module_of_this_test"], f"x{n}", value),
    ),
    "wrapped": ("@functools.wraps(len)\ndef h{n}():\n    return x{n}", "h{n}()", in_scope()),
    "cached": (
        "@functools.lru_cache\ndef g{n}():\n    return 1\ndef h{n}():\n    return g{n}() and x{n}",
        "h{n}()",
        in_scope(),
    ),
}


def _put_partial(scope, f, n, value):
    scope[f"x{n}"] = functools.partial(scope[f"h{n}"], v=value)


PLACES["partial's keyword"] = (*PLACES["partial's keyword"][:2], _put_partial)
PLACES["helper's code"] = (
    "",
    "x{n}()",
    lambda scope, f, n, value: scope.__setitem__(
        f"x{n}",
        types.FunctionType((lambda: "constant").__code__.replace(co_consts=(None, value)), {}),
    ),
)
PLACES["import"] = (
    "def h{n}():\n    import a_module_of_this_test as m\n    return m.x{n}",
    *PLACES["import"][1:],
)
sys.modules["a_module_of_this_test"] = types.ModuleType("a_module_of_this_test")


class World:
    """A function that reads from the given places."""

    def __init__(self, places, values, returns="({},)", form=None):
        self.places = places
        scope = {
            "types": types,
            "numba": numba,
            "np": np,
            "functools": functools,
            "Holder": Holder,
            "Slotted": Slotted,
        }
        lines = [PLACES[place][0].format(n=n) for n, place in enumerate(places)]
        own = {
            kind: [f"{kind[0]}{n}" for n, place in enumerate(places) if place in kinds]
            for kind, kinds in (
                ("d", ("default",)),
                ("k", ("keyword", "keyword in place")),
                ("c", ("cell", "inner cell")),
            )
        }
        arguments = [
            "t=0.0",
            "R=None",
            *(f"{name}=None" for name in own["d"]),
            *["*"] * bool(own["k"]),
            *(f"{name}=None" for name in own["k"]),
        ]
        body = returns.format(
            ", ".join(PLACES[place][1].format(n=n) for n, place in enumerate(places))
        )
        lines.append(
            f"def make({', '.join(f'{name}=None' for name in own['c'])}):\n"
            f"    def f({', '.join(arguments)}):\n        return {body}\n    return f\nf = make()"
        )
        exec("\n".join(map(textwrap.dedent, lines)), scope)
        self.scope, self.f = scope, scope["f"]
        for n, value in enumerate(values):
            self.put(n, value)
        self.root = self.f if form is None else form(self.f)

    def put(self, n, value):
        PLACES[self.places[n]][2](self.scope, self.f, n, value)

    def value(self):
        """What Python returns, types, signs of zeros and all; the order of a set is no matter."""
        return repr([_plain(one) for one in self.f()])


def _plain(value):
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [_plain(one) for one in value]
    return (type(value).__name__, sorted(value) if isinstance(value, frozenset) else value)


FORMS = {
    "function": None,
    "partial": lambda f: functools.partial(f, 1.0),
    "dispatcher": numba.njit,
    "method": lambda f: types.MethodType(f, 1.0),
    "in a tuple": lambda f: (f, 1.0),
    "wrapped": lambda f: functools.wraps(f)(lambda: f()),
}


def attack(data):
    places = data.draw(st.lists(st.sampled_from(sorted(PLACES)), min_size=1, max_size=5))
    values = [data.draw(ANY) for _ in places]
    form = FORMS[data.draw(st.sampled_from(sorted(FORMS)))]
    world = World(places, values, form=form)
    which, other = data.draw(st.integers(0, len(places) - 1)), data.draw(ANY)
    before = world.value(), digest(world.root), digest(world.root, identity=True)
    assert before[1:] == (digest(world.root), digest(world.root, identity=True))
    world.put(which, other)
    after = world.value(), digest(world.root), digest(world.root, identity=True)
    for one, two in zip(before[1:], after[1:], strict=True):
        assert (one == two) == (before[0] == after[0]), (before, after)
    world.put(which, values[which])
    assert (world.value(), digest(world.root), digest(world.root, identity=True)) == before
    again = World(
        places, [other if n == which else value for n, value in enumerate(values)], form=form
    )
    # as in another process
    assert again.value() == after[0] and digest(again.root, identity=True) == after[2]


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=150, deadline=None, suppress_health_check=QUIET)
@given(st.data())
def test_the_digest_follows_what_python_returns(data):
    attack(data)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None, suppress_health_check=QUIET)
@given(st.data())
def test_the_digest_follows_what_python_returns_ten_thousand_times(data):
    attack(data)


# --- whole runs -----------------------------------------------------------------------------------

NUMBERS = st.floats(-4.0, 4.0).map(lambda x: round(x, 3))
RUNS = [
    name
    for name in sorted(PLACES)
    if name not in ("set", "namedtuple", "array of objects", "import")
]


def follow(data):
    places = data.draw(st.lists(st.sampled_from(RUNS), min_size=1, max_size=4))
    values, which, other = (
        [data.draw(NUMBERS) for _ in places],
        data.draw(st.integers(0, len(places) - 1)),
        data.draw(NUMBERS),
    )
    world = World(places, values, "(sum(({},)), 1.0, 0.0)")
    for value in (values[which], other):
        world.put(which, value)
        runs = [
            polhode.integrate(
                [1.0, 1.5, 2.0],
                world.f,
                (0.0, 0.5),
                0.25,
                omega0=(0.1, 0.2, 0.3),
                compiled=compiled,
            )
            for compiled in (True, False)
        ]
        expected = polhode.integrate(
            [1.0, 1.5, 2.0],
            polhode.torques.constant((world.f()[0], 1.0, 0.0)),
            (0.0, 0.5),
            0.25,
            omega0=(0.1, 0.2, 0.3),
        )
        for run in runs:
            np.testing.assert_allclose(run.omega, expected.omega, rtol=1e-12, atol=1e-12)


@pytest.mark.compiled
@settings(max_examples=3, deadline=None, suppress_health_check=QUIET, derandomize=True)
@given(st.data())
def test_a_run_follows_what_python_returns(data):
    follow(data)


@pytest.mark.slow
@pytest.mark.compiled
@settings(max_examples=200, deadline=None, suppress_health_check=QUIET)
@given(st.data())
def test_a_run_follows_what_python_returns_many_times(data):
    follow(data)
