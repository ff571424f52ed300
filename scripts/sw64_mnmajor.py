#!/usr/bin/env python3
"""The article "Blackwell MMA SMEM Descriptor", section 4 (MN-major, swizzle 64B), derived and checked number by number.

scripts/sw64_mnmajor.py            every step, the descriptor, the advance table, every number checked
scripts/sw64_mnmajor.py --check    the same by the CuTe DSL, and the word that its compiler writes
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # a checkout runs without being installed

from descriptors.course.article import SW64_MNMAJOR
from descriptors.course.script import main

if __name__ == "__main__":
    sys.exit(main(SW64_MNMAJOR))
