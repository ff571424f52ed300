"""What a start address can name, and what a thread block has of shared memory.

Law: the window is what the field of either architecture can name, and all shared memory lies in it.

>>> from descriptors.words.descriptor import WORDS
>>> all(SMEM_BYTES < WINDOW_BYTES == word["start_address"].limit + 16 for word in WORDS.values())
True
"""

from __future__ import annotations

#: Shared memory that one thread block can use on sm90 and sm100 (CUDA C++ Programming Guide, compute capabilities).
SMEM_BYTES = 227 * 1024

#: What the start-address field can name (PTX ISA, matrix descriptor: matrix-descriptor-encode, 18 bits).
WINDOW_BYTES = 1 << 18
