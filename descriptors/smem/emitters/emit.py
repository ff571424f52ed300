r"""Emit a derivation as source code: constants, and functions that return the descriptors of the subtiles.

Each language has a module with a function ``write`` from a `Recipe` to text. The text is self-contained, names the
derivation that it was generated from, and has two functions (in PTX two blocks): ``first`` computes the first
descriptor from the tile's shared-memory address, and ``subtile`` another one from the first and a coordinate.

Invariant: in every language, the text has the word of the derivation without its address, and each of its steps.

>>> import re
>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> steps = {f"{term.factor}" for term in recipe(d, "a").offset.terms}
>>> texts = [emit(d, language, "a") for language in LANGUAGES]
>>> all("0x4000404000010000" in text and steps <= set(re.findall(r"\d+", text)) for text in texts)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from descriptors.errors import DescriptorError, brief
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.emitters import cuda, cutedsl, header, ptx, python
from descriptors.smem.emitters.recipe import Recipe, recipe
from descriptors.smem.operands.operand import choose

__all__ = ["LANGUAGES", "constexpr_header", "emit"]


class Language(NamedTuple):
    """An output language: the head of a text, and the function that writes an operand."""

    head: str
    write: Callable[[Recipe], str]


#: The output languages by name.
LANGUAGES: Mapping[str, Language] = {
    "cuda": Language(cuda.HEAD, cuda.write),
    "header": Language(header.HEAD, header.write),
    "ptx": Language("", ptx.write),
    "cutedsl": Language(cutedsl.HEAD, cutedsl.write),
    "python": Language("", python.write),
}


def emit(derivation: Derivation | Sequence[Derivation], language: str, name: str | Sequence[str] = "operand") -> str:
    r"""Emit source code that computes the descriptors of one or several derivations.

    Invariant: for a tile at address ``a`` (a multiple of the alignment in the text), ``subtile(first(a), mn, k)`` is
    ``derivation.words(a)[mn][k]``. No sum carries out of the start-address field, for any address. Of an address in
    another CTA of the cluster, only the offset within that CTA counts.

    Args:
        derivation: a derivation, or a list of them.
        language: ``"cuda"``, ``"header"`` (C, C++ and CUDA C++), ``"ptx"``, ``"cutedsl"`` or ``"python"``.
        name: prefix of every identifier; for several derivations a list of different prefixes.

    Raises:
        ChoiceError: if the language is unknown.
        DescriptorError: if a name is not an identifier, or not unique.

    Source: PTX ISA 9.1, tcgen05 and wgmma, matrix-descriptor-encode; article "Blackwell MMA SMEM Descriptor", section
    3.5.5; CUTLASS ``DescriptorIterator`` in ``include/cute/atom/mma_traits_sm100.hpp``.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> print(*emit(d, "python", "a").splitlines()[:4], sep="\n")
    # Shared-memory descriptors (sm100, tcgen05) of bf16 operands, K-major, swizzle 128B:
    # (64,16) elements out of a tile (128,128), atoms stacked in order (0,1).
    # tile     S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))  in elements
    # advance  (2,(4,2)):(512,(2,1024))  from the first subtile to subtile (mn,k), in 16-byte units
    """
    writer = choose("emit: language", language, LANGUAGES)
    operands = _derivations_by_name(derivation, name)
    separator = "\n" if language in ("cuda", "header") else "\n\n"
    return writer.head + separator.join(writer.write(recipe(one, prefix)) for prefix, one in operands.items())


def _derivations_by_name(derivation: object, name: object) -> Mapping[str, Derivation]:
    """Return every derivation by the prefix of its identifiers."""
    if isinstance(derivation, Derivation):
        if not isinstance(name, str):
            raise DescriptorError(f"emit: name {brief(name)} is not an identifier")
        return {name: derivation}
    many = derivation if isinstance(derivation, (tuple, list)) else ()
    if not many or not all(isinstance(member, Derivation) for member in many):
        raise DescriptorError(f"emit: {brief(derivation)} is not a derivation or a list of derivations")
    names = [name] if isinstance(name, str) else name if isinstance(name, (tuple, list)) else ()
    if len(names) != len(many) or not all(isinstance(member, str) for member in names) or len(set(names)) != len(names):
        raise DescriptorError(f"emit: {brief(name)} is not a list of {len(many)} different names, one per derivation")
    return dict(zip(names, many, strict=True))


def constexpr_header() -> str:
    """Return the C++17 and CUDA C++ header that derives the descriptors of any tile of atoms at compile time.

    >>> print(constexpr_header().splitlines()[4].removeprefix("//   "))
    constexpr Derivation a = derive(Arch::sm90, Type::bf16, Major::K, Swizzle::B128, Tile{128, 64, 4}, Mma{64, 16});
    """
    return (Path(__file__).parent / "descriptor.hpp").read_text(encoding="utf-8")
