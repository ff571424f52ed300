"""`tell` and `record` answer for every value that the package answers with, as its command does."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from each import each
from places import ROOT

from descriptors import (
    DescriptorError,
    accumulator,
    block_scaled,
    box_check,
    candidates,
    chain,
    check_events,
    decode,
    decode_idesc,
    derive,
    diff,
    idesc,
    map_changes,
    match,
    mma_plan,
    parse_tensor_map,
    plan,
    propose,
    propose_tiles,
    proved,
    readout,
    readouts,
    record,
    scale_factors,
    shift_convolution,
    shift_views,
    tell,
    tma_plan,
    tmem_copied,
    tmem_copies,
    tmem_copy,
    tmem_move,
    tmem_plan,
    tmem_reduction,
    verify,
    widened_copy,
    word_check,
)
from descriptors.answers import ANSWERS
from descriptors.check.inspection import check_ptx
from descriptors.check.story import explain_ptx
from descriptors.cli.command import main
from descriptors.cli.terminal import diff_record, option_name
from descriptors.gemm.contract import check_contract
from descriptors.smem.debug.diff import Diff
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.symbolic import derive_symbolic
from descriptors.smem.instructions.rules import select_rows
from descriptors.smem.tma.map_check import WordCheck
from descriptors.sweep.atlas import Summary
from descriptors.sweep.formulas import formulas
from descriptors.sweep.search import survey
from descriptors.targets import ARCHITECTURES

GOLDEN = 0x4000404000010000
SW128 = "S<3,3,3> o 0 o (64,16):(64,1)"
OPERAND = "--dtype bf16 --major K --arch sm100"  # without an architecture a command notes which it assumes
MAP = "type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B"
PIPELINE = ROOT / "docs" / "kernels" / "pipeline.ptx"
D = derive((128, 128), "bf16", "K", "128B", (64, 16))

#: A command, and the value that it answers with. Its own JSON switch is ``--json`` unless said otherwise.
SAME: dict[str, Callable[[], Any]] = {
    f"decode {GOLDEN} {OPERAND}": lambda: decode(GOLDEN, "sm100", dtype="bf16", major="K"),
    f"read {GOLDEN} {OPERAND} --shape 64x16": lambda: read(GOLDEN, "sm100", dtype="bf16", major="K", shape=(64, 16)),
    f"diff {GOLDEN} '{SW128}' {OPERAND}": lambda: diff(GOLDEN, SW128, arch="sm100", dtype="bf16", major="K"),
    f"diff {GOLDEN + 2**35} '{SW128}' {OPERAND}": lambda: diff(
        GOLDEN + 2**35, SW128, arch="sm100", dtype="bf16", major="K"
    ),
    "candidates (64,16):(64,1) --dtype bf16 --arch sm100": lambda: candidates("(64,16):(64,1)", "bf16"),
    "match (64,16):(64,1) --dtype bf16 --swizzle 128B": lambda: match("(64,16):(64,1)", "bf16", swizzle="128B"),
    f"derive {OPERAND} --swizzle 128B --tile 128x128 --mma 64x16 --no-verify": lambda: D,
    f"tensor-map '{MAP}'": lambda: parse_tensor_map(MAP),
    f"tensor-map '{MAP}' '{MAP} l2=64B'": lambda: map_changes(parse_tensor_map(MAP), parse_tensor_map(f"{MAP} l2=64B")),
    "chain --tile 64x16 'layout (64,16):(16,1)' 'ldmatrix.x4 warps=4x1'": lambda: chain(
        ["layout (64,16):(16,1)", "ldmatrix.x4 warps=4x1"], tile="64x16"
    ).verify(),
    f"tensor-map '{MAP}' (64,64):(64,1) --major K": lambda: box_check(
        parse_tensor_map(MAP), "(64,64):(64,1)", major="K"
    ),
    f"tensor-map '{MAP}' {GOLDEN} --major K": lambda: word_check(parse_tensor_map(MAP), GOLDEN, major="K"),
    "shapes --arch all": lambda: ARCHITECTURES,
    "shapes --arch sm100": lambda: select_rows("sm100"),
    "shapes --arch sm100 --kind f16": lambda: select_rows("sm100", "f16"),
    "idesc --a bf16 --m 128 --n 256": lambda: decode_idesc(idesc("bf16", m=128, n=256), "f16"),
    "search --tile 64x16 --dtype bf16 --mma 64x16 --arch sm100": lambda: survey((64, 16), "bf16", (64, 16)),
    f"derive {OPERAND} --swizzle 128B --tile 64*mx64*k --mma 64x16 --symbolic": lambda: derive_symbolic(
        ("64*m", "64*k"), "bf16", "K", "128B", (64, 16)
    ),
    "formulas": formulas,
    "plan bf16 --problem 512x512x512 --top 1 --arch sm90": lambda: propose_tiles("bf16", (512, 512, 512), top=1),
    "plan bf16 --tile 64x16x32 --arch sm90": lambda: propose("bf16", tile=(64, 16, 32), arch="sm90"),
    "tmem accumulator --m 128 --n 64": lambda: accumulator(128, 64),
    "tmem plan --m 128 --n 64 --k 64": lambda: tmem_plan(128, 64, 64),
    "tmem ld 16x256b.x8": lambda: tmem_move("16x256b.x8"),
    "tmem ld 16x32bx2.x8.min.abs.f32 --offset 64": lambda: tmem_reduction("16x32bx2.x8.min.abs.f32", offset=64),
    "tmem ld red.32x32b.x8.max.sp::2:4.f32.b2": lambda: tmem_reduction("red.32x32b.x8.max.sp::2:4.f32"),
    "tmem ld 16x256b.x8 --m 128 --n 64": lambda: readout(accumulator(128, 64), "16x256b.x8"),
    "tmem ld --m 128 --n 64": lambda: readouts(accumulator(128, 64)),
    "tmem cp": tmem_copies,
    "tmem cp 4x256b": lambda: tmem_copy("4x256b").cells,
    "tmem cp 128x256b.b8x16.b4x16_p64": lambda: widened_copy("128x256b.b8x16.b4x16_p64"),
    f"explain {PIPELINE}": lambda: explain_ptx(PIPELINE.read_text(encoding="utf-8")),
    "tmem check 'alloc d 64' relinquish": lambda: check_events(["alloc d 64", "relinquish"]),
}

#: Answers that a command gives with a proof, which ``tell`` and ``record`` are handed.
PROVED: dict[str, tuple[Callable[[], Any], str]] = {
    "tmem cp 128x256b --tile 128x64 --dtype bf16": (
        lambda: tmem_copied((128, 64), "bf16", "none", "128x256b"),
        "report",
    ),
    "tmem scale-factors --mn 128 --k 64 --vector 16": (lambda: scale_factors(128, 64, 16), "report"),
    "plan mma.m16n8k16 bf16 --arch sm80 --tile 64x64x32": (
        lambda: mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 32)),
        "proof",
    ),
    "plan m64n16k16 bf16 --arch sm90 --tile 64x16x32 --stages 2": (
        lambda: plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2),
        "proof",
    ),
    "tmem shift --height 3 --width 9 --channels 16 --filters 16 --taps 3x3": (
        lambda: shift_convolution(1, 3, 9, 16, 16, (3, 3)),
        "report",
    ),
    "tmem block-scaled --a e4m3 --m 128 --n 8 --k 64": (lambda: block_scaled(128, 8, 64, "e4m3"), "reports"),
}


@cache
def parts() -> list[Any]:
    """Return answers that no command gives alone."""
    return [
        verify(D),
        proved(D),
        D.advance_report(),
        tma_plan(D, rank=2),
        check_ptx(PIPELINE.read_text(encoding="utf-8")),  # the command names the file as well
        scale_factors(128, 64, 16).verify(),
        shift_convolution(1, 3, 9, 16, 16, (3, 3)).verify(),
        shift_views((1, 3, 9, 16), (16, 3, 3), stride=(1, 2)),
        shift_views((1, 3, 9, 16), (16, 3, 3), stride=(1, 2)).verify(),
        *(make() for make, _ in PROVED.values()),
        check_contract(
            '[operand.a]\ndtype = "bf16"\nlayout = "(64,16):(16,1)"\nswizzle = "32B"\nmma = "64x16"\nexpect.base = 0\n'
        ),
        Summary({"proved": 4}, skipped=1, elements=1000, seconds=0.5),
    ]


def row(answer: Any) -> str:
    """The row of an answer in the table."""
    if isinstance(answer, tuple):
        return f"Sequence[{row(answer[0])}]"
    names = [f"{one.__module__}.{one.__qualname__}".removeprefix("descriptors.") for one in type(answer).__mro__]
    return next((name for name in names if name in ANSWERS), names[0])


def without_more(printed: str) -> str:
    """What a command prints, but for the line that names the options with more."""
    lines = printed.splitlines(keepends=True)
    return "".join(lines[:-1] if lines[-1].startswith("more: ") else lines)


@pytest.mark.parametrize("line", SAME)
def test_a_command_prints_what_tell_and_record_say(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = SAME[line]()
    diff_of = answer.diff if isinstance(answer, WordCheck) else answer if isinstance(answer, Diff) else None
    formatted = "--format json" if "--symbolic" in line or line == "formulas" else "--json"
    main(shlex.split(line))
    text = tell(answer) if diff_of is None else tell(answer, name_of=option_name)
    assert without_more(capsys.readouterr().out) == text + "\n"
    main(shlex.split(f"{line} {formatted}"))
    data = record(answer) if diff_of is None else diff_record(answer, diff_of)
    said, plain = json.loads(capsys.readouterr().out), json.loads(json.dumps(data))
    assert said == {"schema": 1, **(plain if isinstance(plain, dict) else {line.split()[0]: plain})}


@pytest.mark.parametrize("line", PROVED)
def test_a_command_with_a_proof_prints_it_last(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, name = PROVED[line]
    answer = make()
    proof = {name: answer.verify()}
    main(shlex.split(line))
    printed = without_more(capsys.readouterr().out)
    assert printed == tell(answer, **proof) + "\n" and printed.startswith(tell(answer))
    assert "proved: " in printed.splitlines()[-1]
    main(shlex.split(f"{line} --json"))
    assert json.loads(capsys.readouterr().out) == {"schema": 1, **json.loads(json.dumps(record(answer, **proof)))}


@each("answer", parts, ids=lambda one: type(one).__name__)
def test_a_part_of_an_answer_is_text_and_plain_data_too(answer: Any) -> None:
    assert tell(answer) and not tell(answer).endswith("\n")
    assert isinstance(json.loads(json.dumps(record(answer))), dict)


def test_these_are_all_the_answers() -> None:
    answers = [make() for make in SAME.values()] + parts()
    assert {row(one) for one in answers} == set(ANSWERS)


def test_a_derivation_and_a_plan_are_told_with_their_proofs() -> None:
    report, plan = verify(D, bases=(0x2000,)), tma_plan(D, rank=2)
    assert tell(D, base=0x2000, report=report).endswith(f"\n{tell(report)}")
    assert tell(D, steps=True, base=0x2000, report=report).startswith(tell(D, base=0x2000, report=report) + "\n\n")
    assert record(D, base=0x2000, report=report)["proof"] == record(report)
    assert "proved" not in tell(plan) and record(plan)["proved"] is None
    assert tell(plan, proved=plan.verify()).endswith(
        "proved: 16384 elements in 2 boxes (copy model: " + plan.evidence + ")"
    )
    assert record(plan, proved=plan.verify())["proved"]["elements"] == 16384


@pytest.mark.parametrize("value", [7, "text", None, (), [], (7,), object()])
def test_what_is_no_answer_is_refused(value: object) -> None:
    for operation in (tell, record):
        with pytest.raises(
            DescriptorError, match=rf"^{operation.__name__}: .* is not an answer of this package; answers: "
        ):
            operation(value)
