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
    """A change of the refused arguments.

    Args:
        changes: the arguments that change, with their new values; None leaves an argument out.
        when: in which case the change is meant, in words; "" if always.

    >>> one = Advice({"tile": (128, 96), "swizzle": "64B"})
    >>> str(one), one.options
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
    """An argument as it is typed in a command line."""
    option = f"--{_OPTION_NAMES.get(name, name.removesuffix('_source').replace('_', '-'))}"
    if value and isinstance(value, (tuple, list)):
        value = ("m{}n{}k{}" if name == "instruction" else "x".join(["{}"] * len(value))).format(*value)
    if name == "instruction":
        return f"the instruction {value}"
    if value == () or value is False or (value is None and name != "capacity"):
        return f"no {option}"
    return option if value is True else f"{option} {'none' if value is None else value}"


class DescriptorError(LayoutError):
    """An operand, a tile or a word for which no descriptor exists, with the reason.

    It is one of the algebra's errors too, so that ``except LayoutError`` around a derivation misses nothing that can be
    wrong with it: neither a refusal of the hardware nor one of the algebra.

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
        always = [str(advice) for advice in self.advice if not advice.when]
        ways = [f"use {' or '.join(always)}"] if always else []
        ways += [f"{advice.when}, use {advice}" for advice in self.advice if advice.when]
        return "; ".join([self.sentence, *ways])

    @property
    def sentence(self) -> str:
        """The message without the advice."""
        return super().__str__()

    @property
    def ways_out(self) -> tuple[str, ...]:
        """The advice in the words of a command line, which has options where a function has arguments."""
        always = [advice.options for advice in self.advice if not advice.when]
        ways = [f"use {' or '.join(filter(None, [', '.join(always[:-1]), always[-1]]))}"] if always else []
        return (*ways, *(f"{advice.when}, use {advice.options}" for advice in self.advice if advice.when))

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
def advising(attempt: Callable[[Mapping[str, Any]], object], given: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Give the refusals of a block the advice that works: the proposals that ``attempt`` accepts.

    A function that is called with the same arguments again, changed as a proposal says, decides by itself whether the
    proposal is good advice. The outermost block decides, which knows what was typed.

    Args:
        attempt: calls the refused function with changed arguments; it must not prove anything.
        given: the refused arguments, of which an advice does not repeat any.

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
                others = [one._replace(changes=_changed(one.changes, given or {})) for one in error.proposals]
                others.sort(key=lambda one: "legality" in one.changes)  # what all sources allow first
                error.advice = tuple(_accepted((one for one in others if one.changes), attempt))
        raise


def advised(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Give the refusals of a function the advice that it accepts itself, called again without a proof."""
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
            given = parameters.bind(*args, **kwargs)
            given.apply_defaults()
            with advising(attempt, given.arguments):
                raise

    return wrapper


@contextmanager
def unadvised() -> Iterator[None]:
    """Try no proposals within a block: its refusals are not shown."""
    token = _trying.set(True)
    try:
        yield
    finally:
        _trying.reset(token)


@contextmanager
def proposing(proposals: Iterable[Advice]) -> Iterator[None]:
    """Give the refusals of a block proposals, in the order in which they are to be tried."""
    try:
        yield
    except DescriptorError as error:
        error.proposals += tuple(proposals)
        raise


def _accepted(proposals: Iterable[Advice], attempt: Callable[[Mapping[str, Any]], object]) -> Iterator[Advice]:
    """Yield the first proposals that are accepted, without those that give up more than one before them."""
    kept = list[Advice]()
    for one in proposals:
        alike = sum((other.changes.keys(), other.when) == (one.changes.keys(), one.when) for other in kept)
        if alike == _MOST_ALIKE or any(_exceeds(one, other) for other in kept) or not _accepts(attempt, one.changes):
            continue
        kept.append(one)
        yield one
        if len(kept) == _MOST_ADVICE:
            return


def _changed(changes: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that differ from what was given."""
    return {name: value for name, value in changes.items() if name not in given or given[name] != value}


def _exceeds(one: Advice, other: Advice) -> bool:
    """Whether an advice changes all that another does, and more, or gives up more of the tile."""
    ours, others = dict(one.changes), dict(other.changes)
    tiles = ours.pop("tile", ()), others.pop("tile", ())
    less = len(tiles[0]) == len(tiles[1]) and all(map(le, *tiles))
    return one.when == other.when and others.items() <= ours.items() and (less or not tiles[1])


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
    """A name outside a closed list, such as an unknown element type.

    Attributes:
        choices: the names that would have been accepted.
    """

    def __init__(self, what: str, found: object, choices: Iterable[str]) -> None:
        self.choices = tuple(choices)
        near = _nearest(found, self.choices)
        hint = f" (did you mean {near}?)" if near else ""
        names = ", ".join(self.choices)
        fact = f"{what} is missing" if found is None else f"{what} is {brief(found)}, which is not supported{hint}"
        super().__init__(f"{fact}; supported: {names}")


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
        """The same refusal with the forms that the layout does have."""
        error = NotCanonicalError(
            form=self.form, mode=self.mode, expected=self.expected, found=self.found, layout=self.layout, fits=fits,
            why=self.why, way_out=self.way_out, unit=self.unit,
        )  # fmt: skip
        error.proposals = self.proposals
        return error


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
    if architecture := re.fullmatch(r"sm[-_ ]?(\d+)[af]?", name.casefold()):  # another number is another one
        names = {one: choice for one, choice in names.items() if one == f"sm{architecture[1]}"}
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
        raise DescriptorError(f"{what} is {brief(value)}, which is not an integer")
    if not minimum <= number <= maximum:
        bound = f"the minimum is {minimum}" if number < minimum else f"the maximum is {maximum}"
        raise DescriptorError(f"{what} is {brief(number)}, but {bound}")
    return number


def as_flag(value: object, what: str) -> bool:
    """Return ``value`` if it is True or False: what is merely true by accident is a mistake.

    Raises:
        DescriptorError: if it is neither.

    >>> as_flag(True, "derive: sparse")
    True
    """
    if not isinstance(value, bool):
        raise DescriptorError(f"{what} is {brief(value)}, which is neither True nor False")
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
    """What somebody gave as an array; an empty one of objects where numpy makes none of it, which no check passes.

    >>> as_array([[1, 2], [3, 4]]).shape, as_array([[1], [2, 3]]).dtype
    ((2, 2), dtype('O'))
    """
    import numpy as np

    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return np.empty(0, dtype=object)
