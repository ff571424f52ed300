#!/usr/bin/env python3
"""The article "Blackwell MMA SMEM Descriptor", section 3 (K-major, swizzle 128B), derived and checked number by number.

scripts/sw128_kmajor.py            every step, the descriptor, the advance table, every number checked
scripts/sw128_kmajor.py --check    the same by the CuTe DSL, and the word that its compiler writes
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # a checkout runs without being installed

from descriptors.course.article import SW128_KMAJOR
from descriptors.course.script import main

if __name__ == "__main__":
    sys.exit(main(SW128_KMAJOR))
