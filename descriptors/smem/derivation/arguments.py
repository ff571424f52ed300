"""Table of the arguments of ``derive``: the meaning of each, the form of its values, and the functions that accept it.

The command-line options, the keys of a file of expected values, and the queries of the explorer follow from this table.
The signatures of the Python functions are written out for type checkers; a test compares them with the table.

Invariant: the arguments of the reader and of the request are all arguments of ``derive``, except ``verify``.

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
from descriptors.targets import tensor_arches
from layoutalg.frozen import frozen

#: The kind of a value: extents (128x64), positions (1,0), the extents or the name of an instruction (m64n128k16), a
#: name from a closed list, the notation of a layout, a number, a number of bytes, or a flag.
Kind: TypeAlias = Literal["extents", "positions", "instruction", "name", "layout", "integer", "bytes", "flag"]

#: What an argument belongs to: the instruction that reads the tile, the tile, the proof, closed forms, or TMA copies.
Taker: TypeAlias = Literal["reader", "request", "proof", "symbolic", "tma"]

#: Heading under which ``--help`` lists an argument.
Group: TypeAlias = Literal["Tile", "Instruction", "Verification"]


@frozen
class Argument:
    """An argument of ``derive`` or of the commands.

    Args:
        name: the name of the argument.
        kind: the kind of its values.
        takers: what the argument belongs to; () if only the commands have it.
        metavar: form of a value, for ``--help``; "" for a flag.
        group: heading in ``--help``.
        help: description for ``--help``.
        short: a shorter description.
        default: the default value.
        required: whether the argument is required.
        choices: the allowed names; () if the value is not a name.
        bounds: the smallest and the largest value; None if only the tile limits them.

    >>> print(*(f"{row.name} {row.default}" for row in ARGUMENTS.values() if row.kind == "bytes"))
    base None capacity None
    """

    name: str
    kind: Kind
    takers: tuple[Taker, ...]
    metavar: str
    group: Group
    help: str
    short: str = ""
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None

    @property
    def is_list(self) -> bool:
        """Whether a value is a list of numbers, written as ``128x64`` or ``1,0``.

        >>> [row.name for row in ARGUMENTS.values() if row.is_list]
        ['tile', 'mma', 'order']
        """
        return self.kind in ("extents", "positions", "instruction")


_ROWS = (
    Argument(
        "dtype", "name", ("reader", "symbolic", "tma"), "DTYPE", "Tile",
        "Element type: f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 e2m1_unpacksmem s8 u8 (e2m1 is packed).",
        "The element type.", required=True, choices=tuple(ELEMENT_TYPES),
    ),
    Argument(
        "major", "name", ("request", "symbolic", "tma"), "K|MN", "Tile",
        "Contiguous dimension in shared memory; inferred from a layout.",
        "K or MN.", choices=tuple(map(str, Major)),
    ),
    Argument(
        "swizzle", "name", ("request", "symbolic", "tma"), "MODE", "Tile",
        "none, 32B, 64B, 128B or 128B_BASE32B. It is applied to a plain layout; a swizzled layout has its own.",
        "none, 32B, 64B, 128B or 128B_BASE32B.", choices=tuple(map(str, SwizzleMode)),
    ),
    Argument(
        "unit", "name", ("request", "tma"), "UNIT", "Tile",
        "Unit of a layout: elements, bytes, or cute (elements, with a swizzle on bytes, as CuTe prints layouts).",
        "What the layout counts: elements, bytes or cute.", default="elements", choices=tuple(UNITS),
    ),
    Argument(
        "tile", "extents", ("request", "symbolic", "tma"), "MNxK[xSTAGES]", "Tile",
        "Tile of canonical atoms, in elements.",
        "MNxK or MNxKxSTAGES, in elements.",
    ),
    Argument(
        "layout", "layout", ("request", "tma"), "LAYOUT", "Tile",
        "Any layout (MN, K, stages...), layoutalg expression or text printed by CuTe, instead of --tile.",
        "Instead of the tile any layout, or what CuTe printed.",
    ),
    Argument(
        "mma", "instruction", ("reader", "symbolic", "tma"), "MNxK|m64n128k16", "Instruction",
        "Part of the operand that one instruction reads from one CTA, in elements (64x16); or, with --operand, the "
        "instruction (m64n128k16). Without it, the layout must be partitioned: ((MN,K), subtiles...).",
        "MNxK that one instruction reads.",
    ),
    Argument(
        "cp", "name", ("reader",), "SHAPE", "Instruction",
        "Shape of tcgen05.cp (128x256b, 4x256b, ...), instead of --mma.",
        choices=tuple(row.shape for row in tables.COPIES),
    ),
    Argument(
        "stages", "integer", ("tma",), "N", "Tile",
        "Number of copies of the tile (pipeline stages).  [default: 1]", bounds=(1, 1 << 16),
    ),
    Argument(
        "order", "positions", ("request", "symbolic", "tma"), "0,1|1,0", "Tile",
        "Stacking order of the atoms: 0,1 along MN first, 1,0 along K first.  "
        "[default: 0,1 if K-major; 1,0 if MN-major]",
        "The order in which atoms are stacked: 1,0.",
    ),
    Argument(
        "atom", "name", ("request",), "NAME", "Tile",
        "Atom, if the swizzle has two: for example MN_SW128_32B_4ROWS.  [default: the canonical one]",
        choices=tuple(atom.name for atom in ATOMS + OTHER_ATOMS),
    ),
    Argument(
        "arch", "name", ("reader", "symbolic", "tma"), "ARCH", "Instruction",
        "sm90 (wgmma); sm100, sm103, sm107 or sm110 (tcgen05).  "
        "[default: from the descriptor or the instruction, else sm100]",
        "sm90, sm100, sm103, sm107 or sm110.", default="sm100", choices=tensor_arches(),
    ),
    Argument(
        "operand", "name", ("reader",), "A|B", "Instruction",
        "Operand: A (MN is M) or B (MN is N).  [default: either]", "A or B.", choices=tuple(MATRICES),
    ),
    Argument(
        "kind", "name", ("reader",), "KIND", "Instruction",
        "Kind of the instruction, as listed by descriptors shapes.  [default: from the type]",
        choices=tuple(dict.fromkeys(row.kind for row in tables.KINDS)),
    ),
    Argument(
        "cta_group", "integer", ("reader",), "1|2", "Instruction",
        "CTAs that execute the instruction together.  [default: either]", bounds=(1, 2),
    ),
    Argument("sparse", "flag", ("reader",), "", "Instruction", "The instruction is sparse.", default=False),
    Argument(
        "legality", "name", ("reader", "symbolic", "tma"), "LEVEL", "Instruction",
        "strict: all sources allow the operand; lenient: at least one source does; off: only check that it divides "
        "the tile.",
        default="strict", choices=tuple(MODES),
    ),
    Argument(
        "base", "bytes", (), "ADDRESS", "Tile",
        "Address of the tile, in bytes.  [default: that of a printed layout, else 0]", "Address of the tile, in bytes.",
    ),
    Argument(
        "capacity", "bytes", ("request", "tma"), "BYTES|none", "Tile",
        "Shared memory that the tile must fit in, in bytes, or none.  [default: that of the architecture]",
    ),
    Argument(
        "verify", "flag", ("proof",), "", "Verification", "Verify that each descriptor reads its subtile.",
        default=True,
    ),
)  # fmt: skip

#: Every argument by its name, in the order in which ``--help`` shows them.
ARGUMENTS = {row.name: row for row in _ROWS}


def names(taker: Taker | None = None) -> tuple[str, ...]:
    """Return the names of the arguments of a taker; without one, of all arguments except those of the proof alone.

    >>> names("reader")
    ('dtype', 'mma', 'cp', 'arch', 'operand', 'kind', 'cta_group', 'sparse', 'legality')
    """
    if taker is None:
        return tuple(name for name, row in ARGUMENTS.items() if row.takers != ("proof",))
    return tuple(name for name, row in ARGUMENTS.items() if taker in row.takers)
