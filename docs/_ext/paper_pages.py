"""The papers' items and the test problems, from their registries."""

import numpy as np
from restructured import escaped, literal, table, title

from polhode import papers, problems

PAPERS = """
``polhode reproduce`` reproduces every table and figure of the documents behind these methods, with the printed values beside
ours, and gives a verdict on the claims of the papers.  ``polhode reproduce PAPER/ITEM`` prints an item; ``polhode reproduce all
--output DIR`` (under half an hour; with ``--quick`` minutes) writes the figures, the numbers and a page with everything,
including verdicts and errata.  An interrupted run continues where it stopped.
"""
PROBLEMS = """
The papers' test problems, with their exact parameters and the assumptions made where a paper gives none.  They can be named in
scenario files (``problem = "krysl/slow-top"``) and on the command line, and `polhode.problem` returns them in Python; the part
after the slash is enough.  ``polhode problems`` prints this list.  The last ones have two bodies each.
"""


def pages(docs):
    return {"reference/papers.rst": paper_page(), "reference/problems.rst": problem_page()}


def paper_page():
    parts = [title("The papers, reproduced"), PAPERS]
    for paper in papers.PAPERS.values():
        # a name may begin like a list: S. R. ...
        parts += [title(paper.short, "-"), f"\\{escaped(paper.reference)}.\n"]
        if found := [item for item in papers.items("all") if item.paper == paper.name]:
            parts.append(
                table(
                    ("item", "what it is", "", "about"),
                    [
                        (literal(item.key), escaped(item.title), item.kind, f"{item.seconds:g} s")
                        for item in found
                    ],
                    "32 46 10 12",
                )
            )
        if errata := papers.errata(paper.name):
            parts += [
                title("Misprints", "~"),
                table(
                    ("where", "printed", "correct"),
                    [tuple(map(escaped, (one.where, one.printed, one.correct))) for one in errata],
                    "18 41 41",
                ),
            ]
    return "\n".join(parts)


def problem_page():
    parts = [title("Problems"), PROBLEMS]
    for problem in map(problems.get, problems.names()):
        facts = problem.describe()
        several = "bodies" in facts
        parts += [
            title(problem.name, "-"),
            escaped(f"{problem.title[0].upper()}{problem.title[1:]}.  {problem.source}.") + "\n",
            *([f":Masses: {numbers(facts['masses'])}"] if several else []),
            f":Moments: {numbers(facts['moments'])}",
            f":Interaction: ``{facts['interaction']}``"
            if several
            else f":Torque: ``{facts['torque']}``",
            *(
                [
                    f":Position: {numbers(facts['position0'])}",
                    f":Velocity: {numbers(facts['velocity0'])}",
                ]
                if several
                else []
            ),
            f":Attitude: quaternion {numbers(facts['rotation0'])}",
            f":Angular velocity: {numbers(facts['omega0'])}",
            f":Span: {numbers(facts['t_span'])}",
            f":Step: {facts['step']:g}",
            *([f":Assumed: {escaped(problem.assumptions)}"] if problem.assumptions else []),
            "",
        ]
    return "\n".join(parts)


def numbers(values):
    """Numbers with commas between them, those of several bodies with semicolons between the bodies."""
    if np.ndim(values) > 1:
        return "; ".join(map(numbers, values))
    return ", ".join(f"{value:.10g}" for value in np.asarray(values))
