"""The words of the whole lattice against NVIDIA's compiler, exhaustive; a sample of it runs every time."""

from __future__ import annotations

from contextlib import suppress

import pytest
from compiled import disagreements

from descriptors import DescriptorError, derive, oracle
from descriptors.sweep.lattice import lattice

pytestmark = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")


@pytest.mark.exhaustive
@pytest.mark.parametrize("arch", ["sm90", "sm100"])
def test_the_whole_lattice_agrees_with_the_compiler(arch: str) -> None:
    derivations = []
    for point in lattice("64:256:64x32:256:32", "64,128,256xauto", archs=arch):
        with suppress(DescriptorError):
            derivations.append(derive(**point, verify=False))
    wrong, counts = disagreements(derivations, exact=True)
    assert not wrong, "\n".join(wrong[:10])
    assert set(counts) == {"ok"}, counts
