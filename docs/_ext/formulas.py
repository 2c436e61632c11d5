"""Formulas in the docstrings of methods, plain text there, as LaTeX for the pages.

    R' = R exp(h W),  W = Om + h/2 A          KE (30)

A line is split where two spaces stand: into formulas, and remarks in words.  `tex` translates a
formula, `letters` lists what has to be explained in it.
"""

import re

GREEK = {
    "Om": r"\Omega",
    "om": r"\omega",
    "Pi": r"\Pi",
    "pi": r"\pi",
    "Th": r"\Theta",
    "al": r"\alpha",
    "gamma": r"\gamma",
    "nu": r"\nu",
}
WORDS = {
    **GREEK,
    "Pm": "P_m",
    "Tm": "T_m",
    "exp": r"\,\exp",
    "cay": r"\,\mathrm{cay}",
    "dexp": r"\,\mathrm{dexp}",
    "sum": r"\sum",
    "sqrt": r"\sqrt",
    "drift": r"\mathrm{drift}",
}
ATOM = r"(?:[A-Za-z]+\d*~?|\d+)"
# a letter with what is written close to it: primes, + or - for half a step, a mark below, a power
TOKEN = re.compile(
    r"\s*(?:(?P<name>LIEMID\[\w+\])"
    rf"|(?P<atom>{ATOM})(?P<close>(?:'|[+-](?=['\s),;]|$)|_\{{[^}}]*\}}|_\w|\^\([^)]*\)|\^-?\w+)*)"
    r"|(?P<power>\^\([^)]*\)|\^-?\w+)"
    r"|(?P<dots>\.\.\.)|(?P<other>\S))"
)
FRACTION = re.compile(
    rf"(?P<before>^|[-+=(,;\[]\s*)(?P<top>{ATOM}(?:\^\d)?)/(?P<bottom>\d+|I_\w)(?![\w^])"
)


def is_formula(text):
    """Whether a part of a line is a formula: all its words are letters or known."""
    words = re.findall(r"[A-Za-z]+", re.sub(r"LIEMID\[\w+\]", "", text))
    known = all(len(word) == 1 or word in WORDS for word in words)
    return (
        known
        and bool(re.search(r"[=+]", text))
        and not re.fullmatch(r"\([^()]*\)(, \([^()]*\))*", text)
    )


def is_displayed(block):
    """Whether an indented block of a docstring begins with a formula."""
    return is_formula(parts(block.splitlines()[0])[0])


def parts(line):
    """The formulas and remarks of a line."""
    return re.split(r"\s{2,}", re.sub(r"\s+=", " =", line.strip()))


def tex(block):
    """The lines of a block as one aligned formula."""
    return " \\\\\n".join(map(_row, block.splitlines()))


def letters(block):
    """The letters and functions in the formulas of a block, without marks and numbers."""
    found = [
        re.sub(r"\d+$", "", token["atom"])
        for line in block.splitlines()
        for part in parts(line)
        if is_formula(part)
        for token in TOKEN.finditer(_prepared(part))
        if token["atom"] and not token["atom"].isdigit() and token["atom"] != "x"
    ]
    return list(dict.fromkeys(found))


def letter(name):
    """One letter or function."""
    return WORDS.get(name, name)


def _row(line):
    done = [_formula(part) if is_formula(part) else _remark(part) for part in parts(line)]
    if not is_formula(parts(line)[0]):  # goes on from the line before
        return "& " + r" \quad ".join(done)
    left, equals, right = done[0].partition(" = ")
    first = f"{left} &= {right}" if equals else rf"& \quad {left}"
    return r" \qquad ".join([first, *done[1:]])


def _remark(text):
    return r"\text{" + re.sub(r"([_^&%#{}])", r"\\\1", text) + "}"


def _prepared(text):
    """C(k,j) is a binomial coefficient, and simple quotients become fractions."""
    return re.sub(r"C\((\w),\s*(\w)\)", r"\1@\2", text)


def _formula(text):
    text = FRACTION.sub(r"\g<before>\g<top>%\g<bottom>", _prepared(text))
    out, position = [], 0
    while position < len(text) and (token := TOKEN.match(text, position)):
        position = token.end()
        out.append(_token(token))
    done = " ".join(out)
    done = re.sub(r"(\S+) % (\S+)", r"\\frac{\1}{\2}", done)
    done = re.sub(r"(\S+) @ (\S+)", r"\\binom{\1}{\2}", done)
    return re.sub(r"\\sqrt \(([^()]*)\)", r"\\sqrt{\1}", done)


def _token(token):
    if token["name"]:
        return rf"\text{{{token['name']}}}"
    if token["dots"]:
        return r"\ldots"
    if token["power"]:
        return "^" + _group(token["power"][1:])
    if token["other"]:
        return {".": r"\cdot", "~": r"\sim", "{": r"\{", "}": r"\}"}.get(
            token["other"], token["other"]
        )
    if token["atom"] == "x":
        return r"\times"
    return _letter(token["atom"], token["close"])


def _letter(atom, close):
    name = re.fullmatch(r"([A-Za-z]*)(\d*)(~?)", atom)
    if not name[1]:
        base, below = atom, []
    else:
        base, below = WORDS.get(name[1], name[1]), [name[2]] if name[2] else []
    if name[3]:
        base = rf"\tilde{{{base}}}"
    above, primes = [], ""
    for mark in re.findall(r"'|[+-]$|[+-](?=')|_\{[^}]*\}|_\w|\^\([^)]*\)|\^-?\w+", close):
        if mark == "'":
            primes += "'"
        elif mark[0] == "_":
            below.append(_inside(mark[1:].strip("{}")))
        elif mark[0] == "^":
            above.append(_inside(mark[1:]))
        else:
            above.append(mark)
    if "_" in base and below:
        base = f"{{{base}}}"
    whole = base + (f"_{{{' '.join(below)}}}" if below else "") + primes
    if not above:
        return whole
    return (f"{{{whole}}}" if primes else whole) + f"^{{{' '.join(above)}}}"


def _group(text):
    return f"{{{_inside(text)}}}"


def _inside(text):
    return _formula(text) if len(text) > 1 else text
