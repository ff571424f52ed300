"""The addresses that a run assumes for pointer parameters."""

from __future__ import annotations

from descriptors.check.execution.launch import pointer


def test_pointer_parameters_of_one_kernel_have_different_addresses() -> None:
    for kernel in ("k", "_Z4gemm14CUtensorMap_stS_Pfiii", "matmul_kernel_with_block_pointers"):
        names = [f"{kernel}_param_{number}" for number in range(250)]
        addresses = {pointer(name, offset) for name in names for offset in range(0, 4096, 8)}
        assert len(addresses) == 250 * 512
        assert max(addresses) < 1 << 64


def test_pointers_are_far_apart() -> None:
    """An index of 32 bits times 16 bytes does not lead from one pointer to another."""
    assert pointer("a", 8) - pointer("a", 0) >= 1 << 36
