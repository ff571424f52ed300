"""Inner loops in PTX and for the CuTe DSL, and what kernels need besides: offsets of elements, codes of numbers."""
