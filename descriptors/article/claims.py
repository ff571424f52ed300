"""Claims of a published text beside what the algebra derives, and beside what NVIDIA's own code says.

Law: a claim holds if and only if both values are the same, a layout by its notation; its line says which.

>>> values = (1024, 16, "8:1", Layout(8))
>>> claims = [Claim("3", "a number", expected, derived) for expected in values[:3] for derived in values]
>>> all(one.holds == (str(one.expected) == str(one.derived)) == str(one).startswith("ok") for one in claims)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from descriptors.frozen import frozen
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.swizzled import plain
from descriptors.text import word_text
from layoutalg import Layout


@frozen
class Claim:
    """One statement of the article.

    Args:
        section: where it stands.
        statement: what it is about.
        expected: the value as the article gives it.
        derived: the value out of the algebra.
    """

    section: str
    statement: str
    expected: Any
    derived: Any

    @property
    def holds(self) -> bool:
        """Whether both values agree; layouts by their notation."""
        return bool(self.expected == (str(self.derived) if isinstance(self.derived, Layout) else self.derived))

    def __str__(self) -> str:
        verdict = f"{self.expected}" if self.holds else f"{self.expected}, DERIVED {self.derived}"
        return f"{'ok   ' if self.holds else 'WRONG'} {self.section:<6} {self.statement}: {verdict}"


@frozen
class Example:
    """A worked example: the arguments of its derivation, its claims, and the word that CuTe's compiler makes of it."""

    title: str
    arguments: dict[str, Any]
    claims: Callable[[Derivation], Iterator[Claim]]
    word: int

    def check(self, derivation: Derivation) -> list[Claim]:
        """Every claim about its derivation, the known word last."""
        word = Claim("word", "descriptor word", word_text(self.word), word_text(derivation.descriptor.encode()))
        return [*self.claims(derivation), word]

    def derive(self) -> Derivation:
        """Run the five steps.

        >>> from descriptors.article.article import SW128_KMAJOR
        >>> print(SW128_KMAJOR.derive().canonical)
        ((8,8),(1,2)):((8,64),(0,1))
        """
        return derive(**self.arguments)


def oracle_claims(example: Example) -> Iterator[Claim]:
    """The same derivation by NVIDIA's own code: layout by layout, then the word in the PTX of its compiler.

    Raises:
        OracleError: if the CuTe DSL is not installed, or broke as a tool.
    """
    from descriptors.oracle.words import WordRequest, descriptor_words
    from layoutalg.oracle.expressions import Case, evaluate

    d = example.derive()
    form, bits = d.match.form, d.element.storage_bits
    steps = [
        ("tile_to_shape", Case("tile_to_shape", (str(d.atom), d.tile, d.order)), d.smem_tile),
        ("zipped_divide", Case("zipped_divide", (str(d.smem_tile), d.mma)), d.partitioned),
        ("recast_layout", Case("recast_layout", (128, bits, str(d.partitioned))), d.recast),
        ("logical_divide", Case("logical_divide", (str(plain(d.recast)[0]), form.chunk)), d.canonical),
    ]
    answers = evaluate(case for _, case, _ in steps)
    for (name, _, ours), answer in zip(steps, answers, strict=True):
        yield Claim("CuTe", name, answer.text, str(ours))
    request = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    (compiled,) = descriptor_words([request])
    found = compiled.text if compiled.word is None else word_text(compiled.word)
    yield Claim("PTX", "descriptor word in the compiled PTX", found, word_text(d.descriptor.encode()))
    yield Claim("PTX", "and it is the known word", word_text(example.word), found)
