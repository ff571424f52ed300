"""The decorator ``frozen``, which makes all value classes of the project: immutable, slotted and equal by content.

The result is that of ``dataclass(frozen=True, slots=True)``, at a lower cost. ``dataclass`` generates and compiles six
functions for each class, which takes about a millisecond, and importing its module takes a quarter of the time that
this package takes; ``attrs`` takes longer. This module compiles only ``__init__``, which contains the names of the
fields; all classes share the other functions. ``dataclasses.replace``, ``asdict`` and ``fields`` need a description of
the fields. They get it from a dataclass with the same fields, which is made when they first need it.

A class that checks or converts its arguments has its own ``__init__``, which sets the fields with ``fix``. The ``repr``
of its values has the arguments in order: ``Swizzle(3, 4, 3)``. A subclass has the fields of its base class first; a
field that it annotates again keeps its position.

Invariant: a class made here and a dataclass with the same fields behave alike.

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
    """Return the class with its annotated names as slots, which ``__init__`` sets; the value of a name is its default.

    ``__init__`` calls ``__post_init__`` if there is one. Methods that the class defines itself are kept, and fields are
    inherited.

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
    return slotted  # type: ignore[no-any-return]  # mypy does not see that this is the class, with slots


#: Entries of a class body that belong to classes without slots.
_WITHOUT_SLOTS = ("__dict__", "__weakref__")


def _getter(names: tuple[str, ...]) -> Any:
    """Return the function that returns the fields of a value as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _initializer(cls: Any, kinds: dict[str, Any], defaults: dict[str, Any]) -> Any:
    """Return the ``__init__`` of a class. It sets the slots directly, since a frozen class has no setter."""
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
    """An attribute that ``dataclasses`` reads from a class, taken from a dataclass with the same fields."""

    def __init__(self, attribute: str, kinds: dict[str, Any], defaults: dict[str, Any]) -> None:
        self.attribute, self.kinds, self.defaults = attribute, kinds, defaults

    def __get__(self, _: object, owner: type) -> Any:
        from dataclasses import make_dataclass

        fields = [
            (name, kind, _field(self.defaults[name])) if name in self.defaults else (name, kind)
            for name, kind in self.kinds.items()
        ]
        table = getattr(make_dataclass(owner.__name__, fields, frozen=True), self.attribute)
        setattr(owner, self.attribute, table)  # the next access finds it without this descriptor
        return table


def _field(default: Any) -> Any:
    """Return a dataclass field with a default; ``dataclasses`` rejects a default without a hash as mutable."""
    from dataclasses import field

    return field(default=default) if default.__class__.__hash__ else field(default_factory=lambda: default)


def fix(value: object, /, **fields: Any) -> None:
    """Set fields of a frozen value; only its own ``__init__`` may call this."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)


def contents(value: Any) -> dict[str, Any]:
    """Return the fields of a value by name, without converting nested values.

    >>> from layoutalg import Swizzle
    >>> contents(Swizzle(3, 4, 3))
    {'bits': 3, 'base': 4, 'shift': 3}
    """
    return dict(zip(value.__match_args__, value._contents, strict=True))


def arguments(value: Any) -> tuple[Any, ...]:
    """Return the fields of a value in order: the arguments that make an equal value.

    >>> from layoutalg import Swizzle
    >>> Swizzle(*arguments(Swizzle(3, 4, 3)))
    Swizzle(3, 4, 3)
    """
    return tuple(value._contents)


def is_value(candidate: object) -> bool:
    """Check if an object is a class made by :func:`frozen`, or a value of one.

    >>> from layoutalg import Swizzle
    >>> is_value(Swizzle), is_value(Swizzle(3, 4, 3)), is_value(3)
    (True, True, False)
    """
    return hasattr(candidate, "_contents")


def replace(value: Value, /, **changes: Any) -> Value:
    """Return a copy of a value with some fields changed, as ``dataclasses.replace`` does for a dataclass.

    Raises:
        TypeError: if the class has no such field.

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


#: The methods that all frozen classes share.
_SHARED = {
    "__setattr__": _set,
    "__delattr__": _delete,
    "__eq__": _equal,
    "__hash__": _hash,
    "__copy__": _itself,
    "__repr__": _by_name,
    "__reduce__": _reduced,
}
