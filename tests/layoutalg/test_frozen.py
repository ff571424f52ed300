"""Frozen values behave as those of a frozen, slotted dataclass of the same fields do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from layoutalg.frozen import contents, frozen, replace


class Base:
    __slots__ = ()

    def __repr__(self) -> str:
        return "a base that does not know its fields"


def classes(make: Callable[[type], type]) -> list[Any]:
    @make
    class Extents(Base):
        """Two extents."""

        mn: int
        k: int = 16
        names: tuple[str, ...] = ()

        @property
        def size(self) -> int:
            return self.mn * self.k

    @make
    class Tile(Extents):
        k: int | None = 64  # type: ignore[assignment]
        stages: int = 2

    @make
    class One:
        only: Any

    @make
    class Checked:
        low: int
        high: int

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("must be in order")

        def __repr__(self) -> str:
            return "its own"

    return [Extents, One, Checked, Tile]


OURS = classes(frozen)
THEIRS = classes(dataclasses.dataclass(frozen=True, slots=True))
GIVEN: list[list[tuple[tuple[Any, ...], dict[str, Any]]]] = [
    [((8,), {}), ((8, 32), {}), ((), {"mn": 8, "names": ("a",)}), ((), {}), ((1, 2, (), 4), {}), ((8,), {"rows": 1})],
    [((5,), {}), (((),), {}), ((), {})],
    [((1, 2), {}), ((2, 1), {})],
    [((8,), {}), ((8, None, ("a",), 3), {}), ((), {"mn": 8, "stages": 4}), ((), {})],
]


def facts_of(make: Any, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
    """All that can be asked of a value, or how it is refused."""
    try:
        value = make(*arguments[0], **arguments[1])
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return (
        repr(value),
        hash(value),
        dataclasses.astuple(value),
        dataclasses.asdict(value),
        value == make(*arguments[0], **arguments[1]),
        value == dataclasses.astuple(value),
        [one.name for one in dataclasses.fields(value)],
        hasattr(value, "__dict__"),
        type(value).__match_args__,
    )


@pytest.mark.parametrize("number", range(4))
def test_a_value_is_made_told_and_compared_as_that_of_a_dataclass(number):
    for arguments in GIVEN[number]:
        assert facts_of(OURS[number], arguments) == facts_of(THEIRS[number], arguments), arguments
    assert str(inspect.signature(OURS[number])) == str(inspect.signature(THEIRS[number]))
    assert OURS[number].__doc__ is None or OURS[number].__doc__ == THEIRS[number].__doc__


@pytest.mark.parametrize("change", [lambda one: setattr(one, "mn", 1), lambda one: delattr(one, "mn")])
def test_a_field_can_neither_be_set_nor_deleted(change):
    for kind in (OURS[0], THEIRS[0]):
        with pytest.raises(dataclasses.FrozenInstanceError, match="field 'mn'"):
            change(kind(8))


def test_values_of_different_classes_differ_whatever_they_hold():
    assert frozen(type("A", (), {"__annotations__": {"x": "int"}, "__module__": __name__}))(1) != OURS[1](1)


def test_a_value_is_replaced_copied_and_sent_to_another_process():
    from descriptors.smem.words.bitfield import Field

    field = Field("rows", 0, bits=3)
    assert replace(field, low=2) == dataclasses.replace(field, low=2) == Field("rows", 2, 3)
    assert contents(field) == dataclasses.asdict(field)
    assert copy.copy(field) == copy.deepcopy(field) == pickle.loads(pickle.dumps(field)) == field
    with pytest.raises(TypeError, match="height"):
        replace(field, height=1)


def test_what_is_replaced_is_checked_again():
    with pytest.raises(ValueError, match="in order"):
        replace(OURS[2](1, 2), low=3)
