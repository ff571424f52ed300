"""The text of an answer of :func:`feeds`: what moves, the order of registers, and the instructions that do it.

Invariant: the first line is the answer.

>>> from layoutalg.fragments.feeds import feeds
>>> tell_feed(feeds("mma.m16n8k8.C", "mma.m16n8k8.A.tf32")).splitlines()[0]
'same after relabelling k: no values move between threads'
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutalg.fragments.feed_code import feed_code, movmatrix_works, shared_memory_path
from layoutalg.fragments.feeds import RELABEL, RELABEL_ROWS, REORDERED, SAME, Feed

#: Numbers of an order that a line shows, and instructions that the text shows.
_SHOWN, _LINES = 32, 40


def tell_feed(feed: Feed) -> str:
    """Return the answer, the order of registers, the k of the other operand, what moves otherwise, and the code.

    >>> from layoutalg.fragments.feeds import feeds
    >>> print(tell_feed(feeds("mma.m16n8k16.C", "mma.m16n8k8.A.bf16")))
    same: no values move between threads
       registers   a0.. take d0 d1 d2 d3
       proved      32 threads, 4 values each, one by one
       code        cvt.rn.bf16x2.f32 a0, d1, d0;
                   cvt.rn.bf16x2.f32 a1, d3, d2;
    """
    chained = feed.first.role == "D" and feed.second.role in ("A", "B")
    rows = [_answer(feed), *_registers(feed, chained), *_relabelled(feed)]
    if feed.reach:
        rows.append(("without it" if feed.answer in (RELABEL, RELABEL_ROWS) else "moves", _moves(feed)))
    if feed.reach and feed.answer not in (RELABEL, RELABEL_ROWS):
        rows += _paths(feed)
    if feed.repeats > 1:
        rows.append(("repeats", f"{feed.repeats} times along the columns, {feed.values} values further each time"))
    rows.append(("proved", f"{feed.threads} threads, {feed.values} values each, one by one"))
    code = feed_code(feed)
    rows += [("code" if number == 0 else "", line) for number, line in enumerate(code[:_LINES])]
    if len(code) > _LINES:
        rows.append(("", f"... and {len(code) - _LINES} more instructions (--json prints all)"))
    return "\n".join([rows[0][1], *(f"   {name:<11} {text}".rstrip() for name, text in rows[1:])])


def _answer(feed: Feed) -> tuple[str, str]:
    in_place = feed.answer in (SAME, REORDERED, RELABEL, RELABEL_ROWS)
    return "", f"{feed.answer}: no values move between threads" if in_place else feed.answer


def _registers(feed: Feed, chained: bool) -> list[tuple[str, str]]:
    if feed.answer not in (SAME, REORDERED, RELABEL, RELABEL_ROWS):
        return []
    if not feed.register_order:
        return [("registers", "the order of registers differs from thread to thread")]
    letters = ("d", f"{feed.second.role.lower()}0.. take") if chained else ("v", "values of the second are")
    return [("registers", f"{letters[1]} {_numbers([f'{letters[0]}{value}' for value in feed.register_order])}")]


def _relabelled(feed: Feed) -> list[tuple[str, str]]:
    if feed.answer == RELABEL_ROWS:
        return [("rows", f"{_numbers(feed.row_order)}: row i of the result is row order[i] of the first tile")]
    if feed.answer != RELABEL:
        return []
    period = next(
        length
        for length in range(1, feed.columns + 1)
        if feed.columns % length == 0
        and all(column == feed.sigma[k % length] + k - k % length for k, column in enumerate(feed.sigma))
    )
    more = f" (+ {period}, ...)" if period < feed.columns else ""
    other = "A" if feed.second.role == "B" else "B"
    line = "column" if other == "A" else "row"
    rows = [
        ("k", f"{_numbers(feed.sigma[:period])}{more}"),
        ("", f"{line} k of {other} must be {line} sigma(k) of {other}"),
    ]
    if feed.second.name.startswith("wgmma"):
        rows.append((other, f"read by descriptor: permute within each {period} of k where {other} is stored"))
    else:
        rows.append((other, "permute by the addresses of its loads, such as the row pointers of ldmatrix"))
    for count in feed.scale_counts:
        block = _numbers(feed.scale_blocks(count)[0])
        rows.append(("" if count == 32 else "scales", f"of {count} k: columns {block} share the first factor"))
    if feed.scale_counts:
        rows.append(("", f"factors of {other} are computed of the same k"))
    return rows


def _moves(feed: Feed) -> str:
    """Return how far values move, in words."""
    values = feed.values
    empty = [thread for thread in range(min(32, feed.threads)) if feed.stay[thread] == 0]
    if feed.reach == "CTA":
        return f"across warps: {sum(feed.stay)} of {values * feed.threads} values are in their thread"
    shown = feed.sources[:4] if feed.reach == "quads" else feed.sources[:2]
    tables = ", ".join(
        f"lane {lane} from {_numbers([thread for thread, _ in sources])}"
        for lane, sources in enumerate(shown)
        if sources
    )
    tables += ", ..." if len(shown) < feed.threads else ""
    empty_lanes = f"{len(empty)} of {min(32, feed.threads)} lanes keep nothing; " if empty else ""
    return f"shuffles within {feed.reach}: {tables}; {empty_lanes}at least {feed.shuffles} of 32 bits a lane"


def _paths(feed: Feed) -> list[tuple[str, str]]:
    """Return the instructions that move the values."""
    rows = []
    if movmatrix_works(feed):
        rows.append(("registers", "movmatrix.sync.aligned.m8n8.trans.b16 of each packed register"))
    store, load = shared_memory_path(feed)
    if store or load or feed.reach == "CTA":
        names = f"{store or 'stores of the values'}, then {load or 'loads of the values'}"
        rows.append(("memory", f"through shared memory: {names}"))
    return rows


def _numbers(values: Sequence[object]) -> str:
    """Return values separated by blanks, shortened if there are many."""
    shown = " ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} ... ({len(values)} in all)"
