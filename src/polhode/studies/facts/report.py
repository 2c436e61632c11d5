"""Certificates as text: the rows of the table, a comparison of several, plain text."""

VERDICT = {True: "ok", False: "FAIL", None: "-"}


def verdict(fact):
    """The word for a fact."""
    return "not measured" if fact.missing else VERDICT[fact.ok]


# the comparison of several certificates: title, fact
COLUMNS = (
    ("order", "order_attitude"),
    ("symm.", "symmetric"),
    ("sympl.", "symplectic"),
    ("momentum", "conserves_momentum"),
    ("energy", "conserves_energy"),
    ("drift", "drift"),
    ("drift h/2", "drift_half"),
    ("limit", "stability_limit"),
    ("torques", "torques"),
    ("ns", "cost"),
)


def rows(certificate):
    """(title, declared, measured, verdict) of every fact, as text."""
    return [
        (fact.title, fact.claim, fact.text, verdict(fact)) for fact in certificate.facts.values()
    ]


def comparison_row(certificate):
    """The row of a certificate among several: its name, a few facts, its verdict."""
    cells = [certificate.facts[name].short for _, name in COLUMNS]
    outcome = "ok" if certificate.ok else "FAIL" if certificate.failed else "not measured"
    return [certificate.name, *cells, outcome]


def text(certificate):
    """A certificate as plain text."""
    lines = [
        (title, f"declared {claim}", measured, verdict)
        for title, claim, measured, verdict in rows(certificate)
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    body = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return f"{certificate.name}: {certificate.verdict}\n{body}"
