"""The one way to make a value: a class of fields made immutable, slotted and equal by content.

It is what ``dataclass(frozen=True, slots=True)`` makes, at less cost: that writes and compiles six functions for each
class, about a millisecond, and the import of its module alone costs a quarter of this package's; ``attrs`` takes longer
still. Here one function is written, ``__init__``, in which the names of the fields stand; all others are the same for
every class. What ``dataclasses`` asks such a class for ``replace``, ``asdict`` and ``fields``, it gets from a dataclass
of the same fields, made when it first asks.

A class that checks or converts what it is given has an ``__init__`` of its own, which sets the fields by ``fix``; its
values are written with their arguments in order, as ``Swizzle(3, 4, 3)``. A class that extends another one has the
fields of that one first; a field that it annotates again keeps its position.

Law: a class made here and one made by ``dataclass`` of the same fields behave alike.

>>> from dataclasses import astuple, dataclass, replace
>>> body = {"__module__": __name__, "__annotations__": {"mn": "int", "k": "int"}, "k": 16}
>>> ours, theirs = [make(type("Extents", (), dict(body))) for make in (frozen, dataclass(frozen=True, slots=True))]
>>> ours(8), theirs(8), hash(ours(8)) == hash(theirs(8)), astuple(replace(ours(8), k=32)) == astuple(theirs(8, 32))
(Extents(mn=8, k=16), Extents(mn=8, k=16), True, True)
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
Value = TypeVar("Value")


@dataclass_transform(frozen_default=True)
def frozen(cls: Class) -> Class:
    """The class with its annotated names as slots, which ``__init__`` sets; the value of a name is its default.

    ``__post_init__`` is called where there is one. What the class itself defines stays; fields are inherited.

    >>> @frozen
    ... class Extents:
    ...     mn: int
    ...     k: int = 16
    >>> Extents(64), Extents(64) == Extents(64, 16), Extents(64) == (64, 16)
    (Extents(mn=64, k=16), True, False)
    >>> @frozen
    ... class Tile(Extents):
    ...     stages: int = 2
    >>> Tile(64), Tile(64) == Extents(64), isinstance(Tile(64), Extents)
    (Tile(mn=64, k=16, stages=2), False, True)
    """
    body = {name: value for name, value in vars(cls).items() if name not in _WITHOUT_SLOTS}
    annotations: dict[str, Any] = body.get("__annotations__", {})
    inherited, kept = getattr(cls, "_declared", ({}, {}))
    own = {name: kind for name, kind in annotations.items() if not str(kind).startswith("ClassVar")}
    kinds, defaults = inherited | own, kept | {name: body.pop(name) for name in own if name in body}
    names = tuple(kinds)
    own_init = "__init__" in body
    fields = {
        "__qualname__": cls.__qualname__,
        "__slots__": tuple(name for name in own if name not in inherited),
        "__match_args__": names,
        "_declared": (kinds, defaults),
        "_contents": property(_getter(names)),
        **{name: _AsDataclass(name, kinds, defaults) for name in ("__dataclass_fields__", "__dataclass_params__")},
    }
    shared = _SHARED | ({"__repr__": _in_order} if own_init else {})
    slotted: Any = type(cls)(cls.__name__, cls.__bases__, {**shared, **body, **fields})
    if not own_init:
        slotted.__init__ = _initializer(slotted, kinds, defaults)
    return slotted  # type: ignore[no-any-return]  # the class that was given, with slots


#: What a class has whose values keep a dictionary.
_WITHOUT_SLOTS = ("__dict__", "__weakref__")


def _getter(names: tuple[str, ...]) -> Any:
    """The function that gives the fields of a value as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _initializer(cls: Any, kinds: dict[str, Any], defaults: dict[str, Any]) -> Any:
    """The function that sets the fields of a value, through the slots themselves, as a frozen class has no setter."""
    space: dict[str, Any] = {f"set_{name}": getattr(cls, name).__set__ for name in kinds}
    space |= {f"default_{name}": default for name, default in defaults.items()}
    parameters = "".join(f", {name}=default_{name}" if name in defaults else f", {name}" for name in kinds)
    steps = [f"set_{name}(self, {name})" for name in kinds]
    steps += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    exec(f"def __init__(self{parameters}): {'; '.join(steps) or 'pass'}", space)  # noqa: S102  the class's own names
    initializer = space["__init__"]
    initializer.__module__ = cls.__module__
    initializer.__qualname__ = f"{cls.__qualname__}.__init__"
    initializer.__annotations__ = {**kinds, "return": None}
    return initializer


class _AsDataclass:
    """What ``dataclasses`` looks for in a class, from a dataclass of the same fields."""

    def __init__(self, attribute: str, kinds: dict[str, Any], defaults: dict[str, Any]) -> None:
        self.attribute, self.kinds, self.defaults = attribute, kinds, defaults

    def __get__(self, _: object, owner: type) -> Any:
        from dataclasses import make_dataclass

        fields = [
            (name, kind, _field(self.defaults[name])) if name in self.defaults else (name, kind)
            for name, kind in self.kinds.items()
        ]
        table = getattr(make_dataclass(owner.__name__, fields, frozen=True), self.attribute)
        setattr(owner, self.attribute, table)  # so that it is made once
        return table


def _field(default: Any) -> Any:
    """A field of a dataclass with a default, which ``dataclasses`` takes for mutable where it has no hash."""
    from dataclasses import field

    return field(default=default) if default.__class__.__hash__ else field(default_factory=lambda: default)


def fix(value: object, /, **fields: Any) -> None:
    """Set fields of a value, while its own ``__init__`` makes it."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)


def contents(value: Any) -> dict[str, Any]:
    """The fields of a value by name, as they are.

    >>> from layoutalg import Swizzle
    >>> contents(Swizzle(3, 4, 3))
    {'bits': 3, 'base': 4, 'shift': 3}
    """
    return dict(zip(value.__match_args__, value._contents, strict=True))


def arguments(value: Any) -> tuple[Any, ...]:
    """The fields of a value in order: the arguments that make an equal one.

    >>> from layoutalg import Swizzle
    >>> Swizzle(*arguments(Swizzle(3, 4, 3)))
    Swizzle(3, 4, 3)
    """
    return tuple(value._contents)


def is_value(candidate: object) -> bool:
    """Whether a class, or what it made, is one of ours.

    >>> from layoutalg import Swizzle
    >>> is_value(Swizzle), is_value(Swizzle(3, 4, 3)), is_value(3)
    (True, True, False)
    """
    return hasattr(candidate, "_contents")


def replace(value: Value, **changes: Any) -> Value:
    """The same value with other contents of some fields: what ``dataclasses.replace`` does of a value made here.

    Raises:
        TypeError: if there is no such field.

    >>> @frozen
    ... class Extents:
    ...     mn: int
    ...     k: int = 16
    >>> replace(Extents(64), k=8)
    Extents(mn=64, k=8)
    """
    return type(value)(**contents(value) | changes)


def _set(self: Any, name: str, value: Any) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _equal(self: Any, other: Any) -> bool:
    return bool(self._contents == other._contents) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._contents)


def _itself(self: Any) -> Any:
    return self


def _by_name(self: Any) -> str:
    fields = [f"{name}={value!r}" for name, value in contents(self).items()]
    return f"{self.__class__.__qualname__}({', '.join(fields)})"


def _in_order(self: Any) -> str:
    return f"{self.__class__.__name__}({', '.join(map(repr, self._contents))})"


def _reduced(self: Any) -> tuple[Any, ...]:
    return self.__class__, self._contents


#: The functions of every class.
_SHARED = {
    "__setattr__": _set,
    "__delattr__": _delete,
    "__eq__": _equal,
    "__hash__": _hash,
    "__copy__": _itself,
    "__repr__": _by_name,
    "__reduce__": _reduced,
}
