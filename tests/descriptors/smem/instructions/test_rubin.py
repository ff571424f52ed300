"""Words of sm107 against those that NVIDIA's DSL makes, and what of it the tables of sm107 have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors.errors import ChoiceError, DescriptorError
from descriptors.smem.instructions.idesc import Instruction, decode_idesc, idesc
from descriptors.smem.instructions.rules import IllegalError, select_rows
from descriptors.smem.operands.operand import Major

RECORD = json.loads((VECTORS / "rubin_words.json").read_text(encoding="utf-8"))
MAJORS = (Major.K, Major.MN)


def built(row: dict[str, Any]) -> Instruction:
    """The instruction that a typed builder was asked for."""
    plain = row["builder"] == "Tcgen05InstrDesc"
    if plain:
        kind = "f16" if row["a_dtype"] in ("f16", "bf16") else "tf32" if row["a_dtype"] == "tf32" else "f8f6f4"
        kind = {"s8": "i8", "u8": "i8", "s1z4m11": "ti16"}.get(row["a_dtype"], kind)
        k = 64 if row["k_dim"] else 32
        more: dict[str, Any] = {"a_major": MAJORS[row["a_major"]], "b_major": MAJORS[row["b_major"]]}
    else:
        wide = row["builder"] == "Tcgen05MxOmmaInstrDesc"
        kind = "mxf4nvf4" if wide else "mxf8f6f4"
        k = (64, 96, 128)[row["k_dim"]] if wide else (32, 64)[row["k_dim"]]
        more = {
            "scale_dtype": ("ue4m3", "ue8m0", "ue5m3")[row["scale_format"]],
            "sfa_lanes": (32, 128)[row["a_sf_layout"]],
            "sfa_id": row["a_sf_id"],
            "sfb_id": row["b_sf_id"],
            "sparsity_version": row.get("sparsity_version", 0),
        }
    sparse = bool(row["sparse_flag"])
    return Instruction(
        kind, row["a_dtype"], row["b_dtype"], row.get("c_dtype", "f32"), row["m_dim"], row["n_dim"], k * (1 + sparse),
        sparse=sparse, arch="sm107" if kind != "i8" else "sm100", **more,
    )  # fmt: skip


@pytest.mark.parametrize("row", RECORD["builders"], ids=lambda row: str(row["word"]))
def test_a_word_is_that_of_the_typed_builders(row: dict[str, Any]) -> None:
    one = built(row)
    assert one.encode() == int(row["word"], 16)
    read = decode_idesc(one.encode(), one.kind, one.arch)
    assert read.unknown_bits == 0
    assert (read["m"], read["n"], read["a_dtype"]) == (one.m, one.n, one.a_dtype)


@pytest.mark.parametrize("row", RECORD["compiled"], ids=lambda row: f"{row['instruction']} {row['idesc']}")
def test_a_word_is_that_of_what_the_dsl_compiles_leniently_read(row: dict[str, Any]) -> None:
    kind = row["instruction"].partition(".kind::")[2].partition(".")[0]
    scaled = kind.startswith("mx")
    k = row["k"] // 2 * 2 if kind == row["kind"].removesuffix("_sm100") else 64
    ids = row.get("ids", [0, 0])
    vector = row.get("vec", 16 if "block16" in row["instruction"] else 32)
    more: dict[str, Any] = (
        {"scale_dtype": row["sf"], "scale_vector": vector, "sfa_id": ids[0], "sfb_id": ids[1]} if scaled else {}
    )
    word = idesc(
        row["a"], row["b"], row["d"], m=row["m"], n=row["n"], k=k, kind=kind, a_major=row["am"], b_major=row["bm"],
        cta_group=row["cg"], arch="sm107", legality="off" if 1 in ids and kind != "mxf8f6f4" else "lenient", **more,
    )  # fmt: skip
    assert word == int(row["idesc"], 16)


def test_what_the_table_and_the_tool_do_not_agree_on_is_lenient_alone() -> None:
    for m, cta_group in ((64, 1), (128, 2)):
        with pytest.raises(IllegalError, match="sources disagree: CuTe DSL"):
            idesc("e4m3", m=m, n=128, k=64, cta_group=cta_group, arch="sm107")
        assert idesc("e4m3", m=m, n=128, k=64, cta_group=cta_group, arch="sm107", legality="lenient")
    assert idesc("e2m1", m=256, n=128, k=128, cta_group=2, arch="sm107", scale_dtype="ue8m0") == 0x10A00488


@pytest.mark.parametrize("arch", ["sm100", "sm103", "sm110"])
def test_what_sm107_has_is_refused_elsewhere(arch: str) -> None:
    for asked in (
        {"a_dtype": "e4m3", "k": 64}, {"a_dtype": "s1z4m11"}, {"a_dtype": "e2m1", "scale_dtype": "ue5m3"},
        {"a_dtype": "e2m1", "k": 128}, {"a_dtype": "e2m1", "sfa_lanes": 128},
    ):  # fmt: skip
        with pytest.raises((ChoiceError, DescriptorError)):
            idesc(m=128, n=128, arch=arch, **asked)  # type: ignore[arg-type]


def test_sparse_fp4_of_sm107_has_a_version_of_its_own() -> None:
    word = idesc("e2m1", m=128, n=128, sparse=True, arch="sm107")
    assert decode_idesc(word, "mxf4", "sm107")["sparsity_version"] == 1
    with pytest.raises(IllegalError, match="sparsity_version is 0, but must be 1"):
        idesc("e2m1", m=128, n=128, sparse=True, arch="sm107", sparsity_version=0)


def test_an_architecture_has_the_kinds_that_its_targets_have() -> None:
    kinds = {arch: {row.kind for row in select_rows(arch).kinds} for arch in ("sm100", "sm103", "sm107", "sm110")}
    assert kinds["sm110"] == kinds["sm100"]
    assert kinds["sm100"] - kinds["sm103"] == kinds["sm100"] - kinds["sm107"] == {"i8"}
    assert kinds["sm107"] - kinds["sm100"] == {"ti16"}
    for name in ("sm120", "sm_121a"):
        with pytest.raises(DescriptorError, match=r"mma\.sync"):
            select_rows(name)
