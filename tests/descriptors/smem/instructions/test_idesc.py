"""Instruction descriptors: known words, every field at every value, and the words of NVIDIA's own compiler."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds_of

from descriptors.errors import ChoiceError, DescriptorError, FieldError
from descriptors.smem.instructions import tables as shapes
from descriptors.smem.instructions.idesc import Instruction, decode_idesc, idesc, word_of
from descriptors.smem.instructions.rules import IllegalError, kind_row
from descriptors.smem.operands.operand import Major

# Examples: words on which independent tools agree


@each(
    ("word", "types", "options"),
    [
        (0x08200490, ("bf16",), {"m": 128, "n": 128}),
        (0x08200010, ("f16",), {"m": 128, "n": 128}),
        (0x08200010, ("f16",), {"m": 128, "n": 128, "a_source": "tmem"}),
        (0x08020490, ("bf16",), {"m": 128, "n": 8}),
        (0x08410490, ("bf16",), {"m": 128, "n": 256, "b_major": "MN"}),
        (0x08200910, ("tf32",), {"m": 128, "n": 128}),
        (0x08200010, ("e4m3",), {"m": 128, "n": 128}),
        (0x08201690, ("e2m1",), {"m": 128, "n": 128, "kind": "f8f6f4"}),
        (0x08201690, ("e2m1_unpacksmem",), {"m": 128, "n": 128}),
        (0x08A00000, ("e4m3",), {"m": 128, "n": 128, "kind": "mxf8f6f4"}),
        (0x08A00480, ("e2m1",), {"m": 128, "n": 128, "kind": "mxf4"}),
        (0x08200480, ("e2m1",), {"m": 128, "n": 128, "kind": "mxf4nvf4", "scale_dtype": "ue4m3"}),
        (0x10400480, ("e2m1",), {"m": 256, "n": 256, "cta_group": 2, "scale_dtype": "ue4m3"}),
        (0x08080494, ("bf16",), {"m": 128, "n": 32, "sparse": True}),
        (0x04100000, ("f16", "f16", "f16"), {"m": 64, "n": 64}),
        (0x082004A8, ("s8", "s8"), {"m": 128, "n": 128, "saturate": True}),
    ],
)
def test_known_words(word: int, types: tuple[str, ...], options: dict[str, Any]) -> None:
    assert hex(idesc(*types, **options)) == hex(word)


# Laws


@st.composite
def legal(draw: Any) -> tuple[str, dict[str, Any]]:
    """A kind, and parameters of ``idesc`` that a row allows when read leniently."""
    row = draw(st.sampled_from([row for row in shapes.SHAPES if row.arch == "sm100"]))
    types = draw(st.sampled_from([one for one in shapes.TYPES if (one.arch, one.kind) == ("sm100", row.kind)]))
    kind = kind_row("sm100", row.kind)
    options = {
        "a_dtype": draw(st.sampled_from(types.a)),
        "b_dtype": draw(st.sampled_from(types.b)),
        "d_dtype": draw(st.sampled_from(types.d)),
        "m": draw(st.sampled_from(row.m)),
        "n": draw(st.sampled_from(row.n)),
        "k": row.k,
        "cta_group": row.cta_group,
        "arch": "sm103" if row.k == 96 else "sm100",  # whose own target lacks it
        "sparse": row.sparse,
        "ws": row.ws,
        "a_source": draw(st.sampled_from(row.a_source)),
        "negate_a": kind.negate and draw(st.booleans()),
        "saturate": kind.saturate and draw(st.booleans()),
        "sparsity_selector": draw(st.sampled_from(kind.selectors)) if row.sparse and kind.selectors else 0,
        "max_shift": draw(st.sampled_from((0, 8, 16, 32))) if row.ws else 0,
    }
    if row.kind.startswith("mx"):
        scales = [one for one in shapes.SCALES if one.kind == row.kind and row.k in one.k]
        scale = draw(st.sampled_from(scales))
        options |= {
            "scale_dtype": scale.dtype,
            "scale_vector": scale.vector,
            "sfa_id": draw(st.sampled_from(scale.ids)),
        }
    if not row.kind.startswith("mxf4") and options["a_source"] == "smem":
        options["a_major"] = draw(st.sampled_from(list(Major)))
    return row.kind, options


@given(legal())
def test_what_is_written_legally_reads_back_without_a_warning(case: tuple[str, dict[str, Any]]) -> None:
    kind, options = case
    word = idesc(kind=kind, legality="lenient", **options)
    decoded = decode_idesc(word, kind)
    assert decoded.unknown_bits == 0 and all("(sources disagree: " in warning for warning in decoded.warnings)
    try:
        idesc(kind=kind, **options)
    except DescriptorError:  # only a lenient reading has it
        pass
    else:
        assert decoded.warnings == ()
    assert all(decoded[name] == value for name, value in options.items() if name in dict(decoded.values))
    assert idesc(kind=kind, legality="off", **options) == word


@given(legal())
def test_an_instruction_repeats_itself(case: tuple[str, dict[str, Any]]) -> None:
    kind, options = case
    free = {name: value for name, value in options.items() if name not in ("scale_vector",)}
    one = Instruction(kind=kind, **free)
    assert eval(repr(one)) == one  # noqa: S307
    assert hash(eval(repr(one))) == hash(one)  # noqa: S307


# Examples: warnings and errors


def test_a_word_that_only_a_lenient_reading_has_is_decoded_with_a_warning() -> None:
    options: dict[str, Any] = {"a_dtype": "bf16", "b_dtype": "f16", "m": 128, "n": 128}
    with pytest.raises(DescriptorError) as refused:
        idesc(**options)
    (warning,) = decode_idesc(idesc(**options, legality="lenient"), "f16").warnings
    assert warning in str(refused.value) and "(sources disagree: " in warning
    assert decode_idesc(0x08200490, "f16").warnings == ()


@each(
    ("word", "kind", "warning"),
    [
        (0x08200490 | 1 << 6, "f16", "reserved bits are set: 0x00000040"),
        (0x10401480, "mxf4nvf4", "reserved bits are set: 0x00001000"),
        (0x08200490, "tf32", "a_dtype has invalid code 1"),
        (0x082004B0, "f16", "d_dtype has invalid code 3"),
        (0x08200490 | 1 << 3, "f16", "saturate is True, but must be False"),
        (0x08200490 | 1, "f16", "sparsity_selector is 1, but must be 0"),
        (0x08208480, "mxf4", "major is MN, but must be K"),
        (0x047E0490, "f16", "N is 504, but must be 8..256 step 8"),
        (0x01200490, "f16", "M is 16, but must be 64 or 128"),
        (0x082024A0, "i8", "negate_a is True, but must be False"),
        (0x082004A0, "f16", "types are"),
    ],
)
def test_what_is_wrong_with_a_word_is_told(word: int, kind: str, warning: str) -> None:
    assert any(told.startswith(warning) for told in decode_idesc(word, kind).warnings)


@each(
    ("types", "options", "rule"),
    [
        (("bf16",), {"m": 128, "n": 4}, "N is .*, but must be"),
        (("bf16",), {"m": 128, "n": 8, "a_source": "tmem"}, "N is .*, but must be 16..256 step 16"),
        (("bf16",), {"m": 128, "n": 16, "a_source": "tmem", "a_major": "MN"}, "major is .*, but must be K"),
        (("bf16",), {"m": 256, "n": 128}, "M is .*, but must be"),
        (("bf16", "e4m3"), {"m": 128, "n": 128}, ".* has no kind of MMA instruction"),
        (("bf16", "bf16", "f16"), {"m": 128, "n": 128}, "types are .*, but must be"),
        (("bf16",), {"m": 128, "n": 128, "saturate": True}, "saturate is .*, but must be False"),
        (("s8",), {"m": 128, "n": 128, "negate_b": True}, "negate_b is .*, but must be False"),
        (("s8",), {"m": 128, "n": 24, "b_major": "MN"}, "N is .*, but must be"),
        (("e4m3",), {"m": 64, "n": 24, "b_major": "MN"}, "N is .*, but must be 16..256 step 16"),
        (("e2m1",), {"m": 128, "n": 128, "a_major": "MN"}, "major is .*, but must be K"),
        (("e2m1",), {"m": 128, "n": 128, "kind": "mxf4", "scale_dtype": "ue4m3"}, "scale factors are"),
        (("e2m1",), {"m": 128, "n": 128, "kind": "mxf4nvf4", "sfa_id": 2}, "scale factor ids are .*, but must be 0"),
        (("bf16",), {"m": 128, "n": 128, "max_shift": 8}, "max_shift is .*, but must be 0"),
        (
            ("e4m3",),
            {"m": 128, "n": 128, "sparse": True, "sparsity_selector": 1},
            "sparsity_selector is .*, but must be 0",
        ),
        (("bf16",), {"m": 128, "n": 128, "sparsity_selector": 1}, "sparsity_selector is .*, but must be 0"),
        (("bf16",), {"m": 128, "n": 128, "scale_dtype": "ue8m0", "kind": "f16"}, "kind f16 has no scale factors"),
    ],
)
def test_an_illegal_instruction_is_refused_with_its_row(types: Any, options: Any, rule: str) -> None:
    with pytest.raises(IllegalError, match=f"^legality: {rule}") as caught:
        idesc(*types, **options)
    assert caught.value.row.source


@each(
    ("types", "options", "error"),
    [
        (("bf16",), {"m": 128, "n": 128, "kind": "bf16"}, ChoiceError),
        (("bf16",), {"m": 128, "n": 128, "legality": "lax"}, ChoiceError),
        (("bf16",), {"m": 128, "n": 128, "a_major": "row"}, ChoiceError),
        (("bf16",), {"m": 128, "n": 128, "a_source": "gmem"}, ChoiceError),
        (("bf16",), {"m": 128, "n": 128, "transpose": True}, ChoiceError),
        (("bf16",), {"m": 128, "n": "128"}, DescriptorError),
        ((7,), {"m": 128, "n": 128}, DescriptorError),
        (("bf16",), {"m": 512, "n": 128, "legality": "off"}, FieldError),
        (("bf16",), {"m": 100, "n": 128, "legality": "off"}, FieldError),
        (("bf16",), {"m": 128, "n": 512, "legality": "off"}, FieldError),
        (("e4m3",), {"m": 64, "n": 128, "kind": "mxf8f6f4", "legality": "off"}, FieldError),
        (("e4m3",), {"m": 128, "n": 128, "kind": "mxf8f6f4", "saturate": True, "legality": "off"}, ChoiceError),
        (("bf16",), {"m": 128, "n": 128, "scale_dtype": "ue8m0", "kind": "f16", "legality": "off"}, ChoiceError),
        (("bf16",), {"m": 128, "n": 128, "max_shift": 4, "ws": True, "legality": "off"}, ChoiceError),
    ],
)
def test_bad_input_is_a_typed_error(types: Any, options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        idesc(*types, **options)


@pytest.mark.parametrize("bad", [-1, 2**32, 1.5, "0x1", True, None])
def test_a_word_that_is_no_32_bit_integer_is_refused(bad: Any) -> None:
    with pytest.raises(FieldError):
        decode_idesc(bad, "f16")


# Judge: the CuTe DSL


# Our field -> the DSL's name of it, where it has the field.
TYPED = {
    "Tcgen05InstrDesc": (
        "f16",
        {"sparsity_selector": "sparse_id2", "sparse": "sparse_flag", "saturate": "saturate", "d_dtype": "c_format",
         "max_shift": "max_shift"},
        {"sparse_format", "k_dim"},
    ),
    "Tcgen05MxInstrDesc": (
        "mxf8f6f4",
        {"sparse": "sparse_flag", "sfa_id": "a_sf_id", "sfb_id": "b_sf_id", "scale_dtype": "scale_format"},
        {"a_sf_layout", "k_dim"},
    ),
    "Tcgen05MxOmmaInstrDesc": (
        "mxf4",
        {"sparse": "sparse_flag", "sfa_id": "a_sf_id", "sfb_id": "b_sf_id", "scale_dtype": "scale_format",
         "k_is_96": "k_dim_lower"},
        {"a_sf_layout", "k_dim", "k_dim_upper", "sparsity_version"},
    ),
}  # fmt: skip
COMMON = {"a_dtype": "a_format", "b_dtype": "b_format", "negate_a": "a_negate", "negate_b": "b_negate"} | {
    "a_major": "a_major", "b_major": "b_major", "n": "n_dim", "m": "m_dim"
}  # fmt: skip


def test_the_typed_words_of_the_cute_dsl_have_every_field_where_we_have_it() -> None:
    pytest.importorskip("cutlass")
    from dsl_instructions import field_positions

    for typed, fields in field_positions().items():
        kind, own, later = TYPED[typed]
        names = own | COMMON
        assert set(names) == {field.name for field in word_of(kind).fields}
        # Fields of later architectures lie in bits that are reserved on sm100.
        assert set(fields) == set(names.values()) | later
        for field in word_of(kind).fields:
            expected = {field.low + bit: 1 << bit for bit in range(field.bits)}
            if field.name == "scale_dtype":
                expected[24] = 2  # a third scale type, on later architectures
            assert fields[names[field.name]] == expected, field.name


def lattice() -> list[dict[str, Any]]:
    """Requests that the CuTe DSL can compile: all kinds, types, majors, a spread of extents, pairs of CTAs, options."""
    cases: list[dict[str, Any]] = []
    f8f6f4 = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
    for a_major, b_major, n in product(("K", "MN"), ("K", "MN"), (32, 96, 256)):
        majors = {"a_major": a_major, "b_major": b_major, "n": n}
        for m, cta_group in ((64, 1), (128, 1), (128, 2), (256, 2)):
            form = {**majors, "m": m, "cta_group": cta_group}
            for dtype, d in (("bf16", "f32"), ("f16", "f32"), ("f16", "f16")):
                cases.append({"kind": "f16", "a": dtype, "b": dtype, "d": d, "k": 16, **form})
            cases.append({"kind": "tf32", "a": "tf32", "b": "tf32", "d": "f32", "k": 8, **form})
            cases += [{"kind": "i8", "a": one, "b": one, "d": "s32", "k": 32, **form} for one in ("s8", "u8")]
            cases += [
                {"kind": "f8f6f4", "a": a, "b": b, "d": d, "k": 32, **form}
                for a, b, d in product(f8f6f4, f8f6f4, ("f32", "f16"))
            ]
            if m > 64:
                cases += [
                    {"kind": "mxf8f6f4", "a": a, "b": b, "d": "f32", "k": 32, "scale_ids": (1, 3), **form}
                    for a, b in product(f8f6f4, f8f6f4)
                ]
    for m, cta_group, n, negate in (
        (128, 1, 8, (True, False)),
        (256, 2, 240, (False, True)),
        (128, 2, 16, (True, True)),
    ):
        form = {"a": "e2m1", "b": "e2m1", "d": "f32", "k": 64, "m": m, "n": n, "cta_group": cta_group, "negate": negate}
        cases += [{"kind": "mxf4", "scale_ids": (2, 0), **form}, {"kind": "mxf4nvf4", "scale": "ue8m0", **form}]
        cases.append({"kind": "mxf4nvf4", "scale": "ue4m3", **form})
    return cases


@pytest.mark.parametrize("seed", seeds_of("test_the_words_are_those_of_kernels_that_the_cute_dsl_compiles"))
def test_the_words_are_those_of_kernels_that_the_cute_dsl_compiles(seed: int) -> None:
    pytest.importorskip("cutlass")
    from descriptors.oracle.instructions import InstructionRequest, instruction_words

    cases = lattice()
    sample = random.Random(seed).sample(cases, 60)
    sample += [case for case in cases if case["kind"].startswith("mxf4")]
    sample.append({"kind": "f16", "a": "bf16", "b": "bf16", "d": "f32", "m": 128, "n": 32, "k": 32, "sparse": True})
    requests = [InstructionRequest(**case) for case in sample]
    for one, compiled in zip(requests, instruction_words(requests), strict=True):
        scaled = {"scale_dtype": one.scale, "sfa_id": one.scale_ids[0], "sfb_id": one.scale_ids[1]}
        options: dict[str, Any] = {"kind": one.kind, "cta_group": one.cta_group, "sparse": one.sparse}
        options |= {"a_major": one.a_major, "b_major": one.b_major, "legality": "lenient"}
        options |= {"negate_a": one.negate[0], "negate_b": one.negate[1]}
        options |= scaled if one.kind.startswith("mx") else {"saturate": one.kind == "i8"}  # the DSL's i8 always does
        ours = idesc(one.a, one.b, one.d, m=one.m, n=one.n, k=one.k, **options)
        assert (compiled.status, compiled.word) == ("ok", ours), (one, compiled)


def test_a_field_that_a_decoded_word_does_not_have_is_a_choice_error() -> None:
    with pytest.raises(ChoiceError, match=r"decode_idesc: a field is .*not supported"):
        decode_idesc(0x08200490, "f16")["nothing"]
