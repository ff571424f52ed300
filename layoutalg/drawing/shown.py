"""Shown: a value that a notebook shows as its picture, with its text below.

The picture is that of :func:`layoutalg.draw`, which stands above the values that it draws and is asked for by name.

>>> from layoutalg import fragment
>>> html = fragment("ldmatrix.x1")._repr_html_()
>>> "<img" in html, "<pre>ldmatrix.x1: 8x8" in html
(True, True)
"""

from __future__ import annotations

from typing import Any


class Shown:
    """A value with a page: what ``draw`` makes of it, and ``str``.

    >>> Shown.__slots__
    ()
    """

    __slots__ = ()

    def _drawn(self) -> tuple[Any, ...]:
        """What is drawn, side by side."""
        return (self,)

    def _repr_html_(self) -> str:
        from html import escape  # its table of names takes long to load, and only a notebook asks for a page
        from importlib import import_module

        from layoutalg.errors import LayoutError

        try:
            pictures = "".join(import_module("layoutalg").draw(one)._repr_html_() for one in self._drawn())
        except LayoutError:  # of more cells than are drawn: a notebook shows every value that there is
            pictures = ""
        return f"<div>{pictures}<pre>{escape(str(self))}</pre></div>"
