"""Match an operand's layout with a canonical form: read LBO and SBO from it, or explain why it does not match.

The canonical forms count 16-byte units. An explanation counts rows and columns, as the user does: a row is one index
along MN, a column one index along K, whichever of them is contiguous, and distances are in bytes. The meaning of the
two offsets, and whether the hardware reads them, follows from the ``Form`` alone, so that decoding, derivation and
tables describe an operand in the same way.

Invariant: LBO and SBO are the two free strides of a form, for all values.

>>> grid = [(lbo, sbo) for lbo in range(32, 40) for sbo in range(64, 72)]
>>> matches = [match_form(Layout(((8, 4), (1, 2)), ((1, sbo), (0, lbo))), form("K", "none")) for lbo, sbo in grid]
>>> matches += [match_form(Layout(((4, 2), (8, 2)), ((1, lbo), (4, sbo))), form("MN", "64B")) for lbo, sbo in grid]
>>> [(match.leading_byte_offset // 16, match.stride_byte_offset // 16) for match in matches] == 2 * grid
True

Invariant: a mode with a single stride has no break; any other mode has one at the first index that is elsewhere.

>>> from layoutalg import parse_layout, size
>>> for text in ("(4,2):(8,32)", "(4,2):(8,64)", "(2,3,4):(1,2,9)"):
...     mode = parse_layout(text)
...     at, step, found = first_break(mode)
...     apart = [i for i in range(size(mode)) if mode(i) != i * mode(1)]
...     assert apart[:1] == ([at] if found != at * step else []) and (not apart or mode(at) == found), text

Invariant: the stride at the path of a field, in an operand's canonical layout, is that field's value.

>>> match = match_form(Layout(((8, 4), (1, 2)), ((1, 64), (0, 32))), form("K", "none"))
>>> [16 * match.layout.stride[i][j] for i, j in (path_of(match.form, LEADING), path_of(match.form, STRIDE))]
[512, 1024]
>>> match.leading_byte_offset, match.stride_byte_offset
(512, 1024)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from descriptors.errors import Advice, ChoiceError, DescriptorError, NotCanonicalError, brief
from descriptors.smem.operands.forms import BASE, LEADING, STRIDE, Form, Path, form
from descriptors.smem.operands.operand import ElementType, Major, SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.text import bits_text, counted
from layoutalg import ComposedLayout, Layout, LayoutError, coalesce, flatten, logical_divide, make_layout, size
from layoutalg.frozen import frozen

#: Bytes of the unit that the canonical forms count in.
UNIT_BYTES = 16


@frozen
class Axis:
    """A dimension of an operand, in the units that a user counts.

    Args:
        noun: the name of one index, such as ``"row"``.
        dimension: ``"MN"`` or ``"K"``.
        per: number of indices per coordinate of the canonical form.

    >>> rows = Axis("row", "MN", 1)
    >>> Axis("column", "K", 8).named(1), rows.named(0, 8), rows.named(4)
    ('columns 8 to 15', 'rows 0 to 7', 'row 4')
    """

    noun: str
    dimension: str
    per: int

    def named(self, first: Any, many: int = 1) -> str:
        """Return the name of ``many`` coordinates from ``first`` on, which may contain symbols."""
        start, count = first * self.per, many * self.per
        return f"{self.noun} {start}" if count == 1 else f"{self.noun}s {start} to {start + count - 1}"

    def counted(self, many: Any) -> str:
        """Return a number of coordinates as text.

        >>> Axis("column", "K", 8).counted(2)
        '16 columns'
        """
        return counted(many * self.per, self.noun)


def axis_of(mode: int, major: Major, element: ElementType | None) -> Axis:
    """Return the axis of a mode of an operand in 16-byte units.

    Without the element type, the contiguous axis counts 16-byte units.

    >>> axis_of(1, Major.K, None)
    Axis(noun='16-byte unit', dimension='K', per=1)
    """
    noun, dimension = ("column", "K") if mode else ("row", "MN")
    if mode != major.contiguous_mode:
        return Axis(noun, dimension, 1)
    return Axis(noun, dimension, element.per_16_bytes) if element else Axis("16-byte unit", dimension, 1)


def first_break(mode: Layout, step: Any = None) -> tuple[Any, Any, Any]:
    """Return the first index of a mode whose offset is not index * step, as (index, step, offset).

    Args:
        mode: a mode of a layout.
        step: the step; that from index 0 to 1 if None.

    For a mode without a break, the index is the end of the first run.

    >>> from layoutalg import parse_layout
    >>> first_break(parse_layout("(4,2):(8,64)")), first_break(parse_layout("8:4"), 8)
    ((4, 8, 64), (1, 8, 4))
    """
    first, *others = flatten(coalesce(mode))
    step = first.stride if step is None else step
    if first.stride != step or not others:
        return 1, step, first.stride
    return first.shape, step, others[0].stride


def bytes_text(units: Any, bits: int = 128) -> str:
    """Return a distance in bytes as text.

    Args:
        units: the distance, in units; it may contain symbols.
        bits: bits of one unit.

    >>> bytes_text(64), bytes_text(3, 4), bytes_text(2, 4)
    ('1024 bytes', '12 bits', '1 byte')
    """
    return bits_text(units * bits) if bits % 8 else counted(units * (bits // 8), "byte")


def begins(axis: Axis, many: int, at: Any, must: Any, found: Any, rule: str, bits: int = 128) -> str:
    """Describe the distance of a part of an operand from the first part, and the expected one.

    Args:
        axis: the dimension.
        many: number of coordinates of a part.
        at: number of the part.
        must: expected distance from the first part, in units.
        found: actual distance, in units.
        rule: what has the expected distance, with a verb.
        bits: bits of one unit.

    >>> begins(Axis("row", "MN", 1), 8, 2, 128, 256, "a single stride_byte_offset gives")
    'rows 16 to 23 of MN begin 4096 bytes after rows 0 to 7, where a single stride_byte_offset gives 2048 bytes'
    """
    part, first = axis.named(at * many, many), axis.named(0, many)
    verb = "begins" if many * axis.per == 1 else "begin"
    distance = bytes_text(found, bits)
    return f"{part} of {axis.dimension} {verb} {distance} after {first}, where {rule} {bytes_text(must, bits)}"


@frozen
class Match:
    """An operand's layout in canonical form.

    Args:
        form: the form that the operand has.
        layout: ``((chunk, rest), (chunk, rest))`` of the operand, in 16-byte units.
        leading_byte_offset: in bytes.
        stride_byte_offset: in bytes.
        idle: fields of strides whose mode has extent 1, so that they have no effect. As in CUTLASS, they are 0, and LBO
            of a K-major operand is 16.
        stored: the layout that was matched, with its swizzle, as ``stored_text`` writes it; "" for a part of a tile.
    """

    form: Form
    layout: Layout
    leading_byte_offset: int
    stride_byte_offset: int
    idle: tuple[str, ...]
    stored: str = ""

    @property
    def headline(self) -> str:
        """The form and its offsets in one line."""
        return f"{self.form}: LBO {self.leading_byte_offset}, SBO {self.stride_byte_offset}"

    def __str__(self) -> str:
        from descriptors.answers import tell  # needed only for printing

        return tell(self)

    @property
    def dont_care(self) -> tuple[str, ...]:
        """The fields without effect: those not read for this form, and those of strides with extent 1."""
        return tuple(name for name in (LEADING, STRIDE, BASE) if name in self.idle or name in self.form.unread)


def match_form(operand: Layout, target: Form, element: ElementType | None = None) -> Match:
    """Bring an operand into a canonical form, and read the two offsets from it.

    Invariant: the canonical layout maps the operand's coordinates to the same offsets, and has each stride that the
    form prescribes. LBO and SBO therefore rebuild the operand's layout exactly.

    Args:
        operand: modes (MN, K), in 16-byte units.
        target: the form.
        element: the element type, so that an error can count elements.

    Raises:
        NotCanonicalError: if the operand does not have the form. The error names the rows or columns that are
            elsewhere, the mode that fails, and the swizzle modes whose form the operand does have.
        DescriptorError: if the operand is not a plain layout of two modes.

    >>> match = match_form(Layout((64, 2), (8, 1)), form("K", "128B"))
    >>> print(match.layout, match.leading_byte_offset, match.stride_byte_offset)
    ((8,8),(1,2)):((8,64),(0,1)) 16 1024
    """
    if not isinstance(operand, Layout) or len(operand) != 2:
        raise DescriptorError(
            f"canonical: an operand is a plain layout of two modes (MN,K), and this one is {_operand_text(operand)}"
        )
    try:
        return _Trial(operand, target, element).match()
    except NotCanonicalError as error:
        modes = tuple(_fitting(operand, target))
        error.proposals += tuple(Advice({"swizzle": str(other)}) for other in reversed(modes))
        raise error.fitting(tuple(f"{target.major}-major {other}" for other in modes)) from None


def _fitting(operand: Layout, target: Form) -> Iterator[SwizzleMode]:
    """Yield the other swizzle modes whose form the operand has."""
    for other in SwizzleMode:
        if other is target.mode:
            continue
        with suppress(DescriptorError):
            _Trial(operand, form(target.major, other), None).match()
            yield other


@frozen
class _Trial:
    """An attempt to bring an operand into a form."""

    operand: Layout
    target: Form
    element: ElementType | None

    def match(self) -> Match:
        target, divided = self.target, plain(make_layout(self._divide(0), self._divide(1)))
        steps: dict[Path, tuple[int, int]] = {}
        for path in ((0, 0), (0, 1), (1, 0), (1, 1)):
            steps[path] = self._single_step(divided, path)
        for path, stride in target.fixed:
            extent, step = steps[path]
            if extent > 1 and step != stride:
                raise self._broken(divided, path, f"stride {stride}", f"stride {step}")
        idle = tuple(name for name, path in target.steps if steps[path][0] == 1)
        for name, path in target.steps:
            if steps[path][1] < 0:
                raise self._negative(path, name, steps[path][1])
        # CuTe writes 16 for the only 16 bytes of a row, as in the tcgen05.cp of scale factors.
        single = target.major is Major.K and LEADING in idle
        leading = UNIT_BYTES if single else steps[target.leading][1] * UNIT_BYTES
        return Match(target, divided, leading, steps[target.stride][1] * UNIT_BYTES, idle)

    def _divide(self, i: int) -> Layout:
        """Split mode i into (chunk, rest), each with a single stride if possible."""
        extent, chunk = size(self.operand, mode=[i]), self.target.chunk[i]
        if extent < chunk:
            chunk = extent  # the hardware reads only the part of a chunk that the operand has
        axis = self._axis(i)
        if extent % chunk:
            why = f"{axis.dimension} has {axis.counted(extent)}, which is not a multiple of {chunk * axis.per}"
            raise self._failure((i,), f"an extent that is a multiple of {chunk}", f"extent {extent}", why)
        try:
            return plain(coalesce(logical_divide(self.operand[i], chunk), (1, 1)))
        except LayoutError as error:
            why = f"a mode of {axis.dimension} ends inside {axis.counted(chunk)} that the form has in one chunk"
            raise self._failure((i,), f"a first part of {chunk} pieces", str(self.operand[i]), why) from error

    def _single_step(self, divided: Layout, path: Path) -> tuple[int, int]:
        """Return the extent and the stride of a submode, which must have a single stride."""
        part = divided[path[0]][path[1]]
        if not isinstance(part.shape, int):
            raise self._broken(divided, path, "a single stride", str(part))
        stride: Any = part.stride  # a leaf, as the shape is one
        return part.shape, 0 if part.shape == 1 else stride

    def _broken(self, divided: Layout, path: Path, expected: str, found: str) -> NotCanonicalError:
        """Return the error for a submode whose strides are not the single one that the form has."""
        axis, fixed = self._axis(path[0]), dict(self.target.fixed).get(path)
        part, many = divided[path[0]][path[1]], size(divided[path[0]][0]) if path[1] else 1
        at, step, offset = first_break(part, fixed)
        if offset == at * step:  # a single stride, but the extent contains symbols
            why = f"the number of {axis.noun}s of {axis.dimension} contains symbols; substitute numbers for them"
            return self._failure(path, expected, found, why)
        field = next((name for name, place in self.target.steps if place == path), "")
        pattern = "a layout without swizzle" if self.target.mode is SwizzleMode.NONE else f"swizzle {self.target.mode}"
        rule = f"{pattern} has" if fixed is not None else f"a single {field} gives"
        why = begins(axis, many, at, at * step, offset, rule)
        return self._failure(path, expected, found, why, self._way_out(path, at, offset))

    def _negative(self, path: Path, name: str, step: int) -> NotCanonicalError:
        """Return the error for a negative stride, which no field can store."""
        axis, many = self._axis(path[0]), self.target.chunk[path[0]]
        verb = "begins" if many * axis.per == 1 else "begin"
        why = (
            f"{axis.named(many, many)} of {axis.dimension} {verb} {-16 * step} bytes before {axis.named(0, many)}, but "
            f"{name} cannot be negative"
        )
        return self._failure(path, f"a stride of at least 0 ({name})", f"stride {step}", why)

    def _way_out(self, path: Path, at: Any, offset: Any) -> str:
        """Return advice for strides that usually result from padded rows, or from a slice across two atoms."""
        target, axis, span = self.target, self._axis(path[0]), self.target.mode.span_bytes
        crossing = f"{axis.dimension} crosses from one atom to the next: let a slice start at a multiple of"
        if path == (1, 1) and path in dict(target.fixed):
            reads = size(self.operand, mode=[1])
            if reads * UNIT_BYTES > span:
                return f"the instruction reads {reads * UNIT_BYTES} bytes along K, but a swizzled row has {span}"
            near = at == 1 and isinstance(offset, int) and abs(offset * UNIT_BYTES) < span
            return "" if near else f"{crossing} {axis.counted(reads)}"
        if path[1] == 0 and at != 1:
            return f"{crossing} {axis.counted(target.chunk[path[0]])}"
        widths = sorted({mode.span_bytes for mode in SwizzleMode})
        if path == (1 - target.major.contiguous_mode, 0) and offset * UNIT_BYTES not in widths:
            distances = f"{', '.join(map(str, widths[:-1]))} or {widths[-1]}"
            return f"no swizzle mode has {axis.noun}s {offset * UNIT_BYTES} bytes apart, only {distances}"
        return ""

    def _axis(self, i: int) -> Axis:
        return axis_of(i, self.target.major, self.element)

    def _failure(
        self, mode: tuple[int, ...], expected: str, found: str, why: str, way_out: str = ""
    ) -> NotCanonicalError:
        return NotCanonicalError(
            form=str(self.target), mode=mode, expected=expected, found=found, layout=str(self.operand), why=why,
            way_out=way_out,
        )  # fmt: skip


def _operand_text(operand: object) -> str:
    return str(operand) if isinstance(operand, (Layout, ComposedLayout)) else brief(operand)


#: Names of the two dimensions if it is not known whether the operand is A (MN is M) or B (MN is N).
DIMENSIONS = ("MN", "K")


def path_of(target: Form, field: str) -> Path:
    """Return the path, in a form, of the stride that an offset field stores.

    Raises:
        ChoiceError: if the field is neither offset.

    >>> from descriptors.smem.operands.forms import form
    >>> path_of(form("MN", "none"), "leading_byte_offset"), path_of(form("MN", "64B"), "leading_byte_offset")
    ((1, 1), (0, 1))
    """
    paths = dict(target.steps)
    if field not in paths:
        raise ChoiceError("canonical: an offset", field, paths)
    return paths[field]


def step_meaning(target: Form, field: str, dimensions: tuple[str, str] = DIMENSIONS) -> str:
    """Describe the step that an offset of the form stores, whether or not the hardware reads it.

    Args:
        target: the form.
        field: ``"leading_byte_offset"`` or ``"stride_byte_offset"``.
        dimensions: names of MN and K.

    >>> from descriptors.smem.operands.forms import form
    >>> step_meaning(form("K", "128B"), "stride_byte_offset", ("M", "K"))
    'step to the next 8 rows along M'
    >>> step_meaning(form("MN", "64B"), "leading_byte_offset"), step_meaning(form("MN", "none"), "leading_byte_offset")
    ('step to the next atom along MN', 'step to the next 8 k')
    """
    mode = path_of(target, field)[0]
    if mode == target.major.contiguous_mode:
        piece = "16 bytes" if target.chunk[mode] == 1 else "atom"
        return f"step to the next {piece} along {dimensions[mode]}"
    return f"step to the next {target.rows} " + (f"rows along {dimensions[0]}" if target.major is Major.K else "k")


def is_read(target: Form, field: str) -> bool:
    """Return whether the hardware reads the field for operands of this form.

    >>> from descriptors.smem.operands.forms import form
    >>> is_read(form("K", "128B"), "leading_byte_offset"), is_read(form("K", "none"), "leading_byte_offset")
    (False, True)
    """
    return field not in target.unread


def chunk_meaning(target: Form, dimensions: tuple[str, str] = DIMENSIONS) -> str:
    """Describe the chunk of a form: the block of an operand whose strides the form fixes.

    >>> from descriptors.smem.operands.forms import form
    >>> chunk_meaning(form("K", "128B"))
    '8 rows of 16 bytes, 128 bytes apart'
    >>> chunk_meaning(form("MN", "128B_BASE32B"))
    '128 bytes along MN by 4 k'
    >>> chunk_meaning(form("MN", "64B"))
    'a swizzle atom, 64 bytes along MN by 8 k'
    """
    if target.major is Major.K:
        return f"{target.rows} rows of 16 bytes, {target.mode.span_bytes} bytes apart"
    piece = "16 bytes" if target.mode is SwizzleMode.NONE else f"{target.mode.span_bytes} bytes"
    # The atom of 128B_BASE32B has 8 or 4 k, depending on the source; the chunk has 4.
    atom = "a swizzle atom, " if target.mode.swizzle and target.rows == 8 else ""
    return f"{atom}{piece} along {dimensions[0]} by {target.rows} k"


def walked(major: Major, mode: SwizzleMode) -> Form:
    """Return the form whose strides the read model uses: the canonical form if there is one.

    K-major 128B_BASE32B has no canonical form. The read model steps over its rows as over other K-major rows; only the
    permutation differs (``read_model``).

    >>> print(walked(Major.K, SwizzleMode.B128_BASE32B), walked(Major.K, SwizzleMode.NONE), sep="; ")
    K-major 128B ((8,m),(1,k)):((8,SBO),(-,1)); K-major none ((8,m),(1,k)):((1,SBO),(-,LBO))
    """
    lacking = major is Major.K and mode is SwizzleMode.B128_BASE32B
    return form(major, SwizzleMode.B128 if lacking else mode)
