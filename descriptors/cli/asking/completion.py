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
    from descriptors.emitters.emit import LANGUAGES
    from descriptors.gemm.emit import PLAN_LANGUAGES
    from descriptors.instructions.rules import ARCHES, MODES
    from descriptors.instructions.selection import select_rows
    from descriptors.operands.atoms import ATOMS, OTHER_ATOMS
    from descriptors.operands.explicit import UNITS
    from descriptors.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.output.tiles.closed_forms import WRITERS
    from descriptors.output.tiles.formulas import TABLE_WRITERS
    from descriptors.plans.asked import SOURCES
    from descriptors.shift.steps import QUARTERS, STARTS

    arch = context.params.get("arch")
    rows = select_rows(arch if arch in ARCHES else "sm100")
    types = dict.fromkeys(dtype for row in rows.kinds for dtype in row.dtypes)
    choices: dict[str, Iterable[str]] = {
        "dtype": ELEMENT_TYPES,
        "a_dtype": types,
        "b_dtype": ELEMENT_TYPES if context.command.name == "plan" else types,
        "d_dtype": dict.fromkeys(dtype for row in rows.types for dtype in row.d),
        "scale_dtype": dict.fromkeys(row.dtype for row in rows.scales),
        "major": map(str, Major),
        "a_major": map(str, Major),
        "b_major": map(str, Major),
        "swizzle": map(str, SwizzleMode),
        "a_swizzle": map(str, SwizzleMode),
        "b_swizzle": map(str, SwizzleMode),
        "expected": map(str, SwizzleMode),
        "a_source": SOURCES,
        "arch": ARCHES,
        "unit": UNITS,
        "operand": ("A", "B"),
        "cp": (row.shape for row in rows.copies),
        "kind": (row.kind for row in rows.kinds),
        "legality": MODES,
        "quarters": QUARTERS,
        "start": STARTS,
        "atom": (atom.name for atom in ATOMS + OTHER_ATOMS),
        "emit": PLAN_LANGUAGES if context.command.name == "plan" else LANGUAGES,
        "language": LANGUAGES,
        "form": WRITERS if context.command.name == "derive" else TABLE_WRITERS,
    }
    return choices[option]
