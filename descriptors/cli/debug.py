"""The commands ``descriptors decode``, ``read``, ``diff`` and ``candidates``: from words and layouts to what is wrong.

``commands`` is for the group in ``descriptors.cli``, which also turns an error into one line and exit status 2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import click

from descriptors.cli.options import address, complete, numbers

#: The most elements that ``read`` lists.
_MOST_ELEMENTS = 1 << 20


def _word(_: click.Context, parameter: click.Parameter, text: str) -> int:
    """A callback that reads a 64-bit word, decimal or hexadecimal."""
    if (
        re.fullmatch("0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", text)
        and (word := int(text, 0 if "x" in text.lower() else 10)) < 2**64
    ):
        return word
    shown = text if len(text) <= 40 else text[:37] + "..."
    raise click.BadParameter(f"must be a 64-bit word, 0x... or decimal, found {shown!r}", param=parameter)


def _address(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    return None if text is None else address(context, parameter, text)


def _options(*, known: bool, shape: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--arch --dtype --major --shape``; ``known``: the word cannot be read without the last three."""
    options = (
        click.option(
            "--arch",
            default="sm100",
            shell_complete=complete,
            show_default=True,
            help="sm90 (wgmma) or sm100 (tcgen05).",
        ),
        click.option(
            "--dtype", required=known, shell_complete=complete, help="f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8."
        ),
        click.option(
            "--major", required=known, shell_complete=complete, help="K or MN: the dimension that is contiguous."
        ),
        click.option("--shape", callback=numbers("x"), help=shape),
        click.option("--json", "as_json", is_flag=True, help="Write the answer as JSON."),
    )

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


_READS = "MNxK that one instruction reads, in elements."


@click.command()
@click.argument("word", callback=_word)
@_options(known=False, shape=_READS)
def decode(word: int, arch: Any, dtype: str | None, major: Any, shape: tuple[int, int] | None, as_json: bool) -> None:
    """Name every field of the descriptor WORD, in bytes, with warnings.

    \b
    descriptors decode 0x4000404000010000
    descriptors decode 0x4000004000010002 --arch sm90 --dtype bf16 --major K --shape 64x16

    The major, the type and the shape are not in the word: the more of them is told, the more can be said.
    """
    from descriptors.debug.decode import decode as decoded
    from descriptors.output.debug import decode_record

    found = decoded(word, arch, dtype=dtype, major=major, shape=shape)
    click.echo(json.dumps(decode_record(found)) if as_json else str(found))


@click.command()
@click.argument("word", callback=_word)
@_options(known=True, shape=_READS)
@click.option("--all", "everything", is_flag=True, help="Show every row and column.")
def read(
    word: int,
    arch: Any,
    dtype: str,
    major: Any,
    shape: tuple[int, int] | None,
    as_json: bool,
    everything: bool,
) -> None:
    """Show what the tensor core would fetch for the descriptor WORD.

    \b
    descriptors read 0x4000404000010000 --dtype bf16 --major K --shape 64x16
    descriptors read 0x8000002001000000 --arch sm90 --dtype f16 --major MN --shape 64x16 --json

    A cell is the shared-memory address of 16 bytes, which the tensor core always reads together.
    """
    from descriptors.debug.decode import decode as decoded
    from descriptors.errors import DescriptorError
    from descriptors.operands.operand import as_element_type, as_major
    from descriptors.output.debug import read_record, read_table
    from descriptors.proof.addresses import fetched_addresses

    if shape is None or len(shape) != 2:
        raise DescriptorError("read: --shape must be MNxK, as in 64x16")
    if shape[0] * shape[1] > _MOST_ELEMENTS:
        raise DescriptorError(
            f"read: the shape must have at most {_MOST_ELEMENTS} elements, found {shape[0] * shape[1]}"
        )
    element, contiguous = as_element_type(dtype), as_major(major)
    fetched = fetched_addresses([word], arch=arch, element=element, major=contiguous, shape=shape)[0]
    found = decoded(word, arch, dtype=element, major=contiguous, shape=shape)
    if as_json:
        click.echo(json.dumps(read_record(found, element, contiguous, fetched)))
    else:
        click.echo("\n".join(read_table(found, element, contiguous, fetched, everything)))


@click.command()
@click.argument("word", callback=_word)
@click.argument("layout")
@_options(known=True, shape="MNxK that one instruction reads, in elements.  [default: the whole layout]")
@click.option(
    "--subtile", callback=numbers(","), help="Which operand of a larger layout, like 0,3.  [default: the first]"
)
@click.option(
    "--base", callback=_address, help="Address of the layout's offset 0, in bytes.  [default: as the word starts]"
)
@click.option(
    "--pattern-start", default="0", callback=_address, help="Address where the swizzle pattern starts, in bytes."
)
@click.option("--unit", default="elements", show_default=True, shell_complete=complete, help="elements, bytes or cute.")
def diff(
    word: int,
    layout: str,
    arch: Any,
    dtype: str,
    major: Any,
    shape: tuple[int, int] | None,
    as_json: bool,
    subtile: tuple[int, ...] | None,
    base: int | None,
    pattern_start: int,
    unit: Any,
) -> None:
    """Compare what the tensor core reads for the descriptor WORD with LAYOUT; exit status 1 if they differ.

    \b
    descriptors diff 0x4000002000010000 "S<3,3,3> o 0 o (64,16):(64,1)" --arch sm90 --dtype bf16 --major K
    descriptors diff 0x4000404000010004 "S<3,4,3> o 0 o (64,64):(64,1)" --unit cute --dtype bf16 --major K --shape 64x16

    LAYOUT is (MN, K), plain or swizzled, in CuTe's notation. Shows the first elements that differ, a picture of all of
    them, and the word that would be right, if there is one. Without --base the layout is placed where the word starts.
    """
    from descriptors.debug.diff import diff as compare
    from descriptors.output.debug import diff_record

    found = compare(
        word,
        layout,
        arch=arch,
        dtype=dtype,
        major=major,
        shape=shape,
        subtile=subtile,
        base=base,
        pattern_start=pattern_start,
        unit=unit,
    )
    click.echo(json.dumps(diff_record(found)) if as_json else str(found))
    if not found.ok:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("layout")
@click.option("--dtype", required=True, shell_complete=complete, help="f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8.")
@click.option("--shape", callback=numbers("x"), help=f"{_READS}  [default: the whole layout]")
@click.option(
    "--arch", default="sm100", shell_complete=complete, show_default=True, help="sm90 (wgmma) or sm100 (tcgen05)."
)
@click.option("--unit", default="elements", show_default=True, shell_complete=complete, help="elements, bytes or cute.")
@click.option("--json", "as_json", is_flag=True, help="Write the answer as JSON.")
def candidates(layout: str, dtype: str, shape: tuple[int, int] | None, arch: Any, unit: Any, as_json: bool) -> None:
    """Which swizzles and majors fit LAYOUT, and why each of the others does not.

    \b
    descriptors candidates "(64,16):(64,1)" --dtype bf16
    descriptors candidates "((8,16),(64,2)):((64,512),(1,8192))" --dtype bf16 --shape 64x16 --arch sm90

    LAYOUT is (MN, K) in CuTe's notation. Plain, it says where elements lie before a swizzle, and any swizzle may fit;
    swizzled, only its own may. Each descriptor shown has been proved against the layout.
    """
    from descriptors.debug.candidates import candidates as tried
    from descriptors.output.debug import candidate_record

    found = tried(layout, dtype, shape=shape, arch=arch, unit=unit)
    if as_json:
        click.echo(json.dumps([candidate_record(one) for one in found]))
    else:
        click.echo("\n".join(map(str, found)))


#: The commands that the group registers.
commands = [decode, read, diff, candidates]
