"""Tables of the forms of ``tcgen05`` and ``wgmma`` instructions other than multiplications.

Each row has the notation of ``instruction_syntax``. The classes of registers are in ``register_classes``, and
``instruction_forms`` checks the number of columns of an allocation.
Source: ptxas 13.5.37 (``.version 9.5``), PTX ISA 9.1 and 9.4; the tables of copies and of moves.

Invariant: each shape of tensor memory has a load and a store.

>>> loaded, stored = ({words.split()[2] for name, words, _, _ in tensor_forms() if name == opcode}
...     for opcode in ("tcgen05.ld", "tcgen05.st"))
>>> loaded == stored == set(MOST)
True
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.smem.instructions.tables import COPIES
from descriptors.tmem.moves import MOST

_GROUP, _ALIGNED = "cta_group::1|cta_group::2", "sync aligned"
_MASKED = "multicast::cluster|multicast::cluster::16b|multicast::cluster::32b"
#: Shapes whose address is followed by an immediate offset.
_OFFSET = {"16x32bx2": ", #"}
_REDUCED = ("min|max f32 [abs] [NaN]", "min|max u32|s32")
_COMPRESSED = "spcompress min|max sp::2:4 f32 b2 [abs]"


def tensor_forms() -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows: name, qualifiers, operands, feature.

    >>> [words for name, words, _, _ in tensor_forms() if name == "tcgen05.shift"]
    ['cta_group::1|cta_group::2 down']
    """
    yield "wgmma.fence", _ALIGNED, "", ""
    yield "wgmma.commit_group", _ALIGNED, "", ""
    yield "wgmma.wait_group", _ALIGNED, "#:0:", ""
    for exclusive, feature in (("", ""), (" exclusive", "exclusive allocation")):
        yield "tcgen05.alloc", f"{_GROUP} {_ALIGNED} [shared::cta] b32${exclusive}", "[*], any", feature
        yield "tcgen05.dealloc", f"{_GROUP} {_ALIGNED} b32${exclusive}", "value, any", feature
    yield "tcgen05.relinquish_alloc_permit", f"{_GROUP} {_ALIGNED}", "", ""
    for name in ("fence::before_thread_sync", "fence::after_thread_sync"):
        yield f"tcgen05.{name}", "", "", ""
    for name in ("wait::ld", "wait::st"):
        yield f"tcgen05.{name}", _ALIGNED, "", ""
    yield "tcgen05.shift", f"{_GROUP} down", "any", "tcgen05.shift"
    committed = f"{_GROUP} mbarrier::arrive::one [shared::cluster] [sync_restrict::shared::read::mma::a] b64$"
    yield "tcgen05.commit", committed, "[*]", ""
    yield "tcgen05.commit", f"{committed} {_MASKED}", "[*], any", ""
    for copy in COPIES:
        destinations = "|".join(copy.multicast)
        yield "tcgen05.cp", f"{_GROUP} {copy.shape} {destinations} [b8x16+b6x16_p32|b8x16+b4x16_p64]", "[*], any", ""
    for shape, most in MOST.items():
        yield from _move_forms(shape, [f"x{1 << k}" for k in range(most.bit_length())])


def _move_forms(shape: str, counts: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the forms of the loads and stores of a shape."""
    words, offset = f"{_ALIGNED} {shape} ", _OFFSET.get(shape, "")
    all_counts, from_two, from_four = ("|".join(counts[first:]) for first in range(3))
    yield "tcgen05.ld", f"{words}{all_counts} [pack::16b] b32", f"vR, [*]{offset}", ""
    yield "tcgen05.st", f"{words}{all_counts} [unpack::16b] b32$", f"[*]{offset}, vR", ""
    for operation in _REDUCED if shape in ("32x32b", "16x32bx2") else ():
        yield "tcgen05.ld.red", f"{words}{from_two} {operation}", f"vR, any, [*]{offset}", "tcgen05.ld.red"
    if shape == "32x32b":
        tail = f"{words}{from_four} {_COMPRESSED}"
        yield "tcgen05.ld", tail, "vM, vH, [*]", "tcgen05.ld.spcompress"
        yield "tcgen05.ld.red", f"{tail} [NaN]", "vM, vH, any, [*]", "tcgen05.ld.spcompress"
