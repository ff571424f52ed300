"""Encode and decode the instruction descriptors of ``tcgen05.mma``: types, majors and extents in 32 bits.

The descriptor does not contain the kind, ``cta_group``, ``.ws`` or K, except for one bit that selects K = 96. ``wgmma``
has no instruction descriptor. There are three bit layouts: for the plain kinds, for mxf8f6f4, and for mxf4 and
mxf4nvf4. The meaning of a type code depends on the kind (code 1 is bf16, e5m2, s8 or e2m1). sm107 uses bits that sm100
reserves: K 64, 96 and 128, scale factors of type ue5m3, the number of lanes of A's scale factors, the sparsity version,
and the kind ti16. ``Instruction`` holds all parameters of one instruction. ``idesc`` fills in defaults, checks them
and encodes them; ``decode_idesc`` decodes a word.
Source: PTX ISA 9.1, tcgen05, Instruction descriptor (Tables 42-44), and 9.4 for sm107 (Tables 51-53); CuTe DSL 4.8.1
``experimental/primitives/descriptors.py`` (Tcgen05InstrDesc, Tcgen05MxInstrDesc, Tcgen05MxOmmaInstrDesc), which give
some bits that PTX reserves on sm100 to later architectures.

Invariant: for every 32-bit ``w``, every kind, and all arguments that ``idesc`` accepts::

    encode(decode(w)) | unknown bits of w == w
    decode_idesc(idesc(...), kind) has no unknown bits and no warnings

>>> arguments = [(n, major) for n in range(8, 257, 8) for major in ("K", "MN")]
>>> decoded = [decode_idesc(idesc("bf16", m=64, n=n, b_major=major), "f16") for n, major in arguments]
>>> any(word.unknown_bits or word.warnings for word in decoded), len({word.word for word in decoded})
(False, 64)
>>> all(word_of("f16").encode(dict(word.values)) == word.word for word in decoded)
True

Invariant: fields do not overlap, bits outside fields are reserved, and a kind has codes for exactly the types that the
instruction tables allow.

>>> from descriptors.smem.instructions.tables import TYPES
>>> allowed = {kind: {name for row in TYPES if row.kind == kind for name in row.a} for kind in INSTRUCTION_DESCRIPTORS}
>>> all({name for name, _ in word_of(kind)["a_dtype"].codes} == names for kind, names in allowed.items())
True

Invariant: decoding a word returns all parameters except the kind, K, ``cta_group`` and ``.ws``.

>>> types = {"kind": "f16", "a_dtype": "bf16", "b_dtype": "bf16", "d_dtype": "f32"}
>>> instructions = [Instruction(**types, m=m, n=n, k=16) for m in (64, 128) for n in range(16, 257, 16)]
>>> words = [decode_idesc(instruction.encode(), "f16") for instruction in instructions]
>>> [(word["m"], word["n"], word["a_dtype"]) for word in words] == [(i.m, i.n, i.a_dtype) for i in instructions]
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
    """Return the fields that all three layouts share."""
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
    """Return the fields of sm107: those of sm100 and the additional ones."""
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
#: The 32-bit instruction descriptor of each kind of sm107.
RUBIN_DESCRIPTORS: Mapping[str, Word] = {kind: _word("sm107", kind, _rubin(kind)) for kind in _RUBIN_TYPES}


def word_of(kind: str, arch: str = "sm100") -> Word:
    """Return the bit layout of the instruction descriptor of a kind.

    Raises:
        ChoiceError: if there is no such kind, or no such architecture.
        DescriptorError: if the architecture has no instruction descriptors.

    >>> word_of("mxf8f6f4")["scale_dtype"].low, word_of("f8f6f4", "sm107")["k_is_64"].low
    (23, 29)
    """
    arch = as_arch(arch)
    if not has_tcgen05(arch):
        raise DescriptorError(
            f"idesc: {arch} has no instruction descriptors, because it has no tcgen05.mma; "
            "use sm100, sm103, sm107 or sm110"
        )
    layouts = RUBIN_DESCRIPTORS if _is_rubin(arch) else INSTRUCTION_DESCRIPTORS
    kinds = [row.kind for row in rows_of("KINDS", arch)]
    if not isinstance(kind, str) or kind not in kinds:
        raise ChoiceError("idesc: kind", kind, kinds)
    return layouts[kind]


def _is_rubin(arch: str) -> bool:
    """Return whether an architecture uses the bit layouts of sm107."""
    return architecture(arch).words == "sm107"


#: Options without a field in the words of some kinds, with the value that needs no field.
_OPTIONS = {"saturate": False, "sparsity_selector": 0, "max_shift": 0, "scale_dtype": None, "sfa_id": 0, "sfb_id": 0,
            "sfa_lanes": 32, "sparsity_version": 0}  # fmt: skip


@frozen
class Instruction:
    """All parameters of a ``tcgen05.mma`` instruction: those of ``idesc``, with the defaults filled in."""

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
        """Return the descriptor word; legality is not checked.

        Raises:
            FieldError: if a value does not fit its field.
            ChoiceError: for a type without a code, or an option for which this kind's word has no field.
        """
        word = word_of(self.kind, self.arch)
        defaults = {field.name: field.default for field in word.fields}
        values = {name: value for name, value in contents(self).items() if name in defaults}
        for name, plain in _OPTIONS.items():
            if name not in defaults and getattr(self, name) != plain:
                values[name] = getattr(self, name)  # encode refuses an option that this word cannot express
        for name in defaults:
            if name.startswith("k_is_"):
                values[name] = self.k in _extents(name, self.sparse)
        return word.encode(values)


def _extents(name: str, sparse: bool) -> tuple[int, ...]:
    """Return the K values that a flag of the word selects; a sparse instruction has twice the K."""
    k = int(name.removeprefix("k_is_"))
    return (2 * k, k) if sparse and k == 96 else (2 * k,) if sparse else (k,)


def refusals(instruction: Instruction, legality: Legality) -> Iterator[IllegalError]:
    """Yield an error for every illegal parameter of an instruction.

    Args:
        instruction: the instruction.
        legality: how to read the tables.

    >>> instruction = Instruction("f16", "bf16", "bf16", "f32", m=48, n=20, k=16, saturate=True)
    >>> [error.rule.partition(" must")[0] for error in refusals(instruction, "lenient")]
    ['M', 'N', 'saturate']
    """
    kind, cta_group, major = instruction.kind, instruction.cta_group, instruction.b_major
    arch = instruction.arch
    wide = type(instruction.k) is int and instruction.k > dense_k(arch, kind) * (1 + (instruction.sparse is True))
    types = instruction.a_dtype, instruction.b_dtype, instruction.d_dtype
    yield from _collect_errors(lambda: check_types(arch, kind, *types, wide=wide, legality=legality))
    yield from shape_refusals(
        arch, kind, m=instruction.m, n=instruction.n, k=instruction.k, cta_group=cta_group, sparse=instruction.sparse,
        ws=instruction.ws, a_source=instruction.a_source, legality=legality,
    )  # fmt: skip
    place = instruction.a_source
    yield from _collect_errors(
        lambda: check_major(arch, kind, instruction.a_dtype, instruction.a_major, a_source=place, legality=legality),
        lambda: check_major(arch, kind, instruction.b_dtype, instruction.b_major, legality=legality),
        lambda: check_transposed_b(
            arch,
            kind,
            n=instruction.n,
            b_dtype=instruction.b_dtype,
            b_major=major,
            cta_group=cta_group,
            m=instruction.m,
            a_source=place,
            sparse=instruction.sparse,
            legality=legality,
        ),
    )
    yield from _check_options(instruction)
    if instruction.scale_dtype is not None:
        yield from _check_scales(instruction, instruction.scale_dtype, legality)


def _collect_errors(*checks: Callable[[], object]) -> Iterator[IllegalError]:
    """Run checks and yield the errors that they raise."""
    for check in checks:
        try:
            check()
        except IllegalError as error:
            yield error


def _check_options(instruction: Instruction) -> Iterator[IllegalError]:
    """Yield an error for every option that the kind does not have."""
    row = kind_row(instruction.arch, instruction.kind)
    form = f"{'sparse' if instruction.sparse else 'dense'}{' .ws' if instruction.ws else ''}"
    about = f"{instruction.arch} {instruction.kind} {form}"
    selectors = row.selectors if instruction.sparse and row.selectors else (0,)
    for option, value, legal in (
        ("negate_a", instruction.negate_a, (False, row.negate)),
        ("negate_b", instruction.negate_b, (False, row.negate)),
        ("saturate", instruction.saturate, (False, row.saturate)),
        ("sparsity_selector", instruction.sparsity_selector, selectors),
        ("max_shift", instruction.max_shift, (0, 8, 16, 32) if instruction.ws else (0,)),
        ("sparsity_version", instruction.sparsity_version, _sparsity_versions(instruction)),
    ):
        if value not in legal:
            yield IllegalError(f"{option} must be {' or '.join(map(str, dict.fromkeys(legal)))}", value, about, row)


def _sparsity_versions(instruction: Instruction) -> tuple[int, ...]:
    """Return the supported sparsity versions.

    Version 1 (sm107) stores two of four elements. Version 0 stores two of four pairs.
    """
    if not _is_rubin(instruction.arch) or not instruction.kind.startswith("mxf4"):
        return (0,)
    return (1,) if instruction.sparse else (0, 1)


def _check_scales(instruction: Instruction, dtype: str, legality: Legality) -> Iterator[IllegalError]:
    """Yield the errors of the scale factors, then those of their ids."""
    vector = 0 if instruction.scale_vector is None else instruction.scale_vector
    ids = instruction.sfa_id, instruction.sfb_id
    errors = list(
        _collect_errors(
            lambda: check_scale(
                instruction.kind, dtype, vector, k=instruction.k, legality=legality, arch=instruction.arch
            )
        )
    )
    yield from errors
    if errors:
        rows = [row for row in rows_of("SCALES", instruction.arch, instruction.kind) if instruction.k in row.k]
        dtype, vector = (rows[0].dtype, rows[0].vector) if rows else (dtype, vector)
    if not errors or rows:
        yield from _collect_errors(
            lambda: check_scale(
                instruction.kind, dtype, vector, k=instruction.k, ids=ids, legality=legality, arch=instruction.arch
            )
        )


class Options(TypedDict, total=False):
    """Options of ``idesc``. The default is 0 or False, and 1 for ``cta_group``.

    ``cta_group``: 1 or 2. ``sparse``: A is stored without its zeros. ``ws``: the weight-stationary form.
    ``negate_a``, ``negate_b``: negate the elements. ``saturate``: clamp integer results. ``sparsity_selector``: the
    columns of metadata that a sparse instruction reads. ``max_shift``: 8, 16 or 32, the shift of B in the ``.ws`` form.
    ``sfa_id``, ``sfb_id``: the bytes of a tensor-memory word that hold the scale factors. ``a_source``: where A is
    stored, ``smem`` (default) or ``tmem``; the word is the same. ``sfa_lanes``: the number of lanes that hold the scale
    factors of A, 32 (default) or 128 (sm107). ``sparsity_version``: 0 or 1; a sparse mxf4 instruction of sm107 has 1.
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
    """A decoded instruction descriptor.

    Attributes:
        kind: the kind as which the word was decoded.
        word: the word.
        values: (name, value) of every field, lowest bits first; an ``UnknownCode`` for an undefined code.
        unknown_bits: set bits outside all fields, which PTX reserves.
        warnings: parameters that are illegal in the lenient reading, or else those on which the sources disagree.
        arch: the architecture for which it was decoded.
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
        raise ChoiceError("decode_idesc: a field", name, [field for field, _ in self.values])

    def rows(self) -> list[tuple[str, str, str]]:
        """Return (bits, name, value) of every field, as text.

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
    """Return the instruction descriptor of a legal ``tcgen05.mma`` instruction.

    Args:
        a_dtype: element type of A.
        b_dtype: element type of B; that of A if left out.
        d_dtype: type of the accumulator; f32, or s32 for integers, if left out.
        m: M of the whole instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the whole instruction.
        k: K; default: the smallest K of the kind. A wider K is 96, or 64 and 128 on sm107.
        kind: the kind; found from the types if left out.
        scale_dtype: type of the scale factors (``ue8m0``, ``ue4m3``, ``ue5m3``) of a block-scaled kind.
        scale_vector: stored elements that share a scale factor: 16 or 32.
        a_major: contiguous dimension of A.
        b_major: contiguous dimension of B.
        legality: ``"strict"``, ``"lenient"`` or ``"off"``, as in ``descriptors.smem.instructions.legality``.
        arch: the architecture: ``sm100``, ``sm103``, ``sm107`` or ``sm110``.
        options: further parameters, see ``Options``.

    Raises:
        IllegalError: if there is no such instruction; the error cites a row of
            ``descriptors.smem.instructions.tables``.
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
    """Return the type and vector size of the scale factors; a kind has defaults for both."""
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
    """Return the named kind, or the kind that multiplies these types with these scale factors.

    Raises:
        IllegalError: if no kind multiplies these types.
        ChoiceError: if there is no such kind.
        DescriptorError: if the scale factors are malformed.

    >>> as_kind("e2m1", scale_vector=16), as_kind("e2m1"), as_kind("e4m3", "e2m1", scale_dtype="ue8m0")
    ('mxf4nvf4', 'mxf4', 'mxf8f6f4')
    """
    if not isinstance(scale_dtype, str | None):
        raise DescriptorError(f"idesc: scale_dtype is {brief(scale_dtype)}, which is not a name")
    if scale_vector is not None:
        scale_vector = as_integer(scale_vector, "idesc: scale_vector")
    if kind is None:
        kind = kind_of(arch, a_dtype, b_dtype, scaled=scale_dtype is not None)
        narrow = scale_dtype in ("ue4m3", "ue5m3") or scale_vector == 16
        kind = "mxf4nvf4" if kind == "mxf4" and narrow else kind
    word_of(kind, arch)
    return kind


def decode_idesc(word: int, kind: str, arch: str = "sm100") -> DecodedInstruction:
    """Decode an instruction descriptor. The word does not contain its kind; the qualifier of the instruction states it.

    Args:
        word: the 32 bits.
        kind: the kind of the instruction.
        arch: the architecture.

    Raises:
        FieldError: if ``word`` is not a 32-bit integer.
        ChoiceError: if there is no such kind.

    >>> decoded = decode_idesc(0x08410490, "f16")
    >>> decoded["n"], str(decoded["b_major"]), decoded.warnings
    (256, 'MN', ())
    """
    arch, layout = as_arch(arch), word_of(kind, arch)
    values = layout.decode(word)
    unknown = layout.unknown_bits(word)
    warnings = [f"{name} has {value}" for name, value in values.items() if isinstance(value, UnknownCode)]
    if unknown:
        warnings.append(f"reserved bits are set: {unknown:#010x}")
    warnings.extend(_violations(kind, values, arch))  # A and B may have the same violation
    return DecodedInstruction(kind, int(word), tuple(values.items()), unknown, tuple(dict.fromkeys(warnings)), arch)


def _violations(kind: str, values: Mapping[str, Any], arch: str) -> list[str]:
    """Return the violations that remain with the most permissive values of the parameters not in the word.

    If the lenient reading allows the word, return the violations of the strict reading.
    """
    candidates: list[dict[str, Any]] = [
        {"cta_group": cta_group, "ws": ws, "scale_vector": vector, "arch": arch}
        for cta_group, ws in ((1, False), (2, False), *(((1, True),) if kind_row(arch, kind).ws else ()))
        for vector in _vectors(kind, values, arch)
    ]
    violations = [list(illegal(kind, values, **parameters)) for parameters in candidates]
    legal = [
        parameters
        for parameters, violations_of_candidate in zip(candidates, violations, strict=True)
        if not violations_of_candidate
    ]
    return min([list(illegal(kind, values, "strict", **parameters)) for parameters in legal] or violations, key=len)


def _vectors(kind: str, values: Mapping[str, Any], arch: str) -> tuple[int | None, ...]:
    """Return the vector sizes possible for a word: those of its type of scale factors, if there are any."""
    sizes = [row.vector for row in rows_of("SCALES", arch, kind) if row.dtype == values.get("scale_dtype")]
    return tuple(dict.fromkeys(sizes)) or ((32,) if kind.startswith("mx") else (None,))


def illegal(
    kind: str, values: Mapping[str, Any], legality: Legality = "lenient", /, **parameters: Any
) -> Iterator[str]:
    """Yield a text for every illegal field of a word. An undefined code does not hide other errors.

    Args:
        kind: the kind of the instruction.
        values: the fields, as in ``DecodedInstruction.values``.
        legality: how to read the tables.
        parameters: the parameters that are not in the word, by their names in ``Instruction``.

    >>> violations = illegal("f16", dict(decode_idesc(0xFFFFFFFF, "f16").values), cta_group=2)
    >>> [violation.partition(" is")[0] for violation in violations]
    ['M', 'N', 'saturate', 'max_shift']
    """
    arch = parameters.get("arch", "sm100")
    layout = word_of(kind, arch)
    unknown = {name for name, value in values.items() if isinstance(value, UnknownCode)}
    known_values = {name: layout[name].default if name in unknown else value for name, value in values.items()}
    k = extent_of(kind, known_values, known_values["sparse"], arch)
    known_values = {name: value for name, value in known_values.items() if not name.startswith("k_is_")}
    known_values.setdefault("d_dtype", "f32")
    for error in refusals(Instruction(**{"kind": kind, "k": k, **known_values, **parameters}), legality):
        if not (unknown and error.rule.startswith("types must")):
            yield str(error).removeprefix("legality: ")


def extent_of(kind: str, values: Mapping[str, Any], sparse: bool, arch: str = "sm100") -> int:
    """Return K of an instruction from the fields of its word.

    Args:
        kind: the kind of the instruction.
        values: the fields, as in ``DecodedInstruction.values``.
        sparse: whether A is stored without its zeros.
        arch: the architecture.

    >>> extent_of("mxf4", {"k_is_128": True}, False, "sm107"), extent_of("f16", {}, True)
    (128, 32)
    """
    for name, value in values.items():
        if name.startswith("k_is_") and value is True:
            return _extents(name, sparse)[-1 if arch == "sm100" else 0]
    return dense_k(arch, kind) * (1 + sparse)
