"""The coefficients of splittings and compositions, refined from published digits until they solve
the order conditions.

    python benchmarks/splitting_coefficients.py [NAME ...]

prints each to 32 digits and what is left of its order conditions.  A step is a product of
exponentials in a free associative algebra, with letters of given weights (powers of the step):

    compositions of a symmetric method   exp(c Y1 + c^3 Y3 + c^5 Y5 + ...)
    compositions of a method and its     exp(c Y1 + c^2 Y2 + c^3 Y3 + ...), and the same with -c^2, -c^4, ...
        adjoint in turn
    kicks B and drifts A                 exp(a A), exp(b B), modulo [B, [B, [B, A]]], zero when A is quadratic in momenta

The order is p when the logarithm of the step is Y1, or A + B, up to weight p.  Newton's method
takes the shortest way from the published values to a solution, so that parameters which the
conditions leave free stay where their authors put them.
"""

import sys
from functools import cache

import mpmath as mp
import numpy as np

DIGITS = 60


# --- the algebra: {word: coefficient}, a word being a tuple of letters ----------------------------


def weight(word, weights):
    return sum(weights[letter] for letter in word)


def product(x, y, weights, order):
    result = {}
    for u, a in x.items():
        left = order - weight(u, weights)
        for v, b in y.items():
            if weight(v, weights) <= left:
                result[u + v] = result.get(u + v, 0) + a * b
    return result


def exponential(x, weights, order):
    result, term = {(): mp.mpf(1)}, {(): mp.mpf(1)}
    for k in range(1, order + 1):
        term = {word: value / k for word, value in product(term, x, weights, order).items()}
        for word, value in term.items():
            result[word] = result.get(word, 0) + value
    return result


def logarithm(x, weights, order):
    x = {word: value for word, value in x.items() if word}
    result, power = {}, {(): mp.mpf(1)}
    for k in range(1, order + 1):
        power = product(power, x, weights, order)
        for word, value in power.items():
            result[word] = result.get(word, 0) + value * (-1) ** (k + 1) / k
    return result


def bracket(x, y):
    """[x, y] of elements whose weights need no truncation."""
    result = {}
    for u, a in x.items():
        for v, b in y.items():
            result[u + v] = result.get(u + v, 0) + a * b
            result[v + u] = result.get(v + u, 0) - a * b
    return result


@cache
def vanishing(order):
    """For each weight up to the order, a basis of the Lie ideal that [B, [B, [B, A]]] generates:
    rows over all words."""
    A, B = {("A",): 1}, {("B",): 1}
    level, found = [bracket(B, bracket(B, bracket(B, A)))], {}
    for k in range(4, order + 1):
        found[k] = level
        level = [bracket(letter, x) for letter in (A, B) for x in level]
    return found


def modulo_vanishing(x, k, order):
    """The part of x, of weight k, that is orthogonal to the ideal."""
    words = sorted({word for y in vanishing(order).get(k, []) for word in y} | set(x))
    values = mp.matrix([x.get(word, mp.mpf(0)) for word in words])
    basis = []
    for y in vanishing(order).get(k, []):
        row = mp.matrix([mp.mpf(y.get(word, 0)) for word in words])
        for b in basis:
            row -= (row.T * b)[0] * b
        size = mp.norm(row)
        if size > mp.mpf(10) ** (-DIGITS // 2):
            basis.append(row / size)
    for b in basis:
        values -= (values.T * b)[0] * b
    return list(values)


# --- what is left of the order conditions ---------------------------------------------------------


def chain(factors, weights, order):
    whole = {(): mp.mpf(1)}
    for factor in factors:
        whole = product(whole, exponential(factor, weights, order), weights, order)
    return logarithm(whole, weights, order)


def composition_defects(steps, order):
    """Of a palindromic composition of a symmetric method."""
    odd = range(1, order, 2)
    weights = {k: k for k in odd}
    x = chain([{(k,): c**k for k in odd} for c in steps], weights, order - 1)
    return [x.get((1,), 0) - 1] + [value for word, value in x.items() if word != (1,)]


def alternating_defects(steps, order):
    """Of a composition of a method and its adjoint in turn."""
    powers = range(1, order)  # those of even weight vanish by symmetry
    weights = {k: k for k in powers}
    x = chain(
        [{(k,): c**k * (-1) ** (i * (k + 1)) for k in powers} for i, c in enumerate(steps)],
        weights,
        order - 1,
    )
    return [x.get((1,), 0) - 1] + [value for word, value in x.items() if word != (1,)]


def nystrom_defects(letters, values, order):
    """Of kicks B and drifts A."""
    weights = {"A": 1, "B": 1}
    x = chain(
        [{(letter,): c} for letter, c in zip(letters, values, strict=True)], weights, order - 1
    )
    left = [x.get(("A",), 0) - 1, x.get(("B",), 0) - 1]
    for k in range(2, order):
        left += modulo_vanishing(
            {word: value for word, value in x.items() if len(word) == k}, k, order
        )
    return left


def largest_defect(name, half):
    """The largest defect of a scheme with these numbers."""
    defects, whole = SCHEMES[name][:2]
    return max(abs(value) for value in defects(whole(half)))


# --- the schemes: what to solve, how the free half makes the whole, and published digits ----------


def odd_palindrome(half):
    return [*half, 1 - 2 * sum(half), *reversed(half)]


def even_palindrome(half):
    rest = mp.mpf(1) / 2 - sum(half)
    return [*half, rest, rest, *reversed(half)]


def interleaved(half, outer, inner, first):
    """b1, a1, b2, ... from the free ones of the outer row followed by those of the inner row."""
    one, other = outer(half[:first]), inner(half[first:])
    return [x for pair in zip(one, [*other, None], strict=True) for x in pair if x is not None]


def halves(row):
    """Steps of a method and its adjoint from the rows of a splitting, b1 = c1, a1 = c1 + c2, b2 = c2 + c3, ..."""
    steps, last = [], 0
    for value in row[:-1]:
        last = value - last
        steps.append(last)
    return steps


def symmetric(order):
    return lambda steps: composition_defects(steps, order)


def nystrom(order, first):
    return lambda row: nystrom_defects(
        [first if i % 2 == 0 else "AB".replace(first, "") for i in range(len(row))], row, order
    )


def alternating(order):
    return lambda steps: alternating_defects(steps, order)


SCHEMES = {
    "kahanli6": (
        symmetric(6),
        odd_palindrome,
        """
        0.39216144400731413928 0.33259913678935943860 -0.70624617255763935981 0.082213596293550800230""",
    ),
    "kahanli8": (
        symmetric(8),
        odd_palindrome,
        """
        0.13020248308889008088 0.56116298177510838456 -0.38947496264484728641 0.15884190655515560090
        -0.39590389413323757734 0.18453964097831570709 0.25837438768632204729 0.29501172360931029887""",
    ),
    "kahanli10": (
        symmetric(10),
        odd_palindrome,
        """
        0.12282427644721572094 0.77644680890696440342 0.14881514553734297479 -0.17239125953506067249
        -0.54745995781852463787 0.14512932327306927479 -0.31564555153114460562 0.12086865089833871979
        0.17910277517866344258 0.44263408813993245949 -0.81935337479593697464 0.13445474141752884045
        0.64444239169016646538 -0.71930149370201612557 0.21036902497348664610 -0.26908194941570516294""",
    ),
    "RKN4": (
        nystrom(4, "B"),
        lambda half: interleaved(half, odd_palindrome, even_palindrome, 3),
        """
        0.0829844064174052 0.396309801498368 -0.0390563049223486
        0.245298957184271 0.604872665711080""",
    ),
    "RKN6-11": (
        nystrom(6, "B"),
        lambda half: interleaved(half, even_palindrome, odd_palindrome, 5),
        """
        0.0414649985182624 0.198128671918067 -0.0400061921041533 0.0752539843015807 -0.0115113874206879
        0.123229775946271 0.290553797799558 -0.127049212625417 -0.246331761062075 0.357208872795928""",
    ),
    "RKN6-14": (
        nystrom(6, "A"),
        lambda half: interleaved(half, odd_palindrome, even_palindrome, 7),
        """
        0.0378593198406116 0.102635633102435 -0.0258678882665587 0.314241403071447 -0.130144459517415 0.106417700369543
        -0.00879424312851058
        0.09171915262446165 0.183983170005006 -0.05653436583288827 0.004914688774712854 0.143761127168358
        0.328567693746804""",
    ),
    "BM4": (
        alternating(4),
        lambda half: halves(interleaved(half, odd_palindrome, even_palindrome, 3)),
        """
        0.0792036964311957 0.353172906049774 -0.0420650803577195
        0.209515106613362 -0.143851773179818""",
    ),
    "BM6": (
        alternating(6),
        lambda half: halves(interleaved(half, odd_palindrome, even_palindrome, 5)),
        """
        0.0502627644003922 0.413514300428344 0.0450798897943977 -0.188054853819569 0.541960678450780
        0.148816447901042 -0.132385865767784 0.067307604692185 0.432666402578175""",
    ),
}


def numbers(text):
    return [mp.mpf(part) for part in text.split()]


def refine(name):
    """The free half of a scheme, such that the order conditions hold to all digits."""
    defects, whole, text = SCHEMES[name]
    half = numbers(text)
    left = defects(whole(half))
    tiny = mp.mpf(10) ** (-DIGITS // 2)
    columns = [
        [
            (a - b) / tiny
            for a, b in zip(
                defects(whole([*half[:i], half[i] + tiny, *half[i + 1 :]])), left, strict=True
            )
        ]
        for i in range(len(half))
    ]
    inverse = np.linalg.pinv(np.array(columns, dtype=float).T, rcond=1e-8)
    for _ in range(12):  # each gains the digits to which the inverse is known
        change = mp.matrix(inverse.tolist()) * mp.matrix(left)
        half = [x - d for x, d in zip(half, change, strict=True)]
        left = defects(whole(half))
        if max(map(abs, left)) < mp.mpf(10) ** (-45):
            return half
    raise SystemExit(f"{name}: the order conditions are left at {mp.nstr(max(map(abs, left)), 3)}")


def main():
    mp.mp.dps = DIGITS
    for name in sys.argv[1:] or SCHEMES:
        published = numbers(SCHEMES[name][2])
        half = refine(name)
        moved = max(abs(x - y) for x, y in zip(half, published, strict=True))
        print(
            f"{name}: defect {mp.nstr(largest_defect(name, half), 2)}, moved by {mp.nstr(moved, 2)} from the published digits, "
            f"whose defect is {mp.nstr(largest_defect(name, published), 2)}"
        )
        for x in half:
            print("   ", mp.nstr(x, 32))


if __name__ == "__main__":
    main()
