"""Probes: what a Hopper GPU does, measured, for ``tests/vectors/hopper`` to keep and the test-suite to check against.

CUDA C++ kernels (``kernels/``) compiled by ``nvcc`` for sm_90a, and Python drivers that load them through the CUDA
driver by ``ctypes``. They need a Hopper GPU, its driver, the CUDA toolkit and numpy; the libraries need none of it.

==============  =====================================================================================================
descriptor      which address does ``wgmma`` read each element from, for any 64-bit word?
banks           how many wavefronts does a warp's access to shared memory take? (hardware counters, under ``ncu``)
tma             where does the copy engine put each element of a box, for each swizzle?
gemm            is the product right, with given offset maps, words and advances, and wrong with wrong words?
fragments       which element does each register of each thread hold, of wgmma, mma.sync, ldmatrix and stmatrix?
==============  =====================================================================================================

``scripts/probe_wgmma NAME`` runs one of them. With no GPU, or one that is not Hopper, it says so in a line and exits
with status 3.
"""
