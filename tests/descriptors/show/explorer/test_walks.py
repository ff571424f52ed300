"""The modes of the steps as digits: with their strides they are the layouts again."""

from __future__ import annotations

from derived import derivations
from hypothesis import given
from hypothesis import strategies as st

from descriptors.show.explorer.highlights import walks
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.swizzled import plain


@given(d=derivations(), data=st.data())
def test_digits_times_strides_are_the_offsets_of_every_step(d: Derivation, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, d.tile[0] - 1)), data.draw(st.integers(0, d.tile[1] - 1))
    unit = (1, d.element.per_16_bytes) if d.major.contiguous_mode else (d.element.per_16_bytes, 1)
    inside = tuple(at % extent for at, extent in zip(cell, d.mma, strict=True))
    part = tuple(at // extent for at, extent in zip(cell, d.mma, strict=True))
    stages = (0,) * len(d.tile[2:])
    pieces = tuple(at // u for at, u in zip(inside, unit, strict=True))
    offsets = [
        plain(d.smem_tile)(*cell, *stages),
        plain(d.partitioned)(inside, (*part, *stages)),
        plain(d.recast)(pieces, (*part, *stages)),
        d.canonical(*pieces),
        d.advance(*part, *stages),
    ]
    for step, offset in zip(walks(d), offsets, strict=True):
        at = inside if offset is offsets[3] else cell
        assert sum(mode["stride"] * (at[mode["axis"]] // mode["period"] % mode["extent"]) for mode in step) == offset
