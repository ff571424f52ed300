"""The commands for existing descriptors and layouts: ``match``, ``decode``, ``read``, ``diff`` and ``candidates``.

Most of them also accept a tile of atoms in place of a descriptor or layout, and use the one that ``derive`` returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.cli.options import (
    advising_tile,
    dtype_option,
    json_option,
    major_option,
    need,
    option,
    smt2_option,
    staged,
    tile_options,
    together,
    unit_option,
    word_options,
)
from descriptors.cli.terminal import answered, diff_record, for_terminal, option_name, smt2_text
from descriptors.cli.values import address, complete, numbers, word
from descriptors.errors import DescriptorError
from descriptors.smem.debug.candidates import candidates as try_forms
from descriptors.smem.debug.decode import decode as decode_word
from descriptors.smem.debug.decode import expectations
from descriptors.smem.debug.diff import diff as compare
from descriptors.smem.debug.read import read as read_word
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.explicit import Given
from descriptors.smem.operands.match import match as match_layout
from descriptors.smem.operands.swizzled import stored_text
from descriptors.text import extents_text
from layoutalg.cli.console import Status, json_text, say
from layoutalg.frozen import replace


def check_base(tile: Derivation, base: int) -> None:
    """Refuse an address of a compared tile that ``derive`` refuses too.

    Raises:
        DescriptorError: naming ``diff``.
    """
    try:
        tile.descriptor_at(base)
    except DescriptorError as error:
        raise DescriptorError(str(error).replace("derive:", "diff:", 1)) from None


def derived_tile(
    instead: object, name: str, options: dict[str, Any], own: tuple[str, ...] = (), **reader: Any
) -> Derivation | None:
    """Return the derivation of the typed tile; None if the argument that the tile replaces was typed.

    Args:
        instead: the argument that the tile replaces; None if it was not typed.
        name: the name of this argument.
        options: the options of the command; those of a tile are removed.
        own: options of a tile that the command also uses without a tile, so that they are not removed.
        reader: the other arguments of ``derive``. An ``mma`` of None is the whole tile; the instruction need not exist.

    Raises:
        click.UsageError: if both or neither were typed, or options of a tile without a tile.
    """
    tile_options: Mapping[str, Any] = {
        option: options[option] if option in own else options.pop(option)
        for option in ("tile", "stages", "swizzle", "order")
    }
    if (tile_options["tile"] is None) == (instead is None):
        fact = f"{name} or --tile is missing" if instead is None else f"{name} and --tile cannot be combined"
        raise click.UsageError(fact)
    tile = staged(tile_options["tile"], tile_options["stages"])
    if tile is None:
        for option in ("swizzle", "order"):
            if tile_options[option] is not None and option not in own:
                raise click.UsageError(f"--{option} needs --tile")
        return None
    need({"tile": tile, "swizzle": tile_options["swizzle"], "major": reader["major"]}, "major", "swizzle")

    def attempt(picked: dict[str, Any]) -> Derivation:
        typed = staged(picked["tile"], picked.pop("stages"))
        assert typed is not None
        # The size of a layout is not limited. A tile with stages is checked, because it may be M x N x K by mistake.
        room = {} if len(typed) == 3 else {"capacity": None}
        return derive(
            **picked | {"tile": typed, "mma": picked["mma"] or typed[:2]} | room, legality="off", verify=False
        )

    picked = {**tile_options, **reader}
    with advising_tile(picked, attempt):
        return attempt({**picked})


@click.command()
@together(*map(option, ("dtype", "major", "swizzle", "unit")))
@click.argument("layout", required=False)
@tile_options("LAYOUT", swizzle=False)
@click.option(
    "--mma",
    metavar="MNxK",
    callback=numbers("x"),
    help="Part of the tile that one instruction reads.  [default: the whole tile]",
)
@json_option("Print JSON.")
def match(layout: str | None, mma: tuple[int, int] | None, as_json: bool, **options: Any) -> None:
    """Match the layout of one operand (MN, K), or a tile, with its canonical form, and print LBO and SBO.

    If it does not match, the answer names the mode that fails.

    \b
    descriptors match "(64,16):(64,1)" --dtype bf16 --swizzle 128B
    descriptors match "S<3,3,3> o 0 o (64,16):(64,1)" --dtype bf16
    descriptors match "S<3,4,3> o 0 o (64,16):(64,1)" --dtype bf16 --unit cute
    descriptors match --tile 64x64 --dtype bf16 --major MN --swizzle 128B --mma 64x16
    """
    tile = derived_tile(
        layout, "LAYOUT", options, own=("swizzle",), dtype=options["dtype"], major=options["major"], mma=mma
    )
    if tile is None and mma is not None:
        raise click.UsageError("--mma needs --tile")
    if tile is None:
        form = match_layout(layout or "", **options)
    else:
        form = replace(tile.match, stored=stored_text(tile.smem_tile, tile.element))
    say(answered(form, as_json))


#: The help of ``--shape`` for a descriptor.
READS = "Operand that one instruction reads, in elements."


@click.command()
@click.argument("word", callback=word)
@word_options(known=False, shape=READS)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    shell_complete=complete,
    metavar="SWIZZLE|FIELD=VALUE",
    help="Expected swizzle or field, such as 64B or stride_byte_offset=512; exit status 1 if it differs. Repeatable.",
)
def decode(
    word: int, arch: Any, dtype: str | None, major: Any, shape: tuple[int, int] | None, as_json: bool,
    expected: tuple[str, ...],
) -> Status:  # fmt: skip
    """Print the fields of the descriptor WORD, in bytes, with warnings.

    \b
    descriptors decode 0x4000404000010000
    descriptors decode 0x4000004000010002 --arch sm90 --dtype bf16 --major K --shape 64x16
    descriptors decode 0x4000404000010000 --expect 128B --expect stride_byte_offset=1024

    A descriptor does not contain the major, the element type or the shape. Pass them to get more precise warnings.
    """
    decoded = decode_word(word, arch, dtype=dtype, major=major, shape=shape)
    checks = expectations(decoded, expected)
    say(answered(decoded, as_json, expected=checks))
    return Status.ANSWER if all(check.met for check in checks) else Status.DIFFERENCE


@click.command()
@click.argument("word", callback=word, required=False)
@word_options(known=True, shape=READS)
@tile_options("WORD")
@click.option("--all", "everything", is_flag=True, help="Print all rows and columns.")
def read(
    word: int | None, arch: Any, dtype: str, major: Any, shape: tuple[int, int] | None, as_json: bool,
    everything: bool, **options: Any,
) -> None:  # fmt: skip
    """Print the addresses that the tensor core reads for the descriptor WORD, or for a tile at address 0.

    \b
    descriptors read 0x4000404000010000 --dtype bf16 --major K --shape 64x16
    descriptors read 0x8000002001000000 --arch sm90 --dtype f16 --major MN --shape 64x16 --json
    descriptors read --tile 64x64 --swizzle 64B --mma 64x16 --dtype bf16 --major K

    Each cell of the table is the shared-memory address of 16 bytes, which the tensor core reads together.
    """
    tile = derived_tile(word, "WORD", options, dtype=dtype, major=major, mma=shape, arch=arch)
    if tile is not None:
        word, shape = tile.descriptor.encode(), tile.mma
    if shape is None:
        raise click.UsageError("--shape is missing; --shape: MNxK that one instruction reads, such as 64x16")
    if len(shape) != 2:
        raise DescriptorError(f"read: --shape is {extents_text(shape)}, which is not MNxK, such as 64x16")
    assert word is not None  # it was typed, or the tile's
    read_out = read_word(word, arch, dtype=dtype, major=major, shape=shape)
    say(json_text(record(read_out)) if as_json else for_terminal(tell(read_out, everything=everything)))


def _no_word(context: click.Context, _: click.Parameter, text: str | None) -> str | None:
    """Refuse a second descriptor in place of a layout; a callback of the argument."""
    if text is not None and re.fullmatch(r"\s*0x[0-9a-fA-F_']+\s*", text):
        raise click.UsageError(
            f"diff compares a descriptor with a LAYOUT or a --tile, and {text.strip()} is another descriptor; "
            "use `descriptors decode` to print the fields of each descriptor",
            context,
        )
    return text


_READS = "Operand that one instruction reads, in elements.  [default: the whole layout]"


#: The exit status of ``diff``, by verdict.
_STATUS = {"same": Status.ANSWER, "different": Status.DIFFERENCE, "undecided": Status.UNDECIDED}


@click.command()
@click.argument("word", callback=word)
@click.argument("layout", required=False, callback=_no_word)
@word_options(known=True, shape=_READS)
@tile_options("LAYOUT")
@click.option(
    "--subtile",
    metavar="MN,K",
    callback=numbers(","),
    help="Subtile of a larger layout that the descriptor should read, for example 0,3.  [default: 0,0]",
)
@click.option(
    "--base",
    metavar="ADDRESS",
    callback=address,
    help="Address of the layout's offset 0, in bytes.  [default: the start address of the descriptor if a tile may "
    "start there, else 0]",
)
@click.option(
    "--pattern-start",
    metavar="ADDRESS",
    callback=address,
    help="Address where the swizzle pattern starts, in bytes.  [default: 0, or the base if the descriptor is right "
    "for that]",
)
@unit_option
@click.option(
    "--symbolic",
    is_flag=True,
    help="Also let z3 or cvc5 decide whether the two agree at all addresses to which both are moved together.",
)
@smt2_option
def diff(word: int, layout: str | None, as_json: bool, symbolic: bool, smt2: bool, **options: Any) -> Status:
    """Compare the addresses that the descriptor WORD reads with LAYOUT or a tile; exit status 1 if they differ.

    \b
    descriptors diff 0x4000002000010000 "S<3,3,3> o 0 o (64,16):(64,1)" --arch sm90 --dtype bf16 --major K
    descriptors diff 0x4000004000010040 --tile 64x64 --swizzle 64B --mma 64x16 --dtype bf16 --major K --arch sm90
    descriptors diff 0x4000404000010000 "S<3,4,3> o 0 o (64,64):(64,1)" --unit cute --dtype bf16 --major K --shape 64x16
    descriptors diff 0x4000404000010004 --tile 64x64 --swizzle 128B --mma 64x16 --subtile 0,2 --dtype bf16 --major K

    LAYOUT is (MN, K), plain or swizzled, in CuTe's notation. The answer has the correct word, if there is one, the
    first elements that differ, and a picture of all of them. --swizzle applies a swizzle to a plain LAYOUT; without it,
    a plain LAYOUT is not swizzled.
    Without --base, the first line names the address that was assumed for the tile. The first subtile is then right for
    a tile at that address. For another subtile, diff cannot distinguish a wrong advance from another tile address if
    they differ by a multiple of the tile's alignment. If the assumed address is not 0, it then reports undecided (exit
    status 0); pass --base to decide. If no tile can start at that address, it reports different (exit status 1).
    --symbolic asks an installed solver whether the two agree when both move by any multiple of 1024 bytes, and prints a
    differing element if not. --smt2 prints the query.
    """
    if smt2 and (symbolic or as_json):
        raise click.UsageError(f"--smt2 and {'--json' if as_json else '--symbolic'} cannot be combined")
    difference = compare(word, _layout(layout, options), **options)
    if smt2:
        say(smt2_text(difference))
        return Status.ANSWER
    if not symbolic or difference.unreadable:  # a solver cannot decide about a word without a meaning
        if as_json:
            say(json_text(diff_record(difference, difference)))
        else:
            say(for_terminal(tell(difference, name_of=option_name)))
        return _STATUS[difference.verdict]
    from descriptors.smem.claims.solver import (  # few ask a solver
        ask_of_word,
        record_answer,
        tell_answer,
        tell_word,
    )

    answer = ask_of_word(difference)
    if as_json:
        solved = record_answer(answer, difference.element.name)
        say(json_text({**diff_record(difference, difference), "symbolic": solved}))
    else:
        text = for_terminal(tell(difference, name_of=option_name))
        say(f"{text}\n{tell_answer(answer, difference.element.name)}{tell_word(difference)}")
    return Status.DIFFERENCE if answer.outcome != "unsat" else _STATUS[difference.verdict]


@click.command()
@click.argument("layout", required=False)
@dtype_option()
@click.option("--shape", "--mma", "shape", metavar="MNxK", callback=numbers("x"), help=_READS)
@major_option
@tile_options("LAYOUT")
@option("arch")
@unit_option
@json_option("Print JSON.")
def candidates(layout: str | None, major: str | None, as_json: bool, **options: Any) -> Status:
    """List the swizzles and majors that fit LAYOUT, or a tile, and why the others do not.

    \b
    descriptors candidates "(64,16):(64,1)" --dtype bf16
    descriptors candidates "((8,16),(64,2)):((64,512),(1,8192))" --dtype bf16 --shape 64x16 --arch sm90
    descriptors candidates --tile 128x64 --swizzle 64B --major MN --mma 64x16 --dtype bf16

    LAYOUT is (MN, K) in CuTe's notation. Each candidate applies its own swizzle to a plain layout, and its line names
    the resulting layout; --swizzle selects one candidate. A swizzled layout can fit only its own swizzle. Each
    descriptor is verified against the layout in its line. The exit status is 1 if no candidate fits.
    """
    if layout is not None and major is not None:
        raise click.UsageError("--major needs --tile")
    forms = try_forms(_layout(layout, options, major), **options)
    say(json_text({"candidates": record(forms)}) if as_json else for_terminal(tell(forms)))
    return Status.ANSWER if any(candidate.fit is not None for candidate in forms) else Status.DIFFERENCE


def _layout(layout: str | None, options: dict[str, Any], major: str | None = None) -> Given:
    """Return the typed layout, or the layout of the typed tile; the options of the tile are removed."""
    reads = {
        "dtype": options["dtype"],
        "major": options.get("major", major),
        "mma": options["shape"],
        "arch": options["arch"],
    }
    tile = derived_tile(layout, "LAYOUT", options, own=("swizzle",), **reads)
    if tile is None:
        return layout or ""
    if (base := options.get("base")) is not None:
        check_base(tile, base)
    del options["swizzle"]  # the layout of the tile has it
    options["unit"] = "elements"
    return tile.smem_tile


#: The commands that the group registers.
commands = [match, decode, read, diff, candidates]
