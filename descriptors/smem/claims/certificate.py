"""Write a derivation as a Coq file: a theorem about the words of its tile that ``coqc`` accepts only if they are right.

The file contains the layout, the address, and the word of each subtile, as numbers. It states that each word reads each
element of its subtile from where the layout stores it. The proof uses the theorem ``certified`` in ``proofs/``, whose
conditions Coq evaluates. The text does not contain the result of a check in Python.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90")
>>> [line for line in certificate(d).splitlines() if line.startswith("Definition")][0]
'Definition stored_tile := Tile 3 3 3 0 [(8, 64); (16, 512)] [(64, 1); (2, 8192)] [].'
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from descriptors.errors import DescriptorError, as_integer
from descriptors.smem.claims.layout_terms import leaves
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.words.descriptor import word_format
from descriptors.text import counted, extents_text, word_text
from layoutalg import __version__
from layoutalg.files import CERTIFICATE_MARK

#: The largest number of words in a certificate. Coq checks as many in 15 seconds.
MOST_WORDS = 1 << 12

_TEMPLATE = """\
{mark} {version}: {words} of a tile of {extents} {dtype} elements on {arch}.
   The tile is {major}-major, with layout
     {layout}
   in elements, and the descriptors read subtiles of {mma} elements.
   To check this file, run in a checkout of layoutalg, with Coq installed:  scripts/prove {path} *)
From Coq Require Import ZArith List.
From LayoutAlg Require Import ReadModel Layouts Certificate.
Import ListNotations.
Open Scope Z_scope.

(* Swizzle bits, base and shift, the offset, and the modes (extent, stride) of MN, K and the stages. *)
Definition stored_tile := {tile}.

(* The address of the tile in bytes. The swizzle pattern starts there. *)
Definition base := {base:#x}.

(* The descriptors; the stage is fastest, then K, then MN. *)
Definition words := [
{rows}].

(* Descriptor (mn, k, s) reads element (i, j) of its subtile from where the tile stores it. Addresses are in bits. *)
Theorem words_read_the_tile : forall mn k s, 0 <= mn < {mn} -> 0 <= k < {k} -> 0 <= s < {s} ->
  forall i j, 0 <= i < {m} -> 0 <= j < {n} ->
  read {model} (word_at words {k} {s} mn k s) {dtype} {major} i j
  = Some (address {dtype} base (element_offset stored_tile (mn * {m} + i) (k * {n} + j) s)).
Proof. apply certified. vm_compute. reflexivity. Qed.

Print Assumptions words_read_the_tile.
"""


def certificate(d: Derivation, base: int = 0, path: str = "FILE.v") -> str:
    """Return the text of a Coq file about every word of a tile at an address.

    Args:
        d: the derivation.
        base: address of the tile, in bytes.
        path: name of the file, for the command in its first lines.

    Raises:
        DescriptorError: if there are more words than Coq checks in reasonable time, or as ``Derivation.words``.
    """
    base = as_integer(base, "certificate: the base address")
    rows, swizzle, offset = parts(d.smem_tile)
    modes = [list(leaves(shape, stride)) for shape, stride in zip(_tuple(rows.shape), _tuple(rows.stride), strict=True)]
    sizes = [prod(extent for extent, _ in mode) for mode in modes]
    (mn, k), stages = (size // part for size, part in zip(sizes, d.mma, strict=False)), sizes[2:]
    if (number := mn * k * prod(stages)) > MOST_WORDS:
        raise DescriptorError(
            f"certificate: the tile has {number} descriptors, more than the {MOST_WORDS} of a certificate; give a "
            "smaller tile, or fewer stages"
        )
    digits = [modes[0], modes[1], [leaf for mode in modes[2:] for leaf in mode]]
    numbers = (swizzle.bits, swizzle.base, swizzle.shift) if swizzle else (0, 0, 0)
    return _TEMPLATE.format(
        mark=CERTIFICATE_MARK.decode(),
        version=__version__,
        words=counted(number, "descriptor"),
        extents=extents_text(d.tile),
        dtype=d.element.name,
        arch=d.arch,
        model=word_format(d.arch).capitalize(),
        major=d.major,
        layout=d.smem_tile,
        mma=extents_text(d.mma),
        path=path,
        tile=" ".join(["Tile", *map(str, numbers), str(offset), *map(_layout, digits)]),
        base=base,
        rows=";\n".join(_rows(d.words(base), stages)),
        mn=mn,
        k=k,
        s=prod(stages),
        m=d.mma[0],
        n=d.mma[1],
    )


def _tuple(mode: Any) -> tuple[Any, ...]:
    return mode if isinstance(mode, tuple) else (mode,)


def _layout(digits: list[tuple[int, int]]) -> str:
    """Return a layout as a list of modes (extent, stride)."""
    return "[" + "; ".join(f"({extent}, {stride if stride >= 0 else f'({stride})'})" for extent, stride in digits) + "]"


def _rows(words: Any, stages: list[int]) -> Iterator[str]:
    """Yield a line for each subtile, with the words of its stages; of several stage modes, the first is fastest."""
    for row in words:
        for cell in row:
            listed = []
            for reversed_stage in product(*map(range, reversed(stages))):
                word = cell
                for index in reversed(reversed_stage):
                    word = word[index]
                listed.append(word_text(word))
            yield "  " + "; ".join(listed)
