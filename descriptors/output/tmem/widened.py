"""A ``tcgen05.cp`` that widens its elements: where they are in the source, and which bytes they become.

Law: text and data have the same layouts.

>>> from descriptors.tmem.copies import widened_copy
>>> made = widened_copy("128x128b.b8x16.b4x16_p64")
>>> all(record(made)[name] in tell(made) for name in ("source", "layout"))
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.output.tmem import fragment
from descriptors.tmem.copies import WidenedCopy

#: What is not known of every one of them.
OPEN = "where in its byte an element's bits are"


@text.tell.register(WidenedCopy)
def tell(made: WidenedCopy) -> str:
    """A widening copy for a person.

    >>> from descriptors.tmem.copies import widened_copy
    >>> print(tell(widened_copy("128x256b.b8x16.b6x16_p32")).splitlines()[0])
    tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32: 6 bits an element, 4 bytes of each 16 are padding
    """
    _, *cells = fragment.tell(made.cells).splitlines()
    source = f"   source   (row, element) -> {made.source}, in bits of rows one behind the other"
    return "\n".join([made.headline, source, *cells, f"   open     {OPEN}"])


def record(made: WidenedCopy) -> dict[str, Any]:
    """A widening copy as plain data.

    >>> from descriptors.tmem.copies import widened_copy
    >>> record(widened_copy("128x256b.b8x16.b6x16_p32"))["padding"]
    4
    """
    return {
        "ptx": made.ptx(),
        "element_bits": made.element_bits,
        "padding": made.padding,
        "source": str(made.source),
        **fragment.record(made.cells),
        "open": OPEN,
    }
