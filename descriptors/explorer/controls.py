"""The controls of the page as HTML, each with the value of a state, so that they stand in their places from the start.

Law: every control of a template has the value that the state gives it, as text and not as markup.

>>> valued('<select name="major"></select> <input name="tile">', {"major": "MN", "tile": '"<'}, {"major": ["K", "MN"]})
'<select name="major"><option>K</option><option selected>MN</option></select> <input name="tile" value="&quot;&lt;">'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def valued(template: str, state: Mapping[str, Any], choices: Mapping[str, Sequence[str]]) -> str:
    """A template whose lists, fields and boxes have the values of a state.

    Args:
        template: HTML; ``<select name="x"></select>``, ``<input name="x" ...>``, where ``type="checkbox"`` is a flag.
        state: the value of each name.
        choices: what a list offers; a list that is not among them keeps its own.
    """
    template = re.sub(
        r'(<select name="(\w+)">)(</select>)',
        lambda found: found[1] + options(choices[found[2]], str(state[found[2]])) + found[3],
        template,
    )
    return re.sub(r'<input ([^>]*?)name="(\w+)"([^>]*)>', lambda found: _input(found, state), template)


def options(names: Sequence[str], chosen: str) -> str:
    """What a list offers; a value that is none of the names stands at its end, and none is a layout's own.

    >>> options(["", "A"], "B")
    '<option value="">either</option><option>A</option><option selected>B</option>'
    >>> options(["K", "MN"], "")
    '<option>K</option><option>MN</option><option value="" selected>its own</option>'
    """
    shown, nothing = names if chosen in names else [*names, chosen], "either" if "" in names else "its own"
    return "".join(_option(name, nothing, selected=name == chosen) for name in shown)


def numbered(names: Sequence[str]) -> str:
    """What a list of examples offers: their numbers, and first none.

    >>> numbered(["one"])
    '<option value="">choose…</option><option value="0">one</option>'
    """
    rows = [f'<option value="{number}">{_text(name)}</option>' for number, name in enumerate(names)]
    return "".join(['<option value="">choose…</option>', *rows])


def boxes(names: Sequence[str], chosen: Sequence[str]) -> str:
    """A box to tick for each name.

    >>> boxes(["tile"], ["tile"])
    '<label><input type="checkbox" value="tile" checked>tile</label>'
    """
    told = [(_text(name), " checked" if name in chosen else "") for name in names]
    return "".join(f'<label><input type="checkbox" value="{name}"{tick}>{name}</label>' for name, tick in told)


def _text(value: str) -> str:
    """A value as text: no markup, and no place of a template that is filled in later."""
    return escape(value).replace("{", "&#123;")


def _option(name: str, nothing: str, *, selected: bool) -> str:
    value = "" if name else ' value=""'
    return f"<option{value}{' selected' if selected else ''}>{_text(name) or nothing}</option>"


def _input(found: re.Match[str], state: Mapping[str, Any]) -> str:
    before, name, after = found.groups()
    if 'type="checkbox"' in before:
        given = " checked" if state[name] else ""
    else:
        given = f' value="{_text(str(state[name]))}"'
    return f'<input {before}name="{name}"{given}{after}>'
