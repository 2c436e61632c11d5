from . import exact, io, lie, methods, problems, rotations, translation
from .bodies._body import RigidBody
from .bodies.rotor import Rotor
from .engine._ensemble import ensemble
from .engine._flow import Flow
from .engine._integrate import integrate
from .engine._stepper import Stepper
from .engine._system_flow import SystemFlow
from .engine._system_stepper import SystemStepper
from .engine.ensemble.keep import Statistics
from .errors import (
    ClusterError,
    ConvergenceError,
    EventError,
    InputError,
    IntegrationError,
    PolhodeError,
    TorqueError,
)
from .exports._export import export
from .io.read import read
from .loads import flight, interactions, torques
from .loads._system import System
from .loads._torque import Torque
from .loads.conversion import torque
from .loads.force import Force, weight
from .loads.interaction import Interaction, interaction
from .loads.pair import Pair, pair
from .loads.load import Load, load
from .methods._registry import method
from .problems import problem
from .results._ensemble_result import Ensemble
from .results._system_ensemble import SystemEnsemble
from .results._system_trajectory import SystemTrajectory
from .results._trajectory import Trajectory
from .show import plots, poinsot, view
from .studies import facts
from .studies.advise._advise import advise
from .studies.advise.advice import Advice
from .studies.compare._compare import compare
from .studies.compare.comparison import Comparison, MethodCurve
from .studies.compare.runner import Point
from .studies.facts import Certificate, Fact, certify
from .studies.sweep._sweep import Sweep, sweep

__version__: str

__all__ = [
    "Advice",
    "Certificate",
    "ClusterError",
    "Comparison",
    "ConvergenceError",
    "Ensemble",
    "EventError",
    "Fact",
    "Flow",
    "Force",
    "InputError",
    "IntegrationError",
    "Interaction",
    "Load",
    "MethodCurve",
    "Pair",
    "Point",
    "PolhodeError",
    "RigidBody",
    "Rotor",
    "Statistics",
    "Stepper",
    "Sweep",
    "System",
    "SystemEnsemble",
    "SystemFlow",
    "SystemStepper",
    "SystemTrajectory",
    "Torque",
    "TorqueError",
    "Trajectory",
    "__version__",
    "advise",
    "certify",
    "compare",
    "ensemble",
    "exact",
    "export",
    "facts",
    "flight",
    "integrate",
    "interaction",
    "interactions",
    "io",
    "lie",
    "load",
    "method",
    "methods",
    "pair",
    "plots",
    "poinsot",
    "problem",
    "problems",
    "read",
    "rotations",
    "sweep",
    "torque",
    "torques",
    "translation",
    "view",
    "weight",
]
