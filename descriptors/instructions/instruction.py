"""One ``tcgen05.mma`` of sm100 with nothing left open: the word that describes it, and every check of its legality.

``idesc`` fills in what a caller leaves out, and reads words back.

Law: the word tells the instruction again, all but its kind, its K, ``cta_group`` and ``.ws``.

>>> from descriptors.instructions.idesc import decode_idesc
>>> types = {"kind": "f16", "a_dtype": "bf16", "b_dtype": "bf16", "d_dtype": "f32"}
>>> made = [Instruction(**types, m=m, n=n, k=16) for m in (64, 128) for n in range(16, 257, 16)]
>>> read = [decode_idesc(one.encode(), "f16") for one in made]
>>> [(word["m"], word["n"], word["a_dtype"]) for word in read] == [(one.m, one.n, one.a_dtype) for one in made]
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from descriptors.instructions.checks import check_scale, check_shape, check_transposed_b, check_types
from descriptors.instructions.operands import check_major
from descriptors.instructions.rules import IllegalError, Legality, kind_row
from descriptors.operands.operand import Major
from descriptors.words.instruction import word_of

#: Options that not every kind's word has a field for, with the value that needs none.
_OPTIONS = {"saturate": False, "sparsity_selector": 0, "max_shift": 0, "scale_dtype": None, "sfa_id": 0, "sfb_id": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What an instruction descriptor is made from: the parameters of ``idesc``, none of them left open."""

    kind: str
    a_dtype: str
    b_dtype: str
    d_dtype: str
    m: int
    n: int
    k: int
    a_major: Major = Major.K
    b_major: Major = Major.K
    cta_group: int = 1
    sparse: bool = False
    ws: bool = False
    a_source: str = "smem"
    negate_a: bool = False
    negate_b: bool = False
    saturate: bool = False
    sparsity_selector: int = 0
    max_shift: int = 0
    scale_dtype: str | None = None
    scale_vector: int | None = None
    sfa_id: int = 0
    sfb_id: int = 0

    def encode(self) -> int:
        """The word, without a check of legality.

        Raises:
            FieldError: if a value does not fit its field.
            ChoiceError: for a type without a code, or an option for which this kind's word has no field.
        """
        word = word_of(self.kind)
        known = {field.name: field.default for field in word.fields}
        values = {name: getattr(self, name) for name in self.__slots__ if name in known}
        for name, plain in _OPTIONS.items():
            if name not in known and getattr(self, name) != plain:
                values[name] = getattr(self, name)  # an option that this word cannot express: encode refuses it
        if "k_is_96" in known:
            values["k_is_96"] = self.k == 96
        return word.encode(values)


def checks_of(one: Instruction, legality: Legality) -> Iterator[Callable[[], object]]:
    """Every check of an instruction, in the order in which they are told."""
    kind, pair, major = one.kind, one.cta_group, one.b_major
    yield lambda: check_types("sm100", kind, one.a_dtype, one.b_dtype, one.d_dtype, legality=legality)
    yield lambda: check_shape(
        "sm100", kind, m=one.m, n=one.n, k=one.k, cta_group=pair, sparse=one.sparse, ws=one.ws,
        a_source=one.a_source, legality=legality,
    )  # fmt: skip
    yield lambda: check_major("sm100", kind, one.a_dtype, one.a_major, a_source=one.a_source, legality=legality)
    yield lambda: check_major("sm100", kind, one.b_dtype, one.b_major, legality=legality)
    yield lambda: check_transposed_b(
        "sm100", kind, n=one.n, b_dtype=one.b_dtype, b_major=major, cta_group=pair, legality=legality
    )
    yield lambda: _check_options(one)
    if one.scale_dtype is not None:
        dtype, vector, ids = one.scale_dtype, one.scale_vector or 0, (one.sfa_id, one.sfb_id)
        yield lambda: check_scale(kind, dtype, vector, k=one.k, ids=ids, legality=legality)


def _check_options(one: Instruction) -> None:
    row = kind_row("sm100", one.kind)
    about = f"sm100 {one.kind} {'sparse' if one.sparse else 'dense'}{' .ws' if one.ws else ''}"
    selectors = row.selectors if one.sparse and row.selectors else (0,)
    for what, found, legal in (
        ("negate_a", one.negate_a, (False, row.negate)),
        ("negate_b", one.negate_b, (False, row.negate)),
        ("saturate", one.saturate, (False, row.saturate)),
        ("sparsity_selector", one.sparsity_selector, selectors),
        ("max_shift", one.max_shift, (0, 8, 16, 32) if one.ws else (0,)),
    ):
        if found not in legal:
            raise IllegalError(f"{what} must be {' or '.join(map(str, dict.fromkeys(legal)))}", found, about, row)
