"""A derivation as source code: the constants and the few lines that build a descriptor and move it to a subtile.

Each language has a module with one function, ``write``, from a `Recipe` to text. The text stands alone, names the
derivation that it came from, and holds two functions (in PTX two blocks): ``first`` from the tile's shared-memory
address, ``subtile`` from the first descriptor and a coordinate.

Law: whatever the language, the text has the word of the derivation but for its address, and each of its steps.

>>> import re
>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> steps = {f"{term.factor}" for term in recipe(d, "a").offset.terms}
>>> texts = [emit(d, language, "a") for language in LANGUAGES]
>>> all("0x4000404000010000" in text and steps <= set(re.findall(r"\\d+", text)) for text in texts)
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
    """How a language is written: what stands at the top of a text, and an operand."""

    head: str
    write: Callable[[Recipe], str]


#: How each language is written.
LANGUAGES: Mapping[str, Language] = {
    "cuda": Language(cuda.HEAD, cuda.write),
    "header": Language(header.HEAD, header.write),
    "ptx": Language("", ptx.write),
    "cutedsl": Language(cutedsl.HEAD, cutedsl.write),
    "python": Language("", python.write),
}


def emit(derivation: Derivation | Sequence[Derivation], language: str, name: str | Sequence[str] = "operand") -> str:
    """Source code that builds the descriptors of a derivation, or of several in one text.

    Law: for a tile at address ``a`` (a multiple of the alignment that the text names), ``subtile(first(a), mn, k)`` is
    ``derivation.words(a)[mn][k]``. No carry leaves the start-address field, whatever the address; of one in another
    block of the cluster only the part within that block counts.

    Args:
        derivation: what the program shall describe; of several operands a list.
        language: ``"cuda"``, ``"header"`` (C, C++ and CUDA C++), ``"ptx"``, ``"cutedsl"`` or ``"python"``.
        name: prefix of every identifier, so that one program can hold several operands; of several a name each.

    Raises:
        ChoiceError: if the language is unknown.
        DescriptorError: if a name is no identifier, or not the only one of its kind.

    Source: PTX ISA 9.1, tcgen05 and wgmma, matrix-descriptor-encode; article "Blackwell MMA SMEM Descriptor", section
    3.5.5; CUTLASS ``DescriptorIterator`` in ``include/cute/atom/mma_traits_sm100.hpp``.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> print(*emit(d, "python", "a").splitlines()[:4], sep="\\n")
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
    """Every derivation by the prefix of its identifiers."""
    if isinstance(derivation, Derivation):
        if not isinstance(name, str):
            raise DescriptorError(f"emit: name must be an identifier, found {brief(name)}")
        return {name: derivation}
    many = derivation if isinstance(derivation, (tuple, list)) else ()
    if not many or not all(isinstance(one, Derivation) for one in many):
        raise DescriptorError(f"emit: the operand must be a derivation or several, found {brief(derivation)}")
    names = [name] if isinstance(name, str) else name if isinstance(name, (tuple, list)) else ()
    if len(names) != len(many) or not all(isinstance(one, str) for one in names) or len(set(names)) != len(names):
        raise DescriptorError(
            f"emit: {len(many)} derivations must have a name each, all different, found {brief(name)}"
        )
    return dict(zip(names, many, strict=True))


def constexpr_header() -> str:
    """The derivation itself as a header for C++17 and CUDA C++: of any tile of atoms, when a program is compiled.

    >>> print(constexpr_header().splitlines()[4].removeprefix("//   "))
    constexpr Derivation a = derive(Arch::sm90, Type::bf16, Major::K, Swizzle::B128, Tile{128, 64, 4}, Mma{64, 16});
    """
    return (Path(__file__).parent / "descriptor.hpp").read_text(encoding="utf-8")
