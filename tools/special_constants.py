"""Computes src/sapwood/_ops/special_constants.py: polynomials for the special functions.

    python tools/special_constants.py > src/sapwood/_ops/special_constants.py

Each function is divided by its known behaviour (its zeros, its decay), mapped to [-1, 1], and
interpolated at Chebyshev points in 50-digit arithmetic. The series is cut where its terms fall
below 2^-57 of the function's smallest value, and written as a polynomial in the mapped variable;
`amplification` (the sum of all coefficients' magnitudes over the function's smallest value) bounds
what rounding in Horner's scheme can add: it stays below 5. Needs mpmath.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60
POINTS = 56


def series(f: Callable, low: float, high: float) -> list:
    """Chebyshev coefficients of f over [low, high]."""
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    angles = [mp.pi * (k + mp.mpf(1) / 2) / POINTS for k in range(POINTS)]
    values = [f(middle + half * mp.cos(angle)) for angle in angles]
    return [
        (2 if j else 1)
        * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True))
        / POINTS
        for j in range(POINTS)
    ]


def powers(coefficients: list) -> list:
    """The same polynomial in powers of the mapped variable."""
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    out = [mp.mpf(0)] * len(coefficients)
    for j, c in enumerate(coefficients):
        term = before if j == 0 else now
        for i, v in enumerate(term):
            out[i] += c * v
        if j:
            after = [mp.mpf(0)] + [2 * v for v in now]
            for i, v in enumerate(before):
                after[i] -= v
            before, now = now, after
    return out


def fitted(f: Callable, low: float, high: float) -> tuple[list, float]:
    """The polynomial for f over [low, high], and its amplification."""
    smallest = min(abs(f(low + (high - mp.mpf(low)) * k / 64)) for k in range(65))
    chebyshev = series(f, low, high)
    needed = max(j for j, c in enumerate(chebyshev) if abs(c) > mp.mpf(2) ** -57 * smallest)
    found = powers(chebyshev[: needed + 1])
    return found, float(sum(abs(v) for v in found) / smallest)


def rational(f: Callable, k: int) -> Callable:
    """f as a function of u = (x - k) / (x + k)."""
    return lambda u: f(k * (1 + u) / (1 - u))


def by_square(f: Callable) -> Callable:
    """f as a function of the square of its argument."""
    return lambda t: f(mp.sqrt(t))


def log_gamma_factor(x: mp.mpf) -> mp.mpf:
    """log(gamma(x)) without its zeros at 1 and 2."""
    if abs((x - 1) * (x - 2)) < mp.mpf(10) ** -40:
        x += mp.mpf(10) ** -20
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def tail_of_erfinv(s: mp.mpf) -> mp.mpf:
    """erfinv(y) / s where 1 - y = exp(-s^2)."""
    return mp.erfinv(1 - mp.exp(-s * s)) / s


def u_of(x: float, k: int) -> mp.mpf:
    """The mapped variable of `rational`."""
    return (mp.mpf(x) - k) / (mp.mpf(x) + k)


TINY = mp.mpf(10) ** -20
DIGAMMA_ZERO = mp.findroot(mp.digamma, 1.46)
HALF_LOG_2PI = mp.log(2 * mp.pi) / 2
FITS = [
    ("ERF", "erf(x) / x in x^2, |x| < 1", by_square(lambda x: mp.erf(x) / x), TINY, 1),
    ("ERFC", "erfc(x) in x, 0.5 <= x <= 1", mp.erfc, 0.5, 1),
    (
        "ERFCX",
        "x exp(x^2) erfc(x) in (x - 3) / (x + 3), 1 <= x <= 28",
        rational(lambda x: x * mp.exp(x * x) * mp.erfc(x), 3),
        u_of(1, 3),
        u_of(28, 3),
    ),
    (
        "LGAMMA_ONE",
        "log(gamma(x)) / ((x - 1) (x - 2)) in x, 0.5 <= x <= 1.5",
        log_gamma_factor,
        0.5,
        1.5,
    ),
    (
        "LGAMMA",
        "log(gamma(x)) / ((x - 1) (x - 2)) in (x - 3) / (x + 3), 1.5 <= x <= 8",
        rational(log_gamma_factor, 3),
        u_of(1.5, 3),
        u_of(8, 3),
    ),
    (
        "STIRLING",
        "x (log(gamma(x)) - Stirling's formula) in 1 / x^2, x >= 8",
        by_square(
            lambda r: (
                (mp.loggamma(1 / r) - ((1 / r - mp.mpf(1) / 2) * -mp.log(r) - 1 / r + HALF_LOG_2PI))
                / r
            )
        ),
        TINY,
        mp.mpf(1) / 64,
    ),
    (
        "DIGAMMA_ONE",
        "digamma(x) / (x - its zero) in x, 1 <= x <= 2.5",
        lambda x: mp.digamma(x) / (x - DIGAMMA_ZERO),
        1,
        2.5,
    ),
    (
        "DIGAMMA",
        "digamma(x) in (x - 4) / (x + 4), 2.5 <= x <= 8",
        rational(mp.digamma, 4),
        u_of(2.5, 4),
        u_of(8, 4),
    ),
    (
        "DIGAMMA_TAIL",
        "x^2 (digamma(x) - log(x) + 1 / (2 x)) in 1 / x^2, x >= 8",
        by_square(lambda r: (mp.digamma(1 / r) + mp.log(r) + r / 2) / r**2),
        TINY,
        mp.mpf(1) / 64,
    ),
    (
        "ERFINV",
        "erfinv(y) / y in y^2, |y| <= 0.75",
        by_square(lambda y: mp.erfinv(y) / y),
        TINY,
        mp.mpf(9) / 16,
    ),
    (
        "ERFINV_TAIL",
        "erfinv(y) / s in (s - 2) / (s + 2), 1 - |y| = exp(-s^2), |y| >= 0.75",
        rational(tail_of_erfinv, 2),
        u_of(1.17, 2),
        u_of(6.1, 2),
    ),
]


def main() -> None:
    """Print the module."""
    write = sys.stdout.write
    write(
        '"""Coefficients of special.py, lowest power first; made by '
        'tools/special_constants.py."""\n'
    )
    for name, text, f, low, high in FITS:
        middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
        found, amplification = fitted(f, low, high)
        plain = low == TINY
        if plain:  # the variable starts at 0: no need to map it
            found = shifted(found, middle, half)
        write(f"\n# {text}; amplification {amplification:.2f}\n{name} = (\n")
        for v in found:
            write(f"    {float(v)!r},\n")
        write(")\n")
        if not plain:
            write(f"{name}_RANGE = ({float(middle)!r}, {float(1 / half)!r})  # middle, 1 / half\n")
    high = float(DIGAMMA_ZERO)
    write("\n# the positive zero of digamma, as a sum of two numbers\n")
    write(f"DIGAMMA_ZERO = ({high!r}, {float(DIGAMMA_ZERO - mp.mpf(high))!r})\n")


def shifted(found: list, middle: mp.mpf, half: mp.mpf) -> list:
    """Coefficients in t of a polynomial in (t - middle) / half."""
    out = [mp.mpf(0)] * len(found)
    power = [mp.mpf(1)]
    for c in found:
        for i, v in enumerate(power):
            out[i] += c * v
        longer = [mp.mpf(0)] * (len(power) + 1)
        for i, v in enumerate(power):
            longer[i] -= v * middle / half
            longer[i + 1] += v / half
        power = longer
    return out


if __name__ == "__main__":
    main()
