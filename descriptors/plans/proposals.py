"""A tile alone, and its plans: every instruction that divides it, the best first, and why the others do not do.

What an instruction costs is the shared memory that it reads: an instruction of M x N reads (M + N) K elements for M N K
products, so that wide ones read least. Proposals are ranked by that, then by how many stages fit. All instructions are
tried with both operands K-major, or as is said; the best one also with the other majors that it may have, for the major
is that of the matrices in global memory, which no copy changes.

Law: what is proposed is proved, and whatever divides the tile is proposed, or refused with a reason.

>>> found = propose("bf16", tile=(64, 48, 32), arch="sm90", a_major="K", b_major="K", top=9)
>>> [one.asked.name for one in found.plans], found.refused
(['m64n48k16', 'm64n24k16', 'm64n16k16', 'm64n8k16'], ())
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.errors import DescriptorError, as_integer
from descriptors.frozen import frozen
from descriptors.instructions.rules import as_mode, rows_read
from descriptors.instructions.tables import DENSE_K, SHAPES
from descriptors.operands.operand import ElementType, Major, as_element_type, as_major
from descriptors.plans.parts.asked import kind_asked, three
from descriptors.plans.plan import Plan
from descriptors.plans.planner import plan, prove_plan
from descriptors.plans.traffic import read_bytes
from descriptors.text import Told, counted, extents_text
from descriptors.words.descriptor import architecture


@frozen
class Proposals(Told):
    """The plans of a tile.

    Args:
        tile: M, N and K of a stage.
        plans: the best first, each of them proved.
        fitting: how many fit, shown or not.
        refused: instruction and reason, of those that divide the tile and do not do.
        others: how many legal instructions do not divide it.
    """

    tile: tuple[int, int, int]
    plans: tuple[Plan, ...]
    fitting: int
    refused: tuple[tuple[str, str], ...]
    others: int

    @property
    def headline(self) -> str:
        """The answer in one line."""
        best = f", best {self.plans[0].asked.name}" if self.plans else ""
        return f"{counted(self.fitting, 'plan')} of a tile of {extents_text(self.tile)}{best}"


def propose(
    dtype: str | ElementType, *, tile: Sequence[int], arch: str | None = None, top: int = 4, **asked: Any
) -> Proposals:
    """Every plan of a tile, the best proved.

    Args:
        dtype: element type of A.
        tile: M, N and K of one stage, over both CTAs of a pair.
        arch: ``"sm90"`` or ``"sm100"``, which is taken if it is left out.
        top: how many are kept, and proved.
        asked: the other arguments of ``plan``, which hold for every instruction; with ``cta_group`` left out both are
            tried on sm100.

    Raises:
        DescriptorError: if an argument is malformed, or nothing fits; the reasons of the best are named.

    >>> found = propose("bf16", tile=(128, 256, 64), arch="sm90", top=1)
    >>> print(found.headline)
    9 plans of a tile of 128x256x64, best m64n256k16
    """
    of, whole = architecture("sm100" if arch is None else arch), three(tile, "the tile")
    shown = as_integer(top, "plan: how many to show", minimum=1, maximum=64)
    given = {name: value for name, value in asked.items() if value is not None}
    a = as_element_type(dtype)
    b = as_element_type(given.get("b_dtype", a))
    kind = kind_asked(of, a, b, given.get("kind"), given.get("scale_dtype"), given.get("scale_vector"))
    groups = (given.pop("cta_group"),) if "cta_group" in given else (1, 2)
    rows = [row for row in SHAPES if (row.arch, row.kind, row.k) == (of, kind, DENSE_K[of, kind])]
    rows = [row for row in rows if row.cta_group in groups and not row.sparse and not row.ws]
    read = rows_read(rows, as_mode(given.get("legality", "strict")))
    legal = {(row.cta_group, m, n, row.k) for row in read for m in row.m for n in row.n if "smem" in row.a_source}
    dividing = sorted(one for one in legal if not (whole[0] % one[1] or whole[1] % one[2] or whole[2] % one[3]))
    fits, refused = list[Plan](), list[tuple[str, str]]()
    given |= {"dtype": a, "tile": whole, "arch": of, "verify": False}
    for shape in reversed(dividing):
        _try(shape, given, fits, refused)
    if fits:
        best = min(fits, key=_rank)
        shape = (best.asked.cta_group, *best.asked.extents)
        for majors in ((Major.K, Major.MN), (Major.MN, Major.K), (Major.MN, Major.MN)):
            names = dict(zip(("a_major", "b_major"), majors, strict=True))
            if not any(name in given and as_major(given[name]) is not major for name, major in names.items()):
                _try(shape, {**given, **names}, fits, refused)
    if not fits:
        why = "; ".join(f"{name}: {reason}" for name, reason in refused[:2]) or _none(legal, whole)
        raise DescriptorError(f"plan: an instruction must fit the tile {extents_text(whole)}, none does; {why}")
    ranked = sorted(fits, key=_rank)
    for one in ranked[:shown]:
        prove_plan(one)
    return Proposals(whole, tuple(ranked[:shown]), len(fits), tuple(refused), len(legal) - len(dividing))


def _rank(one: Plan) -> tuple[int, int, int, int]:
    transposed = one.a.transposed + one.b.transposed
    return read_bytes(one), -one.budget.most_stages, transposed, one.b.transposed


def _none(legal: set[tuple[int, int, int, int]], tile: tuple[int, int, int]) -> str:
    """Why no legal instruction divides a tile: the extent that is to blame."""
    for index, letter in enumerate("MNK"):
        steps = sorted({one[index + 1] for one in legal})
        if steps and all(tile[index] % step for step in steps):
            return f"{letter} must be a multiple of {' or '.join(map(str, steps[:3]))}, found {tile[index]}"
    return "no legal instruction divides it"


def _try(
    shape: tuple[int, int, int, int], given: dict[str, Any], fits: list[Plan], refused: list[tuple[str, str]]
) -> None:
    group, *extents = shape
    try:
        fits.append(plan(extents, cta_group=group, **given))
    except DescriptorError as error:
        majors = "".join(f", {name[0].upper()} {given[name]}-major" for name in ("a_major", "b_major") if name in given)
        pair = ", cta_group 2" if group == 2 else ""
        refused.append(("m{}n{}k{}".format(*extents) + pair + majors, str(error)))
