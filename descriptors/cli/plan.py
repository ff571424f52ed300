"""The command ``descriptors plan``: plan a main loop and verify it by simulation.

The command has four forms: an instruction with a tile, an ``mma.sync`` instruction with a tile, a tile without an
instruction, and a product or convolution for which a tile is chosen. The table of arguments lists the forms that accept
each option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from descriptors.answers import record, tell
from descriptors.cli.options import Grouped, Guide, Option, together
from descriptors.cli.terminal import assume, draw_beside, for_terminal, note, smt2_text, take_assumption
from descriptors.cli.values import complete, is_instruction, numbers
from descriptors.gemm.mma_planner import mma_plan, prove_mma
from descriptors.gemm.plan_arguments import ARGUMENTS, PlanArgument, Planner
from descriptors.gemm.plan_request import named_instruction
from descriptors.gemm.planner import plan as plan_of
from descriptors.gemm.planner import propose, prove_plan
from descriptors.gemm.problem import propose_tiles
from descriptors.smem.instructions.instruction_name import is_mma
from descriptors.smem.tma.convolution import convolution
from descriptors.targets import has_wgmma
from descriptors.text import extents_text, known_record
from layoutalg.cli.console import color_option, json_text, say

#: The arguments of each form, in words.
_FORMS: Mapping[Planner, str] = {
    "plan": "an INSTRUCTION of wgmma or tcgen05, such as m64n128k16",
    "warps": "an INSTRUCTION of mma.sync, such as mma.m16n8k16",
    "propose": "a --tile without an INSTRUCTION",
    "tiles": "--problem or --conv without --tile",
}
#: The options of the convolution, each with its metavar and its help.
_CONVOLUTION = {
    "filters": ("KxRxS", "Filters of the convolution; a tile is pixels x filters x channels."),
    "stride": ("HxW", "Stride of the convolution, or one number.  [default: 1]"),
    "dilation": ("HxW", "Dilation of the convolution, likewise.  [default: 1]"),
    "padding": ("HxW", "Padding of the convolution, likewise.  [default: 0]"),
}
#: The forms that accept an option of the command itself.
_OUTPUT: Mapping[str, tuple[Planner, ...]] = {
    "top": ("propose", "tiles"),
    "steps": ("plan", "warps"),
    "picture_path": ("plan", "warps"),
    "emit": ("plan", "warps", "tiles"),
    "smt2": ("plan",),
}


def _argument_option(row: PlanArgument) -> Option:
    """Return the option of an argument; those of a convolution follow the one of its activations."""
    if row.kind == "convolution":
        activations = _option("--conv", row.group, row.metavar, row.help, callback=numbers("x"))
        others = [
            _option(f"--{name}", row.group, metavar, text, callback=numbers("x"))
            for name, (metavar, text) in _CONVOLUTION.items()
        ]
        pixels = "Operand whose rows are output pixels.  [default: A]"
        return together(activations, *others, _option("--pixels", row.group, "A|B", pixels, shell_complete=complete))
    names = ["--a", "a_source"] if row.name == "a_source" else [f"--{row.name.replace('_', '-')}"]
    kinds: dict[str, dict[str, Any]] = {
        "extents": {"callback": numbers("x")},
        "name": {"shell_complete": complete},
        "text": {},
        "integer": {"type": click.IntRange(*row.bounds) if row.bounds else int},
        "flag": {"is_flag": True},
    }
    return _option(names, row.group, row.metavar or None, row.help, **kinds[row.kind])


def _option(names: str | list[str], group: str, metavar: str | None, text: str, **settings: Any) -> Option:
    declared = [names] if isinstance(names, str) else names
    return click.option(*declared, cls=Grouped, group=group, metavar=metavar, help=text, **settings)


_problem = _option(
    "--problem", "Problem", "MxNxK", "Size of the whole GEMM (sm90); a model of the run time chooses the tile.",
    callback=numbers("x"),
)  # fmt: skip
_tile, *_others = map(_argument_option, ARGUMENTS)
_outputs = (
    _option("--top", "Output", "N", "Number of proposals to show.  [default: 4]", type=click.IntRange(1, 64)),
    _option(
        "--steps",
        "Output",
        None,
        "Also print layouts, copies, accumulators, budgets and the issue order.",
        is_flag=True,
    ),
    _option("--emit", "Output", "LANGUAGE", "Generate code: cuda, header or ptx.", shell_complete=complete),
    _option("--name", "Output", "PREFIX", "Prefix of the identifiers in the generated code.  [default: gemm]"),
    _option(["--draw", "picture_path"], "Output", "FILE", "Also write a picture: .svg, .tex, .txt or .html."),
    _option("--smt2", "Output", None, "Print the claim as SMT-LIB 2, for z3 or cvc5.", is_flag=True),
    _option(["--json", "as_json"], "Output", None, "Print the plan and its proof as JSON.", is_flag=True),
)


class Output(NamedTuple):
    """The values of the options in the group ``Output``."""

    top: int | None
    steps: bool
    emit: str | None
    name: str | None
    picture_path: str | None
    smt2: bool
    as_json: bool

    def check(self, form: Planner) -> None:
        """Refuse options that the form does not accept, or that exclude each other.

        Raises:
            click.UsageError: naming the option and the form that it needs.
        """
        for name, forms in _OUTPUT.items():
            if getattr(self, name) and form not in forms:
                raise click.UsageError(_refusal(_typed(name), form, forms))
        if self.name is not None and self.emit is None:
            raise click.UsageError("--name needs --emit")
        exclusive = [
            f"--{text}" for text, is_set in (("emit", self.emit), ("smt2", self.smt2), ("json", self.as_json)) if is_set
        ]
        exclusive += ["--steps"] * (self.smt2 and self.steps)
        if len(exclusive) > 1:
            raise click.UsageError(f"{exclusive[0]} and {exclusive[1]} cannot be combined")


@click.command(cls=Guide)
@click.argument("instruction_and_dtype", nargs=-1, required=True, metavar="[INSTRUCTION] DTYPE")
@together(_tile, _problem, *_others, *_outputs, color_option)
def plan(instruction_and_dtype: tuple[str, ...], problem: tuple[int, ...] | None, **options: Any) -> None:
    """Plan a GEMM or convolution main loop: operands, descriptors, copies, accumulators, memory and issue order.

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

    INSTRUCTION is a shape or a PTX instruction name (tcgen05.mma.cta_group::2.kind::f16.m256n128k16). All qualifiers of
    the name are used. DTYPE is the element type of A. With an INSTRUCTION and a --tile, plan plans one main loop.
    Without an INSTRUCTION, it tries all instructions that divide the tile and shows the best plans. With --problem or
    --conv alone, it also chooses tiles, clusters and parts along K.

    To prove a plan, the tool simulates it with small integers: it fills shared memory with the copies, reads it with
    the descriptors, and compares every accumulator with A @ B.
    """
    output = Output(**{name: options.pop(name) for name in Output._fields})
    words = instruction_and_dtype
    form = _form(words, problem, options)
    conv = _convolution(options)
    arguments = {name: value for name, value in options.items() if value is not None and value is not False}
    if conv is not None:
        arguments["convolution"] = conv
    defaults = {row.name: row.default for row in ARGUMENTS}
    for row in ARGUMENTS:
        if row.name in arguments and form not in row.planners and arguments[row.name] != defaults[row.name]:
            raise click.UsageError(_refusal(_typed(row.name), form, row.planners))
    output.check(form)
    accepted = {row.name: arguments[row.name] for row in ARGUMENTS if row.name in arguments and form in row.planners}
    if form == "tiles":
        if conv is not None and problem is not None:
            raise click.UsageError("--conv and --problem cannot be combined, because the convolution is the problem")
        _write_tiles(words[0], problem, accepted, output)
    elif form == "propose":
        _write_proposals(words[0], accepted, output)
    else:
        _write_plan(words, form, accepted, output)


def _form(words: tuple[str, ...], problem: tuple[int, ...] | None, options: Mapping[str, Any]) -> Planner:
    """Return the form of the command that was typed.

    Raises:
        click.UsageError: if what was typed is none of the forms.
    """
    if len(words) == 1 and is_instruction(words[0]):
        raise click.UsageError(f"DTYPE is missing after {words[0][:60]}, as in m64n128k16 bf16")
    if len(words) > 2:
        raise click.UsageError(f"{' '.join(words)[:60]!r} is not [INSTRUCTION] DTYPE, such as m64n128k16 bf16")
    tile, named = options["tile"], len(words) == 2
    for name, extents in (("tile", tile), ("problem", problem)):
        if extents is not None and len(extents) != 3:
            derives = "; a tile MNxK of one operand is for `descriptors derive`" if name == "tile" else ""
            fact = f"--{name} is {extents_text(extents)}, which is not MxNxK, such as 128x128x64"
            raise click.UsageError(fact + derives)
    if tile is None and problem is not None and named:
        raise click.UsageError(
            "an INSTRUCTION and --problem cannot be combined without --tile, because --problem chooses the instruction"
        )
    if tile is not None and problem is not None:
        raise click.UsageError(
            "--tile and --problem cannot be combined; use --tile for one main loop, or --problem to have the tile "
            "chosen"
        )
    if tile is None and problem is None and (named or options["conv"] is None):
        raise click.UsageError(
            "no tile is given; use --tile MxNxK, or leave out INSTRUCTION and use --problem MxNxK or --conv NxHxWxC "
            "to have one chosen"
        )
    if tile is None:
        return "tiles"
    if is_mma(words[0], options["arch"]):
        return "warps"
    return "plan" if named else "propose"


def _typed(argument: str) -> str:
    """Return the option of an argument, without its dashes."""
    return {"a_source": "a", "convolution": "conv", "picture_path": "draw"}.get(argument, argument.replace("_", "-"))


def _refusal(option: str, form: Planner, forms: tuple[Planner, ...]) -> str:
    """Return why an option cannot be combined with a form of the command, and the way out."""
    if form == "tiles":
        instead = (
            f"use an INSTRUCTION and a --tile with --{option}"
            if option in _OTHER_INSTRUCTIONS
            else f"use --{option} with one of the commands that plan prints without it"
        )
        return f"--{option} cannot be combined with {_FORMS[form]}; {instead}"
    return f"--{option} cannot be combined with {_FORMS[form]}; it needs {_FORMS[forms[0]]}"


#: Options that ask for other instructions than a tile is chosen for.
_OTHER_INSTRUCTIONS = ("sparse", "scale-vector", "scale-dtype", "kind", "cta-group", "accumulators")


def _convolution(options: dict[str, Any]) -> Any:
    """Take the options of a convolution out, and return the convolution that they describe; None without.

    Raises:
        click.UsageError: if only some of them are given.
    """
    activations, pixels = options.pop("conv"), options.pop("pixels")
    settings = {name: options.pop(name) for name in _CONVOLUTION} | {"pixels": pixels}
    passed = {name: value for name, value in settings.items() if value is not None}
    if (activations is None) != ("filters" not in passed) or (activations is None and passed):
        present, absent = ("--filters", "--conv NxHxWxC") if activations is None else ("--conv", "--filters KxRxS")
        if activations is None and "filters" not in passed:
            present = f"--{next(iter(passed))}"
        raise click.UsageError(f"{present} needs {absent}, as a convolution has activations and filters")
    if activations is None:
        return None
    operand = {"operand": passed.pop("pixels")} if "pixels" in passed else {}
    return convolution(activations, **passed, **operand)


def _write_plan(words: tuple[str, ...], form: Planner, arguments: dict[str, Any], output: Output) -> None:
    """Plan the main loop of one instruction, prove it, and write the answer."""
    plan: Any
    if form == "warps":
        plan = mma_plan(words[0] if len(words) == 2 else None, words[-1], **arguments, verify=False)
        why = "the first that has such types"
        prove: Callable[[Any], Any] = prove_mma
    else:
        plan, prove = plan_of(*words, **arguments, verify=False), prove_plan
        why = "as M is 64" if has_wgmma(plan.asked.arch) else "by M, the CTAs or the kind"
        if named_instruction(words[0]).arch is not None:
            why = f"by the instruction {words[0]}"
    if "arch" not in arguments:
        assume(plan.asked.arch, why)
    proof = prove(plan)
    draw_beside(plan, output.picture_path)
    if output.smt2:
        sides = [plan.b] if plan.loads is not None else [plan.a, plan.b]
        say(smt2_text(*(side.derivation for side in sides)))
    elif output.emit is not None:
        _emit(plan, output)
    elif output.as_json:
        say(json_text(record(plan, proof=proof)))
    else:
        if not output.steps:
            shown = "fragments" if form == "warps" else "budgets"
            note(f"--steps layouts, copies, {shown}, order of issue; --emit the code", "more")
        say(for_terminal(tell(plan, steps=output.steps, proof=proof, because=take_assumption())))


def _emit(plan: Any, output: Output) -> None:
    """Write the code of a plan."""
    from descriptors.gemm.programs.emit_plan import emit_plan  # imported only to generate code

    assert output.emit is not None
    say(emit_plan(plan, output.emit, "gemm" if output.name is None else output.name).removesuffix("\n"))


def _write_proposals(dtype: str, arguments: dict[str, Any], output: Output) -> None:
    """Write the best plans of a tile."""
    if "arch" not in arguments:
        assume("sm100", "because no --arch is given; Hopper: sm90")
    proposals = propose(dtype, top=output.top or 4, **arguments)
    grades = known_record(proposals.plans[0].asked.arch)
    for grade in grades.values():
        note(grade, "known")
    say(json_text(record(proposals) | grades) if output.as_json else for_terminal(tell(proposals)))


def _write_tiles(dtype: str, problem: tuple[int, ...] | None, arguments: dict[str, Any], output: Output) -> None:
    """Write the best tiles of a product or a convolution, or the program of the best."""
    if "arch" not in arguments:
        assume("sm90", "because the time model is for Hopper")
    top = output.top or (4 if output.emit is None else 1)
    proposals = propose_tiles(dtype, problem, top=top, **arguments)
    if output.emit is not None:
        _emit(proposals.plans[0], output)
    else:
        say(json_text(record(proposals)) if output.as_json else for_terminal(tell(proposals)))


#: The commands that the group registers.
commands = [plan]
