"""What a student typed, as a value of the algebra.

Law: what is read is written as it was.

>>> print(layout_of("(4,8):(8,1)"))
(4,8):(8,1)
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from layoutalg import ComposedLayout, Layout, evaluate


def layout_of(text: str) -> Layout | ComposedLayout:
    """A layout.

    Raises:
        DescriptorError: if it is something else.
        LayoutError: if it cannot be read.
    """
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: it must be a layout, as (4,8):(8,1), found {text}")
    return value
