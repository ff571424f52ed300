"""A text with places in double braces, filled in: what pages are made of.

Law: what is put into a place is not read again, so that a part may hold braces of its own.

>>> filled("<p>{{one}}, {{two}}</p>", {"one": "{{two}}", "two": "2"})
'<p>{{two}}, 2</p>'
"""

from __future__ import annotations

from collections.abc import Mapping


def filled(document: str, parts: Mapping[str, str]) -> str:
    """A text whose places hold their parts.

    Args:
        document: the text, with places as ``{{name}}``.
        parts: what stands in each place; more may be given than there are places.

    Raises:
        KeyError: if a place has no part.
    """
    head, *rest = document.split("{{")
    return head + "".join(parts[name] + text for name, _, text in (one.partition("}}") for one in rest))
