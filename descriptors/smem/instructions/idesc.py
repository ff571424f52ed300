"""Instruction descriptors of ``tcgen05.mma``, written and read: types, majors and extents in 32 bits.

The word does not say its kind, nor K (but for one bit: K = 96), ``cta_group`` or ``.ws``; ``wgmma`` has no such word.
There are three layouts of it, one for the plain kinds, one for mxf8f6f4, one for mxf4 and mxf4nvf4; each kind reads the
type codes in its own way (code 1 is bf16, e5m2, s8, or e2m1). sm107 has bits that sm100 reserves: K 64, 96 and 128,
scale factors of ue5m3, in how many lanes those of A are, the version of sparsity, and the kind ti16. ``Instruction`` is
one with nothing left open, which is checked; ``idesc`` fills in what a caller leaves out, and ``decode_idesc`` reads
words back.
Source: PTX ISA 9.1, tcgen05, Instruction descriptor (Tables 42-44), and 9.4 for sm107 (Tables 51-53); CuTe DSL 4.8.1
``experimental/primitives/descriptors.py`` (Tcgen05InstrDesc, Tcgen05MxInstrDesc, Tcgen05MxOmmaInstrDesc), which give
some bits that PTX reserves on sm100 to later architectures.

Laws, for every 32-bit ``w``, every kind, and whatever ``idesc`` accepts::

    encode(decode(w)) | unknown bits of w == w
    decode_idesc(idesc(...), kind) has no unknown bits and no warnings

>>> asked = [(n, major) for n in range(8, 257, 8) for major in ("K", "MN")]
>>> read = [decode_idesc(idesc("bf16", m=64, n=n, b_major=major), "f16") for n, major in asked]
>>> any(one.unknown_bits or one.warnings for one in read), len({one.word for one in read})
(False, 64)
>>> all(word_of("f16").encode(dict(one.values)) == one.word for one in read)
True

Invariant: fields do not overlap, bits of no field are reserved, and the types that a kind has codes for are those that
the table of instructions lets it multiply.

>>> from descriptors.smem.instructions.tables import TYPES
>>> allowed = {kind: {name for row in TYPES if row.kind == kind for name in row.a} for kind in INSTRUCTION_DESCRIPTORS}
>>> all({name for name, _ in word_of(kind)["a_dtype"].codes} == names for kind, names in allowed.items())
True

Invariant: the word tells the instruction again, all but its kind, its K, ``cta_group`` and ``.ws``.

>>> types = {"kind": "f16", "a_dtype": "bf16", "b_dtype": "bf16", "d_dtype": "f32"}
>>> made = [Instruction(**types, m=m, n=n, k=16) for m in (64, 128) for n in range(16, 257, 16)]
>>> read = [decode_idesc(one.encode(), "f16") for one in made]
>>> [(word["m"], word["n"], word["a_dtype"]) for word in read] == [(one.m, one.n, one.a_dtype) for one in made]
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict, Unpack

from descriptors.errors import ChoiceError, DescriptorError, advised, as_integer, brief
from descriptors.smem.instructions.legality import (
    check_major,
    check_scale,
    check_transposed_b,
    check_types,
    shape_refusals,
    usual_vector,
)
from descriptors.smem.instructions.rules import (
    IllegalError,
    Legality,
    as_arch,
    as_mode,
    check_target_k,
    dense_k,
    kind_of,
    kind_row,
    rows_of,
    type_name,
)
from descriptors.smem.operands.operand import ElementType, Major, MajorName, as_major
from descriptors.smem.words.bitfield import Field, UnknownCode, Word, span
from descriptors.targets import architecture, has_tcgen05, holders
from layoutalg.frozen import contents, frozen

_FLAG = ((False, 0), (True, 1))
_MAJORS = ((Major.K, 0), (Major.MN, 1))
_F8F6F4 = (("e4m3", 0), ("e5m2", 1), ("e2m3", 3), ("e3m2", 4), ("e2m1", 5))
_TYPES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "f16": (("f16", 0), ("bf16", 1)),
    "tf32": (("tf32", 2),),
    "f8f6f4": _F8F6F4,
    "i8": (("u8", 0), ("s8", 1)),
    "mxf8f6f4": _F8F6F4,
    "mxf4": (("e2m1", 1),),
    "mxf4nvf4": (("e2m1", 1),),
}
_RUBIN_TYPES = {**{kind: types for kind, types in _TYPES.items() if kind != "i8"}, "ti16": (("s1z4m11", 3),)}
_INTEGER = ("i8", "ti16")


def _flag(name: str, low: int) -> Field:
    return Field(name, low, 1, codes=_FLAG, default=False)


def _operands(kind: str, b_bits: int = 3) -> tuple[Field, ...]:
    """The fields that all three layouts share."""
    types = _TYPES[kind] if kind in _TYPES else _RUBIN_TYPES[kind]
    return (
        _flag("sparse", 2),
        Field("a_dtype", 7, 3, codes=types, default=types[0][0]),
        Field("b_dtype", 10, b_bits, codes=types, default=types[0][0]),
        _flag("negate_a", 13),
        _flag("negate_b", 14),
        Field("a_major", 15, 1, codes=_MAJORS, default=Major.K),
        Field("b_major", 16, 1, codes=_MAJORS, default=Major.K),
        Field("n", 17, 6, unit=8),
    )


def _accumulator(kind: str) -> str:
    return "s32" if kind in _INTEGER else "f32"


def _plain(kind: str) -> tuple[Field, ...]:
    return (
        Field("sparsity_selector", 0, 2),
        _flag("saturate", 3),
        Field("d_dtype", 4, 2, codes=(("f16", 0), ("f32", 1), ("s32", 2)), default=_accumulator(kind)),
        *_operands(kind),
        Field("m", 24, 5, unit=16),
        Field("max_shift", 30, 2, codes=((0, 0), (8, 1), (16, 2), (32, 3))),
    )


def _scaled(kind: str) -> tuple[Field, ...]:
    fields = (
        Field("sfb_id", 4, 2),
        *_operands(kind, 3 if kind == "mxf8f6f4" else 2),
        Field("scale_dtype", 23, 1, codes=(("ue4m3", 0), ("ue8m0", 1)), default="ue8m0"),
        Field("m", 27, 2, unit=128),
        Field("sfa_id", 29, 2),
    )
    return fields if kind == "mxf8f6f4" else (*fields, _flag("k_is_96", 31))


def _rubin(kind: str) -> tuple[Field, ...]:
    """The fields of sm107: those of sm100, and what it has beside them."""
    if not kind.startswith("mx"):
        return (*_plain(kind), _flag("k_is_64", 29)) if kind == "f8f6f4" else _plain(kind)
    fields = (
        *(field for field in _scaled(kind) if field.name != "scale_dtype"),
        Field("scale_dtype", 23, 2, codes=(("ue4m3", 0), ("ue8m0", 1), ("ue5m3", 2)), default="ue8m0"),
        Field("sfa_lanes", 26, 1, codes=((32, 0), (128, 1)), default=32),
    )
    if kind == "mxf8f6f4":
        return (*fields, _flag("k_is_64", 31))
    return (*fields, _flag("k_is_128", 3), Field("sparsity_version", 12, 1))


def _word(arch: str, kind: str, fields: tuple[Field, ...]) -> Word:
    from_bit_0 = tuple(sorted(fields, key=lambda field: field.low))
    return Word(f"{arch} instruction descriptor of kind {kind}", 32, from_bit_0)


#: The 32-bit instruction descriptor of each kind of sm100; M and N in elements.
INSTRUCTION_DESCRIPTORS: Mapping[str, Word] = {
    kind: _word("sm100", kind, _scaled(kind) if kind.startswith("mx") else _plain(kind)) for kind in _TYPES
}
#: Those of sm107.
RUBIN_DESCRIPTORS: Mapping[str, Word] = {kind: _word("sm107", kind, _rubin(kind)) for kind in _RUBIN_TYPES}


def word_of(kind: str, arch: str = "sm100") -> Word:
    """The instruction descriptor of a kind of an architecture.

    Raises:
        ChoiceError: if there is no such kind, or no such architecture.
        DescriptorError: if its instructions have no descriptor.

    >>> word_of("mxf8f6f4")["scale_dtype"].low, word_of("f8f6f4", "sm107")["k_is_64"].low
    (23, 29)
    """
    arch = as_arch(arch)
    if not has_tcgen05(arch):
        raise DescriptorError(f"idesc: the arch of an instruction descriptor must have tcgen05, found {arch}")
    known = RUBIN_DESCRIPTORS if _is_rubin(arch) else INSTRUCTION_DESCRIPTORS
    kinds = [row.kind for row in rows_of("KINDS", arch)]
    if not isinstance(kind, str) or kind not in kinds:
        raise ChoiceError("idesc: kind", kind, kinds)
    return known[kind]


def _is_rubin(arch: str) -> bool:
    """Whether an architecture has the words of sm107."""
    return architecture(arch).words == "sm107"


#: Options that not every kind's word has a field for, with the value that needs none.
_OPTIONS = {"saturate": False, "sparsity_selector": 0, "max_shift": 0, "scale_dtype": None, "sfa_id": 0, "sfb_id": 0,
            "sfa_lanes": 32, "sparsity_version": 0}  # fmt: skip


@frozen
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
    arch: str = "sm100"
    sfa_lanes: int = 32
    sparsity_version: int = 0

    def encode(self) -> int:
        """The word, without a check of legality.

        Raises:
            FieldError: if a value does not fit its field.
            ChoiceError: for a type without a code, or an option for which this kind's word has no field.
        """
        word = word_of(self.kind, self.arch)
        defaults = {field.name: field.default for field in word.fields}
        values = {name: value for name, value in contents(self).items() if name in defaults}
        for name, plain in _OPTIONS.items():
            if name not in defaults and getattr(self, name) != plain:
                values[name] = getattr(self, name)  # an option that this word cannot express: encode refuses it
        for name in defaults:
            if name.startswith("k_is_"):
                values[name] = self.k in _extents(name, self.sparse)
        return word.encode(values)


def _extents(name: str, sparse: bool) -> tuple[int, ...]:
    """K of an instruction whose word has a flag set: twice as much where A is stored without its zeros."""
    k = int(name.removeprefix("k_is_"))
    return (2 * k, k) if sparse and k == 96 else (2 * k,) if sparse else (k,)


def refusals(one: Instruction, legality: Legality) -> Iterator[IllegalError]:
    """Everything that is illegal about an instruction, in the order in which it is told.

    Args:
        one: the instruction.
        legality: how to read the tables.

    >>> made = Instruction("f16", "bf16", "bf16", "f32", m=48, n=20, k=16, saturate=True)
    >>> [error.rule.partition(" must")[0] for error in refusals(made, "lenient")]
    ['M', 'N', 'saturate']
    """
    kind, pair, major = one.kind, one.cta_group, one.b_major
    arch = one.arch
    wide = type(one.k) is int and one.k > dense_k(arch, kind) * (1 + (one.sparse is True))
    types = one.a_dtype, one.b_dtype, one.d_dtype
    yield from _caught(lambda: check_types(arch, kind, *types, wide=wide, legality=legality))
    yield from shape_refusals(
        arch, kind, m=one.m, n=one.n, k=one.k, cta_group=pair, sparse=one.sparse, ws=one.ws,
        a_source=one.a_source, legality=legality,
    )  # fmt: skip
    place = one.a_source
    yield from _caught(
        lambda: check_major(arch, kind, one.a_dtype, one.a_major, a_source=place, legality=legality),
        lambda: check_major(arch, kind, one.b_dtype, one.b_major, legality=legality),
        lambda: check_transposed_b(
            arch,
            kind,
            n=one.n,
            b_dtype=one.b_dtype,
            b_major=major,
            cta_group=pair,
            m=one.m,
            a_source=place,
            sparse=one.sparse,
            legality=legality,
        ),
    )
    yield from _option_refusals(one)
    if one.scale_dtype is not None:
        yield from _scale_refusals(one, one.scale_dtype, legality)


def _caught(*checks: Callable[[], object]) -> Iterator[IllegalError]:
    for check in checks:
        try:
            check()
        except IllegalError as error:
            yield error


def _option_refusals(one: Instruction) -> Iterator[IllegalError]:
    row = kind_row(one.arch, one.kind)
    about = f"{one.arch} {one.kind} {'sparse' if one.sparse else 'dense'}{' .ws' if one.ws else ''}"
    selectors = row.selectors if one.sparse and row.selectors else (0,)
    for what, found, legal in (
        ("negate_a", one.negate_a, (False, row.negate)),
        ("negate_b", one.negate_b, (False, row.negate)),
        ("saturate", one.saturate, (False, row.saturate)),
        ("sparsity_selector", one.sparsity_selector, selectors),
        ("max_shift", one.max_shift, (0, 8, 16, 32) if one.ws else (0,)),
        ("sparsity_version", one.sparsity_version, _versions(one)),
    ):
        if found not in legal:
            yield IllegalError(f"{what} must be {' or '.join(map(str, dict.fromkeys(legal)))}", found, about, row)


def _versions(one: Instruction) -> tuple[int, ...]:
    """Versions of sparsity: sm107 stores two of four elements, those before it two pairs of four."""
    if not _is_rubin(one.arch) or not one.kind.startswith("mxf4"):
        return (0,)
    return (1,) if one.sparse else (0, 1)


def _scale_refusals(one: Instruction, dtype: str, legality: Legality) -> Iterator[IllegalError]:
    """What is wrong with the scale factors, and then with their ids beside factors that the kind has."""
    vector, ids = 0 if one.scale_vector is None else one.scale_vector, (one.sfa_id, one.sfb_id)
    wrong = list(_caught(lambda: check_scale(one.kind, dtype, vector, k=one.k, legality=legality, arch=one.arch)))
    yield from wrong
    if wrong:
        rows = [row for row in rows_of("SCALES", one.arch, one.kind) if one.k in row.k]
        dtype, vector = (rows[0].dtype, rows[0].vector) if rows else (dtype, vector)
    if not wrong or rows:
        yield from _caught(
            lambda: check_scale(one.kind, dtype, vector, k=one.k, ids=ids, legality=legality, arch=one.arch)
        )


class Options(TypedDict, total=False):
    """Options of ``idesc``, each 0 or False unless given; ``cta_group`` is 1.

    ``cta_group``: 1 or 2. ``sparse``: A is stored without its zeros. ``ws``: the weight-stationary form.
    ``negate_a``, ``negate_b``: of the elements. ``saturate``: clamp integer results. ``sparsity_selector``: which
    columns of metadata a sparse instruction reads. ``max_shift``: 8, 16 or 32, of B's reuse in the ``.ws`` form.
    ``sfa_id``, ``sfb_id``: which bytes of a tensor-memory word hold the scale factors. ``a_source``: where A lies,
    ``smem`` unless given, or ``tmem``; the word is the same. ``sfa_lanes``: 32, or 128, lanes that hold the scale
    factors of A (sm107). ``sparsity_version``: 0, or 1 of sm107, which a sparse mxf4 instruction there must have.
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
    sfa_lanes: int
    sparsity_version: int


@frozen
class DecodedInstruction:
    """An instruction descriptor, read.

    Attributes:
        kind: the kind it was read as.
        word: the word.
        values: (name, value) of every field, lowest bits first; an ``UnknownCode`` where a code names nothing.
        unknown_bits: set bits that belong to no field; PTX has them reserved, to be zero.
        warnings: what is illegal about it, leniently read; if nothing is, what the sources do not agree on.
        arch: the architecture it was read for.
    """

    kind: str
    word: int
    values: tuple[tuple[str, Any], ...]
    unknown_bits: int
    warnings: tuple[str, ...]
    arch: str = "sm100"

    def __getitem__(self, name: str) -> Any:
        for field, value in self.values:
            if field == name:
                return value
        raise ChoiceError("decode_idesc: a field", name, [known for known, _ in self.values])

    def rows(self) -> list[tuple[str, str, str]]:
        """(bits, name, value) of every field, for people.

        >>> decode_idesc(0x08200490, "f16").rows()[3]
        ('[4,6)', 'd_dtype', 'f32')
        """
        word = word_of(self.kind, self.arch)
        rows = [(span(word[name]), name, str(value)) for name, value in self.values]
        only = f": targets {holders('K = 96')} alone" if self.arch == "sm100" else ""
        return [(bits, name, value + only * (name == "k_is_96" and value == "True")) for bits, name, value in rows]


@advised
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
    arch: str = "sm100",
    **options: Unpack[Options],
) -> int:
    """The instruction descriptor of a ``tcgen05.mma``, checked to be a legal instruction.

    Args:
        a_dtype: element type of A.
        b_dtype: element type of B; that of A if left out.
        d_dtype: type of the accumulator; f32, or s32 for integers, if left out.
        m: M of the whole instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the whole instruction.
        k: K; only what is wider than usual need be said: 96, and on sm107 64 and 128.
        kind: the kind; found from the types if left out.
        scale_dtype: type of the scale factors (``ue8m0``, ``ue4m3``, ``ue5m3``) of a block-scaled kind.
        scale_vector: elements that share a scale factor (16, 32), counted as they are stored.
        a_major: contiguous dimension of A.
        b_major: contiguous dimension of B.
        legality: ``"strict"``, ``"lenient"`` or ``"off"``, as in ``descriptors.smem.instructions.legality``.
        arch: the architecture: ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
        options: the rest, as in ``Options``.

    Raises:
        IllegalError: if there is no such instruction; it cites the row of ``descriptors.smem.instructions.tables``.
        FieldError: if a value does not fit its field.
        ChoiceError: for an unknown name.

    >>> hex(idesc("bf16", m=128, n=128)), hex(idesc("e2m1", m=256, n=256, cta_group=2, scale_dtype="ue4m3"))
    ('0x8200490', '0x10400480')
    >>> hex(idesc("e4m3", m=128, n=128, k=64, arch="sm107"))
    '0x28200010'
    """
    arch = as_arch(arch)
    for name in options.keys() - Options.__annotations__.keys():
        raise ChoiceError("idesc: an option", name, Options.__annotations__)
    b = a_dtype if b_dtype is None else b_dtype
    kind = as_kind(a_dtype, b, kind=kind, scale_dtype=scale_dtype, scale_vector=scale_vector, arch=arch)
    if _is_rubin(arch) and options.get("sparse") and kind.startswith("mxf4"):
        options.setdefault("sparsity_version", 1)
    scale_dtype, scale_vector = _scale(kind, scale_dtype, scale_vector, None if options.get("sparse") else k, arch)
    instruction = Instruction(
        kind=kind,
        a_dtype=type_name(a_dtype),
        b_dtype=type_name(b),
        d_dtype=type_name(_accumulator(kind) if d_dtype is None else d_dtype),
        m=m,
        n=n,
        k=dense_k(arch, kind) * (1 + bool(options.get("sparse"))) if k is None else k,
        a_major=as_major(a_major),
        b_major=as_major(b_major),
        scale_dtype=scale_dtype,
        scale_vector=scale_vector,
        arch=arch,
        **options,
    )
    if as_mode(legality) != "off":
        check_target_k(arch, kind, instruction.k)
        for error in refusals(instruction, legality):
            raise error
    return instruction.encode()


def _scale(kind: str, dtype: str | None, vector: int | None, k: int | None, arch: str) -> tuple[str | None, int | None]:
    """The scale factors of a kind, as given or as the kind has them by default."""
    if not kind.startswith("mx"):
        if vector is not None and dtype is None:
            raise DescriptorError(
                f"idesc: scale_vector is {vector}, but kind {kind} has no scale factors; a scale_dtype makes it "
                "block-scaled",
            )
        return dtype, vector
    usual_dtype = "ue4m3" if kind == "mxf4nvf4" else "ue8m0"
    usual = usual_vector(kind, dtype, k=k, arch=arch) if vector is None else vector
    return usual_dtype if dtype is None else dtype, usual


def as_kind(
    a_dtype: str | ElementType,
    b_dtype: str | ElementType | None = None,
    *,
    kind: str | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    arch: str = "sm100",
) -> str:
    """The kind that was named, or the one that these types and scale factors mean.

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
        kind = kind_of(arch, a_dtype, b_dtype, scaled=scale_dtype is not None)
        narrow = scale_dtype in ("ue4m3", "ue5m3") or scale_vector == 16
        kind = "mxf4nvf4" if kind == "mxf4" and narrow else kind
    word_of(kind, arch)
    return kind


def decode_idesc(word: int, kind: str, arch: str = "sm100") -> DecodedInstruction:
    """Read an instruction descriptor. The word does not say its kind: the instruction's qualifier does.

    Args:
        word: the 32 bits.
        kind: the kind of the instruction that it goes to.
        arch: the architecture that reads it.

    Raises:
        FieldError: if ``word`` is no 32-bit integer.
        ChoiceError: if there is no such kind.

    >>> read = decode_idesc(0x08410490, "f16")
    >>> read["n"], str(read["b_major"]), read.warnings
    (256, 'MN', ())
    """
    arch, layout = as_arch(arch), word_of(kind, arch)
    values = layout.decode(word)
    unknown = layout.unknown_bits(word)
    warnings = [f"{name} has {value}" for name, value in values.items() if isinstance(value, UnknownCode)]
    if unknown:
        warnings.append(f"reserved bits are set: {unknown:#010x}")
    warnings.extend(_complaints(kind, values, arch))  # of A and of B one complaint may be the same
    return DecodedInstruction(kind, int(word), tuple(values.items()), unknown, tuple(dict.fromkeys(warnings)), arch)


def _complaints(kind: str, values: Mapping[str, Any], arch: str) -> list[str]:
    """Return what no reading of the word makes legal, or else what only a lenient reading does.

    What the word does not hold is taken as it fits.
    """
    readings: list[dict[str, Any]] = [
        {"cta_group": cta_group, "ws": ws, "scale_vector": vector, "arch": arch}
        for cta_group, ws in ((1, False), (2, False), *(((1, True),) if kind_row(arch, kind).ws else ()))
        for vector in _vectors(kind, values, arch)
    ]
    lenient = [list(illegal(kind, values, **known)) for known in readings]
    legal = [known for known, complaints in zip(readings, lenient, strict=True) if not complaints]
    return min([list(illegal(kind, values, "strict", **known)) for known in legal] or lenient, key=len)


def _vectors(kind: str, values: Mapping[str, Any], arch: str) -> tuple[int | None, ...]:
    """Scale vectors that a word may be of: those that go with the type of its scale factors, if any do."""
    known = [row.vector for row in rows_of("SCALES", arch, kind) if row.dtype == values.get("scale_dtype")]
    return tuple(dict.fromkeys(known)) or ((32,) if kind.startswith("mx") else (None,))


def illegal(kind: str, values: Mapping[str, Any], legality: Legality = "lenient", /, **known: Any) -> Iterator[str]:
    """What is illegal about the fields of a word; a code that names nothing hides no other fault.

    Args:
        kind: the kind of the instruction that the word goes to.
        values: the fields, as ``decode_idesc`` has them.
        legality: how the tables are read.
        known: what the word does not hold, by the names of ``Instruction``.

    >>> told = illegal("f16", dict(decode_idesc(0xFFFFFFFF, "f16").values), cta_group=2)
    >>> [one.partition(" must")[0] for one in told]
    ['M', 'N', 'saturate', 'max_shift']
    """
    arch = known.get("arch", "sm100")
    layout = word_of(kind, arch)
    wrong = {name for name, value in values.items() if isinstance(value, UnknownCode)}
    held = {name: layout[name].default if name in wrong else value for name, value in values.items()}
    k = extent_of(kind, held, held["sparse"], arch)
    held = {name: value for name, value in held.items() if not name.startswith("k_is_")}
    held.setdefault("d_dtype", "f32")
    for error in refusals(Instruction(**{"kind": kind, "k": k, **held, **known}), legality):
        if not (wrong and error.rule.startswith("types must")):
            yield str(error).removeprefix("legality: ")


def extent_of(kind: str, values: Mapping[str, Any], sparse: bool, arch: str = "sm100") -> int:
    """K of an instruction, by the fields of its word.

    Args:
        kind: its kind.
        values: the fields, as ``decode_idesc`` has them.
        sparse: whether A is stored without its zeros.
        arch: the architecture.

    >>> extent_of("mxf4", {"k_is_128": True}, False, "sm107"), extent_of("f16", {}, True)
    (128, 32)
    """
    for name, value in values.items():
        if name.startswith("k_is_") and value is True:
            return _extents(name, sparse)[-1 if arch == "sm100" else 0]
    return dense_k(arch, kind) * (1 + sparse)
