"""Base class of values that a notebook shows as a picture with their text below.

The picture is that of :func:`layoutalg.draw`. It is imported by name at run time, because its module imports the
modules of the values.

>>> from layoutalg import fragment
>>> html = fragment("ldmatrix.x1")._repr_html_()
>>> "<img" in html, "<pre>ldmatrix.x1: 8x8" in html
(True, True)
"""

from __future__ import annotations

from typing import Any


class Shown:
    """A value that a notebook shows as the picture of ``draw`` and the text of ``str``.

    >>> Shown.__slots__
    ()
    """

    __slots__ = ()

    def _drawn(self) -> tuple[Any, ...]:
        """Return the values to draw, one after the other."""
        return (self,)

    def _repr_html_(self) -> str:
        from html import escape  # takes long to import, and only a notebook needs it
        from importlib import import_module

        from layoutalg.errors import LayoutError

        try:
            pictures = "".join(import_module("layoutalg").draw(value)._repr_html_() for value in self._drawn())
        except LayoutError:  # too many cells for a picture: a notebook must still show the text
            pictures = ""
        return f"<div>{pictures}<pre>{escape(str(self))}</pre></div>"
