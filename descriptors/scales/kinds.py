"""What a block-scaled multiplication takes where nothing else is asked for: its kind, its scale factors, a swizzle.

Law: what is taken is in the tables of instructions.

>>> from descriptors.instructions.checks import check_scale
>>> for kind in ("mxf8f6f4", "mxf4", "mxf4nvf4"):
...     dtype, vector, name = factors_of(kind, None, None)
...     assert check_scale(kind, dtype, vector, k=DENSE_K["sm100", kind]).name == name
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.instructions.idesc import as_kind
from descriptors.instructions.tables import DENSE_K, SCALES
from descriptors.operands.operand import SwizzleMode, as_element_type


def scaled_kind(a: str, b: str, kind: str | None, scale_dtype: str | None, vector: int | None) -> str:
    """The kind that the types mean, scale factors understood.

    Raises:
        IllegalError: if no kind takes the types.
        DescriptorError: if the kind has no scale factors.

    >>> scaled_kind("e4m3", "e2m1", None, None, None), scaled_kind("e2m1", "e2m1", None, "ue4m3", None)
    ('mxf8f6f4', 'mxf4nvf4')
    """
    if scale_dtype is None and not (isinstance(vector, int) and vector == 16):
        scale_dtype = "ue8m0"
    named = as_kind(a, b, kind=kind, scale_dtype=scale_dtype, scale_vector=vector)
    if not named.startswith("mx"):
        raise DescriptorError(f"block-scaled: the kind must have scale factors, found {named}")
    return named


def factors_of(kind: str, dtype: str | None, vector: int | None) -> tuple[str, int, str]:
    """The type of the factors, elements that share one, and PTX's qualifier, as given or as the kind has them.

    Raises:
        DescriptorError: if the kind has no such factors.

    >>> factors_of("mxf4nvf4", None, None), factors_of("mxf4nvf4", "ue8m0", None)
    (('ue4m3', 16, '4X'), ('ue8m0', 32, '2X'))
    """
    rows = [row for row in SCALES if row.kind == kind and DENSE_K["sm100", kind] in row.k]
    first = [row for row in rows if dtype in (None, row.dtype) and vector in (None, row.vector)]
    if not first:
        known = ", ".join(f"{row.dtype} by {row.vector}" for row in rows)
        found = f"{dtype or 'any'} by {vector or 'any'}"
        raise DescriptorError(f"block-scaled: scale factors must be {known}, found {found}; kind {kind}")
    row = first[-1] if dtype is None and kind == "mxf4nvf4" else first[0]
    return row.dtype, row.vector, row.name


def widest_swizzle(k: int, dtype: str) -> SwizzleMode:
    """The widest swizzle whose rows a tile's rows fill.

    >>> str(widest_swizzle(64, "e2m1")), str(widest_swizzle(256, "e2m1"))
    ('32B', '128B')
    """
    row = k * as_element_type(dtype).storage_bits // 8
    fitting = [mode for mode in (SwizzleMode.B128, SwizzleMode.B64, SwizzleMode.B32) if row % mode.span_bytes == 0]
    return fitting[0] if fitting else SwizzleMode.NONE
