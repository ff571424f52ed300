"""The errors of the algebra: one family, all of them ``ValueError``.

Every message reads ``<operation>: <fact>; <operands in CuTe notation>``: what is the case, and the values to reproduce
it with.

>>> from layoutalg import Layout, LayoutError, composition
>>> try:
...     composition(Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3)))
... except LayoutError as error:
...     print(type(error).__name__, isinstance(error, ValueError))
NotDivisibleError True
"""

from __future__ import annotations


class LayoutError(ValueError):
    """A value that is no layout, or an operation whose definition no layout satisfies.

    >>> from layoutalg import Layout
    >>> try:
    ...     Layout((4, 8), 1)
    ... except LayoutError as error:
    ...     print(error)
    Layout: shape (4,8) and stride 1 are not congruent
    """


class NotationError(LayoutError):
    """A text that is not CuTe notation.

    Attributes:
        text: the text that was read.
        position: index of the first character that does not fit.
    """

    def __init__(self, message: str, text: str = "", position: int = 0) -> None:
        super().__init__(message)
        self.text = text
        self.position = position


class CoordinateError(LayoutError):
    """A coordinate or index that lies outside a shape, or does not fit its hierarchy."""


class NotDivisibleError(LayoutError):
    """An extent or stride that must divide another one does not, so that no layout of CuTe's form exists."""


class NotInjectiveError(LayoutError):
    """A layout that maps two coordinates to one offset, where the operation needs them distinct."""


class UndecidedError(LayoutError):
    """A question about the operands that could not be answered; the message names the fact that is missing."""


def brief(value: object) -> str:
    """``repr`` of something a caller got wrong, short enough for one line of a message.

    >>> brief("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # too deep; an integer of more digits than Python prints
        return "a value too large to print"
    return text if len(text) <= 60 else text[:57] + "..."
