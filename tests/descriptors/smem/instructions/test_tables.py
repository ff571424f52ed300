"""The tables of legal instructions: their own order, the documents' figures, and what NVIDIA's assembler says."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise, product
from pathlib import Path

import pytest

from descriptors.smem.instructions import tables as shapes
from descriptors.smem.instructions.tables import KINDS, SHAPES
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode

ROWS = [
    *(shapes.KINDS + shapes.TYPES + shapes.SHAPES + shapes.TRANSPOSED_B),
    *(shapes.OPERANDS + shapes.SCALES + shapes.COPIES),
]
NAMES = {(row.arch, row.kind) for row in KINDS}


# Laws


def test_every_row_names_its_source() -> None:
    assert all(re.search(r"PTX ISA|CUTLASS|CuTe DSL", row.source) for row in ROWS)


def test_a_disputed_row_says_who_is_on_either_side() -> None:
    disputed = [row.disputed for row in ROWS if row.disputed]
    assert disputed
    assert all(len(re.findall(r"PTX ISA|CUTLASS|CuTe DSL", text)) >= 2 or "its table" in text for text in disputed)


def test_every_kind_has_types_shapes_and_operands() -> None:
    for rows in (shapes.TYPES, SHAPES, shapes.OPERANDS):
        assert {(row.arch, row.kind) for row in rows if not row.disputed} == NAMES
    assert set(shapes.DENSE_K) == NAMES


def test_types_of_operands_are_element_types() -> None:
    names = {*ELEMENT_TYPES, "b1"}
    assert all(set(row.dtypes) <= names for row in (*KINDS, *shapes.OPERANDS))


def test_extents_ascend_and_fit_the_fields_of_the_instruction_descriptor() -> None:
    for row in SHAPES:
        assert all(a < b for a, b in pairwise(row.m)) and all(a < b for a, b in pairwise(row.n))
        assert all(n % 8 == 0 and 8 <= n <= 256 for n in row.n)
        assert all(m % (128 if row.kind.startswith("mx") else 16) == 0 for m in row.m)


def test_sparse_doubles_k() -> None:
    for row in SHAPES:
        assert row.k in (shapes.DENSE_K[row.arch, row.kind] * (1 + row.sparse), 96)


def test_a_dense_instruction_reads_256_bits_of_k_but_for_4_bit_packed_types_and_b1() -> None:
    for kind in KINDS:
        bits = {ELEMENT_TYPES[name].storage_bits for name in kind.dtypes if name in ELEMENT_TYPES}
        assert all(shapes.DENSE_K[kind.arch, kind.kind] * one == 256 for one in bits)


def test_what_all_sources_allow_is_within_what_some_source_allows() -> None:
    for row in SHAPES:
        if row.disputed:
            agreed = [
                one
                for one in SHAPES
                if not one.disputed and (one.arch, one.kind, one.ws) == (row.arch, row.kind, row.ws)
            ]
            assert agreed


# Examples: the documents' figures


def legal(arch: str, kind: str, cta_group: int, m: int, *, sparse: bool = False, k: int | None = None) -> set[int]:
    """Every N that some source allows."""
    k = k or shapes.DENSE_K[arch, kind] * (1 + sparse)
    extents = [
        row.n
        for row in SHAPES
        if (row.arch, row.kind, row.cta_group, row.sparse, row.ws, row.k) == (arch, kind, cta_group, sparse, False, k)
        and m in row.m
    ]
    return {n for values in extents for n in values}


def steps(first: int, step: int) -> set[int]:
    return set(range(first, 257, step))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["f16", "tf32", "f8f6f4"])
def test_n_of_the_plain_kinds_is_that_of_the_ptx_isa(kind: str, sparse: bool) -> None:
    assert legal("sm100", kind, 1, 64, sparse=sparse) == steps(8, 8)
    assert legal("sm100", kind, 1, 128, sparse=sparse) == steps(8, 8)
    assert legal("sm100", kind, 2, 128, sparse=sparse) == steps(16, 16)
    assert legal("sm100", kind, 2, 256, sparse=sparse) == steps(16, 16)
    assert legal("sm100", kind, 2, 64, sparse=sparse) == set()


def test_n_of_i8_steps_by_16_above_32() -> None:
    assert legal("sm100", "i8", 1, 64) == {8, 16, 24} | steps(32, 16)


@pytest.mark.parametrize("kind", ["mxf8f6f4", "mxf4", "mxf4nvf4"])
def test_block_scaled_kinds_have_m_128_or_a_pair_of_ctas(kind: str) -> None:
    assert legal("sm100", kind, 1, 128) == steps(8, 8)
    assert legal("sm100", kind, 2, 128) == legal("sm100", kind, 2, 256) == steps(16, 16)
    assert legal("sm100", kind, 1, 64) == set()


def test_k_96_is_for_packed_fp4_only() -> None:
    assert {row.kind for row in SHAPES if row.k == 96} == {"mxf4", "mxf4nvf4"}
    assert [(row.m, row.cta_group) for row in SHAPES if row.k == 96 and not row.disputed] == [((256,), 2)] * 2


def test_the_weight_stationary_form_is_for_one_cta_and_no_scale_factors() -> None:
    stationary = [row for row in SHAPES if row.ws]
    assert {row.kind for row in stationary} == {row.kind for row in KINDS if row.ws}
    assert all(row.cta_group == 1 and row.m == (32, 64, 128) and set(row.n) <= {64, 128, 256} for row in stationary)


def test_only_16_bit_types_are_mn_major_in_wgmma() -> None:
    types = {row.dtypes for row in shapes.OPERANDS if row.arch == "sm90" and row.major is Major.MN}
    assert types == {("f16", "bf16")}


def test_tf32_is_mn_major_with_32_byte_atoms_and_nothing_else_is() -> None:
    for row in shapes.OPERANDS:
        if row.arch == "sm100" and row.major is Major.MN:
            assert (row.swizzles == (SwizzleMode.B128_BASE32B,)) == (row.kind == "tf32")


def test_packed_fp4_is_k_major_only() -> None:
    assert {row.major for row in shapes.OPERANDS if "e2m1" in row.dtypes} == {Major.K}


# Judge: ptxas


def ptxas_release() -> tuple[int, ...]:
    """Release of the ptxas at hand, (0,) where there is none."""
    if shutil.which("ptxas") is None:
        return (0,)
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"release (\d+)\.(\d+)", version)
    return tuple(map(int, release.groups())) if release else (0,)


needs_ptxas = pytest.mark.skipif(ptxas_release() < (12, 9), reason="ptxas of CUDA 12.9 or later is not installed")


def assembles(lines: list[str], target: str, folder: Path) -> list[bool]:
    """Whether ptxas takes each instruction, from one run over all of them."""
    head = [".version 8.8", f".target {target}", ".address_size 64", ".visible .entry k()", "{"]
    head += [".reg .f32 %f<256>;", ".reg .b32 %r<256>;", ".reg .b64 %d<8>;", ".reg .pred p;"]
    source = folder / "instructions.ptx"
    source.write_text("\n".join([*head, *lines, "ret;", "}", ""]), encoding="ascii")
    command = ["ptxas", f"-arch={target}", str(source), "-o", str(folder / "instructions.cubin")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    bad = {int(line) - len(head) - 1 for line in re.findall(r"line (\d+); error\s*:", ended.stderr)}
    if "Parsing error" in ended.stderr or bool(bad) != bool(ended.returncode):
        raise RuntimeError(ended.stderr[:500])  # ptxas gave up: it has not judged every line
    return [index not in bad for index in range(len(lines))]


def wgmma(
    n: int, k: int, d: str, a: str, b: str, *, sparse: bool = False, mn: tuple[bool, bool] = (False, False)
) -> str:
    name, count = {"f32": ("%f", n // 2), "s32": ("%r", n // 2), "f16": ("%r", n // 4)}[d]
    result = f"{{{', '.join(f'{name}{index}' for index in range(count))}}}"
    signs = ["1", "1"] if a not in ("s8", "u8", "b1") else []
    majors = [str(int(one)) for one in mn] if a in ("f16", "bf16") or any(mn) else []
    metadata = ["%r200", "0"] if sparse else []
    operands = ", ".join([result, "%d0", "%d1", *metadata, "p", *signs, *majors])
    and_popc = ".and.popc" if a == "b1" else ""
    return f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{and_popc} {operands};"


def sm90_types(kind: str) -> set[tuple[str, str, str]]:
    rows = [row for row in shapes.TYPES if (row.arch, row.kind) == ("sm90", kind)]
    return {triple for row in rows for triple in product(row.d, row.a, row.b)}


@needs_ptxas
def test_the_assembler_takes_the_wgmma_shapes_of_the_table_and_no_others(tmp_path: Path) -> None:
    cases = []
    for kind, sparse in product(("f16", "tf32", "f8", "i8", "b1"), (False, True)):
        rows = [row for row in SHAPES if (row.arch, row.kind, row.sparse) == ("sm90", kind, sparse)]
        for d, a, b in sorted(sm90_types(kind)):
            k = shapes.DENSE_K["sm90", kind] * (1 + sparse)
            for n in (*range(8, 265, 8), 12, 20):
                cases.append((wgmma(n, k, d, a, b, sparse=sparse), any(n in row.n for row in rows)))
    assembled = assembles([line for line, _ in cases], "sm_90a", tmp_path)
    assert [line for (line, expected), got in zip(cases, assembled, strict=True) if got != expected] == []


@needs_ptxas
def test_the_assembler_takes_the_wgmma_types_of_the_table_and_no_others(tmp_path: Path) -> None:
    legal_types = {kind: sm90_types(kind) for kind in ("f16", "tf32", "f8", "i8", "b1")}
    names = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1")
    kinds = {name: row.kind for row in KINDS if row.arch == "sm90" for name in row.dtypes}
    cases = [
        (wgmma(64, shapes.DENSE_K["sm90", kinds[a]], d, a, b), (d, a, b) in legal_types[kinds[a]])
        for a, b, d in product(names, names, ("f32", "f16", "s32"))
    ]
    assembled = assembles([line for line, _ in cases], "sm_90a", tmp_path)
    assert [line for (line, expected), got in zip(cases, assembled, strict=True) if got != expected] == []


@needs_ptxas
def test_the_assembler_takes_majors_for_16_bit_types_only(tmp_path: Path) -> None:
    triples = [
        ("f32", "bf16", "bf16", 16),
        ("f32", "tf32", "tf32", 8),
        ("f32", "e4m3", "e4m3", 32),
        ("s32", "s8", "s8", 32),
    ]
    lines = [wgmma(64, k, d, a, b, mn=(True, True)) for d, a, b, k in triples]
    assert assembles(lines, "sm_90a", tmp_path) == [True, False, False, False]


@needs_ptxas
def test_the_assembler_takes_the_copies_of_the_table_and_no_others(tmp_path: Path) -> None:
    qualifiers = ("", ".warpx2::02_13", ".warpx2::01_23", ".warpx4")
    names = [row.shape for row in shapes.COPIES] + ["16x128b", "16x256b"]
    qualifiers_of = {row.shape: ["." + one for one in row.multicast] or [""] for row in shapes.COPIES}
    cases = list(product(names, qualifiers))
    assembled = assembles(
        [f"tcgen05.cp.cta_group::1.{shape}{one} [%r0], %d0;" for shape, one in cases], "sm_100a", tmp_path
    )
    assert assembled == [one in qualifiers_of.get(shape, []) for shape, one in cases]


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_100a", "sm_103a"])
def test_the_assembler_takes_the_kinds_of_the_table_for_their_targets(target: str, tmp_path: Path) -> None:
    plain = ("f16", "tf32", "f8f6f4", "i8")
    lines = [f"tcgen05.mma.cta_group::1.kind::{kind} [%r0], %d0, %d1, %r1, p;" for kind in plain]
    expected = [
        target in row.targets or "sm_100f" in row.targets for row in KINDS if row.arch == "sm100" and row.kind in plain
    ]
    assert assembles(lines, target, tmp_path) == expected


@needs_ptxas
def test_the_assembler_takes_the_scale_vectors_of_the_table_and_no_others(tmp_path: Path) -> None:
    cases = list(product(("mxf8f6f4", "mxf4", "mxf4nvf4"), ("1X", "2X", "4X")))
    lines = [
        f"tcgen05.mma.cta_group::1.kind::{kind}.block_scale.scale_vec::{name} [%r0], %d0, %d1, %r1, [%r2], [%r3], p;"
        for kind, name in cases
    ]
    listed = {(row.kind, row.name) for row in shapes.SCALES}
    assert assembles(lines, "sm_100a", tmp_path) == [case in listed for case in cases]
