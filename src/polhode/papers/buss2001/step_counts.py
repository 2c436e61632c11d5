"""The step counts of Buss 2001, by method and column, for what is said about them."""

from polhode.papers.buss2001.tables import LIMIT, printed, steps_needed

# (T, eps)
COLUMNS = ((0.4, 1e-3), (0.4, 1e-6), (4.0, 1e-3), (4.0, 1e-6), (40.0, 1e-3), (40.0, 1e-6))
FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH = COLUMNS
FAR = max(LIMIT.values())  # steps to try where the paper tries fewer


def heading(T, eps):
    """The title of a column."""
    return f"T = {T:g}, ε = {eps:g}"


def N(method, column, limit=None):
    """Steps a method needs for a column, None when the limit, the paper's unless given, is not
    enough."""
    return steps_needed(method, *column, limit or LIMIT[column[0]])


def listed(method, columns, limit=None):
    """Counts as text."""
    return ", ".join(
        str(N(method, column, limit) or f"more than {limit or LIMIT[column[0]]}")
        for column in columns
    )


def fewer(method, columns, than):
    """The columns in which a method needs no more steps than any of some others."""
    return [
        column
        for column in columns
        if N(method, column) and N(method, column) <= min(N(name, column) for name in than)
    ]


def ratios(upper, lower, columns):
    """Steps of one method over those of another, where both succeed."""
    return [
        N(upper, column) / N(lower, column)
        for column in columns
        if N(upper, column) and N(lower, column)
    ]


def text(numbers):
    """Ratios as text."""
    return ", ".join(f"{number:.2f}" for number in numbers)


def cost(method):
    """The printed cost of a step."""
    costs = {}
    for row in printed()["costs"]:
        costs[row["method"]], costs[f"{row['method']}+ep"] = row["plain"], row["preserving"]
    return float(costs[method])
