"""Where the CuTe DSL is known not to do as the algebra does: rows of ``docs/divergences.md``, by operation.

A row is an input on which the DSL 4.8.1 gives another answer, refuses, or crashes; ``()`` is a layout at a coordinate.
Law: every operation tells its own rows once, and one without rows tells nothing.

>>> rows_of(["size", ":"]), rows_of(["logical_divide", "complement", "complement"])
('', 'logical_divide: rows 34 and 35; complement: rows 21 to 23')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["ROWS", "rows_of"]

#: Rows of the page by the name that an operation has in a syntax tree (`layoutalg.oracle.tree`).
ROWS = {
    "()": (64, 66),
    "blocked_product": (73,),
    "complement": (21, 22, 23),
    "composition": (1, 2, 3, 4, 5, 67),
    "left_inverse": (29, 31),
    "logical_divide": (34, 35),
    "logical_product": (71, 73),
    "make_ordered_layout": (56,),
    "max_common_vector": (67,),
    "nullspace": (33,),
    "raked_product": (73,),
    "recast_layout": (49, 50, 51, 52, 53),
    "right_inverse": (67,),
    "slice_": (68,),
    "slice_and_offset": (69, 70),
    "tile_to_shape": (60,),
    "tiled_divide": (43,),
    "zipped_divide": (39, 43),
    "zipped_product": (45,),
}


def rows_of(operations: Iterable[str]) -> str:
    """The rows of these operations as a sentence tells them; empty if none has any.

    >>> rows_of(["composition"])
    'composition: rows 1 to 5 and 67'
    """
    found = {("a call" if name == "()" else name): ROWS[name] for name in operations if name in ROWS}
    return "; ".join(f"{name}: row{'s' * (len(rows) > 1)} {_told(rows)}" for name, rows in found.items())


def _told(rows: Sequence[int]) -> str:
    """Numbers, runs of three or more as such."""
    runs: list[list[int]] = []
    for row in rows:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
