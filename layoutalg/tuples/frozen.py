"""Value: the base of the algebra's frozen values.

A subclass names its fields in ``__slots__`` and sets them once, in ``__init__``, through ``fix``. Values are equal when
they are of one class and their fields are, hash accordingly, and can be copied and pickled. This is what
``dataclass(frozen=True, slots=True)`` would generate; that module's import alone costs a quarter of this package's.

>>> from layoutalg import Swizzle
>>> one, other = Swizzle(3, 4, 3), Swizzle(3, 4, 3)
>>> one == other, hash(one) == hash(other), eval(repr(one)) == one
(True, True, True)
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True)  # type checkers refuse to set a field
class Value:
    """An immutable record, equal by content.

    >>> from layoutalg import Swizzle
    >>> Swizzle(3, 4, 3) == Swizzle(3, 4, 3), len({Swizzle(3, 4, 3), Swizzle(3, 4, 3)})
    (True, 1)
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__slots__)  # type: ignore[misc]  # one rule for all subclasses

    def fix(self, **fields: Any) -> None:
        """Set fields, while the value is being made."""
        for name, field in fields.items():
            object.__setattr__(self, name, field)

    def fields(self) -> tuple[Any, ...]:
        """The fields, in order: the arguments that make an equal value."""
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return self.fields() == other.fields() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self.fields()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.fields()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.fields()))})"
