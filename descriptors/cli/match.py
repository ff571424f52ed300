"""The command ``descriptors match``: whether a layout has a canonical form."""

from __future__ import annotations

from json import dumps
from typing import Any

import click

from descriptors.cli.options import json_option, operand_options
from descriptors.operands.match import match as match_layout
from descriptors.output import match as matched
from layoutalg.cli.console import say


@click.command()
@operand_options
@click.argument("layout")
@json_option("Write the match as JSON.")
def match(layout: str, as_json: bool, **given: Any) -> None:
    """Match the LAYOUT of one operand (MN, K) with its canonical form, or say which mode fails.

    \b
    descriptors match "(64,16):(64,1)" --dtype bf16 --swizzle 128B
    descriptors match "S<3,3,3> o 0 o (64,16):(64,1)" --dtype bf16
    descriptors match "S<3,4,3> o 0 o (64,16):(64,1)" --dtype bf16 --unit cute
    """
    found = match_layout(layout, **given)
    say(dumps(matched.record(found)) if as_json else matched.tell(found))


#: The commands that the group registers.
commands = [match]
