"""A proof as a bar: its parts are the comparisons that held and those that did not."""

from __future__ import annotations

from dataclasses import replace

from drawn_operands import OPERANDS

from descriptors import verify
from descriptors.show.pictures.proof_picture import ProofPicture


def test_the_red_end_is_the_share_that_failed() -> None:
    d = OPERANDS["K 128B"]
    good = ProofPicture(verify(d))
    assert good.record() == {"kind": "proof", "compared": 16384, "right": 16384, "subtiles": 16}
    bad = ProofPicture(verify(replace(d, descriptor=replace(d.descriptor, stride_byte_offset=512))))
    record = bad.record()
    assert 0 < record["right"] < record["compared"] == 16384
    assert f'width="{round(720 * record["right"] / 16384, 2):g}"' in bad.svg()
    assert "Disproved" in bad.svg()
    assert str(good) == str(verify(d))
