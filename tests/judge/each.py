"""One test of many cases: a loop over a table in place of a test for each of its rows.

Where hundreds of rows take the same path, a case of pytest's for each costs more than what it tests. All rows are
tried; the first failure is raised, with the names of all rows that failed beside it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

PARAM = type(pytest.param())


def _values(row: Any, count: int) -> Sequence[Any]:
    """The arguments of a row, which may be one of ``pytest.param``."""
    if isinstance(row, PARAM):
        return row.values
    return [row] if count == 1 else list(row)


def _table(rows: Iterable[Any], count: int, ids: Any) -> tuple[list[Any], list[Sequence[Any]]]:
    """What each row is called, and its arguments."""
    rows = list(rows)
    if not rows:
        raise ValueError("each: there must be rows to try, found none")
    if any(isinstance(row, PARAM) and row.marks for row in rows):
        raise ValueError("each: the mark of a row would have no effect; rows with a mark need a test of their own")
    titles = [getattr(row, "id", ids) if isinstance(row, PARAM) else ids for row in rows]
    return titles if ids is None or callable(ids) else list(ids), [_values(row, count) for row in rows]


def _named(title: Any, values: Sequence[Any]) -> str:
    """What a row is called in a message."""
    if title is None:
        return ", ".join(map(repr, values))
    return "-".join(str(title(value)) for value in values) if callable(title) else str(title)


def each(
    names: str | Sequence[str],
    rows: Iterable[Any] | Callable[[], Iterable[Any]],
    ids: Iterable[str] | Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator like ``pytest.mark.parametrize`` with the same arguments, by which the test stays one test.

    Rows that take long to make are given as a function, which is called when the test runs, so that no collection of
    tests waits for them. Fixtures are made once and serve every row. A row that is skipped where the first was not is a
    failure: of many rows none is left out without a word.

    >>> @each(("a", "b"), [(1, 1), (1, 2), (2, 3)], ids=str)
    ... def test_equal(a: int, b: int) -> None:
    ...     assert a == b
    >>> try:
    ...     test_equal()
    ... except AssertionError as error:
    ...     print(*error.__notes__)
    2 of 3 rows failed; this is the first: 1-2 2-3

    A loop over nothing would prove nothing:

    >>> each("a", [])
    Traceback (most recent call last):
        ...
    ValueError: each: there must be rows to try, found none
    """
    arguments = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
    known = _table(rows, len(arguments), ids) if isinstance(rows, Iterable) else None  # an enumeration is both

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def whole(**fixtures: Any) -> None:
            __tracebackhide__ = True
            titles, table = known or _table(rows(), len(arguments), ids)
            failed: list[tuple[str, BaseException]] = []
            for title, values in zip(titles, table, strict=True):
                try:
                    test(**dict(zip(arguments, values, strict=True)), **fixtures)
                except pytest.skip.Exception as skipped:
                    if values is table[0]:
                        raise
                    failed.append((_named(title, values), AssertionError(f"only some rows are tried: {skipped}")))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  all rows are tried
                    failed.append((_named(title, values), error))
            if failed:
                told = " ".join(title[:100] for title, _ in failed[:20])
                failed[0][1].add_note(f"{len(failed)} of {len(table)} rows failed; this is the first: {told}")
                raise failed[0][1]

        taken = inspect.signature(test)
        left = [one for one in taken.parameters.values() if one.name not in arguments]
        whole.__signature__ = taken.replace(parameters=left)  # type: ignore[attr-defined]
        return whole

    return decorate
