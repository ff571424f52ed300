"""The errors of descriptor derivation: a branch of the algebra's family, all of them ``ValueError``.

Messages read ``<operation>: <fact>; <note>; <note>``. The numbers behind a message are attributes too, for a caller
that acts on them.

Invariant: each error is a ``ValueError`` of the algebra's family, and a copy from another process keeps the numbers.

>>> import pickle
>>> error = pickle.loads(pickle.dumps(ChoiceError("derive: major", "X", ("K", "MN"))))
>>> isinstance(error, LayoutError) and isinstance(error, ValueError), error.choices, str(error)
(True, ('K', 'MN'), "derive: major is 'X', which is not supported; supported: K, MN")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import wraps
from inspect import signature
from operator import index as _index
from operator import le
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from layoutalg import LayoutError

if TYPE_CHECKING:
    from numpy.typing import NDArray


_P = ParamSpec("_P")
_R = TypeVar("_R")


class Advice(NamedTuple):
    """A proposed change of refused arguments.

    Args:
        changes: the arguments that change, with their new values; None leaves an argument out.
        when: the condition under which the change helps, in words; "" if always.

    >>> advice = Advice({"tile": (128, 96), "swizzle": "64B"})
    >>> str(advice), advice.options
    ("tile=(128, 96), swizzle='64B'", '--tile 128x96 --swizzle 64B')
    """

    changes: Mapping[str, Any]
    when: str = ""

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.changes.items())

    @property
    def options(self) -> str:
        """The changes as options of a command line."""
        return " ".join(_option(name, value) for name, value in self.changes.items())


#: Options with another name than the argument.
_OPTION_NAMES = {"language": "emit"}


def _option(name: str, value: object) -> str:
    """Return an argument as it is typed on a command line."""
    option = f"--{_OPTION_NAMES.get(name, name.removesuffix('_source').replace('_', '-'))}"
    if value and isinstance(value, (tuple, list)):
        value = ("m{}n{}k{}" if name == "instruction" else "x".join(["{}"] * len(value))).format(*value)
    if name == "instruction":
        return f"the instruction {value}"
    if value == () or value is False or (value is None and name != "capacity"):
        return f"no {option}"
    return option if value is True else f"{option} {'none' if value is None else value}"


class DescriptorError(LayoutError):
    """Raised if an operand, a tile or a word has no descriptor; the message states the reason.

    It is a ``LayoutError``, so that ``except LayoutError`` around a derivation catches the refusals of the hardware and
    those of the algebra.

    Attributes:
        proposals: changes of the arguments that may help; not tried yet.
        advice: the proposals that the refused function accepts; the message ends with them, named as arguments;
            ``ways_out`` names them as options of a command.

    >>> from descriptors import derive
    >>> try:
    ...     derive(tile=(128, 100), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    ... except DescriptorError as error:
    ...     print(error)
    ...     print(dict(error.advice[0].changes))
    derive: tile K is 100, which is not a multiple of the instruction's K (16); tile = (128,100), mma = (64,16); use \
tile=(128, 96), swizzle='64B' or tile=(128, 112), swizzle='32B' or tile=(128, 128)
    {'tile': (128, 96), 'swizzle': '64B'}
    """

    advice: tuple[Advice, ...] = ()
    proposals: tuple[Advice, ...] = ()

    def __init__(self, *arguments: object, proposals: Iterable[Advice] = ()) -> None:
        super().__init__(*arguments)
        self.proposals = tuple(proposals)

    def __str__(self) -> str:
        return "; ".join([self.sentence, *self._ways_out(str, " or ")])

    @property
    def sentence(self) -> str:
        """The message without the advice."""
        return super().__str__()

    @property
    def ways_out(self) -> tuple[str, ...]:
        """The advice as sentences with the options of a command line."""
        return self._ways_out(lambda advice: advice.options, ", ")

    def _ways_out(self, show: Callable[[Advice], str], comma: str) -> tuple[str, ...]:
        """Return the advice as sentences: alternatives in one sentence, and one for each condition."""
        always = [show(advice) for advice in self.advice if not advice.when]
        ways = [f"use {' or '.join(filter(None, [comma.join(always[:-1]), always[-1]]))}"] if always else []
        return (*ways, *(f"{advice.when}, use {show(advice)}" for advice in self.advice if advice.when))

    def __reduce__(self) -> tuple[Any, ...]:
        # A family member is made from parts, of which only the message is kept in ``args``: a copy, as one that comes
        # back from another process, is put together from the message and the attributes.
        return _restored, (type(self), self.args, self.__dict__)


#: Whether proposals are being tried: a refusal of one of them needs no advice.
_trying: ContextVar[bool] = ContextVar("trying", default=False)
#: How many ways out a message names.
_MOST_ADVICE = 3
#: How many of them change the same arguments.
_MOST_ALIKE = 2


@contextmanager
def advising(
    attempt: Callable[[Mapping[str, Any]], object], arguments: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Add to the errors of a block the advice that works: the proposals that ``attempt`` accepts.

    A proposal works if the function accepts its arguments with the changes of the proposal. Of nested blocks the
    outermost tries the proposals, because it has the arguments as typed.

    Args:
        attempt: calls the refused function with changed arguments, without a proof.
        arguments: the refused arguments; an advice does not repeat them.

    >>> def half(number: int) -> int:
    ...     if number % 2:
    ...         raise DescriptorError(f"{number} is odd", proposals=[Advice({"number": n}) for n in (7, 8)])
    ...     return number // 2
    >>> with advising(lambda changes: half(**{"number": 5} | changes)):
    ...     half(5)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: 5 is odd; use number=8
    """
    try:
        yield
    except DescriptorError as error:
        if error.proposals and not _trying.get():
            with unadvised():
                others = [
                    advice._replace(changes=_changed(advice.changes, arguments or {})) for advice in error.proposals
                ]
                others.sort(key=lambda advice: "legality" in advice.changes)  # what all sources allow first
                error.advice = tuple(_accepted((advice for advice in others if advice.changes), attempt))
        raise


def advised(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Add to the errors of a function the advice that the function accepts; it is called again without a proof."""
    parameters = signature(function)
    unproved = {"verify": False} if "verify" in parameters.parameters else {}

    @wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        def attempt(changes: Mapping[str, Any]) -> object:
            if not changes.keys() <= parameters.parameters.keys():
                raise DescriptorError("the advice is for another function")
            changed = parameters.bind(*args, **kwargs)
            changed.arguments.update({**changes, **unproved})
            return function(*changed.args, **changed.kwargs)

        try:
            return function(*args, **kwargs)
        except DescriptorError:
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            with advising(attempt, bound.arguments):
                raise

    return wrapper


@contextmanager
def unadvised() -> Iterator[None]:
    """Try no proposals within a block, because its errors are not shown."""
    token = _trying.set(True)
    try:
        yield
    finally:
        _trying.reset(token)


@contextmanager
def proposing(proposals: Iterable[Advice]) -> Iterator[None]:
    """Add proposals to the errors of a block, in the order in which they are tried."""
    try:
        yield
    except DescriptorError as error:
        error.proposals += tuple(proposals)
        raise


def _accepted(proposals: Iterable[Advice], attempt: Callable[[Mapping[str, Any]], object]) -> Iterator[Advice]:
    """Yield the first proposals that are accepted, without those that give up more than an earlier one."""
    accepted = list[Advice]()
    for advice in proposals:
        alike = sum((other.changes.keys(), other.when) == (advice.changes.keys(), advice.when) for other in accepted)
        if (
            alike == _MOST_ALIKE
            or any(_exceeds(advice, other) for other in accepted)
            or not _accepts(attempt, advice.changes)
        ):
            continue
        accepted.append(advice)
        yield advice
        if len(accepted) == _MOST_ADVICE:
            return


def _changed(changes: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that differ from the arguments."""
    return {name: value for name, value in changes.items() if name not in arguments or arguments[name] != value}


def _exceeds(advice: Advice, other: Advice) -> bool:
    """Return whether an advice makes all changes of another one and more, or reduces the tile further."""
    ours, others = dict(advice.changes), dict(other.changes)
    tiles = ours.pop("tile", ()), others.pop("tile", ())
    less = len(tiles[0]) == len(tiles[1]) and all(map(le, *tiles))
    return advice.when == other.when and others.items() <= ours.items() and (less or not tiles[1])


def _accepts(attempt: Callable[[Mapping[str, Any]], object], changes: Mapping[str, Any]) -> bool:
    try:
        attempt(changes)
    except ValueError:
        return False
    return True


def _restored(kind: type[DescriptorError], arguments: tuple[Any, ...], facts: dict[str, Any]) -> DescriptorError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(facts)
    return error


class ChoiceError(DescriptorError):
    """Raised for a name that is not in a closed list, such as an unknown element type.

    Attributes:
        choices: the supported names.
    """

    def __init__(self, subject: str, value: object, choices: Iterable[str]) -> None:
        self.choices = tuple(choices)
        near = nearest(value, self.choices)
        hint = f" (did you mean {near}?)" if near else ""
        names = ", ".join(self.choices)
        fact = (
            f"{subject} is missing" if value is None else f"{subject} is {brief(value)}, which is not supported{hint}"
        )
        super().__init__(f"{fact}; supported: {names}")


class FieldError(DescriptorError):
    """Raised for a value that a bit field cannot hold: out of range, or not a multiple of the field's unit.

    Attributes:
        field: name of the field.
    """

    def __init__(self, message: str, field: str) -> None:
        self.field = field
        super().__init__(message)


class NotCanonicalError(DescriptorError):
    """Raised for a layout that no leading and stride byte offset can describe.

    Attributes:
        form: text of the nearest canonical form, in 16-byte units.
        mode: path of the mode that fails, as in ``layout[0][1]``; None for the swizzle.
        expected: the requirement of the form for this mode.
        found: the extent or stride of the layout.
        layout: the layout, in CuTe notation.
        fits: other forms of the same major that the layout matches.
        why: the reason in rows, columns and bytes.
        way_out: a way out, if one is known.
        unit: the unit of the layout: ``"16-byte units"`` or ``"elements"``.

    >>> error = NotCanonicalError(form="F", mode=(0, 0), expected="stride 4", found="stride 8", layout="8:8", why="why")
    >>> print(error.fitting(("K-major 128B",)))
    canonical: why; in 16-byte units mode (0,0) has stride 8, expected stride 4; layout = 8:8, form = F;
    forms that fit: K-major 128B
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
            rule = f"the swizzle is {found}, expected {expected}"
        else:
            rule = f"in {unit} mode ({','.join(map(str, mode))}) has {found}, expected {expected}"
        parts = [
            why,
            rule,
            f"layout = {layout}, form = {form}",
            fits and f"forms that fit: {', '.join(fits)}",
            way_out,
        ]
        super().__init__(f"canonical: {'; '.join(part for part in parts if part)}")

    def fitting(self, fits: tuple[str, ...]) -> NotCanonicalError:
        """Return the same error with the forms that the layout matches."""
        error = NotCanonicalError(
            form=self.form, mode=self.mode, expected=self.expected, found=self.found, layout=self.layout, fits=fits,
            why=self.why, way_out=self.way_out, unit=self.unit,
        )  # fmt: skip
        error.proposals = self.proposals
        return error


class ProofError(DescriptorError):
    """Raised for descriptor words that do not read the tile from which they were derived.

    Attributes:
        proof: the report of the comparison, element by element.
    """

    def __init__(self, message: str, proof: object) -> None:
        self.proof = proof
        super().__init__(message)


def nearest(name: object, choices: Iterable[str]) -> str:
    """Return the choice that a name is most similar to, or ``""`` if it is similar to no choice."""
    from difflib import get_close_matches  # only where something is refused

    if not isinstance(name, str) or len(name) > 40:
        return ""
    names = {str(choice).casefold(): str(choice) for choice in choices}
    if architecture := re.fullmatch(r"sm[-_ ]?(\d+)[af]?", name.casefold()):  # another number is not a typing error
        names = {known: choice for known, choice in names.items() if known == f"sm{architecture[1]}"}
    near = get_close_matches(name.casefold(), names, n=1)
    return names[near[0]] if near else ""


def brief(value: object, limit: int = 60) -> str:
    """Return the ``repr`` of a wrong value, shortened to one line and safe for numbers of any length.

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


def as_integer(value: object, subject: str, *, minimum: int = 0, maximum: int = 2**63 - 1) -> int:
    """Return ``value`` as a plain integer within bounds.

    Args:
        value: anything Python accepts as an index (numpy integers included), but not a ``bool``.
        subject: the subject of the error message.
        minimum: the smallest value allowed.
        maximum: the largest value allowed.

    Raises:
        DescriptorError: if the value is not an integer, or out of bounds.

    >>> as_integer(64, "derive: an extent", minimum=1)
    64
    """
    try:
        number = None if isinstance(value, bool) else _index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise DescriptorError(f"{subject} is {brief(value)}, which is not an integer")
    if not minimum <= number <= maximum:
        bound = f"the minimum is {minimum}" if number < minimum else f"the maximum is {maximum}"
        raise DescriptorError(f"{subject} is {brief(number)}, but {bound}")
    return number


def as_flag(value: object, subject: str) -> bool:
    """Return ``value`` if it is True or False; other values are not converted.

    Raises:
        DescriptorError: if it is neither.

    >>> as_flag(True, "derive: sparse")
    True
    """
    if not isinstance(value, bool):
        raise DescriptorError(f"{subject} is {brief(value)}, which is neither True nor False")
    return value


__all__ = [
    "Advice",
    "ChoiceError",
    "DescriptorError",
    "FieldError",
    "LayoutError",
    "NotCanonicalError",
    "ProofError",
    "advised",
    "advising",
    "as_flag",
    "as_integer",
    "brief",
    "proposing",
    "unadvised",
]


def as_array(value: object) -> NDArray[Any]:
    """Return a value as an array; an empty array of objects, which no check accepts, if numpy cannot convert it.

    >>> as_array([[1, 2], [3, 4]]).shape, as_array([[1], [2, 3]]).dtype
    ((2, 2), dtype('O'))
    """
    import numpy as np

    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return np.empty(0, dtype=object)
