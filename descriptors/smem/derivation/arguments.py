"""The arguments of ``derive`` as one table: what each is, what a value looks like, and who takes it.

The options of the commands, the keys of a file that a project relies on, and the questions of the explorer are read off
it. The signatures of the Python functions stay written out, for type checkers, and a test holds them to the table.

Law: what an instruction and what a tile takes is together all that ``derive`` takes, but for the proof.

>>> from inspect import signature
>>> from descriptors import derive
>>> {*names("reader"), *names("request"), "verify"} == set(signature(derive).parameters)
True
>>> [name for name in names() if name not in signature(derive).parameters]
['stages', 'base']
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from descriptors.smem.instructions import tables
from descriptors.smem.instructions.rules import MODES
from descriptors.smem.operands.atoms import ATOMS, OTHER_ATOMS
from descriptors.smem.operands.explicit import UNITS
from descriptors.smem.operands.operand import ELEMENT_TYPES, MATRICES, Major, SwizzleMode
from descriptors.smem.words.descriptor import SMEM_BYTES
from descriptors.targets import tensor_arches
from layoutalg.frozen import frozen

#: What a value is: extents (128x64), positions (1,0), the extents or the name of an instruction (m64n128k16), one name
#: of a closed list, the notation of a layout, a number, a number of bytes, a flag.
Kind: TypeAlias = Literal["extents", "positions", "instruction", "name", "layout", "integer", "bytes", "flag"]

#: Who takes an argument: the instruction that reads the tile, the tile, the proof, closed forms in symbols, TMA copies.
Taker: TypeAlias = Literal["reader", "request", "proof", "symbolic", "tma"]


@frozen
class Argument:
    """One argument of ``derive``.

    Args:
        name: the argument's own.
        kind: what a value is.
        takers: who takes it; () for what only the commands have.
        help: what it is, as ``--help`` says it.
        short: the same in a few words.
        default: the value of one that is left out.
        required: whether none may be left out.
        choices: the names that a value may be; () where it is no name.
        bounds: the least and the greatest value; None where only the tile sets them.

    >>> print(*(f"{one.name} {one.default}" for one in ARGUMENTS.values() if one.kind == "bytes"))
    base None capacity 232448
    """

    name: str
    kind: Kind
    takers: tuple[Taker, ...]
    help: str
    short: str = ""
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None

    @property
    def is_list(self) -> bool:
        """Whether a value is numbers in their order, which people write as ``128x64`` or ``1,0``.

        >>> [row.name for row in ARGUMENTS.values() if row.is_list]
        ['tile', 'mma', 'order']
        """
        return self.kind in ("extents", "positions", "instruction")


_ROWS = (
    Argument(
        "dtype", "name", ("reader", "symbolic", "tma"),
        "f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8 (e2m1 is packed, e2m1_unpacksmem is not).",
        "The element type.", required=True, choices=tuple(ELEMENT_TYPES),
    ),
    Argument(
        "major", "name", ("request", "symbolic", "tma"),
        "K or MN: the dimension that is contiguous in shared memory. A layout tells it by itself.",
        "K or MN.", choices=tuple(map(str, Major)),
    ),
    Argument(
        "swizzle", "name", ("request", "symbolic", "tma"),
        "none, 32B, 64B, 128B or 128B_BASE32B. It is applied to a plain layout; a swizzled layout has its own.",
        "none, 32B, 64B, 128B or 128B_BASE32B.", choices=tuple(map(str, SwizzleMode)),
    ),
    Argument(
        "unit", "name", ("request", "tma"),
        "What a layout counts: elements, bytes, or cute (elements, but the swizzle on bytes, as CuTe prints).",
        "What the layout counts: elements, bytes or cute.", default="elements", choices=tuple(UNITS),
    ),
    Argument(
        "tile", "extents", ("request", "symbolic", "tma"),
        "MNxK or MNxKxSTAGES, in elements: a tile of canonical atoms.",
        "MNxK or MNxKxSTAGES, in elements.",
    ),
    Argument(
        "layout", "layout", ("request", "tma"),
        "Instead of --tile any layout (MN, K, stages...), an expression of layoutalg eval, or what CuTe printed.",
        "Instead of the tile any layout, or what CuTe printed.",
    ),
    Argument(
        "mma", "instruction", ("reader", "symbolic", "tma"),
        "MNxK that one instruction reads of the shared memory of one CTA, in elements; or with --operand its name, "
        "m64n128k16. Without it the layout is partitioned: ((MN,K), subtiles...).",
        "MNxK that one instruction reads.",
    ),
    Argument(
        "cp", "name", ("reader",),
        "Instead of --mma a shape of tcgen05.cp: 128x256b, 4x256b, ...",
        choices=tuple(row.shape for row in tables.COPIES),
    ),
    Argument(
        "stages", "integer", ("tma",),
        "Copies of the tile, as a third extent.  [default: one]", bounds=(1, 1 << 16),
    ),
    Argument(
        "order", "positions", ("request", "symbolic", "tma"),
        "Stacking order of the atoms: 0,1 along MN first; 1,0 along K first.  [default: the contiguous one last]",
        "The order in which atoms are stacked: 1,0.",
    ),
    Argument(
        "atom", "name", ("request",),
        "Name of the atom, where there are two: MN_SW128_32B_4ROWS.  [default: the canonical one]",
        choices=tuple(one.name for one in ATOMS + OTHER_ATOMS),
    ),
    Argument(
        "arch", "name", ("reader", "symbolic", "tma"),
        "sm90 (wgmma), sm100 (tcgen05), or what follows it: sm103 sm107 sm110.  "
        "[default: as the word or the instruction says, else sm100]",
        "sm90, sm100, or what follows it: sm103 sm107 sm110.", default="sm100", choices=tensor_arches(),
    ),
    Argument(
        "operand", "name", ("reader",),
        "A (MN is M) or B (MN is N).  [default: either]", "A or B.", choices=tuple(MATRICES),
    ),
    Argument(
        "kind", "name", ("reader",),
        "Kind of the instruction, as in descriptors shapes.  [default: by the type]",
        choices=tuple(dict.fromkeys(row.kind for row in tables.KINDS)),
    ),
    Argument(
        "cta_group", "integer", ("reader",),
        "CTAs that share the instruction.  [default: either]", bounds=(1, 2),
    ),
    Argument("sparse", "flag", ("reader",), "The instruction is a sparse one.", default=False),
    Argument(
        "legality", "name", ("reader", "symbolic", "tma"),
        "strict: what all sources allow; lenient: what any does; off: any operand that divides the tile.",
        default="strict", choices=tuple(MODES),
    ),
    Argument(
        "base", "bytes", (),
        "Address of the tile, in bytes.  [default: as printed, or 0]", "Address of the tile, in bytes.",
    ),
    Argument(
        "capacity", "bytes", ("request", "tma"),
        "Bytes of shared memory that the tile must fit, or none.", default=SMEM_BYTES,
    ),
    Argument("verify", "flag", ("proof",), "Prove that every word reads its subtile.", default=True),
)  # fmt: skip

#: Every argument by its name, in the order in which ``--help`` shows them.
ARGUMENTS = {row.name: row for row in _ROWS}


def names(taker: Taker | None = None) -> tuple[str, ...]:
    """The names of the arguments that somebody takes; of those that say which words are meant, with no taker.

    >>> names("reader")
    ('dtype', 'mma', 'cp', 'arch', 'operand', 'kind', 'cta_group', 'sparse', 'legality')
    """
    if taker is None:
        return tuple(name for name, row in ARGUMENTS.items() if row.takers != ("proof",))
    return tuple(name for name, row in ARGUMENTS.items() if taker in row.takers)
