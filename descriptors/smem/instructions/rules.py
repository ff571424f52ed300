"""How the rows of ``tables`` are read: strictly, leniently, or not at all; those of a kind; and which row is cited.

Invariant: the kind that is found for a type takes that type, and what is read strictly is read leniently, in the same
order.

>>> known = [(row.arch, name) for row in tables.KINDS for name in row.dtypes]
>>> all(type_name(name) in map(type_name, kind_row(arch, kind_of(arch, name)).dtypes) for arch, name in known)
True
>>> [row for row in rows_read(tables.SHAPES, "lenient") if not row.disputed] == rows_read(tables.SHAPES, "strict")
True

Invariant: a row is in the selection if and only if it is in its table with that ``arch`` and, where one is asked for,
that ``kind``, and the target of the architecture has it; the order is the table's.
Source: the rows, each with its own.

>>> chosen = [row for arch in ("sm90", "sm100") for row in select_rows(arch).kinds]
>>> chosen == list(tables.KINDS)
True
>>> sum(len(select_rows(row.arch, row.kind).shapes) for row in chosen) == sum(row.k != 96 for row in tables.SHAPES)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

from descriptors.errors import Advice, ChoiceError, DescriptorError, brief, proposing
from descriptors.smem.instructions import tables
from descriptors.smem.instructions.facts import (
    CopyRow,
    KindRow,
    OperandRow,
    Row,
    ScaleRow,
    ShapeRow,
    TransposedRow,
    TypeRow,
)
from descriptors.smem.operands.operand import ELEMENT_TYPES, ElementType, meanings
from descriptors.targets import (
    ARCHITECTURES,
    FEATURES,
    Architecture,
    architecture,
    generation,
    has,
    holders,
    lineage,
    tensor_architecture,
)
from layoutalg.frozen import frozen, replace

Legality: TypeAlias = Literal["strict", "lenient", "off"]
MODES: Mapping[str, Legality] = {"strict": "strict", "lenient": "lenient", "off": "off"}

_R = TypeVar("_R", bound=Row)


class IllegalError(DescriptorError):
    """An instruction or operand that the architecture does not have.

    Attributes:
        rule: what must hold.
        found: what was asked for.
        row: the nearest row of the tables in ``descriptors.smem.instructions.tables``.
        lenient: whether ``legality="lenient"`` would take it, with the sources on either side in ``row.disputed``.

    >>> from descriptors.smem.instructions.legality import check_shape
    >>> try:
    ...     check_shape("sm100", "f16", m=128, n=24, a_source="tmem")
    ... except IllegalError as error:
    ...     print(error)  # doctest: +ELLIPSIS
    legality: N must be 16..256 step 16, not 24; sm100 f16 dense, A in tmem, cta_group 1, M 128, K 16 (sources ...
    """

    def __init__(self, rule: str, found: object, about: str, row: Row, wider: Row | None = None) -> None:
        self.rule, self.found, self.row, self.lenient = rule, found, wider or row, wider is not None
        note = f"sources disagree: {wider.disputed}" if wider else row.source
        proposals = [Advice({"legality": "lenient"})] if wider else []
        super().__init__(f"legality: {rule}, not {found}; {about} ({note})", proposals=proposals)


def as_arch(name: object) -> str:
    """The architecture of a name of which there are rows: ``sm107`` for ``SM107`` or ``sm_107a``.

    Raises:
        ChoiceError: for an unknown one.
        DescriptorError: for one that has no rows here.

    >>> as_arch("sm_107a"), as_arch("SM100")
    ('sm107', 'sm100')
    """
    return tensor_architecture(name, "legality")


@lru_cache(maxsize=1)
def _all_rows() -> Mapping[str, tuple[Any, ...]]:
    """The rows of every architecture, table by table."""
    names = ("KINDS", "TYPES", "SHAPES", "TRANSPOSED_B", "OPERANDS", "TMEM_OPERANDS", "SCALES", "COPIES")
    return {name: tuple(_with_later(getattr(tables, name))) for name in names}


def _with_later(rows: Sequence[Any]) -> Iterator[Any]:
    yield from rows
    for one in ARCHITECTURES:
        if one.tables in ("", one.name):
            continue
        for row in rows:
            if row.arch == one.tables and _kept(row, one.target):
                yield _row_of(row, one)
        for row in tables.LATER:
            if row.arch in lineage(one.name) and type(row) is type(rows[0]):
                yield _row_of(row, one)


def _row_of(row: Any, one: Architecture) -> Any:
    """A row, said of an architecture that has it too."""
    whose = {"targets": _targets(row, one.target)} if isinstance(row, KindRow) else {}
    return replace(row, arch=one.name, **whose)


def _targets(row: KindRow, target: str) -> str:
    """The targets of an architecture that have a kind."""
    return ", ".join(name for name in (target, target[:-1] + "f") if _kept(row, name))


def _kept(row: Any, target: str) -> bool:
    """Whether an architecture has what a row of the one before it says."""
    kind = f"kind::{getattr(row, 'kind', '')}"
    return (kind not in FEATURES or has(kind, target)) and _has_k(row, target)


def _has_k(row: Any, target: str) -> bool:
    """Whether an architecture has the K of a row: K 96 is not that of every target of its generation."""
    return getattr(row, "k", 0) not in (96, (96,)) or has("K = 96", target)


def rows_of(table: str, arch: str, kind: str | None = None) -> list[Any]:
    """The rows of a table that speak of an architecture, and of one of its kinds.

    Args:
        table: its name in ``tables``.
        arch: the architecture, as ``as_arch`` returns it.
        kind: the kind; None for all.

    >>> [row.kind for row in rows_of("KINDS", "sm107")]
    ['f16', 'tf32', 'f8f6f4', 'mxf8f6f4', 'mxf4', 'mxf4nvf4', 'ti16']
    >>> [sorted({row.k for row in rows_of("SHAPES", arch, "mxf4") if not row.sparse}) for arch in ("sm107", "sm110")]
    [[64, 96, 128], [64]]
    """
    return [row for row in _all_rows()[table] if row.arch == arch and kind in (None, getattr(row, "kind", kind))]


def rows_of_target(table: str, arch: str, kind: str | None = None) -> list[Any]:
    """Return the rows of a table that the target of an architecture has.

    The rows of sm100 are those of its generation, with K 96 of later targets: an instruction names no target.

    Args:
        table, arch, kind: as in ``rows_of``.

    >>> [sorted({row.k for row in rows("SHAPES", "sm100", "mxf4")}) for rows in (rows_of, rows_of_target)]
    [[64, 96, 128], [64, 128]]
    """
    target = architecture(arch).target
    return [row for row in rows_of(table, arch, kind) if _has_k(row, target)]


def dense_k(arch: str, kind: str) -> int:
    """K of a dense instruction that says nothing else.

    >>> dense_k("sm107", "ti16"), dense_k("sm107", "f8f6f4"), dense_k("sm90", "f8")
    (16, 32, 32)
    """
    base = generation(arch)
    if (base, kind) in tables.DENSE_K:
        return tables.DENSE_K[base, kind]
    return int(min(row.k for row in rows_of("SHAPES", arch, kind)))


def check_target_k(arch: str, kind: str, k: object) -> None:
    """Refuse K = 96 for an architecture whose target has no such instruction.

    The tables of sm100 have rows with K = 96, which later targets of the generation have and ``sm_100a`` does not.

    Raises:
        IllegalError: naming the targets that have it.

    >>> check_target_k("sm103", "mxf4", 96)
    """
    if type(k) is int and k == 96 and kind in ("mxf4", "mxf4nvf4") and not has("K = 96", architecture(arch).target):
        rule = f"K 96 is of {holders('K = 96')}"
        with proposing([Advice({"arch": "sm103"})]):
            raise IllegalError(rule, f"arch {arch}", f"kind {kind}", kind_row(arch, kind))


def as_mode(legality: object) -> Legality:
    """The way to read the rows that has this name.

    Raises:
        ChoiceError: if there is none.
    """
    for mode in MODES.values():
        if isinstance(legality, str) and mode == legality:
            return mode
    raise ChoiceError("legality", legality, MODES)


def rows_read(rows: Iterable[_R], legality: Legality) -> list[_R]:
    """The rows that count under a way of reading them: without ``lenient``, only those that no source disputes.

    >>> len(rows_read(tables.SHAPES, "strict")) < len(rows_read(tables.SHAPES, "lenient"))
    True
    """
    return [row for row in rows if legality != "strict" or not row.disputed]


def decide(
    rows: Sequence[_R], allows: Callable[[_R], bool], rule: str, found: object, about: str, legality: Legality
) -> _R | None:
    """The first row read that allows the request.

    Args:
        rows: the rows of this subject, at least one.
        allows: whether a row allows what was asked.
        rule: what must hold, for the error message.
        found: what was asked for.
        about: the subject, for the error message.
        legality: how to read the rows; ``"off"`` returns None.

    Raises:
        IllegalError: if none allows it; the nearest row is cited, and whether a wider reading would do.
    """
    if legality == "off":
        return None
    readable = rows_read(rows, legality)
    for row in readable:
        if allows(row):
            return row
    wider = next((row for row in rows if allows(row)), None)
    raise IllegalError(rule, found, about, (readable or rows)[0], wider)


def type_name(dtype: str | ElementType) -> str:
    """The name by which an instruction knows an element type, wherever its bits lie in memory.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> type_name(as_element_type("e2m1_unpacksmem")), type_name("BF16")
    ('e2m1', 'bf16')
    """
    name = dtype.name if isinstance(dtype, ElementType) else dtype
    if not isinstance(name, str):
        raise DescriptorError(f"legality: a type must be a name, found {brief(name)}")
    return _own_name(name).removesuffix("_unpacksmem")


def _own_name(name: str) -> str:
    """The name that the tables have for a type, in small letters; a name they do not have stays for them to refuse."""
    if len(types := meanings(name, ELEMENT_TYPES)) > 1:
        raise ChoiceError("legality: a type", name, types)
    return types[0] if types else name.casefold()


def kind_row(arch: str, kind: str) -> KindRow:
    """The row of a kind.

    Raises:
        ChoiceError: for an architecture or a kind that is not in the tables.

    >>> kind_row("sm100", "i8").negate
    False
    """
    arch = as_arch(arch)
    row_of: dict[str, KindRow] = {row.kind: row for row in rows_of("KINDS", arch)}
    if not isinstance(kind, str) or kind not in row_of:
        raise ChoiceError(f"legality: kind of {arch}", kind, row_of)
    return row_of[kind]


def kind_of(arch: str, a: str | ElementType, b: str | ElementType | None = None, *, scaled: bool = False) -> str:
    """The kind of instruction that multiplies operands of these types.

    Args:
        arch: ``sm90``, ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
        a: element type of A.
        b: element type of B; that of A if left out.
        scaled: whether the operands carry scale factors. The packed type ``e2m1`` always does: alone it is ``mxf4``.

    Raises:
        IllegalError: if no kind takes both types.
        ChoiceError: for an unknown architecture.

    >>> kind_of("sm100", "bf16"), kind_of("sm100", "e4m3", "e2m1"), kind_of("sm100", "e2m1"), kind_of("sm90", "e5m2")
    ('f16', 'f8f6f4', 'mxf4', 'f8')
    """
    arch = kind_row(arch, "f16").arch
    base = generation(arch)
    names = [
        dtype.name if isinstance(dtype, ElementType) else _own_name(dtype if isinstance(dtype, str) else brief(dtype))
        for dtype in (a, a if b is None else b)
    ]
    if base == "sm100" and names == ["e2m1", "e2m1"]:
        return "mxf4"
    operand_types = {type_name(name) for name in names}
    rows: list[KindRow] = rows_of("KINDS", arch)
    rows = [row for row in rows if row.kind.startswith("mx") == (scaled and base == "sm100")]
    for row in rows:
        if operand_types <= {type_name(dtype) for dtype in row.dtypes}:
            return row.kind
    types_of_kinds = "; ".join(f"{row.kind}: {', '.join(row.dtypes)}" for row in rows)
    found = " and ".join(dict.fromkeys(names))
    raise IllegalError(f"types must be of one kind ({types_of_kinds})", found, arch, rows[0])


@frozen
class Selection:
    """Rows of every table; the names are those of the tables.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        kind: the kind of instruction; None for all of them.
    """

    arch: str
    kind: str | None
    kinds: tuple[KindRow, ...]
    types: tuple[TypeRow, ...]
    shapes: tuple[ShapeRow, ...]
    transposed_b: tuple[TransposedRow, ...]
    operands: tuple[OperandRow, ...]
    scales: tuple[ScaleRow, ...]
    copies: tuple[CopyRow, ...]


def select_rows(arch: str, kind: str | None = None) -> Selection:
    """What the tables say of an architecture, or of one of its kinds.

    Raises:
        ChoiceError: for an architecture or a kind that is not in the tables.

    >>> [row.k for row in select_rows("sm90", "b1").shapes]
    [256]
    """
    arch = kind_row(arch, "f16" if kind is None else kind).arch

    return Selection(
        arch=arch,
        kind=kind,
        kinds=tuple(rows_of_target("KINDS", arch, kind)),
        types=tuple(rows_of_target("TYPES", arch, kind)),
        shapes=tuple(rows_of_target("SHAPES", arch, kind)),
        transposed_b=tuple(rows_of_target("TRANSPOSED_B", arch, kind)),
        operands=tuple(rows_of_target("OPERANDS", arch, kind)),
        scales=tuple(rows_of_target("SCALES", arch, kind)),
        copies=tuple(rows_of_target("COPIES", arch)) if kind is None else (),  # a copy is of no kind
    )
