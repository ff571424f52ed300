"""The command ``descriptors plan``: one instruction, one main loop, whole, and proved as a product."""

from __future__ import annotations

from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.cli.options import Guide, json_option, legality_option, smt2_option
from descriptors.cli.terminal import assume, assumption, for_terminal, note, smt2_text
from descriptors.cli.values import complete, is_instruction, numbers
from descriptors.gemm.planner import plan as plan_of
from descriptors.gemm.planner import propose, prove_plan
from descriptors.smem.words.descriptor import SMEM_BYTES
from descriptors.text import known_record
from layoutalg.cli.console import json_text, say


@click.command(cls=Guide)
@click.argument("words", nargs=-1, required=True, metavar="[INSTRUCTION] DTYPE")
@click.option("--tile", required=True, callback=numbers("x"), help="MxNxK of one stage, over both CTAs of a pair.")
@click.option("--stages", type=int, help="Stages in shared memory.  [default: as many as fit, at most 8]")
@click.option("--arch", shell_complete=complete, help="sm90 or sm100.  [default: sm90 for M 64, else sm100]")
@click.option("--b-dtype", shell_complete=complete, help="Element type of B.  [default: that of A]")
@click.option("--d-dtype", help="Type of the accumulators.  [default: f32; s32 of integers]")
@click.option("--a-major", shell_complete=complete, help="K or MN: the contiguous dimension of A.  [default: K]")
@click.option("--b-major", shell_complete=complete, help="K or MN: the contiguous dimension of B.  [default: K]")
@click.option(
    "--a-swizzle",
    shell_complete=complete,
    help="none, 32B, 64B, 128B or 128B_BASE32B.  [default: the widest that fits]",
)
@click.option("--b-swizzle", shell_complete=complete, help="Of B, likewise.")
@click.option("--kind", shell_complete=complete, help="Kind of an sm100 instruction.  [default: found from the types]")
@click.option("--cta-group", type=click.IntRange(1, 2), help="CTAs of one instruction.  [default: 1]")
@click.option("--cluster", callback=numbers("x"), help="MxN CTAs that share copies by multicast.  [default: 1x1]")
@click.option("--scale-dtype", help="ue8m0 or ue4m3.  [default: by the kind]")
@click.option("--scale-vector", type=int, help="Elements that share a factor: 16 or 32 by the kind; 128 on sm90.")
@click.option(
    "--a",
    "a_source",
    shell_complete=complete,
    help="Where wgmma takes A from: smem or registers, by ldmatrix.  [default: smem]",
)
@click.option(
    "--sparse",
    is_flag=True,
    help="A is stored without its zeros, two of four along K; wgmma.sp.m64n128k32 says so too.",
)
@click.option("--warpgroups", type=int, help="That multiply, on sm90.  [default: 2 or 3 if they divide the M blocks]")
@click.option("--smem", type=int, default=SMEM_BYTES, show_default=True, help="Shared memory of the CTA, in bytes.")
@click.option("--top", type=click.IntRange(1, 64), help="Proposals to show without an INSTRUCTION.  [default: 4]")
@click.option("--steps", is_flag=True, help="All of the plan: layouts, copies, accumulators, budgets, order of issue.")
@click.option("--emit", shell_complete=complete, help="Write code: cuda, header, ptx or cutedsl.")
@click.option("--draw", "picture_path", help="Write a picture too: a file's name in .svg, .tex, .txt or .html.")
@click.option("--name", help="What identifiers begin with in that code.  [default: gemm]")
@legality_option
@smt2_option
@json_option("Write the plan and its proof as JSON.")
def plan(
    words: tuple[str, ...],
    top: int | None,
    as_json: bool,
    steps: bool,
    smt2: bool,
    emit: str | None,
    picture_path: str | None,
    name: str | None,
    **options: Any,
) -> None:
    """Plan one main loop whole: operands, words, copies, accumulators, budgets, order; proved as a product.

    \b
    descriptors plan m64n128k16 bf16 --arch sm90 --tile 128x128x64 --stages 4 --b-major MN
    descriptors plan m256n256k32 e4m3 --cta-group 2 --tile 256x256x128
    descriptors plan m128n128k64 e2m1 --tile 128x128x256 --kind mxf4nvf4 --scale-vector 16
    descriptors plan wgmma.sp.m64n128k32 bf16 --tile 128x128x128
    descriptors plan bf16 --tile 128x256x64 --arch sm90
    descriptors plan m64n128k16 bf16 --tile 128x128x64 --emit header --name gemm

    INSTRUCTION is its shape, DTYPE the element type of A. The proof fills shared memory by the plan's copies, reads it
    by the plan's words, multiplies small integers exactly, and compares every accumulator with A @ B. Without an
    INSTRUCTION every one that divides the tile is tried, and the best are proposed, proved.
    """
    if len(words) > 2 or (len(words) == 1 and is_instruction(words[0])):
        raise click.UsageError(f"give [INSTRUCTION] DTYPE, like m64n128k16 bf16, found {' '.join(words)[:60]!r}")
    if len(words) == 1 and (picture_path is not None or steps):
        raise click.UsageError(f"{'--steps' if steps else '--draw'} goes only with an INSTRUCTION")
    if name is not None and emit is None:
        raise click.UsageError("--name goes only with --emit")
    if emit is not None and (as_json or len(words) == 1):
        raise click.UsageError(f"--emit goes {'not with --json' if as_json else 'only with an INSTRUCTION'}")
    if smt2 and (as_json or steps or emit is not None or len(words) == 1):
        raise click.UsageError("--smt2 is an answer of its own, of one INSTRUCTION")
    if len(words) == 1:
        say(_proposed(words[0], top, as_json, options))
        return
    if top is not None:
        raise click.UsageError("--top goes without an INSTRUCTION")
    options = {name: value for name, value in options.items() if value is not None}
    whole_plan = plan_of(*words, **options, verify=False)
    if "arch" not in options:
        why = "as M is 64" if whole_plan.asked.arch == "sm90" else "by M, the CTAs or the kind"
        assume(whole_plan.asked.arch, why)
    proof = prove_plan(whole_plan)
    if picture_path is not None:
        from descriptors.show.pictures.main_loop_picture import MainLoopPicture  # nor a picture

        MainLoopPicture(whole_plan).save(picture_path)
        note(f"wrote {picture_path}")
    if smt2:
        sides = [whole_plan.b] if whole_plan.loads is not None else [whole_plan.a, whole_plan.b]
        say(smt2_text(*(side.derivation for side in sides)))
        return
    if emit is not None:
        from descriptors.gemm.programs.emit_plan import emit_plan  # no writer of code, unless it is asked for

        say(emit_plan(whole_plan, emit, "gemm" if name is None else name).removesuffix("\n"))
        return
    if as_json:
        say(json_text(record(whole_plan, proof=proof)))
        return
    if not steps:
        note("--steps layouts, copies, budgets, order of issue; --emit the code", "more")
    say(for_terminal(tell(whole_plan, steps=steps, proof=proof, because=assumption())))


def _proposed(dtype: str, top: int | None, as_json: bool, options: dict[str, Any]) -> str:
    """The best plans of a tile."""
    if options["arch"] is None:
        assume("sm100", "as --arch is not given; sm90 is Hopper")
    proposals = propose(dtype, top=4 if top is None else top, **options)
    known = known_record(proposals.plans[0].asked.arch)
    for grade in known.values():
        note(grade, "known")
    return json_text(record(proposals) | known) if as_json else for_terminal(tell(proposals))


#: The commands that the group registers.
commands = [plan]
