"""What was typed where nothing like it is taken, and who takes it: a word, a layout, a tile, an instruction.

Law: what one command is told to leave to another, the other takes.

>>> for text in ("0x4000404000010000", "(64,16):(64,1)", "128x64", "m64n128k16", "nonsense"):
...     print(elsewhere(text) or "-")
a word is read by descriptors decode
a layout is matched by descriptors match, and derived by descriptors derive --layout
a tile is given by --tile
an instruction is given by --mma
-
"""

from __future__ import annotations

import re

import click

#: What a text looks like, and who takes it.
_TAKERS = (
    (r"0x[0-9a-f_']+|(?=.*[a-f])[0-9a-f]{16}|\d{16,20}", "a word is read by descriptors decode"),
    (r"m\d+n\d+k\d+", "an instruction is given by --mma"),
    (r"\d+(x\d+)+", "a tile is given by --tile"),
    (
        r".*(:\s*[\d(]|\bo\b.*\bo\b).*",
        "a layout is matched by descriptors match, and derived by descriptors derive --layout",
    ),
)


def elsewhere(text: str) -> str:
    """Who takes a text that a command does not; "" where it looks like nothing that any takes."""
    found = (taker for pattern, taker in _TAKERS if re.fullmatch(pattern, text.strip(), re.IGNORECASE | re.ASCII))
    return next(found, "")


class OptionsOnly(click.Command):
    """A command without arguments, which says who takes what it was given as one.

    Before it asks for the options that are missing: who typed a word meant another command.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, after a look at what is none."""
        for text in self.make_parser(ctx).parse_args(list(args))[1]:
            if taker := elsewhere(text):
                raise click.UsageError(f"{self.name} takes options only, found {text[:60]!r}; {taker}", ctx)
        return super().parse_args(ctx, args)
