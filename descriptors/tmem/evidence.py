"""How a fact on tensor memory is known: no Blackwell GPU was ever asked.

Law: the weakest of several grades is that of what was put together from them.

>>> weakest(NVIDIA, DOCUMENTED) == weakest(DOCUMENTED, NVIDIA) == DOCUMENTED
True
>>> all("not measured on a Blackwell GPU" in grade for grade in GRADES)
True
"""

from __future__ import annotations

#: What NVIDIA's own code computes: layouts of CUTLASS and of the CuTe DSL, evaluated; what its compiler emits.
NVIDIA = "NVIDIA's code, evaluated; not measured on a Blackwell GPU"
#: What the PTX manual says.
DOCUMENTED = "documented, not measured on a Blackwell GPU"
#: What nothing found says outright.
BELIEVED = "believed, not documented in so many words; not measured on a Blackwell GPU"

#: From the best to the weakest. Code goes before text: it was run, and where both speak they agree but for errata.
GRADES = (NVIDIA, DOCUMENTED, BELIEVED)


def weakest(*grades: str) -> str:
    """The weakest of grades.

    >>> weakest(NVIDIA, BELIEVED, DOCUMENTED) == BELIEVED
    True
    """
    return max(grades, key=GRADES.index)
