"""Colours can be told apart, by those who see few as well, and what is written and drawn on them can be read.

The measures are computed here from their definitions: OKLab (Ottosson 2020), the three kinds of dichromacy by Viénot,
Brettel and Mollon (1999), contrast as in WCAG 2.1.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from each import each

from layoutalg import LayoutError
from layoutalg.drawing.picture import painted
from layoutalg.drawing.theme import BORDERS, INKS, ink, kind, step

Colour = tuple[float, float, float]
KINDS = [f"c{number}" for number in range(8)]
STEPS = [f"r{number}" for number in range(8)]

#: Linear RGB as a dichromat's: rows of the matrices that take it there.
SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    "tritan": ((1, 0.14461, -0.14461), (0, 0.85924, 0.14076), (0, 0.85924, 0.14076)),
}


def linear(text: str) -> Colour:
    channels = [int(text[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return red, green, blue


def as_seen_with(colour: Colour, sight: str) -> Colour:
    red, green, blue = (
        min(max(sum(a * b for a, b in zip(row, colour, strict=True)), 0.0), 1.0) for row in SIGHT[sight]
    )
    return red, green, blue


def oklab(colour: Colour) -> Colour:
    r, g, b = colour
    cone = (
        0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
        0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
        0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    )
    x, y, z = (value ** (1 / 3) for value in cone)
    return (
        0.2104542553 * x + 0.7936177850 * y - 0.0040720468 * z,
        1.9779984951 * x - 2.4285922050 * y + 0.4505937099 * z,
        0.0259040371 * x + 0.7827717662 * y - 0.8086757660 * z,
    )


def distance(one: str, other: str, sight: str) -> float:
    pairs = zip(oklab(as_seen_with(linear(one), sight)), oklab(as_seen_with(linear(other), sight)), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


def luminance(text: str) -> float:
    red, green, blue = linear(text)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def paint(role: str, scheme: str) -> str:
    return str(getattr(INKS[role], scheme))


def test_the_measures_are_right_where_their_values_are_known() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert distance("#000000", "#ffffff", "normal") == pytest.approx(1, abs=1e-3)
    for sight in SIGHT:  # nobody sees a hue in grey
        lightness, a, b = oklab(as_seen_with(linear("#808080"), sight))
        assert (a, b) == pytest.approx((0, 0), abs=2e-3)
        assert lightness == pytest.approx(0.6, abs=0.01)
    assert distance("#ff0000", "#00a000", "deutan") < distance("#ff0000", "#00a000", "normal") / 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("sight", "least"), [("normal", 0.09), ("protan", 0.07), ("deutan", 0.07), ("tritan", 0.065)])
def test_any_two_of_the_eight_kinds_can_be_told_apart(scheme: str, sight: str, least: float) -> None:
    for one, other in combinations(KINDS, 2):
        assert distance(paint(one, scheme), paint(other, scheme), sight) >= least, (one, other)


@each("scheme", ["light", "dark"])
@each("role", [*KINDS, *STEPS, "faint", "paper"])
def test_what_is_written_on_a_fill_can_be_read(scheme: str, role: str) -> None:
    assert contrast(paint("ink", scheme), paint(role, scheme)) >= 4.5


@each("scheme", ["light", "dark"])
@each("role", ["muted", "accent", "bad", "good", "atom", "subtile"])
def test_what_is_written_on_paper_can_be_read(scheme: str, role: str) -> None:
    assert contrast(paint(role, scheme), paint("paper", scheme)) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("role", BORDERS)
def test_a_border_stands_out_from_the_paper_under_it(scheme: str, role: str) -> None:
    assert contrast(paint(role, scheme), paint("paper", scheme)) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_order_goes_one_way_and_each_step_can_be_seen(scheme: str) -> None:
    lightness = [oklab(linear(paint(role, scheme)))[0] for role in STEPS]
    assert lightness in (sorted(lightness), sorted(lightness, reverse=True))
    assert all(abs(one - other) > 0.02 for one, other in pairwise(lightness))


def test_a_kind_and_the_one_four_further_share_their_hue_and_differ_in_lightness() -> None:
    for number in range(4):
        light, dark = (oklab(linear(paint(f"c{n}", "light")))[0] for n in (number, number + 4))
        assert light > dark + 0.1


def test_fills_have_a_colour_in_a_terminal_and_no_two_kinds_the_same() -> None:
    assert len({INKS[role].terminal for role in KINDS}) == len({INKS[role].terminal for role in STEPS}) == 8
    assert all(INKS[role].terminal is not None for role in [*KINDS, *STEPS, "faint", "paper"])


@each("role", [name for name, one in INKS.items() if one.terminal is not None])
def test_a_colour_in_a_terminal_is_near_that_of_the_light_picture(role: str) -> None:
    """The 256 colours as xterm has them: 16 of its own, a cube of six steps a side, 24 greys."""
    number = INKS[role].terminal
    assert number is not None and 16 <= number < 256
    steps = (0, 95, 135, 175, 215, 255)
    cube = [steps[(number - 16) // part % 6] for part in (36, 6, 1)]
    channels = cube if number < 232 else [8 + 10 * (number - 232)] * 3
    assert distance("#" + "".join(f"{one:02x}" for one in channels), INKS[role].light, "normal") < 0.12
    assert painted("7", "c4") == "\x1b[30;48;5;104m7\x1b[0m"
    assert painted("7", "atom") == painted("7", None) == "7"


def test_an_order_has_its_first_and_last_role_at_its_ends() -> None:
    assert [step(position, 16) for position in (0, 1, 2, 15)] == ["r0", "r0", "r1", "r7"]
    assert [step(position, 3) for position in range(3)] == ["r0", "r2", "r5"]
    assert kind(-1) == "c7"


def test_an_unknown_role_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(LayoutError, match=r"canvas: 'red' is not a role; supported: c0, .*, paper"):
        ink("red")
