"""Links of the site into its explorer: the tile that a command is about, as a state in the explorer's address."""

from __future__ import annotations

import shlex
from dataclasses import fields
from functools import cache
from html import escape

import click

from descriptors import DescriptorError
from descriptors.cli.command import command as descriptors
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import state_address
from descriptors.show.explorer.question import Question, derivation, question

_KEYS = {field.name for field in fields(Question)}


def links(text: str, up: str) -> str:
    """The links of a block of code, one for each tile that its commands are about, as HTML.

    Args:
        text: the block.
        up: the way to the first page.
    """
    commands = [line.strip().removeprefix("$ ") for line in text.replace("\\\n", " ").splitlines()]
    tiles = dict.fromkeys(tile for line in commands if line.startswith("descriptors ") if (tile := state(line)))
    rows = [f'<a href="{up}explorer/index.html{escape(address)}">{escape(told)}</a>' for address, told in tiles]
    return f'<p class="tiles">Open in the explorer: {"; ".join(rows)}</p>' if rows else ""


@cache
def state(line: str) -> tuple[str, str] | None:
    """The address of a command's tile behind that of the explorer, and the tile in words; None if it is about none."""
    try:
        body = _question(shlex.split(line, comments=True)[1:])
        told = answer({**body, "want": ["told"]}) if body else {"ok": False}
    except (click.ClickException, click.exceptions.Exit, DescriptorError, ValueError):
        return None
    if not told["ok"]:
        return None
    return state_address(question(body).state()), told["told"]["summary"]


def _question(words: list[str]) -> dict[str, object]:
    """What of a command line the explorer asks too."""
    name, *rest = words
    one = descriptors.get_command(click.Context(descriptors), name)
    if not isinstance(one, click.Command) or isinstance(one, click.Group):
        return {}
    params = one.make_context(name, rest).params
    body = {key: value for key, value in params.items() if key in _KEYS and value not in (None, "", ())}
    if "dtype" not in body or not {"tile", "layout"} & body.keys():
        return {}
    body = ({"major": "", "swizzle": ""} if "layout" in body else {}) | body
    return body | _cell(body, params.get("subtile"))


def _cell(body: dict[str, object], subtile: tuple[int, ...] | None) -> dict[str, object]:
    """The first element of the subtile that a command is about."""
    if not subtile:
        return {}
    mma = derivation(question(body)).mma
    return {"cell": (subtile[0] * mma[0], subtile[1] * mma[1]), "stage": (*subtile, 0)[2]}
