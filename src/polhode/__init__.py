"""polhode: simulate rotating rigid bodies.

    >>> import polhode
    >>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01, omega0=(0.01, 1, 0))
    >>> run.status
    'finished'

The names below are imported when they are first used, so that `import polhode` is quick.
"""

import sys
from types import ModuleType

__version__ = "0.1.0"

_HOMES = {
    "RigidBody": "polhode.bodies._body",
    "Stepper": "polhode.engine._stepper",
    "advise": "polhode.advise",
    "compare": "polhode.compare",
    "integrate": "polhode.integrate",
    "Trajectory": "polhode.results._trajectory",
    "read": "polhode.io.read",
    "Record": "polhode.io.read",
    "ensemble": "polhode.ensemble",
    "Ensemble": "polhode.ensemble",
    "Statistics": "polhode.ensemble",
    "sweep": "polhode.sweep",
    "Sweep": "polhode.sweep",
    "Torque": "polhode.loads._torque",
    "torque": "polhode.loads._torque",
    "method": "polhode.methods",
    "problem": "polhode.problems",
    "PolhodeError": "polhode.errors",
    "InputError": "polhode.errors",
    "IntegrationError": "polhode.errors",
    "ClusterError": "polhode.errors",
    "ConvergenceError": "polhode.errors",
    "TorqueError": "polhode.errors",
    "EventError": "polhode.errors",
}
_MODULES = ("certify", "exact", "lie", "methods", "plots", "poinsot", "problems", "rotations", "torques", "view")

__all__ = sorted((*_HOMES, *_MODULES))


def __getattr__(name):
    import importlib

    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"polhode.{name}")
    else:
        raise AttributeError(f"module 'polhode' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return __all__


class _Package(ModuleType):
    """Keeps the import system from putting the module `integrate` in the place of the function."""

    def __setattr__(self, name, value):
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
