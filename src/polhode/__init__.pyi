from . import errors, exact, io, lie, methods, problems, rotations, translation
from .bodies._body import RigidBody
from .engine._ensemble import ensemble
from .engine._integrate import integrate
from .engine._stepper import Stepper
from .engine.ensemble.keep import Statistics
from .errors import (
    ClusterError, ConvergenceError, EventError, InputError, IntegrationError, PolhodeError, TorqueError,
)
from .io.read import Record, read
from .loads import torques
from .loads._torque import Torque, torque
from .loads.force import Force
from .methods._registry import method
from .problems import problem
from .results._ensemble import Ensemble
from .results._trajectory import Trajectory
from .show import plots, poinsot, view
from .studies import facts
from .studies.advise import Advice, advise
from .studies.compare import Comparison, compare
from .studies.facts import Certificate, certify
from .studies.sweep import Sweep, sweep

__version__: str
