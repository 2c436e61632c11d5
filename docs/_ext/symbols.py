"""What the letters in the formulas of the methods mean."""

SYMBOLS = {
    "R": "attitude: transforms vectors from the body frame to space",
    "q": "attitude as a unit quaternion",
    "Om": "angular velocity in the body frame",
    "om": "angular velocity in space",
    "Pi": "angular momentum in the body frame",
    "pi": "angular momentum in space",
    "I": "inertia tensor in the body frame; :math:`I_1, I_2, I_3` are the principal moments",
    "i": r"inertia tensor in space, :math:`R I R^T`",
    "A": "angular acceleration in the body frame",
    "al": "angular acceleration in space",
    "T": "torque in the body frame",
    "t": "torque in space; as an argument, the time",
    "h": "step",
    "W": "angular velocity at the middle of the step, in the body frame",
    "w": "angular velocity at the middle of the step, in space",
    "Pm": "angular momentum at the middle of the step, in the body frame",
    "Tm": "torque at the middle of the step, in the body frame",
    "H": "energy",
    "C": "half the square of the angular momentum",
    "K": "the energy that the method conserves exactly",
    "S": r"the derivative of :math:`\exp`, as given in the formula",
    "gamma": "parameter of the Newmark family",
    "exp": "rotation by the length of a vector, about it",
    "cay": r"Cayley map: rotation about :math:`x` by :math:`2 \arctan(|x|/2)`",
    "dexp": r"derivative of :math:`\exp` (:doc:`/theory/equations`)",
}
PRIME = "value at the end of the step"
RATE = "time derivative"

# where a file uses letters of its own
OWN = {
    "buss_as_run": {"k": "angular velocities of the stages, in space"},
    "dmv": {
        "w": r"scalar part of the unit quaternion of :math:`F`",
        "v": r"vector part of the unit quaternion of :math:`F`",
        "F": "rotation of the step",
    },
    "dmv_high": {"e": r"elementary symmetric polynomials of the :math:`1/I_i`"},
    "dormand_prince": {
        "y": r"state: :math:`q` and :math:`\Omega`",
        "f": "right-hand side of the equations of motion",
        "F": "coefficients of the continuous extension",
        "s": "fraction of the step",
        "prime": r"time derivative in the equations of motion; :math:`y'` is the state at the end of the step",
    },
    "gauss": {
        "Q": "attitude at a stage, as a quaternion of any length",
        "P": "the same relative to the steady rotation",
        "e": "quaternion of the steady rotation at a stage",
        "W": "mean of the angular velocities in space, over the stages",
        "a": "coefficients of Gauss's method",
        "c": "Gauss's nodes",
        "V": "velocity at a stage",
        "X": "position at a stage",
        "A": "acceleration at a stage",
        "v": "velocity",
        "x": "position",
    },
    "exact_flow": {
        "e": "unit vector of a principal axis",
        "I": "principal moments of inertia",
    },
    "hulbert": {"plus": "half a step later"},
    "lie_midpoint": {"F": "free flow", "K": "kick: the torque acts for a time on a fixed body"},
    "lie_runge_kutta": {
        "k": "angular velocities of the stages, in the body frame",
        "u": "rotation vector within the step",
        "prime": r"value at the end of the step; :math:`u'` is a time derivative",
    },
    "taylor": {
        "Z": r"rotation vector of the step, divided by :math:`h`",
        "Y": r"coefficients of its series",
        "V": "angular velocity in the body frame and its time derivatives",
        "n": "index of the sum",
    },
    "_kicked": {
        "drift": "motion without torque, by the method",
        "minus": "between the kicks at both ends of the step",
    },
    "_taylor": {
        "m": "angular momentum in the body frame",
        "nu": "angular velocity in the body frame",
        "T": "torque in the body frame",
        "k": "order of a time derivative, in brackets above a letter",
        "j": "index of the sum",
    },
}
EVERYDAY = {"sum", "sqrt"}  # need no explanation


def explained(name, letters, text):
    """(letter, meaning) of what the formulas of a file use, and of the marks on them."""
    own = OWN.get(name, {})
    meanings = SYMBOLS | own
    rows = [(letter, meanings[letter]) for letter in letters if letter in meanings]
    if "'" in text:
        rows.append(("prime", own.get("prime", PRIME)))
    return rows + [(mark, own[mark]) for mark in ("plus", "minus") if mark in own]
