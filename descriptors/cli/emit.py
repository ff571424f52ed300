"""The command ``descriptors emit``: generate code for several operands in one text.

Invariant: for one operand, the code is equal to the output of ``descriptors derive --emit``.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from descriptors.cli.derive import derive, tile_of
from descriptors.cli.options import Guide, dtype_option
from descriptors.cli.values import complete
from descriptors.errors import DescriptorError, LayoutError
from descriptors.smem.derivation.arguments import names
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.proved import proved
from descriptors.smem.emitters.emit import LANGUAGES, constexpr_header
from descriptors.smem.emitters.emit import emit as write
from descriptors.smem.operands.operand import choose
from layoutalg.cli.console import say, usage_message
from layoutalg.messages import Message

#: The options of ``derive`` that describe an operand, and whether it is proved; the others ask for another answer.
_OPERAND = (*names("reader"), *names("request"), "stages", "unproved")


@click.command(name="emit", cls=Guide)
@click.argument("language", shell_complete=complete)
@click.argument("operands", nargs=-1, metavar="'NAME: OPTIONS'...")
@dtype_option(required=False)
@click.option(
    "--arch", shell_complete=complete, metavar="ARCH", help="sm90 sm100 sm103 sm107 sm110, for operands without --arch."
)
@click.option("--name", metavar="PREFIX", help="Prefix of the operand names: with gemm, a becomes gemm_a.")
@click.pass_context
def emit(
    context: click.Context, /, language: str, operands: Sequence[str], name: str | None, **common: str | None
) -> None:
    """Generate code for several operands. LANGUAGE is cuda, header, ptx, cutedsl, python or constexpr.

    \b
    descriptors emit cuda --dtype bf16 --arch sm90 "a: --swizzle K_SW128 --tile 128x64 --mma 64x16"
    descriptors emit cuda --dtype bf16 "a: --swizzle K_SW128 --tile 128x64 --mma 64x16" "b: --swizzle MN_SW128 --tile 128x64 --mma 128x16"
    descriptors emit constexpr > include/layoutalg/descriptor.hpp

    Each operand is a NAME, a colon, and the options of `descriptors derive` that describe the operand. All identifiers
    begin with the NAME. --dtype and --arch apply to all operands. Every operand is verified before any output. header
    generates macros for C, C++ and CUDA C++, with compile-time checks of the descriptors. constexpr has no operands: it
    prints a C++17 header that derives the descriptors of any tile of atoms at compile time.
    """  # noqa: E501 - a command is one line
    language = choose("emit: language", language, {name: name for name in (*LANGUAGES, "constexpr")})
    if language == "constexpr":
        if operands or name or any(common.values()):
            raise click.UsageError(
                "constexpr takes no operand, because its header computes the descriptors of any supported operand",
                context,
            )
        say(constexpr_header().removesuffix("\n"))
        return
    if not operands:
        raise click.UsageError(f"an operand is missing; {_WRITE}", context)
    shared = [word for option, value in common.items() if value for word in (f"--{option}", value)]
    if name is not None and not name.isidentifier():
        raise click.UsageError(f"--name is {name[:40]!r}, which is not an identifier", context)
    by_name: dict[str, Derivation] = {}
    for text in operands:
        operand_name, derivation = _operand(context, text, shared)
        if operand_name in by_name:
            raise click.UsageError(f"two operands have the name {operand_name!r}", context)
        by_name[operand_name] = derivation
    if name is not None:
        by_name = {f"{name}_{operand_name}": derivation for operand_name, derivation in by_name.items()}
    say(write(list(by_name.values()), language, list(by_name)).removesuffix("\n"))


#: The way out for a missing or malformed operand.
_WRITE = 'write an operand such as "a: --swizzle K_SW128 --tile 128x64 --mma 64x16"'


def _operand(context: click.Context, text: str, shared: list[str]) -> tuple[str, Derivation]:
    """Return the name of an operand and its verified derivation.

    Raises:
        click.UsageError: if the text is not NAME: OPTIONS, or ``derive`` does not accept the options.
        DescriptorError: if the operand has no descriptors; the message names the operand.
    """
    name, colon, options = text.partition(":")
    name = name.strip()
    if not colon or not name.isidentifier():
        fact = f"{text[:60]!r} is not an operand: a name, a colon, and options of `descriptors derive`; {_WRITE}"
        raise click.UsageError(fact, context)
    try:
        words = shlex.split(options)
        with derive.make_context("derive", [*shared, *words], parent=context) as own:
            for option in derive.params:
                is_typed = own.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
                if is_typed and option.name not in _OPERAND:
                    raise click.UsageError(f"{option.opts[0]} is not an option of an operand")
            derivation = tile_of(own.params)
            if not own.params["unproved"]:
                proved(derivation, walk=True)
    except click.UsageError as error:
        message = usage_message(error, context.command_path)._replace(help=())
        raise click.UsageError(f"operand {name}: {message}", context) from None
    except ValueError as error:  # an unclosed quotation, or an error of the package
        reason = (
            str(Message.of(error)).removeprefix("derive: ")
            if isinstance(error, LayoutError)
            else f"{error} in {options[:60]!r}"
        )
        raise DescriptorError(f"operand {name}: {reason}") from None
    return name, derivation


#: The commands that the group registers.
commands = [emit]
