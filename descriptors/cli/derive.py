"""The command ``descriptors derive``: derive and verify the descriptors of a tile or a layout."""

from __future__ import annotations

from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.cli.options import (
    Grouped,
    OptionsOnly,
    advising_tile,
    json_option,
    need,
    option,
    output,
    smt2_option,
    staged,
    together,
)
from descriptors.cli.terminal import draw_beside, for_terminal, note, smt2_text, take_assumption, write_own
from descriptors.cli.values import complete, numbers, tile_extents
from descriptors.smem.derivation import explanation, subtile_words
from descriptors.smem.derivation.arguments import names
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive as derive_tile
from descriptors.smem.derivation.proved import Proof, proved
from descriptors.smem.derivation.request import named_instruction
from descriptors.smem.operands.explicit import base_of
from descriptors.smem.operands.swizzled import plain
from descriptors.text import word_text
from layoutalg.cli.console import NotThereError, Status, json_text, say
from layoutalg.frozen import replace


@click.command(cls=OptionsOnly)
@together(*(option(name, **({"callback": tile_extents} if name == "tile" else {})) for name in names()))
@output("--steps", is_flag=True, help="Also print every layout of the derivation and all offsets.")
@output("--words", is_flag=True, help="Print the descriptors of all subtiles as a table.")
@output(
    "--subtile",
    metavar="MN,K[,STAGE]",
    callback=numbers(","),
    help="Print the descriptor and the offset of one subtile, for example 0,2,3.",
)
@output("--explain", "explained", is_flag=True, help="Explain LBO, SBO and the ignored bits of this descriptor.")
@output(
    "--emit",
    metavar="LANGUAGE",
    shell_complete=complete,
    help="Generate code that builds and advances the descriptor: cuda, header, ptx, cutedsl or python.",
)
@output("--name", metavar="PREFIX", help="Prefix of the identifiers in the generated code.")
@output(
    "--symbolic",
    is_flag=True,
    is_eager=True,  # --tile is read with symbols then
    help='Print closed forms for a tile with positive integer symbols: --tile "64*m x 64*k" (or 64*m,64*k).',
)
@output(
    "--format",
    "form",
    metavar="FORMAT",
    default="text",
    show_default=True,
    shell_complete=complete,
    help="Format of the closed forms: text, latex, python or json.",
)
@output(
    "--draw", "picture_path", metavar="FILE", help="Also write a picture of the four levels: .svg, .tex, .txt or .html."
)
@json_option("Print the whole record as JSON.")
@click.option(
    "--no-verify",
    "unproved",
    is_flag=True,
    help="Do not verify the descriptors.",
    cls=Grouped,
    group="Verification",
)
@click.option(
    "--check",
    "compared",
    is_flag=True,
    help="Also compare the descriptor with the CuTe DSL; exit status 1 if it differs.",
    cls=Grouped,
    group="Verification",
)
@smt2_option
@click.option(
    "--certificate",
    "certificate_path",
    metavar="FILE",
    help="Also write a Coq file that states that the descriptors read the tile; `scripts/prove FILE` checks it.",
    cls=Grouped,
    group="Verification",
)
@click.pass_context
def derive(
    context: click.Context, /, unproved: bool, as_json: bool, explained: bool, smt2: bool, emit: str | None,
    symbolic: bool, form: str, subtile: tuple[int, ...] | None, words: bool, steps: bool, name: str | None,
    compared: bool, picture_path: str | None, certificate_path: str | None,
    **options: Any,
) -> Status:  # fmt: skip
    """Compute the shared-memory descriptors that read a tile, and verify them element by element.

    \b
    descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16
    descriptors derive --dtype bf16 --major MN --swizzle 64B --tile 128x128 --mma 64x16 --order 1,0
    descriptors derive --dtype e4m3 --major K --swizzle 64B --tile 128x64 --mma 64x32 --arch sm90 --json
    descriptors derive --dtype bf16 --unit cute --layout "S<3,4,3> o 0 o ((128,16),1,4,6):((64,1),0,16,8192)"
    descriptors derive --dtype u8 --major K --swizzle none --tile 128x64 --cp 128x256b
    descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16 --emit cuda --name a
    descriptors derive --dtype bf16 --major K --swizzle 128B --tile "64*m x 64*k" --mma 64x16 --symbolic
    descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16 --smt2 > claim.smt2

    --steps prints the derivation: the tile of canonical atoms, its partition into the subtiles that one MMA instruction
    reads, the same in 16-byte units, the canonical form whose two free strides are LBO and SBO, and the offset of each
    subtile. The verification compares each address that the tensor core reads with the address where the tile stores
    the element. A theorem then gives the other tile sizes and base addresses for which the result holds.
    """
    _check_options(context, symbolic)
    if symbolic:
        say(_closed_forms(options, form, smt2=smt2))
        return Status.ANSWER
    if compared and options["cp"] is not None:
        raise click.UsageError("--check needs an MMA instruction and cannot be combined with --cp")
    if name is not None and emit is None:
        raise click.UsageError("--name needs --emit")
    if emit is not None and options["base"] is not None:
        raise click.UsageError(
            "--base and --emit cannot be combined, because the code takes the address of the tile as an argument"
        )
    _check_answers(
        as_json,
        explained=explained,
        smt2=smt2,
        emit=emit,
        words=words,
        subtile=subtile,
        check=compared,
        steps=steps and not compared,
    )
    derivation = tile_of(options)
    base = base_address(options)
    first = derivation.descriptor_at(base)
    report = None if unproved else proved(derivation, base=base, walk=True)
    draw_beside(derivation, picture_path)
    first.encode()  # refuses an address that no tile can have, before any output
    if certificate_path is not None:
        _certify(derivation, base, certificate_path)
    _remark(derivation, options)
    if smt2:
        say(smt2_text(derivation, base=base))
    elif emit is not None:
        say(_source_code(derivation, emit, "operand" if name is None else name))
    elif explained:
        for warning in derivation.warnings_at(base):
            note(warning, "warning")
        say(for_terminal(explanation.explain(derivation)))
    elif words:
        say(for_terminal(subtile_words.tell_words(derivation, base)))
    elif subtile is not None:
        entry = subtile_words.subtile_record(derivation, subtile, base)
        say(json_text(entry) if as_json else for_terminal(subtile_words.tell_subtile(derivation, subtile, base)))
    else:
        line, data = _check(derivation) if compared else ("", {})
        if as_json:
            say(_complete_record(derivation, base, report, data))
        else:
            if not steps:
                note("--steps prints each step, --words each descriptor, --explain the meaning of LBO and SBO", "more")
            text = tell(derivation, steps=steps, base=base, report=report, because=take_assumption())
            say(for_terminal(text) + (f"\n{line}" if line else ""))
        return Status.ANSWER if data.get("agrees", True) else Status.DIFFERENCE
    return Status.ANSWER


def tile_of(options: dict[str, Any]) -> Derivation:
    """Return the derivation that options describe, not verified yet.

    Args:
        options: values of the options, by name; options that do not describe the operand are ignored.

    Raises:
        click.UsageError: if an option that a tile needs is missing.
        DescriptorError: if the operand has no descriptors.
    """
    both = options["layout"] is not None  # for derive to refuse, if there is a tile too
    need(options | {"tile": None if both else options["tile"]}, "major", "swizzle", "mma")
    with advising_tile(options, _tile_of):
        return _tile_of(options)


def _tile_of(options: dict[str, Any]) -> Derivation:
    """Derive the tile of these options."""
    arguments = {name: options[name] for name in (*names("reader"), *names("request"))}
    return derive_tile(**arguments | {"tile": staged(options["tile"], options["stages"])}, verify=False)


def base_address(options: dict[str, Any]) -> int:
    """Return the address of the tile: ``--base``, else the address in the pointer that CuTe printed, else 0."""
    base: int | None = options["base"]
    return (base_of(options["layout"]) or 0) if base is None else base


def _remark(derivation: Derivation, options: dict[str, Any]) -> None:
    """Add a note about the extents of a sparse A, or of the operand of one CTA of a pair."""
    cta_group, sparse = options["cta_group"], options["sparse"]
    if isinstance(options["mma"], str):
        name = named_instruction(options["mma"])
        cta_group, sparse = name.cta_group or cta_group, name.sparse or sparse
    if sparse and derivation.operand == "A":
        mn, k = derivation.mma
        note(
            f"A of a sparse instruction is stored without its zeros: {mn}x{k} cover K {2 * k}; its metadata is separate"
        )
    if cta_group == 2 and derivation.instruction == "mma":
        extent = {"A": "M", "B": "N", None: "M (of A) or N (of B)"}[derivation.operand]
        note(
            f"with cta_group 2 each CTA has {derivation.mma[0]} of {extent} {2 * derivation.mma[0]}; "
            "idesc needs the value for both CTAs"
        )


def _complete_record(derivation: Derivation, base: int, report: Proof | None, check: dict[str, Any]) -> str:
    """Return the complete record, including the check if there was one."""
    return json_text(record(derivation, base=base, report=report) | ({"check": check} if check else {}))


def _check_answers(as_json: bool, **answers: Any) -> None:
    """Check that at most one answer is requested; of these, only that of one subtile supports JSON."""
    requested = [name for name, value in answers.items() if value not in (None, False)]
    if len(requested) > 1 or (as_json and requested not in ([], ["subtile"], ["check"])):
        raise click.UsageError(
            "--json, --steps, --explain, --smt2, --emit, --words and --subtile cannot be combined; give one, or "
            "--subtile with --json"
            + ("; --check can be combined with the default output or --json" if answers["check"] else "")
        )


def _check_options(context: click.Context, symbolic: bool) -> None:
    """Refuse options that do not affect the closed forms, and ``--format`` without ``--symbolic``."""
    accepted = {*names("symbolic"), "symbolic", "form", "smt2"}
    source = context.get_parameter_source
    for parameter in context.command.params:
        name = parameter.name or ""
        if source(name) is click.core.ParameterSource.COMMANDLINE and (
            name not in accepted if symbolic else name == "form"
        ):
            raise click.UsageError(
                f"{parameter.opts[0]} {'cannot be combined with' if symbolic else 'needs'} --symbolic"
            )


def _closed_forms(options: dict[str, Any], form: str, *, smt2: bool) -> str:
    from descriptors.smem.derivation.closed_forms import write_formulas
    from descriptors.smem.derivation.symbolic import (
        derive_symbolic,  # a tile of numbers needs no symbols
        parse_tile,
    )

    arguments = {name: options[name] for name in names("symbolic")}
    forms = derive_symbolic(**arguments | {"tile": parse_tile(options["tile"] or "")})
    if smt2:
        return smt2_text(forms)
    return json_text(record(forms)) if form == "json" else write_formulas(forms, form)


def _check(d: Derivation) -> tuple[str, dict[str, Any]]:
    """Compare the CuTe DSL's descriptor of the tile with ours, and return a line of text and plain data.

    Both describe the first subtile at address 0; bits that have no effect may differ.

    Raises:
        NotThereError: if the CuTe DSL is not installed, or fails.
    """
    from descriptors import oracle  # imported only for --check
    from descriptors.oracle.words import WordRequest, descriptor_words

    if not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    question = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    if d.crossing is not None:
        column = (d.mma[0], d.element.per_16_bytes)
        question = replace(question, mma=column, arch="sm103", columns=(0, 0))
    try:
        (answer,) = descriptor_words([question])
    except oracle.OracleError as error:
        raise NotThereError(f"--check: {error}") from error
    ours = d.descriptor.at(0).encode()
    agrees = answer.word is not None and not (answer.word ^ ours) & ~d.dont_care_mask()
    theirs = None if answer.word is None else word_text(answer.word)
    data = {"agrees": agrees, "status": answer.status, "word": theirs, "ours": word_text(ours), "text": answer.text}
    return oracle_line(f"CuTe DSL {oracle.version()}", data, differ=answer.word != ours), data


def oracle_line(by: str, data: dict[str, Any], *, differ: bool) -> str:
    """Return the line that compares the descriptor of another tool with ours."""
    if data["word"] is None:
        return f"{by}: no word to compare with, {data['status']}: {' '.join(str(data['text']).split())}"
    if not data["agrees"]:
        return f"{by}: different, it has {data['word']}, but {data['ours']} is derived"
    return f"{by}: the same word{', except for bits without effect: ' + data['word'] if differ else ''}"


def _certify(derivation: Derivation, base: int, path: str) -> None:
    from descriptors.smem.claims.certificate import certificate  # nor a certificate

    if not path.endswith(".v"):
        raise click.UsageError(f"--certificate: the name {path} does not end in .v, which Coq requires")
    write_own("--certificate", path, certificate(derivation, base, path))
    note(f"wrote {path}")


def _source_code(derivation: Derivation, language: str, name: str) -> str:
    from descriptors.smem.emitters.emit import emit  # imported only for --emit

    return emit(derivation, language, name).removesuffix("\n")


#: The commands that the group registers.
commands = [derive]
