"""Legal or not: strict reads within lenient, errors cite their row, and NVIDIA's own operations are asked too."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors.errors import ChoiceError, DescriptorError
from descriptors.smem.instructions import tables as shapes
from descriptors.smem.instructions.idesc import idesc
from descriptors.smem.instructions.legality import (
    check_copy,
    check_operand,
    check_operand_tile,
    check_scale,
    check_shape,
    check_transposed_b,
    check_types,
)
from descriptors.smem.instructions.rules import IllegalError, Legality, kind_of, kind_row
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode

KINDS = [(row.arch, row.kind) for row in shapes.KINDS]
MODES = get_args(Legality)


def passes(check: Any, *arguments: Any, **options: Any) -> bool:
    try:
        check(*arguments, **options)
    except IllegalError:
        return False
    return True


# Laws

questions = st.fixed_dictionaries(
    {
        "m": st.sampled_from([32, 64, 128, 192, 256]),
        "n": st.integers(1, 34).map(lambda eighths: 8 * eighths) | st.integers(0, 300),
        "k": st.sampled_from([None, 8, 16, 32, 64, 96, 128]),
        "a_source": st.sampled_from(["smem", "tmem", "rmem"]),
        "cta_group": st.sampled_from([1, 2, 3]),
        "sparse": st.booleans(),
        "ws": st.booleans(),
    }
)


@given(st.sampled_from(KINDS), questions)
def test_a_strict_reading_passes_leniently_and_a_lenient_one_with_checks_off(kind: Any, question: Any) -> None:
    strict, lenient, off = (passes(check_shape, *kind, **question, legality=mode) for mode in MODES)
    assert strict <= lenient <= off
    assert off


@given(st.sampled_from(KINDS), questions, st.sampled_from(["strict", "lenient"]))
def test_the_row_returned_has_the_extents_and_the_error_says_whether_lenient_would_do(
    kind: Any, question: Any, mode: Legality
) -> None:
    try:
        row = check_shape(*kind, **question, legality=mode)
    except IllegalError as error:
        assert error.lenient == passes(check_shape, *kind, **question, legality="lenient")
        assert error.row.source in str(error) or error.row.disputed in str(error)
        assert "\n" not in str(error)
    else:
        assert row is not None
        assert (row.arch, row.kind) == kind and question["m"] in row.m and question["n"] in row.n
        assert question["a_source"] in row.a_source
        assert mode == "lenient" or not row.disputed


@given(
    st.sampled_from(KINDS),
    st.sampled_from([*ELEMENT_TYPES]),
    st.sampled_from(list(Major)),
    st.sampled_from(list(SwizzleMode)),
)
def test_operands_read_strictly_are_operands_read_leniently(
    kind: Any, dtype: str, major: Major, swizzle: SwizzleMode
) -> None:
    strict, lenient, off = (passes(check_operand, *kind, dtype, major, swizzle, legality=mode) for mode in MODES)
    assert strict <= lenient <= off
    assert off


@each("row", [row for row in shapes.SHAPES if not row.disputed], ids=str)
def test_every_agreed_row_is_legal_as_an_instruction_and_as_the_operands_it_reads(row: shapes.ShapeRow) -> None:
    form = {"k": row.k, "cta_group": row.cta_group, "sparse": row.sparse, "ws": row.ws}
    for place in row.a_source:
        assert all(check_shape(row.arch, row.kind, m=m, n=n, a_source=place, **form) for m in row.m for n in row.n)
    dtype = kind_row(row.arch, row.kind).dtypes[0]
    pair = {"kind": row.kind, "cta_group": row.cta_group, "sparse": row.sparse}
    arch = "sm103" if row.k == 96 else row.arch  # the first target of the generation that has it
    for m, n in product(row.m, row.n):
        a, b = (m // row.cta_group, row.k // (1 + row.sparse)), (n // row.cta_group, row.k)
        assert check_operand_tile(arch, dtype, "K", "128B", a, matrix="A", **pair)
        assert check_operand_tile(arch, dtype, "K", "128B", b, matrix="B", **pair)


# Examples: shapes


@each("kind", ["f16", "tf32", "f8f6f4"])
@each(("m", "n", "cta_group"), [(128, 8, 1), (128, 24, 1), (128, 16, 2), (256, 48, 2)])
def test_n_steps_by_8_a_cta_with_a_in_shared_memory_and_by_16_with_a_in_tensor_memory(
    kind: str, m: int, n: int, cta_group: int
) -> None:
    row = check_shape("sm100", kind, m=m, n=n, cta_group=cta_group)
    assert row is not None and not row.disputed
    assert check_shape("sm100", kind, m=m, n=32, cta_group=cta_group, a_source="tmem")
    with pytest.raises(IllegalError, match="A in tmem") as caught:
        check_shape("sm100", kind, m=m, n=n, cta_group=cta_group, a_source="tmem")
    assert caught.value.lenient
    assert check_shape("sm100", kind, m=64, n=24, a_source="tmem")


def test_n_in_steps_of_8_beside_m_128_is_told_as_a_dispute_where_the_sources_differ() -> None:
    with pytest.raises(IllegalError) as caught:
        check_shape("sm100", "f16", m=128, n=24, a_source="tmem")
    assert caught.value.lenient
    assert str(caught.value).startswith(
        "legality: N is 24, but must be 16..256 step 16; for sm100 f16 dense, A in tmem, cta_group 1, M 128"
    )
    assert "PTX ISA" in str(caught.value) and "CUTLASS" in str(caught.value)
    row = check_shape("sm100", "f16", m=128, n=24, a_source="tmem", legality="lenient")
    assert row is not None and row.disputed


@pytest.mark.parametrize(("arch", "place"), [("sm90", "tmem"), ("sm100", "rmem")])
def test_a_lies_where_the_architecture_can_read_it(arch: str, place: str) -> None:
    with pytest.raises(IllegalError, match=f"legality: A is in {place}, but must be in smem or .mem"):
        check_shape(arch, "f16", m=64, n=64, a_source=place)
    assert check_shape(arch, "f16", m=64, n=64, a_source=place, legality="off") is None


def test_what_is_read_with_a_elsewhere_is_read_with_a_in_shared_memory() -> None:
    for row in shapes.SHAPES:
        form = {"k": row.k, "cta_group": row.cta_group, "sparse": row.sparse, "ws": row.ws}
        for m, n in product(row.m, row.n):
            assert check_shape(row.arch, row.kind, m=m, n=n, legality="lenient", **form)


@each(
    ("kind", "question", "rule"),
    [
        ("f16", {"m": 256, "n": 128}, "M must be 64, 128"),
        ("f16", {"m": 64, "n": 128, "cta_group": 2}, "M must be 128, 256"),
        ("f16", {"m": 64, "n": 264}, "N must be 8..256 step 8"),
        ("f16", {"m": 64, "n": 64, "k": 32}, "K must be 16"),
        ("f16", {"m": 64, "n": 64, "cta_group": 4}, "cta_group must be 1, 2"),
        ("f16", {"m": 256, "n": 24, "cta_group": 2}, "N must be 16..256 step 16"),
        ("f16", {"m": 256, "n": 48, "cta_group": 2, "a_source": "tmem"}, "N must be 32..256 step 32"),
        ("f16", {"m": 256, "n": 48, "cta_group": 2, "sparse": True}, "N must be 32..256 step 32"),
        ("mxf8f6f4", {"m": 128, "n": 64, "cta_group": 2}, "M must be 256"),
        ("f16", {"m": 64, "n": 96, "ws": True}, "N must be 64, 128, 256"),
        ("f16", {"m": 64, "n": 256, "ws": True, "sparse": True}, "N must be 64, 128"),
        ("i8", {"m": 64, "n": 40}, "N must be 8, 16..256 step 16"),
        ("i8", {"m": 128, "n": 16, "cta_group": 2}, "N must be 32..256 step 32"),
        ("mxf8f6f4", {"m": 64, "n": 64}, "M must be 128"),
        ("mxf4", {"m": 128, "n": 64, "cta_group": 2, "sparse": True}, "M must be 256"),
        ("mxf4", {"m": 128, "n": 64, "k": 96}, "K must be 64"),
        ("mxf4", {"m": 128, "n": 64, "ws": True}, "the form must exist"),
    ],
)
def test_the_first_extent_that_leaves_no_row_is_blamed(kind: str, question: Any, rule: str) -> None:
    with pytest.raises(
        IllegalError, match=r"^legality: (.* is .*, but must be|sm100 kind mxf4 has no .ws instructions)"
    ) as caught:
        check_shape("sm100", kind, **question)
    assert caught.value.rule == rule


@pytest.mark.parametrize(("n", "cta_group", "good"), [(16, 1, True), (24, 1, False), (32, 2, True), (48, 2, False)])
def test_n_of_an_mn_major_8_bit_b_steps_by_16_a_cta(n: int, cta_group: int, good: bool) -> None:
    for kind, dtype in (("f8f6f4", "e4m3"), ("mxf8f6f4", "e5m2"), ("i8", "s8")):
        assert passes(check_transposed_b, "sm100", kind, n=n, b_dtype=dtype, b_major="MN", cta_group=cta_group) == good
        assert passes(check_transposed_b, "sm100", kind, n=n, b_dtype=dtype, b_major="K", cta_group=cta_group)
    assert passes(check_transposed_b, "sm100", "f16", n=n, b_dtype="bf16", b_major="MN", cta_group=cta_group)


#: Forms with an 8-bit MN-major B that compile in CUTLASS, although the documents have twice the step of N: kind,
#: element type, cta_group, M, N, place of A, sparse.
CUTLASS_ONLY = [
    ("f8f6f4", "e4m3", 1, 64, 8, "tmem", False),
    ("f8f6f4", "e4m3", 1, 64, 24, "smem", True),
    ("i8", "s8", 1, 64, 8, "smem", False),
    ("i8", "s8", 1, 128, 8, "tmem", False),
    ("i8", "s8", 1, 128, 8, "smem", True),
    ("mxf8f6f4", "e5m2", 1, 128, 24, "smem", False),
    ("mxf8f6f4", "e5m2", 1, 128, 8, "smem", True),
    ("mxf8f6f4", "e5m2", 2, 256, 48, "smem", False),
]
#: Forms that no source has.
NO_SOURCE = [
    ("f8f6f4", "e4m3", 1, 64, 8, "smem", False),
    ("f8f6f4", "e4m3", 1, 128, 24, "smem", False),
    ("f8f6f4", "e4m3", 1, 128, 24, "tmem", False),
    ("f8f6f4", "e4m3", 1, 128, 24, "smem", True),
    ("f8f6f4", "e4m3", 2, 256, 48, "smem", False),
    ("i8", "s8", 1, 128, 24, "smem", False),
    ("i8", "s8", 2, 256, 48, "smem", False),
    ("mxf8f6f4", "e5m2", 1, 128, 4, "smem", False),
]


@each(("form", "lenient"), [*((form, True) for form in CUTLASS_ONLY), *((form, False) for form in NO_SOURCE)])
def test_the_lenient_n_of_an_mn_major_8_bit_b_is_what_compiles_in_cutlass(form: tuple[Any, ...], lenient: bool) -> None:
    kind, dtype, cta_group, m, n, a_source, sparse = form
    options: dict[str, Any] = {"n": n, "b_dtype": dtype, "b_major": "MN", "cta_group": cta_group, "m": m}
    options |= {"a_source": a_source, "sparse": sparse}
    assert passes(check_transposed_b, "sm100", kind, **options, legality="lenient") == lenient
    with pytest.raises(IllegalError) as caught:
        check_transposed_b("sm100", kind, **options)
    assert caught.value.lenient == lenient
    assert ("sources disagree" in str(caught.value)) == lenient
    word: dict[str, Any] = {"m": m, "n": n, "cta_group": cta_group, "a_source": a_source, "sparse": sparse}
    word |= {"kind": kind, "b_major": "MN", "legality": "lenient"}
    if kind == "mxf8f6f4":
        word["scale_dtype"] = "ue8m0"
    if lenient:
        assert idesc(dtype, **word)
    else:
        with pytest.raises(IllegalError):
            idesc(dtype, **word)


# Examples: types


@each(
    ("arch", "kind", "a", "b", "d", "modes"),
    [
        ("sm100", "f16", "f16", "f16", "f16", "strict lenient off"),
        ("sm100", "f16", "bf16", "bf16", "f16", "off"),
        ("sm100", "f16", "f16", "bf16", "f32", "lenient off"),
        ("sm100", "tf32", "tf32", "tf32", "f16", "off"),
        ("sm100", "f8f6f4", "e2m3", "e2m1_unpacksmem", "f16", "strict lenient off"),
        ("sm100", "i8", "s8", "u8", "s32", "strict lenient off"),
        ("sm100", "i8", "s8", "s8", "f32", "off"),
        ("sm100", "mxf8f6f4", "e4m3", "e3m2", "f16", "off"),
        ("sm90", "f16", "bf16", "f16", "f32", "off"),
        ("sm90", "f8", "e4m3", "e5m2", "f16", "strict lenient off"),
        ("sm90", "b1", "b1", "b1", "s32", "strict lenient off"),
    ],
)
def test_types_that_go_together(arch: str, kind: str, a: str, b: str, d: str, modes: str) -> None:
    assert [mode for mode in MODES if passes(check_types, arch, kind, a, b, d, legality=mode)] == modes.split()


# Examples: scale factors and copies


@each(
    ("kind", "dtype", "vector", "k", "ids", "modes"),
    [
        ("mxf8f6f4", "ue8m0", 32, 32, (3, 1), "strict lenient off"),
        ("mxf8f6f4", "ue4m3", 32, 32, (0, 0), "off"),
        ("mxf4", "ue8m0", 32, 64, (2, 0), "strict lenient off"),
        ("mxf4", "ue8m0", 32, 64, (1, 0), "off"),
        ("mxf4", "ue8m0", 16, 64, (0, 0), "off"),
        ("mxf4nvf4", "ue8m0", 16, 64, (0, 0), "strict lenient off"),
        ("mxf4nvf4", "ue4m3", 16, 64, (2, 0), "off"),
        ("mxf4nvf4", "ue4m3", 32, 64, (0, 0), "off"),
        ("mxf4nvf4", "ue4m3", 16, 96, (2, 2), "strict lenient off"),
        ("mxf4", "ue8m0", 32, 96, (1, 3), "lenient off"),
        ("f16", "ue8m0", 32, 16, (0, 0), "off"),
    ],
)
def test_scale_factors(kind: str, dtype: str, vector: int, k: int, ids: tuple[int, int], modes: str) -> None:
    allowing = [mode for mode in MODES if passes(check_scale, kind, dtype, vector, k=k, ids=ids, legality=mode)]
    assert allowing == modes.split()


# Bad input


@pytest.mark.parametrize(
    ("check", "arguments", "options"),
    [
        (check_shape, ("sm80", "f16"), {"m": 64, "n": 64}),
        (check_shape, ("sm100", "fp16"), {"m": 64, "n": 64}),
        (check_shape, ("sm100", "f16"), {"m": 64, "n": 64, "legality": "loose"}),
        (check_shape, ("sm100", "f16"), {"m": 64, "n": 64, "a_source": "gmem"}),
        (check_types, ("sm100", "f16", "f16", "f16", "f32"), {"legality": None}),
        (check_operand, ("sm100", "f16", "bf16", "diagonal", "128B"), {}),
        (check_operand, ("sm100", "f16", "bf16", "K", "256B"), {}),
        (check_copy, ("1x1b",), {}),
        (kind_of, ("sm70", "f16"), {}),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(check: Any, arguments: Any, options: Any) -> None:
    with pytest.raises(ChoiceError) as caught:
        check(*arguments, **options)
    assert caught.value.choices


@each("bad", [True, "64", 64.0, -8, 10**400, None])
@each("what", ["m", "n", "cta_group"])
def test_an_extent_that_is_no_count_is_a_typed_error(what: str, bad: Any) -> None:
    with pytest.raises(DescriptorError):
        check_shape("sm100", "f16", **{"m": 64, "n": 64, what: bad})


# Judge: the CuTe DSL

FORMS = [
    ("f16", "bf16", "f32", 16, False),
    ("f16", "f16", "f16", 32, True),
    ("tf32", "tf32", "f32", 8, False),
    ("f8f6f4", "e4m3", "f32", 32, False),
    ("f8f6f4", "e5m2", "f16", 64, True),
    ("i8", "s8", "s32", 32, False),
    ("mxf8f6f4", "e4m3", "f32", 32, False),
    ("mxf4", "e2m1", "f32", 64, False),
    ("mxf4nvf4", "e2m1", "f32", 64, False),
    ("mxf4", "e2m1", "f32", 96, False),
]


def test_the_cute_dsl_takes_what_is_strictly_legal_and_nothing_but_what_is_leniently_legal() -> None:
    pytest.importorskip("cutlass")
    from dsl_instructions import accepted

    from descriptors.oracle.instructions import InstructionRequest

    forms = [(*form, major) for form in FORMS for major in ("K", "MN") if major == "K" or form[0] in ("f8f6f4", "i8")]
    requests = [
        InstructionRequest(
            kind=kind,
            a=dtype,
            b=dtype,
            d=d,
            m=m,
            n=n,
            k=k,
            sparse=sparse,
            cta_group=pair,
            b_major=major,
            target="sm_103a" if k == 96 else "sm_100a",
        )
        for (kind, dtype, d, k, sparse, major) in forms
        for m, n, pair in product((32, 64, 128, 192, 256), (*range(8, 265, 8), 4, 12), (1, 2))
    ]

    def legal(one: InstructionRequest, mode: Legality) -> bool:
        form: dict[str, Any] = {"n": one.n, "cta_group": one.cta_group, "legality": mode}
        b: dict[str, Any] = {"b_dtype": one.b, "b_major": one.b_major, "m": one.m, "sparse": one.sparse}
        shape = passes(check_shape, "sm100", one.kind, m=one.m, k=one.k, sparse=one.sparse, **form)
        return shape and passes(check_transposed_b, "sm100", one.kind, **b, **form)

    answers = list(zip(requests, accepted(requests), strict=True))
    assert [one for one, taken in answers if legal(one, "strict") and not taken] == []
    wider = [one for one, taken in answers if taken and not legal(one, "lenient")]
    # MmaI8Op documents N = 8, 16, 24, 32, 48, ... and checks a multiple of 8.
    assert {(one.kind, one.cta_group, one.b_major, one.n % 16, one.n > 32) for one in wider} == {
        ("i8", 1, "K", 8, True)
    }


def test_the_cute_dsl_takes_exactly_the_wgmma_shapes_of_the_table() -> None:
    pytest.importorskip("cutlass")
    from dsl_instructions import accepted

    from descriptors.oracle.instructions import InstructionRequest

    requests = [
        InstructionRequest(kind=kind, a=dtype, b=dtype, d=d, m=m, n=n, k=k, target="sm_90a")
        for kind, dtype, d, k in (("f16", "bf16", "f32", 16), ("f8", "e4m3", "f16", 32), ("i8", "u8", "s32", 32))
        for m, n in product((32, 64, 128), (*range(8, 265, 8), 4, 12))
    ]
    legal = [passes(check_shape, "sm90", one.kind, m=one.m, n=one.n, k=one.k) for one in requests]
    assert accepted(requests) == legal
