"""The errors of descriptor derivation: a branch of the algebra's family, all of them ``ValueError``.

Messages read ``<operation>: <what must hold>, <what was found>; <operands in CuTe notation>``. The numbers behind a
message are attributes too, for a caller that wants to act on them.

Law: each of them is a ``ValueError`` of the algebra's family, and a copy from another process keeps the numbers.

>>> import pickle
>>> error = pickle.loads(pickle.dumps(ChoiceError("derive: major", "X", ("K", "MN"))))
>>> isinstance(error, LayoutError) and isinstance(error, ValueError), error.choices, str(error)
(True, ('K', 'MN'), "derive: major must be one of K, MN, found 'X'")
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from operator import index as _index
from typing import TYPE_CHECKING, Any

from layoutalg import LayoutError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DescriptorError(LayoutError):
    """An operand, a tile or a word for which no descriptor exists, with the reason.

    It is one of the algebra's errors too, so that ``except LayoutError`` around a derivation misses nothing that can be
    wrong with it: neither a refusal of the hardware nor one of the algebra.

    >>> from descriptors import derive
    >>> try:
    ...     derive(tile=(128, 100), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    ... except DescriptorError as error:
    ...     print(error)
    derive: K of the tile must be a multiple of the instruction's 16, whatever the swizzle, found 100: give 96 \
(64B at most) or 112 (32B at most); tile = (128,100), mma = (64,16)
    """

    def __reduce__(self) -> tuple[Any, ...]:
        # A family member is made from parts, of which only the message is kept in ``args``: a copy, as one that comes
        # back from another process, is put together from the message and the attributes.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[DescriptorError], arguments: tuple[Any, ...], facts: dict[str, Any]) -> DescriptorError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(facts)
    return error


class ChoiceError(DescriptorError):
    """A name outside a closed list, such as an unknown element type.

    Attributes:
        choices: the names that would have been accepted.
    """

    def __init__(self, what: str, found: object, choices: Iterable[str]) -> None:
        self.choices = tuple(choices)
        near = _nearest(found, self.choices)
        hint = f" (did you mean {near}?)" if near else ""
        names = ", ".join(self.choices)
        super().__init__(
            f"{what} is missing: one of {names}"
            if found is None
            else f"{what} must be one of {names}, found {brief(found)}{hint}"
        )


class FieldError(DescriptorError):
    """A value that a bit field cannot hold: out of range, or not a multiple of the field's unit.

    Attributes:
        field: name of the field.
    """

    def __init__(self, message: str, field: str) -> None:
        self.field = field
        super().__init__(message)


class NotCanonicalError(DescriptorError):
    """A layout that no leading and stride byte offset can describe.

    Attributes:
        form: text of the nearest canonical form, in 16-byte units.
        mode: path of the mode that fails, as in ``layout[0][1]``; None where it is the swizzle.
        expected: what the form demands there.
        found: what the layout has there.
        layout: the layout, in CuTe notation.
        fits: other forms of the same major that the layout does have.
        why: what must lie where, and what does, in rows, columns and bytes.
        way_out: what to do about it, where that is known.
        unit: what the layout counts: ``"16-byte units"`` or ``"elements"``.

    >>> error = NotCanonicalError(form="F", mode=(0, 0), expected="stride 4", found="stride 8", layout="8:8", why="why")
    >>> print(error.fitting(("K-major 128B",)))
    canonical: why; in 16-byte units mode (0,0) must have stride 4, has stride 8; layout = 8:8, form = F; forms that it
    has: K-major 128B
    """

    def __init__(
        self,
        *,
        form: str,
        mode: tuple[int, ...] | None,
        expected: str,
        found: str,
        layout: str,
        fits: tuple[str, ...] = (),
        why: str = "",
        way_out: str = "",
        unit: str = "16-byte units",
    ) -> None:
        self.form, self.mode, self.expected, self.found, self.layout = form, mode, expected, found, layout
        self.fits, self.why, self.way_out, self.unit = fits, why, way_out, unit
        if mode is None:
            rule = f"the swizzle must be {expected}, is {found}"
        else:
            rule = f"in {unit} mode ({','.join(map(str, mode))}) must have {expected}, has {found}"
        parts = [
            why,
            rule,
            f"layout = {layout}, form = {form}",
            fits and f"forms that it has: {', '.join(fits)}",
            way_out,
        ]
        super().__init__(f"canonical: {'; '.join(part for part in parts if part)}")

    def fitting(self, fits: tuple[str, ...]) -> NotCanonicalError:
        """The same refusal with the forms that the layout does have."""
        return NotCanonicalError(
            form=self.form, mode=self.mode, expected=self.expected, found=self.found, layout=self.layout, fits=fits,
            why=self.why, way_out=self.way_out, unit=self.unit,
        )  # fmt: skip


class ProofError(DescriptorError):
    """Descriptor words that do not read the tile they were derived from.

    Attributes:
        proof: the report of the comparison, element by element.
    """

    def __init__(self, message: str, proof: object) -> None:
        self.proof = proof
        super().__init__(message)


def _nearest(name: object, choices: Iterable[str]) -> str:
    """The choice that a name was most likely meant to be, or ``""``."""
    from difflib import get_close_matches  # only where something is refused

    if not isinstance(name, str) or len(name) > 40:
        return ""
    names = {str(choice).casefold(): str(choice) for choice in choices}
    near = get_close_matches(name.casefold(), names, n=1)
    return names[near[0]] if near else ""


def brief(value: object, limit: int = 60) -> str:
    """``repr`` of something a caller got wrong, short enough for one line and safe for numbers of any length.

    >>> brief(10**9), brief(10**400)
    ('1000000000', 'a number of 1329 bits')
    """
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a number of {value.bit_length()} bits"
    try:
        text = str(value) if isinstance(value, Enum) else repr(value)
    except (ValueError, RecursionError):  # an integer inside is too long to print, or the nesting too deep
        return f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def as_integer(value: object, what: str, *, minimum: int = 0, maximum: int = 2**63 - 1) -> int:
    """Return ``value`` as a plain integer within bounds.

    Args:
        value: anything Python accepts as an index (numpy integers included), but not a ``bool``.
        what: the subject of the error message.
        minimum: least value allowed.
        maximum: greatest value allowed.

    Raises:
        DescriptorError: if it is no integer, or out of bounds.

    >>> as_integer(64, "derive: an extent", minimum=1)
    64
    """
    try:
        number = None if isinstance(value, bool) else _index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise DescriptorError(f"{what} must be an integer, found {brief(value)}")
    if not minimum <= number <= maximum:
        bounds = f"at least {minimum}" if number < minimum else f"at most {maximum}"
        raise DescriptorError(f"{what} must be {bounds}, found {brief(number)}")
    return number


def as_flag(value: object, what: str) -> bool:
    """Return ``value`` if it is True or False: what is merely true by accident is a mistake.

    Raises:
        DescriptorError: if it is neither.

    >>> as_flag(True, "derive: sparse")
    True
    """
    if not isinstance(value, bool):
        raise DescriptorError(f"{what} must be True or False, found {brief(value)}")
    return value


__all__ = [
    "ChoiceError",
    "DescriptorError",
    "FieldError",
    "LayoutError",
    "NotCanonicalError",
    "ProofError",
    "as_flag",
    "as_integer",
    "brief",
]


def as_array(value: object) -> NDArray[Any]:
    """What somebody gave as an array; an empty one of objects where numpy makes none of it, which no check passes.

    >>> as_array([[1, 2], [3, 4]]).shape, as_array([[1], [2, 3]]).dtype
    ((2, 2), dtype('O'))
    """
    import numpy as np

    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return np.empty(0, dtype=object)
