"""What a word makes the tensor core read is where the tile of that word has its elements."""

from __future__ import annotations

import numpy as np
import pytest
from derived import derivations
from hypothesis import given

from descriptors import DescriptorError, derive
from descriptors.smem.debug.diff import diff
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.proof.addresses import stored_rows


@given(derivations())
def test_the_word_of_a_tile_is_read_where_the_tile_stores_its_first_operand(d: Derivation) -> None:
    fetched = read(d.descriptor.encode(), d.arch, dtype=d.element, major=d.major, shape=d.mma)
    mn, k = d.mma
    addresses = np.reshape(stored_rows(d.smem_tile, d.element), (d.tile[0], d.tile[1], -1))  # of all stages, the first
    assert [list(row) for row in fetched.addresses] == addresses[:mn, :k, 0].tolist()


@pytest.mark.parametrize("shape", [(0, 16), (64,), (64, 16, 1), "64x16", (1 << 16, 1 << 16)])
def test_a_shape_that_is_no_operand_is_refused(shape: object) -> None:
    with pytest.raises(DescriptorError, match="read: "):
        read(0x4000404000010000, dtype="bf16", major="K", shape=shape)  # type: ignore[arg-type]


@pytest.mark.parametrize(("arch", "family"), [("sm90", "wgmma"), ("sm100", "tcgen05")])
@pytest.mark.parametrize("shape", [(64, 17), (65, 16)])
def test_the_model_of_an_operand_that_no_instruction_reads_has_no_evidence(
    arch: str, family: str, shape: tuple[int, int]
) -> None:
    word = derive((64, 64), "bf16", "MN", "128B", (64, 16), arch=arch).descriptor.encode()
    reads = f"no {family} instruction reads such an operand"
    assert read(word, arch, dtype="bf16", major="MN", shape=shape).evidence == reads
    assert read(word, arch, dtype="bf16", major="MN", shape=(64, 16)).evidence != reads
    illegal = "S<3,3,3> o 0 o (64,17):(1,64)" if shape == (64, 17) else "S<3,3,3> o 0 o (65,16):(1,128)"
    assert diff(word, illegal, arch, dtype="bf16", major="MN").evidence == reads
