"""Certificates in words: the rows of the table, a comparison of several, and plain text.  Nothing
here prints."""

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
        (fact.title, declared(fact), fact.text, verdict(fact))
        for fact in certificate.facts.values()
    ]


def declared(fact):
    """What a method says of itself, as text."""
    if fact.name == "torques" and fact.declared is None and fact.ok is not None:
        return "varies"
    if fact.name.startswith("drift") and fact.declared == 0.0:
        return "none"
    if isinstance(fact.declared, bool):
        return "yes" if fact.declared else "no"
    if fact.declared is None:
        return "-"
    return "exact" if fact.declared == float("inf") else f"{fact.declared:g}"


def comparison_row(certificate):
    """The row of a certificate among several: its name, a few facts, its verdict."""
    cells = [certificate.name]
    for _, name in COLUMNS:
        fact = certificate.facts[name]
        if isinstance(fact.measured, bool):
            cells.append("yes" if fact.measured else "no")
        elif name.startswith("drift"):
            cells.append(_drift(fact))
        elif name == "stability_limit":
            cells.append("> 16" if fact.measured is None else fact.text)
        elif fact.measured is None:
            cells.append("-")
        else:
            cells.append(fact.text.split(",")[0].removesuffix(" ns").replace(" to ", "-"))
    return [*cells, "ok" if certificate.ok else "FAIL" if certificate.failed else "not measured"]


def _drift(fact):
    if fact.details["blow_up"] is not None:
        return f"lost at {fact.details['blow_up']:.0f}"
    if fact.details["chaotic"]:
        return "chaotic"
    return "-" if fact.measured is None else f"{fact.measured:+.1e}"


def text(certificate):
    """A certificate as plain text."""
    lines = [
        (title, f"declared {told}", measured, verdict)
        for title, told, measured, verdict in rows(certificate)
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    body = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return f"{certificate.name}: {certificate.verdict}\n{body}"
