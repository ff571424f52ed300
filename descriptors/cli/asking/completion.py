"""Names that options take, for the shell's completion: each from the table that it is checked against.

>>> import click
>>> complete(click.Context(click.Command("derive")), click.Option(["--swizzle"]), "128")
['128B', '128B_BASE32B']
"""

from __future__ import annotations

from collections.abc import Iterable

import click


def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names that an option takes, for the shell's completion; where it takes several, the last one begun."""
    before, comma, last = begun.rpartition(",")
    names = _choices(context, parameter.name or "")
    return [before + comma + name for name in names if name.casefold().startswith(last.casefold())]


def _choices(context: click.Context, option: str) -> Iterable[str]:
    """The names by the option's own; the tables are read only when the shell asks."""
    found = _of_instructions(context)
    return found[option] if option in found else _of_operands(context)[option]


def _of_instructions(context: click.Context) -> dict[str, Iterable[str]]:
    """The names that are in the tables of instructions."""
    from descriptors.instructions.rules import ARCHES, MODES
    from descriptors.instructions.selection import select_rows
    from descriptors.operands.operand import ELEMENT_TYPES

    arch = context.params.get("arch")
    rows = select_rows(arch if arch in ARCHES else "sm100")
    types = dict.fromkeys(dtype for row in rows.kinds for dtype in row.dtypes)
    return {
        "a_dtype": types,
        "b_dtype": ELEMENT_TYPES if context.command.name == "plan" else types,
        "d_dtype": dict.fromkeys(dtype for row in rows.types for dtype in row.d),
        "scale_dtype": dict.fromkeys(row.dtype for row in rows.scales),
        "arch": ARCHES,
        "cp": (row.shape for row in rows.copies),
        "kind": (row.kind for row in rows.kinds),
        "legality": MODES,
    }


def _of_operands(context: click.Context) -> dict[str, Iterable[str]]:
    """The names of what an operand is, and of what is written of it."""
    from descriptors.emitters.emit import LANGUAGES
    from descriptors.explorer.parts.question import TABS
    from descriptors.gemm.emit import PLAN_LANGUAGES
    from descriptors.kernels.forms.finding import ALL_RULES
    from descriptors.operands.atoms import ATOMS, OTHER_ATOMS
    from descriptors.operands.explicit import UNITS
    from descriptors.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.output.tiles.closed_forms import WRITERS
    from descriptors.output.tiles.formulas import TABLE_WRITERS
    from descriptors.plans.parts.asked import SOURCES
    from descriptors.shift.steps import QUARTERS, STARTS
    from descriptors.stages.view import COLOURS

    return {
        "dtype": ELEMENT_TYPES,
        **dict.fromkeys(("major", "a_major", "b_major"), tuple(map(str, Major))),
        **dict.fromkeys(("swizzle", "a_swizzle", "b_swizzle", "expected"), tuple(map(str, SwizzleMode))),
        "a_source": SOURCES,
        "unit": UNITS,
        "operand": ("A", "B"),
        "quarters": QUARTERS,
        "start": STARTS,
        "atom": (atom.name for atom in ATOMS + OTHER_ATOMS),
        "emit": PLAN_LANGUAGES if context.command.name == "plan" else LANGUAGES,
        "language": LANGUAGES,
        **dict.fromkeys(("only", "without"), ALL_RULES),
        "tab": TABS,
        "colour": COLOURS,
        "form": WRITERS if context.command.name == "derive" else TABLE_WRITERS,
    }
