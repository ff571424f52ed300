"""Inner loops in PTX: they assemble, our own checker finds nothing, and their sums are the words of the plan."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from gemm_plans import BLACKWELL, HOPPER, assembled, made, need_ptxas, pointers

from descriptors import DescriptorError, Plan, check_ptx
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.gemm.programs.inner_loop_ptx import linear

PLANS = [*(pytest.param(one, id=f"sm90 {name}") for name, one in HOPPER.items())]
PLANS += [*(pytest.param(one, id=f"sm100 {name}") for name, one in BLACKWELL.items())]


@need_ptxas
@pytest.mark.parametrize("arguments", PLANS)
def test_the_loop_assembles(arguments: dict[str, Any], tmp_path: Path) -> None:
    one = made(arguments)
    assert assembled(emit_plan(one, "ptx", "loop"), one.asked.arch, tmp_path) == ""


@each("arguments", PLANS)
def test_our_own_checker_knows_every_word_and_finds_nothing(arguments: dict[str, Any]) -> None:
    one = made(arguments)
    report = check_ptx(emit_plan(one, "ptx", "loop"))
    assert report.findings == () and report.unresolved == ()
    m, n, k = one.asked.blocks
    accumulators = m * n
    if one.asked.arch == "sm90":
        accumulators = one.accumulators.each  # type: ignore[union-attr]
    assert report.multiplications == accumulators * k


def words_of(text: str, one: Plan) -> dict[str, list[list[int]]]:
    """What the loop puts into %a_desc and %b_desc, by stage, where shared memory begins at 0."""
    words: dict[str, list[list[int]]] = {}
    for low in "ab":
        first = re.search(rf"add.u64 %{low}_first, %start, (\d+);", text)
        rest = re.search(rf"or.b64 %{low}, %{low}, (0x\w+);", text)
        steps = re.findall(rf"add.u64 %{low}_desc, %{low}, (\d+);", text)
        if first is None or rest is None:
            continue
        step = re.search(rf"mul.wide.u32 %step, %stage, (\d+);\n *add.u64 %{low}, %{low}_first", text)
        assert step is not None
        words[low] = [
            [(int(first[1]) + int(step[1]) * s & 0x3FFF | int(rest[1], 16)) + int(by) for by in steps]
            for s in range(one.stages)
        ]
    return words


@each("arguments", PLANS)
def test_the_sums_are_the_words_of_the_plan(arguments: dict[str, Any]) -> None:
    one = made(arguments)
    sums = words_of(emit_plan(one, "ptx", "loop"), one)
    assert set(sums) == ({"b"} if one.loads else {"a", "b"})
    for low, side in (("a", one.a), ("b", one.b)):
        if low not in sums:
            continue
        every = getattr(one.accumulators, "warpgroups", 1) if low == "a" else 1
        m = range(0, len(side.mn_steps), every)
        for stage, words in enumerate(sums[low]):
            assert set(words) == {side.word_at(i, k, stage) for i in m for k in range(len(side.k_steps))}


@pytest.mark.parametrize("arguments", [one for one in BLACKWELL.values() if "kind" in one])
def test_every_instruction_has_the_pointers_of_its_blocks(arguments: dict[str, Any]) -> None:
    """The text is run line by line: what the registers hold where an instruction is."""
    one, registers, issued = made(arguments), dict[str, int](), list[tuple[int, ...]]()
    for line in emit_plan(one, "ptx", "loop").splitlines():
        if said := re.search(r"add.u32 (%\w+), %tmem, (\w+);", line):
            registers[said[1]] = int(said[2], 0)
        elif "tcgen05.mma" in line:
            issued.append((registers["%d_tmem"], registers["%sfa_tmem"], registers["%sfb_tmem"]))
    (m, n, k), firsts = one.asked.blocks, one.accumulators.firsts  # type: ignore[union-attr]
    blocks = [(firsts[j * m + i], *pointers(one, i, j, q)) for q in range(k) for j in range(n) for i in range(m)]
    assert issued == blocks


@pytest.mark.parametrize("name", ["sparse", "sparse pair", "sparse tf32", "sparse nvf4", "sparse blocks"])
def test_every_instruction_of_sm100_has_the_metadata_of_its_k_block(name: str) -> None:
    """The text is run line by line: the column and the descriptor that the registers hold, and what was copied."""
    one, registers, issued = made(BLACKWELL[name]), dict[str, int](), list[tuple[int, int]]()
    assert one.metadata is not None
    text = emit_plan(one, "ptx", "loop")
    for line in text.splitlines():
        if said := re.search(r"(?:add.u32|mov.b32) (%\w+),(?: %tmem,)? (\w+);", line):
            registers[said[1]] = int(said[2], 0)
        elif "tcgen05.mma" in line:
            assert re.search(r"%b_desc, \[%e_tmem\], %idesc,", line)
            issued.append((registers["%e_tmem"], registers["%idesc"]))
    m, n, k = one.asked.blocks
    blocks = [(q, i) for q in range(k) for _ in range(n) for i in range(m)]
    step = 4 * one.metadata.packs
    assert issued == [(one.metadata.place(q)[0] + i * step, one.line.idescs[q]) for q, i in blocks]


@each("name", [name for name, one in BLACKWELL.items() if "kind" in one or name.startswith("sparse")])
def test_every_copy_to_tensor_memory_is_the_plans_in_every_stage(name: str) -> None:
    one = made(BLACKWELL[name])
    step, start, field = r"%step, %stage, (\d+);", r"%s_desc, %start, (\d+);", r"%s_desc, %s_desc, (0x\w+);"
    order = (step, start, r"%s_desc, %s_desc, %step;", r"%s_desc, %s_desc, 0x3fff;", field, r"%d_tmem, %tmem, (\d+);")
    pattern = "".join(rf"{line}\n *\S+ " for line in order)[: -len(r"\n *\S+ ")]
    found = re.findall(rf"{pattern}\n *tcgen05\.cp\.\S+ \[%d_tmem\], %s_desc;", emit_plan(one, "ptx", "loop"))
    for stage in range(one.stages):
        words = [(int(at) + int(by) * stage & 0x3FFF | int(rest, 16), int(column)) for by, at, rest, column in found]
        parts = [part for part in (one.scales, one.metadata) if part is not None]
        assert words == [copy for part in parts for copy in part.copies(stage)]


@pytest.mark.parametrize("name", ["sparse", "sparse u8", "sparse registers"])
def test_every_thread_loads_the_words_that_its_instructions_take(name: str) -> None:
    """The address of each load, for every warpgroup and thread, against where the packed word of the K block lies."""
    one, tile, tiles = made(HOPPER[name]), 3, 5
    metadata, groups = one.metadata, one.accumulators.warpgroups  # type: ignore[union-attr]
    assert metadata is not None
    text = emit_plan(one, "ptx", "loop")
    lines = re.findall(r"((?:add|mad|mul|and|ld)\.[\w.]+) (%\w+), (\S.*);", text[text.index("loop:") :])
    m, _, k = one.asked.blocks
    packed = np.arange(m * tiles * metadata.packs * 128).reshape(m, tiles * metadata.packs, 128)
    taken = re.findall(r"wgmma.mma_async.sp.*%b_desc, %e(\d+), (\d),", text)
    for thread in range(128 * groups):
        held = {"%thread": thread, "%group": thread // 128, "%tile": tile, "%tiles": tiles, "%metadata": 0}
        words = dict[int, int]()
        for opcode, target, rest in lines:
            of = [held.get(x, 0) if x.startswith("%") else int(x, 0) for x in re.sub(r"[\[\]+]", " ", rest).split(", ")
                  if re.fullmatch(r"%?\w+", x)]  # fmt: skip
            if opcode.startswith("ld.global"):
                at, more = re.fullmatch(r"\[(%\w+)\+(\d+)\]", rest).groups()  # type: ignore[union-attr]
                words[int(target[2:])] = (held[at] + int(more)) // 4
            elif target in ("%word", "%e_at", "%next") and len(words) < 1 + max(map(int, (e for e, _ in taken))):
                a, b, *c = of
                kind = opcode.partition(".")[0]
                held[target] = a & b if kind == "and" else a * b + sum(c) if kind in ("mul", "mad") else a + b
        own = range(thread // 128, m, groups)
        order = [(q, i) for q in range(k) for _ in one.b.mn_steps for i in own]
        for (register, selector), (q, i) in zip(taken, order, strict=True):
            pack, said = metadata.place(q)
            assert words[int(register)] == packed[i, tile * metadata.packs + pack, thread % 128]
            assert int(selector) == said


def test_steps_that_are_all_alike_are_a_product_and_others_are_chosen() -> None:
    assert linear("%x", "%i", (0,)) == ["mul.wide.u32 %x, %i, 0;"]
    assert linear("%x", "%i", (0, 4, 8)) == ["mul.wide.u32 %x, %i, 4;"]
    assert len(linear("%x", "%i", (0, 4, 6))) == 5


def test_a_name_that_is_no_identifier_is_refused() -> None:
    with pytest.raises(DescriptorError, match=r"^emit: name .* is not an identifier"):
        emit_plan(made(HOPPER["tf32"]), "ptx", "a b")


@pytest.mark.parametrize("name", ["_", "WARP_SZ"])
def test_an_entry_cannot_have_a_name_of_ptx(name: str) -> None:
    with pytest.raises(DescriptorError, match=f"^emit: {name} cannot be the name of the kernel; "):
        emit_plan(made(HOPPER["blocks"]), "ptx", name)
