"""What the two offsets of a canonical form mean, in words: which step each of them is, and whether it is read.

Everything is asked of the ``Form``: where its two free steps stand, how large the piece is that the hardware knows by
itself, and which field it passes over. So a word, a derivation and a table say the same of the same operand.

Law: the step at the path of a field, in an operand's canonical layout, is that field's value; unread or not.

>>> from descriptors.matching.canonical import match_form
>>> from descriptors.matching.forms import LEADING, STRIDE, form
>>> from layoutalg import Layout
>>> one = match_form(Layout(((8, 4), (1, 2)), ((1, 64), (0, 32))), form("K", "none"))
>>> [16 * one.layout.stride[i][j] for i, j in (path_of(one.form, LEADING), path_of(one.form, STRIDE))]
[512, 1024]
>>> one.leading_byte_offset, one.stride_byte_offset
(512, 1024)
"""

from __future__ import annotations

from descriptors.errors import ChoiceError
from descriptors.matching.forms import Form, Path, form
from descriptors.operands.operand import Major, SwizzleMode

#: What the two dimensions are called where it is not known whether the operand is A (MN is M) or B (MN is N).
DIMENSIONS = ("MN", "K")


def path_of(wanted: Form, field: str) -> Path:
    """Where the step of an offset stands in the form.

    Raises:
        ChoiceError: if the field is neither offset.

    >>> from descriptors.matching.forms import form
    >>> path_of(form("MN", "none"), "leading_byte_offset"), path_of(form("MN", "64B"), "leading_byte_offset")
    ((1, 1), (0, 1))
    """
    paths = dict(wanted.steps)
    if field not in paths:
        raise ChoiceError("canonical: an offset", field, paths)
    return paths[field]


def step_meaning(wanted: Form, field: str, dimensions: tuple[str, str] = DIMENSIONS) -> str:
    """The step that an offset of the form is, whether it is read or not.

    Args:
        wanted: the form.
        field: ``"leading_byte_offset"`` or ``"stride_byte_offset"``.
        dimensions: what MN and K are called.

    >>> from descriptors.matching.forms import form
    >>> step_meaning(form("K", "128B"), "stride_byte_offset", ("M", "K"))
    'step to the next 8 rows along M'
    >>> step_meaning(form("MN", "64B"), "leading_byte_offset"), step_meaning(form("MN", "none"), "leading_byte_offset")
    ('step to the next atom along MN', 'step to the next 8 k')
    """
    mode = path_of(wanted, field)[0]
    if mode == wanted.major.contiguous_mode:
        piece = "16 bytes" if wanted.chunk[mode] == 1 else "atom"
        return f"step to the next {piece} along {dimensions[mode]}"
    return f"step to the next {wanted.rows} " + (f"rows along {dimensions[0]}" if wanted.major is Major.K else "k")


def is_read(wanted: Form, field: str) -> bool:
    """Whether the hardware reads the field for operands of this form.

    >>> from descriptors.matching.forms import form
    >>> is_read(form("K", "128B"), "leading_byte_offset"), is_read(form("K", "none"), "leading_byte_offset")
    (False, True)
    """
    return field not in wanted.unread


def chunk_meaning(wanted: Form, dimensions: tuple[str, str] = DIMENSIONS) -> str:
    """The piece of an operand in which the hardware finds its way by itself.

    >>> from descriptors.matching.forms import form
    >>> chunk_meaning(form("K", "128B"))
    '8 rows of 16 bytes, 128 bytes apart'
    >>> chunk_meaning(form("MN", "128B_BASE32B"))
    'a swizzle atom, 128 bytes along MN by 4 k'
    """
    if wanted.major is Major.K:
        return f"{wanted.rows} rows of 16 bytes, {wanted.mode.span_bytes} bytes apart"
    piece = "16 bytes" if wanted.mode is SwizzleMode.NONE else f"a swizzle atom, {wanted.mode.span_bytes} bytes"
    return f"{piece} along {dimensions[0]} by {wanted.rows} k"


def walked(major: Major, mode: SwizzleMode) -> Form:
    """The form by whose steps the hardware walks an operand: the canonical one wherever there is one.

    K-major rows with 32-byte atoms have no canonical form; the walk steps over them as over all K-major rows, only the
    permutation differs (``read_model``).

    >>> print(walked(Major.K, SwizzleMode.B128_BASE32B), walked(Major.K, SwizzleMode.NONE), sep="; ")
    K-major 128B ((8,m),(1,k)):((8,SBO),(-,1)); K-major none ((8,m),(1,k)):((1,SBO),(-,LBO))
    """
    lacking = major is Major.K and mode is SwizzleMode.B128_BASE32B
    return form(major, SwizzleMode.B128 if lacking else mode)
