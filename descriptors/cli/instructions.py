"""The commands ``descriptors shapes``, ``idesc`` and ``decode-idesc``: instructions and their descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.cli.derive import oracle_line
from descriptors.cli.options import json_option, option
from descriptors.cli.terminal import answered, for_terminal, note
from descriptors.cli.values import complete, is_instruction
from descriptors.errors import DescriptorError, brief
from descriptors.smem.derivation.request import named_instruction
from descriptors.smem.instructions import idesc as words
from descriptors.smem.instructions.facts import ShapeRow, TypeRow, spell
from descriptors.smem.instructions.instruction_name import InstructionName
from descriptors.smem.instructions.rules import as_arch, dense_k, kind_of, rows_of, rows_of_target, select_rows
from descriptors.smem.operands.operand import as_element_type
from descriptors.targets import ARCHITECTURES
from descriptors.text import word_text
from layoutalg.cli.console import NotThereError, Status, json_text, say

_LEGALITY = click.Choice(["strict", "lenient", "off"])
_MAJOR = click.Choice(["K", "MN"], case_sensitive=False)
_SOURCE = click.Choice(["smem", "tmem"])

#: What decides the kind of an instruction.
_KIND_OPTIONS = ("a_dtype", "b_dtype", "kind", "scale_dtype", "scale_vector", "arch")


def as_word(text: str) -> int:
    """Return the number in a text: hexadecimal, binary or decimal.

    Raises:
        DescriptorError: if the text is not a number.

    >>> as_word("0x08200490") == as_word("136316048")
    True
    """
    try:
        return int(text, 0)
    except ValueError:
        raise DescriptorError(f"decode-idesc: {brief(text)} is not a number, such as 0x08200490") from None


_ARCH = click.option(
    "--arch",
    default="sm100",
    show_default=True,
    shell_complete=complete,
    metavar="ARCH",
    help="sm100, sm103, sm107 or sm110.",
)


@click.command()
@click.argument("name", required=False, metavar="[DTYPE|INSTRUCTION]")
@option("arch", help="sm90, sm100, sm103, sm107 or sm110; all prints the table of architectures.  [default: sm100]")
@click.option(
    "--kind",
    metavar="KIND",
    shell_complete=complete,
    help="f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4; on sm90 f16 tf32 f8 i8 b1; on sm107 also ti16.  "
    "[default: list the kinds]",
)
@json_option("Print JSON.")
def shapes(name: str | None, arch: str, kind: str | None, as_json: bool) -> None:
    """List the supported instructions: types, shapes, majors, swizzles and scale factors, with their sources.

    \b
    descriptors shapes --arch sm100 --kind f16
    descriptors shapes --arch sm90
    descriptors shapes --arch all
    descriptors shapes e4m3 --arch sm90
    descriptors shapes wgmma.sp.m64n128k32

    DTYPE is the element type of both operands; it selects the kind that multiplies them. For an INSTRUCTION, the kinds
    with its shape are printed. Rows marked "lenient only" are allowed by some sources and not by others.
    """
    if name is not None and kind is not None:
        raise click.UsageError("DTYPE and --kind cannot be combined")
    if arch.casefold() == "all":
        if name is not None or kind is not None:
            raise click.UsageError("--arch all prints the table of targets and cannot be combined with DTYPE or --kind")
        say(answered(ARCHITECTURES, as_json))
        return
    if name is not None and is_instruction(name):
        say(_of_instruction(name, arch, as_json))
        return
    if name is not None:
        kinds = {row.kind for row in select_rows(arch).kinds}
        kind = name.casefold() if name.casefold() in kinds else kind_of(arch, as_element_type(name))
    rows = select_rows(arch, kind)
    say(answered(rows, as_json))


def _of_instruction(text: str, arch: str, as_json: bool) -> str:
    """Return the rows of every kind that has the instruction with a name: its shape, and the rest of the name.

    Raises:
        DescriptorError: if the architecture has no such instruction.
    """
    name = named_instruction(text, "shapes")
    m, n, k = name.extents
    of = as_arch(name.settle_arch(arch, "shapes"))
    stated = {"cta_group": name.cta_group, "kind": name.kind, "ws": name.ws or None}
    with_types: list[ShapeRow] = [
        row for row in rows_of_target("SHAPES", of)
        if row.sparse == name.sparse and all(value in (None, getattr(row, key)) for key, value in stated.items())
    ]  # fmt: skip
    with_types = [row for row in with_types if _has_types(row, name)]
    rows = [row for row in with_types if row.k == k and m in row.m and n in row.n]
    kinds = list(dict.fromkeys(row.kind for row in rows))
    if not with_types:
        raise DescriptorError(f"shapes: {of} has no instruction with the types or the kind of {name.text}")
    if not kinds:
        shape = f"{'sparse ' * name.sparse}shape of {of}"
        raise DescriptorError(f"shapes: {text[:60]} is not a {shape}; {_nearest(with_types, m, n, k)}")
    if as_json:
        return json_text({kind: record(select_rows(of, kind)) for kind in kinds})
    return "\n\n".join(answered(select_rows(of, kind), False) for kind in kinds)


def _has_types(row: ShapeRow, name: InstructionName) -> bool:
    """Return whether the kind of a row multiplies the types in a name."""
    types: list[TypeRow] = rows_of("TYPES", row.arch, row.kind)
    return any(
        all(stated is None or stated in legal for stated, legal in ((name.a, row.a), (name.b, row.b), (name.d, row.d)))
        for row in types
    )


def _nearest(rows: Sequence[ShapeRow], m: int, n: int, k: int) -> str:
    """Return the values of the first extent that no row has together with the extents before it: K, M, then N."""
    depths = [row for row in rows if row.k == k]
    if not depths:
        return f"K is {spell(sorted({row.k for row in rows}))}"
    with_m = [row for row in depths if m in row.m]
    if not with_m:
        return f"M is {spell(sorted({value for row in depths for value in row.m}))} with K {k}"
    return f"N is {spell(sorted({value for row in with_m for value in row.n}))} with M {m} and K {k}"


@click.command()
@click.option("--a", "a_dtype", metavar="DTYPE", required=True, shell_complete=complete, help="Element type of A.")
@click.option(
    "--b", "b_dtype", metavar="DTYPE", shell_complete=complete, help="Element type of B.  [default: that of A]"
)
@click.option(
    "--d",
    "d_dtype",
    metavar="DTYPE",
    shell_complete=complete,
    help="Type of the accumulator: f32, f16 or s32.  [default: f32; s32 for integers]",
)
@click.option(
    "--m", required=True, type=int, help="M, over both CTAs of a pair if --cta-group is 2 (derive uses half of it)."
)
@click.option("--n", required=True, type=int, help="N.")
@click.option("--k", type=int, help="K; required only for 96, and for 64 and 128 on sm107.")
@click.option(
    "--kind", metavar="KIND", shell_complete=complete, help="Kind of the instruction.  [default: from the types]"
)
@click.option(
    "--cta-group",
    type=int,
    default=1,
    show_default=True,
    metavar="1|2",
    help="CTAs that execute the instruction together.",
)
@click.option("--a-major", type=_MAJOR, default="K", show_default=True, help="MN sets the transpose bit of A.")
@click.option("--b-major", type=_MAJOR, default="K", show_default=True, help="MN sets the transpose bit of B.")
@click.option("--a-source", type=_SOURCE, default="smem", show_default=True, help="Memory that contains A.")
@click.option("--negate-a", is_flag=True, help="Multiply with -A.")
@click.option("--negate-b", is_flag=True, help="Multiply with -B.")
@click.option("--saturate", is_flag=True, help="Clamp integer results.")
@click.option("--sparse", is_flag=True, help="The instruction is sparse; A is stored without its zeros.")
@click.option(
    "--sparsity-selector",
    type=int,
    default=0,
    show_default=True,
    help="Metadata columns that a sparse instruction reads.",
)
@click.option("--ws", is_flag=True, help="Use the weight-stationary form.")
@click.option("--max-shift", type=int, default=0, show_default=True, help="Maximum shift with --ws: 0, 8, 16 or 32.")
@click.option(
    "--scale-dtype",
    metavar="DTYPE",
    shell_complete=complete,
    help="Type of the scale factors: ue8m0, ue4m3, or ue5m3 (sm107).",
)
@click.option("--scale-vector", type=int, help="Elements that share a scale factor: 16 or 32.")
@click.option("--sfa-id", type=int, default=0, show_default=True, help="Scale factor data ID of A.")
@click.option("--sfb-id", type=int, default=0, show_default=True, help="Scale factor data ID of B.")
@click.option(
    "--sfa-lanes",
    type=int,
    default=32,
    show_default=True,
    help="Lanes of the scale factors of A; sm107 also supports 128.",
)
@_ARCH
@click.option(
    "--legality",
    type=_LEGALITY,
    default="strict",
    show_default=True,
    help="strict: all sources allow it; lenient: at least one source does; off: it fits the fields.",
)
@click.option("--check", "compared", is_flag=True, help="Also compare with the CuTe DSL; exit status 1 if it differs.")
@json_option("Print JSON.")
def idesc(as_json: bool, compared: bool, **options: Any) -> Status:
    """Build a tcgen05.mma instruction descriptor, and check that the instruction is legal.

    \b
    descriptors idesc --a bf16 --m 128 --n 256 --b-major MN
    descriptors idesc --a e2m1 --m 256 --n 256 --cta-group 2 --scale-dtype ue4m3
    descriptors idesc --a bf16 --m 128 --n 64 --check
    """
    kind = words.as_kind(**{name: options[name] for name in _KIND_OPTIONS})
    word = words.idesc(**options)
    if kind.startswith("mx") and options["kind"] is None and options["scale_dtype"] is None:
        other = "; with --scale-dtype ue4m3 it is mxf4nvf4" if kind == "mxf4" else ""
        note(f"assuming kind {kind}, because --scale-dtype is not given{other}")
    if options["cta_group"] == 2:
        m, n = options["m"], options["n"]
        note(
            f"M {m} and N {n} count both CTAs; derive takes the part of one CTA: "
            f"{m // 2} of M for A, {n // 2} of N for B"
        )
    instruction = words.decode_idesc(word, kind, options["arch"])
    if not compared:
        say(answered(instruction, as_json))
        return Status.ANSWER
    line, data = _compared(instruction, options)
    say(json_text({**record(instruction), "check": data}) if as_json else for_terminal(f"{tell(instruction)}\n{line}"))
    return Status.ANSWER if data["agrees"] else Status.DIFFERENCE


def _compared(instruction: words.DecodedInstruction, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Compare the word of the DSL's compiler with ours, and return a line of text and plain data.

    Raises:
        NotThereError: if the CuTe DSL is not installed, or fails.
    """
    from descriptors import oracle  # imported only for --check
    from descriptors.oracle.instructions import InstructionRequest, instruction_words

    if option := next((name for name in ("ws", "max_shift", "sparsity_selector") if options[name]), None):
        raise click.UsageError(
            f"--check and --{option.replace('_', '-')} cannot be combined, because the DSL's operations do not have it"
        )
    if options["saturate"] is not (instruction.kind == "i8"):
        raise click.UsageError(
            "--check needs --saturate for integers and excludes it for other types, as the DSL's operations do"
        )
    if options["arch"] not in ("sm100", "sm103"):
        raise click.UsageError(f"--check supports --arch sm100 and sm103, not {options['arch']}")
    if not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    values = dict(instruction.values)
    plain = {name: str(values[name]) for name in ("a_major", "b_major")}
    k = options["k"] or dense_k("sm100", instruction.kind) * (1 + options["sparse"])
    target = "sm_103a" if k == 96 or options["arch"] == "sm103" else "sm_100a"
    question = InstructionRequest(
        kind=instruction.kind, a=str(values["a_dtype"]), b=str(values["b_dtype"]), d=str(values.get("d_dtype", "f32")),
        m=options["m"], n=options["n"], k=k, cta_group=options["cta_group"], sparse=options["sparse"],
        scale=str(values.get("scale_dtype", "ue8m0")), scale_ids=(options["sfa_id"], options["sfb_id"]),
        negate=(options["negate_a"], options["negate_b"]), target=target, **plain,
    )  # fmt: skip
    try:
        (answer,) = instruction_words([question])
    except oracle.OracleError as error:
        raise NotThereError(f"--check: {error}") from error
    ours, theirs = word_text(instruction.word, 32), None if answer.word is None else word_text(answer.word, 32)
    data = {"agrees": ours == theirs, "status": answer.status, "word": theirs, "ours": ours, "text": answer.text}
    return oracle_line(f"CuTe DSL {oracle.version()}", data, differ=False), data


@click.command("decode-idesc")
@click.argument("word")
@_ARCH
@click.option(
    "--kind",
    required=True,
    metavar="KIND",
    shell_complete=complete,
    help="f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4, on sm107 ti16; an instruction descriptor does not contain it.",
)
@json_option("Print JSON.")
def decode_idesc(word: str, kind: str, arch: str, as_json: bool) -> None:
    """Print the fields of an instruction descriptor, and warn about illegal values.

    \b
    descriptors decode-idesc 0x08410490 --kind f16
    """
    say(answered(words.decode_idesc(as_word(word), kind, arch), as_json))


#: The commands that the group registers.
commands = [shapes, idesc, decode_idesc]
