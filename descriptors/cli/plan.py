"""The command ``descriptors plan``: one instruction, one main loop, whole, and proved as a product."""

from __future__ import annotations

from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.cli.options import Guide, json_option, legality_option, smt2_option
from descriptors.cli.terminal import assume, assumption, for_terminal, note, smt2_text
from descriptors.cli.values import complete, is_instruction, numbers
from descriptors.gemm.mma_planner import mma_plan, prove_mma
from descriptors.gemm.mma_request import is_mma
from descriptors.gemm.planner import plan as plan_of
from descriptors.gemm.planner import propose, prove_plan
from descriptors.gemm.problem import propose_tiles
from descriptors.smem.tma.convolution import convolution
from descriptors.smem.words.descriptor import SMEM_BYTES
from descriptors.text import known_record
from layoutalg.cli.console import json_text, say


@click.command(cls=Guide)
@click.argument("words", nargs=-1, required=True, metavar="[INSTRUCTION] DTYPE")
@click.option("--tile", callback=numbers("x"), help="MxNxK of one stage, over both CTAs of a pair.")
@click.option(
    "--problem", callback=numbers("x"), help="MxNxK of a product, on sm90: the tile is chosen by a model of the time."
)
@click.option(
    "--conv", callback=numbers("x"), help="NxHxWxC: activations of a convolution, whose output pixels are the rows."
)
@click.option(
    "--filters", callback=numbers("x"), help="KxRxS of the convolution; a tile is pixels x filters x channels."
)
@click.option("--stride", callback=numbers("x"), help="Of the convolution, HxW or one number.  [default: 1]")
@click.option("--dilation", callback=numbers("x"), help="Of the convolution, likewise.  [default: 1]")
@click.option("--padding", callback=numbers("x"), help="Of the convolution, likewise.  [default: 0]")
@click.option("--pixels", shell_complete=complete, help="Operand whose rows are output pixels: A or B.  [default: A]")
@click.option(
    "--stages", type=int, help="Stages in shared memory.  [default: as many as fit, at most 8; 4 of mma.sync]"
)
@click.option(
    "--arch",
    shell_complete=complete,
    help="sm90 sm100 sm103 sm107 sm110; of mma.sync sm80 sm89 sm120 sm121.  "
    "[default: sm90 for M 64, the first for M 16, else sm100]",
)
@click.option("--warps", callback=numbers("x"), help="MxN warps of mma.sync.  [default: few with registers enough]")
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
@click.option(
    "--kind", shell_complete=complete, help="Kind of an sm100 or sm120 instruction.  [default: found from the types]"
)
@click.option("--cta-group", type=click.IntRange(1, 2), help="CTAs of one instruction.  [default: 1]")
@click.option("--cluster", callback=numbers("x"), help="MxN CTAs that share copies by multicast.  [default: 1x1]")
@click.option("--scale-dtype", help="ue8m0 or ue4m3.  [default: by the kind]")
@click.option("--scale-vector", type=int, help="Stored elements that share a factor: 16 or 32 by the kind; or 128.")
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
@click.option("--c-dtype", shell_complete=complete, help="Type of C in programs.  [default: that of the accumulators]")
@click.option(
    "--store",
    shell_complete=complete,
    help="How they store C: registers, or tma, through shared memory.  [default: registers, if C is of that type]",
)
@click.option(
    "--terms", shell_complete=complete, help="What is done to a sum first: row-scales, alpha-beta, bias, with commas."
)
@click.option("--splits", type=click.IntRange(1, 64), help="Parts along K, added by a second kernel.  [default: 1]")
@click.option(
    "--accumulators",
    type=click.IntRange(1, 2),
    help="Sets in tensor memory: 2 to read one while the next tile goes into the other.  [default: 1]",
)
@click.option("--smem", type=int, help=f"Shared memory of the CTA, in bytes.  [default: {SMEM_BYTES}, or the arch's]")
@click.option("--top", type=click.IntRange(1, 64), help="Proposals to show without an INSTRUCTION.  [default: 4]")
@click.option("--steps", is_flag=True, help="All of the plan: layouts, copies, accumulators, budgets, order of issue.")
@click.option("--emit", shell_complete=complete, help="Write code: cuda, header or ptx.")
@click.option("--draw", "picture_path", help="Write a picture too: a file's name in .svg, .tex, .txt or .html.")
@click.option("--name", help="What identifiers begin with in that code.  [default: gemm]")
@legality_option
@smt2_option
@json_option("Write the plan and its proof as JSON.")
def plan(
    words: tuple[str, ...],
    tile: tuple[int, ...] | None,
    problem: tuple[int, ...] | None,
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
    descriptors plan mma.m16n8k16 bf16 --tile 128x128x32 --arch sm80
    descriptors plan mma.m16n8k64 e2m1 --tile 128x128x128 --scale-vector 16
    descriptors plan bf16 --tile 128x256x64 --arch sm90
    descriptors plan bf16 --problem 3000x3000x3000 --c-dtype bf16
    descriptors plan bf16 --conv 32x14x14x256 --filters 256x3x3 --padding 1
    descriptors plan m64n128k16 bf16 --tile 128x128x64 --conv 8x56x56x64 --filters 128x3x3 --padding 1
    descriptors plan m64n128k16 bf16 --tile 128x128x64 --emit header --name gemm

    INSTRUCTION is its shape, DTYPE the element type of A. The proof fills shared memory by the plan's copies, reads it
    by the plan's words, multiplies small integers exactly, and compares every accumulator with A @ B. Without an
    INSTRUCTION every one that divides the tile is tried, and the best are proposed, proved; without a --tile too, of a
    --problem or a --conv, tiles, clusters and parts along K.
    """
    if len(words) > 2 or (len(words) == 1 and is_instruction(words[0])):
        raise click.UsageError(f"give [INSTRUCTION] DTYPE, like m64n128k16 bf16, found {' '.join(words)[:60]!r}")
    chosen = tile is None and (problem is not None or (options["conv"] is not None and len(words) == 1))
    if (tile is None and not chosen) or (tile is not None and problem is not None):
        raise click.UsageError(
            "give --tile MxNxK, or without an INSTRUCTION --problem MxNxK or a --conv, for which a tile is chosen"
        )
    if not chosen and is_mma(words[0], options["arch"]):
        more = {"top": top, "smt2": smt2, **{key: one for key, one in options.items() if key not in _OF_WARPS}}
        _warps(
            words,
            more,
            {"tile": tile, **{key: options[key] for key in _OF_WARPS}},
            as_json,
            steps,
            emit,
            picture_path,
            name,
        )
        return
    if options.pop("warps") is not None:
        raise click.UsageError("--warps goes only with mma.sync, as in mma.m16n8k16, or --arch sm80")
    options["smem"] = SMEM_BYTES if options["smem"] is None else options["smem"]
    _convolve(options)
    if chosen:
        if len(words) == 2:
            raise click.UsageError("--problem chooses the instruction too: leave it out, or give a --tile")
        _tiles(words[0], problem, top, as_json, emit, name, options, smt2 or steps or picture_path is not None)
        return
    options["tile"] = tile
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


#: Options that a plan of ``mma.sync`` takes.
_OF_WARPS = (
    "warps", "stages", "arch", "b_dtype", "d_dtype", "c_dtype", "a_major", "b_major", "kind", "scale_dtype",
    "scale_vector", "smem",
)  # fmt: skip


def _warps(
    words: tuple[str, ...], more: dict[str, Any], options: dict[str, Any], as_json: bool, steps: bool,
    emit: str | None, picture_path: str | None, name: str | None,
) -> None:  # fmt: skip
    """A main loop of ``mma.sync``, told, drawn or written."""
    other = [key for key, one in more.items() if one not in (None, False) and key != "legality"]
    if other:
        option = other[0].removesuffix("_source").replace("_", "-")
        raise click.UsageError(f"--{option} does not go with mma.sync; it does with wgmma or tcgen05, as m64n128k16")
    if name is not None and emit is None:
        raise click.UsageError("--name goes only with --emit")
    if emit is not None and as_json:
        raise click.UsageError("--emit does not go with --json")
    options = {key: one for key, one in options.items() if one is not None}
    whole_plan = mma_plan(words[0] if len(words) == 2 else None, words[-1], **options, verify=False)
    if "arch" not in options:
        assume(whole_plan.asked.arch, "the first that has such types")
    proof = prove_mma(whole_plan)
    if picture_path is not None:
        from descriptors.show.pictures.mma_picture import MmaPicture  # nor a picture

        MmaPicture(whole_plan).save(picture_path)
        note(f"wrote {picture_path}")
    if emit is not None:
        from descriptors.gemm.programs.emit_plan import emit_plan  # no writer of code, unless it is asked for

        say(emit_plan(whole_plan, emit, "gemm" if name is None else name).removesuffix("\n"))
    elif as_json:
        say(json_text(record(whole_plan, proof=proof)))
    else:
        if not steps:
            note("--steps layouts, copies, fragments, order of issue; --emit the code", "more")
        say(for_terminal(tell(whole_plan, steps=steps, proof=proof, because=assumption())))


def _convolve(options: dict[str, Any]) -> None:
    """Put the convolution in the place of the options that say it."""
    more = {name: options.pop(name) for name in ("filters", "stride", "dilation", "padding")}
    activations, pixels = options.pop("conv"), options.pop("pixels")
    more["pixels"] = pixels
    given = {name: value for name, value in more.items() if value is not None}
    if (activations is None) != (more["filters"] is None) or (activations is None and given):
        what = f"found --{next(iter(given)) if given else 'conv'} alone"
        raise click.UsageError(f"a convolution is --conv NxHxWxC with --filters KxRxS, {what}")
    if activations is not None:
        operand = {"operand": given.pop("pixels")} if "pixels" in given else {}
        options["convolution"] = convolution(activations, **given, **operand)


#: Options that a choice of tiles takes, and those that ask for other instructions than it chooses from.
_OF_TILES = ("arch", "b_dtype", "d_dtype", "c_dtype", "a_major", "b_major", "terms")
_OTHERS = ("--sparse", "--scale-vector", "--scale-dtype", "--kind", "--cta-group", "--accumulators")


def _tiles(
    dtype: str, problem: tuple[int, ...] | None, top: int | None, as_json: bool, emit: str | None, name: str | None,
    options: dict[str, Any], other: bool,
) -> None:  # fmt: skip
    """The best tiles of a product or a convolution, or the program of the best."""
    given = {name: value for name, value in options.items() if value not in (None, False) and name != "legality"}
    taken = (*_OF_TILES, "smem", *(("convolution",) if problem is None else ()))
    more = next((key for key in given if key not in taken), None)
    if more or other or (name is not None and emit is None) or (emit is not None and as_json):
        what = "--steps, --draw or --smt2" if other else "--name" if name is not None else "--emit with --json"
        raise click.UsageError(_not_of_tiles(what) if more is None else _not_of_tiles(f"--{more.replace('_', '-')}"))
    if "arch" not in given:
        assume("sm90", "as the time model is one of Hopper")
    wanted = {key: given[key] for key in taken if key in given and key != "smem"}
    proposals = propose_tiles(dtype, problem, top=(1 if emit is not None else 4) if top is None else top, **wanted)
    if emit is None:
        say(json_text(record(proposals)) if as_json else for_terminal(tell(proposals)))
        return
    from descriptors.gemm.programs.emit_plan import emit_plan  # no writer of code, unless it is asked for

    say(emit_plan(proposals.plans[0], emit, "gemm" if name is None else name).removesuffix("\n"))


def _not_of_tiles(what: str) -> str:
    """Why an option does not go with a choice of tiles, and what to do."""
    if what == "--convolution":
        return "--conv does not go with --problem: leave that out, for the convolution is the problem"
    instead = f"run the command that it prints with {what}"
    if what in _OTHERS:
        instead = f"give an INSTRUCTION and a --tile with {what}"
    return f"{what} does not go with a --problem or a --conv without a --tile: {instead}"


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
