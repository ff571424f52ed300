"""A derivation as source code: the constants and the few lines that build a descriptor and move it to a subtile.

Each language has a module with one function, ``write``, from a `Recipe` to text. The text stands alone, names the
derivation that it came from, and holds two functions (in PTX two blocks): ``first`` from the tile's shared-memory
address, ``subtile`` from the first descriptor and a coordinate.

Law: whatever the language, the text has the word of the derivation but for its address, and each of its steps.

>>> import re
>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> steps = {f"{term.factor}" for term in recipe(d, "a").terms}
>>> texts = [emit(d, language, "a") for language in LANGUAGES]
>>> all("0x4000404000010000" in text and steps <= set(re.findall(r"\\d+", text)) for text in texts)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from descriptors.derivation.derivation import Derivation
from descriptors.emitters import cuda, cutedsl, ptx, python
from descriptors.emitters.recipe import Recipe, recipe
from descriptors.operands.operand import choose

__all__ = ["LANGUAGES", "emit"]

#: What writes each language.
LANGUAGES: Mapping[str, Callable[[Recipe], str]] = {
    "cuda": cuda.write,
    "ptx": ptx.write,
    "cutedsl": cutedsl.write,
    "python": python.write,
}


def emit(derivation: Derivation, language: str, name: str = "operand") -> str:
    """Source code that builds the descriptors of a derivation.

    Law: for a tile at address ``a`` (a multiple of the alignment that the text names), ``subtile(first(a), mn, k)`` is
    ``derivation.words(a)[mn][k]``. No carry leaves the start-address field, whatever the address; of one in another
    block of the cluster only the part within that block counts.

    Args:
        derivation: what the program shall describe.
        language: ``"cuda"``, ``"ptx"``, ``"cutedsl"`` or ``"python"``.
        name: prefix of every identifier, so that one program can hold several operands.

    Raises:
        ChoiceError: if the language is unknown.
        DescriptorError: if the name is no identifier.

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
    return choose("emit: language", language, LANGUAGES)(recipe(derivation, name))
