"""Forms on record against the assembler's verdicts, target by target: accepted without a finding, refused with one.

The verdicts are those of ptxas with PTX 9.5, of forms that were written and of forms that were changed at random.
"""

from __future__ import annotations

import json
import re

import pytest
from places import VECTORS

from descriptors.check.inspection import check_ptx, forms_of
from descriptors.check.ptx.ptx_module import parse
from descriptors.targets import ARCHITECTURES
from layoutalg.frozen import replace

RECORD = json.loads((VECTORS / "forms_ptxas.json").read_text(encoding="utf-8"))
_RANGE = re.compile(r"%([a-z]+)(\d+)\.\.%\1(\d+)")


def text_of(body: str, target: str = "sm_90a", version: str = RECORD["version"]) -> str:
    """A kernel of one form, its ranges of registers written out."""
    spelled = _RANGE.sub(lambda m: ",".join(f"%{m[1]}{n}" for n in range(int(m[2]), int(m[3]) + 1)), body)
    return str(RECORD["frame"]).format(version=version, target=target, body=spelled)


def taken(body: str) -> str:
    """The targets of the record on which a form has no finding."""
    module = parse(text_of(body))
    places = [replace(module, target=target) for target in RECORD["targets"]]
    return " ".join(
        one.target
        for one in places
        if all(found.rule.name == "fragment-selector" for found in forms_of(one.functions[0], one))
    )


@pytest.mark.parametrize("family", sorted({row["body"].partition(".")[0] for row in RECORD["rows"]}))
def test_a_form_is_taken_on_the_targets_on_which_the_assembler_takes_it(family: str) -> None:
    rows = [row for row in RECORD["rows"] if row["body"].partition(".")[0] == family]
    wrong = [(row["body"], row["taken"], ours) for row in rows if (ours := taken(row["body"])) != row["taken"]]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("row", RECORD["since"], ids=lambda row: f"{row['body'].partition(' ')[0]}-{row['target']}")
def test_a_form_is_taken_from_the_version_on_from_which_the_assembler_takes_it(row: dict[str, str]) -> None:
    module = parse(text_of(row["body"], row["target"]))
    places = [replace(module, version=version) for version in RECORD["versions"]]
    refused = [
        one.version for one in places if any(told.rule.property == "forms" for told in forms_of(one.functions[0], one))
    ]
    assert refused == RECORD["versions"][: RECORD["versions"].index(row["version"])]


def test_the_record_has_every_architecture_and_forms_of_either_verdict() -> None:
    assert {row.number for row in ARCHITECTURES} <= {int(re.sub(r"\D", "", target)) for target in RECORD["targets"]}
    assert sum(not row["taken"] for row in RECORD["rows"]) > 200
    assert sum(row["taken"] == " ".join(RECORD["targets"]) for row in RECORD["rows"]) > 50
    assert sum(row["taken"] == "sm_107a sm_107f" for row in RECORD["rows"]) > 20


def test_what_a_version_of_ptx_has_not_is_told_with_the_version_that_has() -> None:
    body = "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 544;"
    assert [
        one.found for one in check_ptx(text_of(body, "sm_100a", "9.3")).errors if one.rule.name == "form-version"
    ] == ["exclusive allocation needs .version 9.4, but the file has 9.3"]
    assert "form-version" not in {one.rule.name for one in check_ptx(text_of(body, "sm_100a", "9.4")).errors}
    assert "form-version" in {
        one.rule.name for one in check_ptx(text_of("ret;", "sm_107a", "9.3").replace("ret;", body, 1)).errors
    }


def test_multiplications_of_a_warp_are_counted_and_looked_at() -> None:
    words = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0"
    body = f"{words} {{%f0..%f3}}, {{%r0..%r3}}, {{%r8,%r9}}, {{%f8..%f11}}, %r50, {{BYTE,0}}, %r51, {{0,0}};"
    right, wrong = (check_ptx(text_of(body.replace("BYTE", byte), "sm_120a")) for byte in "04")
    assert (right.multiplications, right.errors) == (1, ())
    assert [one.found for one in wrong.errors] == ["byte-id-a is 4, not one of 0, 1, 2, 3"]


def test_an_exclusive_allocation_has_sizes_of_its_own_and_comes() -> None:
    words = "tcgen05.{}.cta_group::1.sync.aligned"
    body = (
        f"{words.format('alloc.exclusive')}.shared::cta.b32 [%r1], 576; "
        f"{words.format('relinquish_alloc_permit')}; {words.format('dealloc.exclusive')}.b32 %r2, 576;"
    )
    kernel = text_of(f".shared .b32 at; mov.u32 %r1, at; {body}", "sm_107a")
    kernel = kernel.replace(".entry k()", ".entry k() .reqntid 32")
    told = {one.rule.name for one in check_ptx(kernel).errors}
    assert not told & {"tcgen05-alloc-size", "tcgen05-dealloc-unknown", "tcgen05-dealloc-missing", "barrier-hang"}, told


@pytest.mark.parametrize(("target", "columns", "most"), [("sm_100a", 544, 512), ("sm_107f", 608, 576)])
def test_an_exclusive_allocation_is_told_the_sizes_of_its_target(target: str, columns: int, most: int) -> None:
    body = (
        ".shared .b32 at; mov.u32 %r1, at; "
        f"tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [%r1], {columns};"
    )
    kernel = text_of(body, target).replace(".entry k()", ".entry k() .reqntid 32")
    told = [one.found for one in check_ptx(kernel).errors if one.rule.name == "tcgen05-alloc-size"]
    assert told == [f"the exclusive allocation has {columns} columns, which is not a multiple of 32 up to {most}"]


#: The most static shared memory of a kernel, by ptxas 13.5.37, which refuses 16 bytes more.
MOST_SHARED = {
    **dict.fromkeys(("sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a"), 0x38C00),
    **dict.fromkeys(("sm_120a", "sm_121a"), 0x18C00),
    **dict.fromkeys(("sm_80", "sm_89", "sm_90", "sm_100", "sm_100f", "sm_107f", "sm_120", "sm_120f"), 0xC000),
}


@pytest.mark.parametrize("target", MOST_SHARED)
def test_static_shared_memory_is_as_much_as_the_assembler_takes(target: str) -> None:
    def told(size: int) -> list[str]:
        body = ".shared .b8 inner[32];\n.reg .b32 %r<2>;\nmov.b32 %r0, big;\nmov.b32 %r1, inner;\nret;\n}\n"
        declared = f".shared .align 16 .b8 big[{size - 32}];\n.shared .b8 other[64];\n.entry k() {{\n{body}"
        return [one.rule.name for one in check_ptx(f".version 9.5\n.target {target}\n{declared}").errors]

    assert (told(MOST_SHARED[target]), told(MOST_SHARED[target] + 16)) == ([], ["form-shared"])
