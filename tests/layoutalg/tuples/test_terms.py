"""Sums of monomials are a ring: each law holds term by term, and with integers put in for the symbols."""

from hypothesis import given
from hypothesis import strategies as st

from layoutalg.tuples.polynomial import added, constant, multiplied, ordered, over, power, scaled, substituted

NAMES = ("k", "m", "n")
monomials = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3)).map(lambda powers: tuple(sorted(powers.items())))
sums = st.dictionaries(monomials, st.integers(-9, 9), max_size=4).map(ordered)


def value(terms, numbers):
    """The sum with numbers for its symbols, one monomial after the other."""
    total = 0
    for monomial, coefficient in terms:
        for name, exponent in monomial:
            coefficient *= numbers[name] ** exponent
        total += coefficient
    return total


@given(sums, sums, sums)
def test_addition_and_multiplication_are_those_of_a_commutative_ring(a, b, c):
    assert added(a, b) == added(b, a) and multiplied(a, b) == multiplied(b, a)
    assert added(added(a, b), c) == added(a, added(b, c))
    assert multiplied(multiplied(a, b), c) == multiplied(a, multiplied(b, c))
    assert multiplied(a, added(b, c)) == added(multiplied(a, b), multiplied(a, c))
    assert added(a, scaled(a, -1)) == () and multiplied(a, constant(1)) == a


@given(sums, sums, st.tuples(*[st.integers(1, 9)] * 3), st.integers(0, 3))
def test_every_operation_is_that_of_the_numbers(a, b, given_numbers, exponent):
    numbers = dict(zip(NAMES, given_numbers, strict=True))
    x, y = value(a, numbers), value(b, numbers)
    results = [value(one, numbers) for one in (added(a, b), multiplied(a, b), power(a, exponent))]
    assert results == [x + y, x * y, x**exponent]
    assert substituted(a, {name: constant(number) for name, number in numbers.items()}) == constant(x)


@given(monomials, monomials)
def test_a_monomial_over_another_is_what_multiplies_to_it_or_nothing(a, b):
    quotient = over(a, b)
    divides = all(dict(a).get(name, 0) >= exponent for name, exponent in b)
    assert (quotient is not None) == divides
    if quotient is not None:
        assert multiplied(((quotient, 1),), ((b, 1),)) == ((a, 1),)
