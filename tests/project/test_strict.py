"""The strict lattice: its kinds are those that the tables allow, and a run counts the same however it is spread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
import strict
from strict import Kind, Tally, kinds, prove_all, prove_kind, tiles

from descriptors import DescriptorError, IllegalError, derive, verify
from descriptors.smem.operands.operand import Major, SwizzleMode

ONE = Kind("sm100", "bf16", "B", Major.MN, SwizzleMode.B64, (96, 16))


def test_a_kind_counts_what_derive_and_the_comparison_say_of_each_tile() -> None:
    right = refused = 0
    for tile in tiles(ONE, (192, 32), 2):
        for order in ((0, 1, 2), (1, 0, 2)):
            try:
                d = derive(tile, ONE.dtype, ONE.major, ONE.swizzle, ONE.mma, order, ONE.arch, operand="B", verify=False)
            except DescriptorError:
                refused += 1
            else:
                right += verify(d).ok
    found = prove_kind(ONE, (192, 32), 2)
    assert (found.proved, sum(found.refused.values()), found.disproved) == (right, refused, 0)
    assert right > 0 and found.points == right + refused == 16


def test_every_fortieth_kind_is_proved_for_small_tiles() -> None:
    total = sum((prove_kind(kind, (256, 64), 2) for kind in islice(kinds(), 3, None, 40)), Tally())
    assert total.proved > 1000 and total.disproved == 0 and total.compared == 0


def test_a_run_counts_the_same_wherever_it_is_done() -> None:
    some = list(islice(kinds(), 0, None, 300))
    alone = sum(prove_all(some, most=(128, 64), stages=1), Tally())
    with ThreadPoolExecutor(2) as pool:
        assert sum(prove_all(some, most=(128, 64), stages=1, executor=pool), Tally()) == alone


def test_a_disproved_tile_is_counted_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from descriptors.smem.words.descriptor import SmemDescriptor

    honest = SmemDescriptor.encode
    monkeypatch.setattr(SmemDescriptor, "encode", lambda d: honest(d) ^ 1 << 33)
    kind = Kind("sm90", "f16", "A", Major.K, SwizzleMode.B32, (64, 48 // 3))
    found = prove_kind(kind, (64, 32), 1)
    assert found.disproved == 4 and len(found.wrong) == 4
    assert found.wrong[0] == "sm90 f16 A K 32B (64, 16) (64, 16, 1) (0, 1, 2)"


def test_illegal_operands_are_no_kinds() -> None:
    every = set(kinds())
    assert len(every) == 3247
    assert Kind("sm90", "tf32", "B", Major.MN, SwizzleMode.B128, (64, 8)) not in every
    with pytest.raises(IllegalError):
        derive((64, 8), "tf32", "MN", "128B", (64, 8), arch="sm90", operand="B")
    assert strict.summary_line(Tally(), 0.0).startswith("proved 0, refused 0, disproved 0: 0 points")
