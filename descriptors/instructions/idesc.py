"""Instruction descriptors of ``tcgen05.mma`` (sm100), written and read: types, majors and extents in 32 bits.

The word does not say its kind, nor K (but for one bit: K = 96), ``cta_group`` or ``.ws``; ``wgmma`` has no such word.
Laws, for every 32-bit ``w``, every kind, and whatever ``idesc`` accepts::

    encode(decode(w)) | unknown bits of w == w
    decode_idesc(idesc(...), kind) has no unknown bits and no warnings

>>> asked = [(n, major) for n in range(8, 257, 8) for major in ("K", "MN")]
>>> read = [decode_idesc(idesc("bf16", m=64, n=n, b_major=major), "f16") for n, major in asked]
>>> any(one.unknown_bits or one.warnings for one in read), len({one.word for one in read})
(False, 64)
>>> from descriptors.words.instruction import word_of
>>> all(word_of("f16").encode(dict(one.values)) == one.word for one in read)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict, Unpack

from descriptors.errors import ChoiceError, DescriptorError, as_integer, brief
from descriptors.frozen import frozen
from descriptors.instructions.instruction import Instruction, checks_of
from descriptors.instructions.rules import IllegalError, Legality, as_mode, kind_of, type_name
from descriptors.instructions.tables import DENSE_K
from descriptors.operands.operand import ElementType, Major, MajorName, as_major
from descriptors.words.bitfield import UnknownCode, span
from descriptors.words.instruction import word_of


class Options(TypedDict, total=False):
    """Options of ``idesc``, each 0 or False unless given; ``cta_group`` is 1.

    ``cta_group``: 1 or 2. ``sparse``: A is stored without its zeros. ``ws``: the weight-stationary form.
    ``negate_a``, ``negate_b``: of the elements. ``saturate``: clamp integer results. ``sparsity_selector``: which
    columns of metadata a sparse instruction reads. ``max_shift``: 8, 16 or 32, of B's reuse in the ``.ws`` form.
    ``sfa_id``, ``sfb_id``: which bytes of a tensor-memory word hold the scale factors. ``a_source``: where A lies,
    ``smem`` unless given, or ``tmem``; the word is the same.
    """

    cta_group: int
    sparse: bool
    ws: bool
    negate_a: bool
    negate_b: bool
    saturate: bool
    sparsity_selector: int
    max_shift: int
    sfa_id: int
    sfb_id: int
    a_source: str


@frozen
class DecodedInstruction:
    """An instruction descriptor, read.

    Attributes:
        kind: the kind it was read as.
        word: the word.
        values: (name, value) of every field, lowest bits first; an ``UnknownCode`` where a code names nothing.
        unknown_bits: set bits that belong to no field; PTX has them reserved, to be zero.
        warnings: what is illegal about it, leniently read.
    """

    kind: str
    word: int
    values: tuple[tuple[str, Any], ...]
    unknown_bits: int
    warnings: tuple[str, ...]

    def __getitem__(self, name: str) -> Any:
        for known, value in self.values:
            if known == name:
                return value
        raise ChoiceError("decode_idesc: a field", name, [known for known, _ in self.values])

    def rows(self) -> list[tuple[str, str, str]]:
        """(bits, name, value) of every field, for people.

        >>> decode_idesc(0x08200490, "f16").rows()[3]
        ('[4,6)', 'd_dtype', 'f32')
        """
        word = word_of(self.kind)
        return [(span(word[name]), name, str(value)) for name, value in self.values]


def idesc(
    a_dtype: str | ElementType,
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    *,
    m: int,
    n: int,
    k: int | None = None,
    kind: str | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    a_major: Major | MajorName = Major.K,
    b_major: Major | MajorName = Major.K,
    legality: Legality = "strict",
    **options: Unpack[Options],
) -> int:
    """The instruction descriptor of a ``tcgen05.mma``, checked to be a legal instruction.

    Args:
        a_dtype: element type of A.
        b_dtype: element type of B; that of A if left out.
        d_dtype: type of the accumulator; f32, or s32 for integers, if left out.
        m: M of the whole instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the whole instruction.
        k: K; only K = 96 need be said.
        kind: the kind; found from the types if left out.
        scale_dtype: type of the scale factors (``ue8m0``, ``ue4m3``) of a block-scaled kind.
        scale_vector: elements that share a scale factor (16, 32), counted as they are stored.
        a_major: contiguous dimension of A.
        b_major: contiguous dimension of B.
        legality: ``"strict"``, ``"lenient"`` or ``"off"``, as in ``descriptors.instructions.checks``.
        options: the rest, as in ``Options``.

    Raises:
        IllegalError: if there is no such instruction; it cites the row of ``descriptors.instructions.tables``.
        FieldError: if a value does not fit its field.
        ChoiceError: for an unknown name.

    >>> hex(idesc("bf16", m=128, n=128)), hex(idesc("e2m1", m=256, n=256, cta_group=2, scale_dtype="ue4m3"))
    ('0x8200490', '0x10400480')
    """
    for name in options.keys() - Options.__annotations__.keys():
        raise ChoiceError("idesc: an option", name, Options.__annotations__)
    b = a_dtype if b_dtype is None else b_dtype
    kind = as_kind(a_dtype, b, kind=kind, scale_dtype=scale_dtype, scale_vector=scale_vector)
    scale_dtype, scale_vector = _scale(kind, scale_dtype, scale_vector)
    instruction = Instruction(
        kind=kind,
        a_dtype=type_name(a_dtype),
        b_dtype=type_name(b),
        d_dtype=type_name(("s32" if kind == "i8" else "f32") if d_dtype is None else d_dtype),
        m=m,
        n=n,
        k=DENSE_K["sm100", kind] * (1 + bool(options.get("sparse"))) if k is None else k,
        a_major=as_major(a_major),
        b_major=as_major(b_major),
        scale_dtype=scale_dtype,
        scale_vector=scale_vector,
        **options,
    )
    if as_mode(legality) != "off":
        for check in checks_of(instruction, legality):
            check()
    return instruction.encode()


def _scale(kind: str, dtype: str | None, vector: int | None) -> tuple[str | None, int | None]:
    """The scale factors of a kind, as given or as the kind has them by default."""
    if not kind.startswith("mx"):
        return dtype, vector
    narrow = kind == "mxf4nvf4"
    usual = "ue4m3" if narrow else "ue8m0"
    return usual if dtype is None else dtype, vector or (16 if narrow else 32)


def as_kind(
    a_dtype: str | ElementType,
    b_dtype: str | ElementType | None = None,
    *,
    kind: str | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
) -> str:
    """The kind of sm100 that was named, or the one that these types and scale factors mean.

    Raises:
        IllegalError: if no kind takes both types.
        ChoiceError: if there is no such kind.
        DescriptorError: if the scale factors are malformed.

    >>> as_kind("e2m1", scale_vector=16), as_kind("e2m1"), as_kind("e4m3", "e2m1", scale_dtype="ue8m0")
    ('mxf4nvf4', 'mxf4', 'mxf8f6f4')
    """
    if not isinstance(scale_dtype, str | None):
        raise DescriptorError(f"idesc: scale_dtype must be a name, found {brief(scale_dtype)}")
    if scale_vector is not None:
        scale_vector = as_integer(scale_vector, "idesc: scale_vector")
    if kind is None:
        kind = kind_of("sm100", a_dtype, b_dtype, scaled=scale_dtype is not None)
        kind = "mxf4nvf4" if kind == "mxf4" and (scale_dtype == "ue4m3" or scale_vector == 16) else kind
    word_of(kind)
    return kind


def decode_idesc(word: int, kind: str) -> DecodedInstruction:
    """Read an instruction descriptor. The word does not say its kind: the instruction's qualifier does.

    Args:
        word: the 32 bits.
        kind: the kind of the instruction that it goes to.

    Raises:
        FieldError: if ``word`` is no 32-bit integer.
        ChoiceError: if there is no such kind.

    >>> read = decode_idesc(0x08410490, "f16")
    >>> read["n"], str(read["b_major"]), read.warnings
    (256, 'MN', ())
    """
    layout = word_of(kind)
    values = layout.decode(word)
    unknown = layout.unknown_bits(word)
    warnings = [f"{name} has {value}" for name, value in values.items() if isinstance(value, UnknownCode)]
    if unknown:
        warnings.append(f"reserved bits are set: {unknown:#010x}")
    if not any(isinstance(value, UnknownCode) for value in values.values()):
        warnings.extend(_complaints(kind, values))
    return DecodedInstruction(kind, int(word), tuple(values.items()), unknown, tuple(warnings))


def _complaints(kind: str, values: dict[str, Any]) -> Iterator[str]:
    """What no reading of the word makes legal; what the word does not hold is taken as it fits."""
    known = {name: value for name, value in values.items() if name != "k_is_96"}
    k = 96 if values.get("k_is_96") else DENSE_K["sm100", kind] * (1 + values["sparse"])
    d_dtype = known.pop("d_dtype", "f32")
    readings = [
        Instruction(kind=kind, k=k, d_dtype=d_dtype, cta_group=cta_group, ws=ws, scale_vector=vector, **known)
        for cta_group, ws in ((1, False), (2, False), (1, True))
        for vector in ((32, 16) if kind.startswith("mx") else (None,))
    ]
    told = [list(_illegal(reading)) for reading in readings]
    yield from min(told, key=len)


def _illegal(instruction: Instruction) -> Iterator[str]:
    for check in checks_of(instruction, "lenient"):
        try:
            check()
        except IllegalError as error:
            yield str(error).removeprefix("legality: ")
