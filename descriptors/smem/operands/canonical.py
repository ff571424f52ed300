"""The match of an operand's layout with a canonical form: LBO and SBO read off it, or the reason in rows and bytes.

The canonical forms count 16-byte units; a reason counts rows and columns, for those who wrote them. A row is one index
along MN, a column one along K, whichever of them is contiguous, and distances are bytes. What the two offsets mean, and
whether they are read, is asked of the ``Form``: where its two free steps stand, how large the piece is that the
hardware knows by itself, and which field it passes over. So a word, a derivation and a table say the same of the same
operand.

Law: the two free steps of a form are the two offsets, each in its place, whatever they are.

>>> grid = [(lbo, sbo) for lbo in range(32, 40) for sbo in range(64, 72)]
>>> found = [match_form(Layout(((8, 4), (1, 2)), ((1, sbo), (0, lbo))), form("K", "none")) for lbo, sbo in grid]
>>> found += [match_form(Layout(((4, 2), (8, 2)), ((1, lbo), (4, sbo))), form("MN", "64B")) for lbo, sbo in grid]
>>> [(one.leading_byte_offset // 16, one.stride_byte_offset // 16) for one in found] == 2 * grid
True

Law: a mode whose steps are all one step has no break, and any other has one at the first index that lies elsewhere.

>>> from layoutalg import parse_layout, size
>>> for text in ("(4,2):(8,32)", "(4,2):(8,64)", "(2,3,4):(1,2,9)"):
...     mode = parse_layout(text)
...     at, step, found = first_break(mode)
...     apart = [i for i in range(size(mode)) if mode(i) != i * mode(1)]
...     assert apart[:1] == ([at] if found != at * step else []) and (not apart or mode(at) == found), text

Law: the step at the path of a field, in an operand's canonical layout, is that field's value; unread or not.

>>> one = match_form(Layout(((8, 4), (1, 2)), ((1, 64), (0, 32))), form("K", "none"))
>>> [16 * one.layout.stride[i][j] for i, j in (path_of(one.form, LEADING), path_of(one.form, STRIDE))]
[512, 1024]
>>> one.leading_byte_offset, one.stride_byte_offset
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
    """A dimension of an operand as the user counts it.

    Args:
        noun: what one index is called.
        dimension: ``"MN"`` or ``"K"``.
        per: how many of them one coordinate of the canonical form is.

    >>> rows = Axis("row", "MN", 1)
    >>> Axis("column", "K", 8).named(1), rows.named(0, 8), rows.named(4)
    ('columns 8 to 15', 'rows 0 to 7', 'row 4')
    """

    noun: str
    dimension: str
    per: int

    def named(self, first: Any, many: int = 1) -> str:
        """Coordinates from one on, by name; ``first`` may hold symbols."""
        start, count = first * self.per, many * self.per
        return f"{self.noun} {start}" if count == 1 else f"{self.noun}s {start} to {start + count - 1}"

    def counted(self, many: Any) -> str:
        """So many coordinates.

        >>> Axis("column", "K", 8).counted(2)
        '16 columns'
        """
        return counted(many * self.per, self.noun)


def axis_of(mode: int, major: Major, element: ElementType | None) -> Axis:
    """What a mode of an operand in 16-byte units counts; without the element type, pieces along the contiguous one.

    >>> axis_of(1, Major.K, None)
    Axis(noun='16-byte piece', dimension='K', per=1)
    """
    noun, dimension = ("column", "K") if mode else ("row", "MN")
    if mode != major.contiguous_mode:
        return Axis(noun, dimension, 1)
    return Axis(noun, dimension, element.per_16_bytes) if element else Axis("16-byte piece", dimension, 1)


def first_break(mode: Layout, step: Any = None) -> tuple[Any, Any, Any]:
    """The first index of a mode that does not lie where one step repeated has it: (index, step, its offset).

    Args:
        mode: a mode of a layout.
        step: the step; that from index 0 to 1 if left out.

    Of a mode without a break it is the end of the first run, or index 1 with another step than the one asked for.

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
    """A distance in bytes, counted in a unit of some bits; symbols in it are left as they stand.

    >>> bytes_text(64), bytes_text(3, 4), bytes_text(2, 4)
    ('1024 bytes', '12 bits', '1 byte')
    """
    return bits_text(units * bits) if bits % 8 else counted(units * (bits // 8), "byte")


def begins(axis: Axis, many: int, at: Any, must: Any, found: Any, reason: str, bits: int = 128) -> str:
    """Where a part of an operand must begin, and where it does.

    Args:
        axis: the dimension.
        many: coordinates that a part has.
        at: number of the part.
        must: what must lie between it and the first one, in a unit of so many bits.
        found: what does.
        reason: why it must.
        bits: of the unit.

    >>> begins(Axis("row", "MN", 1), 8, 2, 128, 256, "as one field holds the step")
    'rows 16 to 23 of MN must begin 2048 bytes after rows 0 to 7, as one field holds the step, found 4096 bytes'
    """
    part, first = axis.named(at * many, many), axis.named(0, many)
    distance, other = bytes_text(must, bits), bytes_text(found, bits)
    return f"{part} of {axis.dimension} must begin {distance} after {first}, {reason}, found {other}"


@frozen
class Match:
    """An operand's layout in canonical form.

    Args:
        form: the form it has.
        layout: ``((chunk, rest), (chunk, rest))`` of the operand, in 16-byte units.
        leading_byte_offset: in bytes.
        stride_byte_offset: in bytes.
        idle: fields whose step is never taken because its mode has extent 1; they hold 0, as CUTLASS writes them.
        stored: the layout that was matched, with its swizzle, as ``stored_text`` writes it; "" of a part of a tile.
    """

    form: Form
    layout: Layout
    leading_byte_offset: int
    stride_byte_offset: int
    idle: tuple[str, ...]
    stored: str = ""

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.form}: LBO {self.leading_byte_offset}, SBO {self.stride_byte_offset}"

    def __str__(self) -> str:
        from descriptors.answers import tell  # only what is printed needs a writer

        return tell(self)

    @property
    def dont_care(self) -> tuple[str, ...]:
        """The fields that change nothing: not read for this form, or of a step that is never taken."""
        return tuple(name for name in (LEADING, STRIDE, BASE) if name in self.idle or name in self.form.unread)


def match_form(operand: Layout, target: Form, element: ElementType | None = None) -> Match:
    """Bring an operand into a canonical form, and read the two offsets off it.

    Law: the canonical layout maps the operand's coordinates to the same offsets, and each step that the form
    prescribes is there; hence LBO and SBO rebuild the operand's layout exactly.

    Args:
        operand: modes (MN, K), in 16-byte units.
        target: the form.
        element: the element type, so that a refusal can count elements.

    Raises:
        NotCanonicalError: saying in rows and bytes what must lie where and what lies there; naming the mode that fails,
            what the form expects of it and what it has, and the swizzle modes whose form the operand does have.
        DescriptorError: if the operand is no plain layout of two modes.

    Source: as the module's.

    >>> found = match_form(Layout((64, 2), (8, 1)), form("K", "128B"))
    >>> print(found.layout, found.leading_byte_offset, found.stride_byte_offset)
    ((8,8),(1,2)):((8,64),(0,1)) 16 1024
    """
    if not isinstance(operand, Layout) or len(operand) != 2:
        raise DescriptorError(
            f"canonical: an operand must be a plain layout of two modes (MN,K), found {_operand_text(operand)}"
        )
    try:
        return _Trial(operand, target, element).match()
    except NotCanonicalError as error:
        modes = tuple(_fitting(operand, target))
        error.proposals += tuple(Advice({"swizzle": str(other)}) for other in reversed(modes))
        raise error.fitting(tuple(f"{target.major}-major {other}" for other in modes)) from None


def _fitting(operand: Layout, target: Form) -> Iterator[SwizzleMode]:
    """The other swizzle modes whose form the operand has."""
    for other in SwizzleMode:
        if other is target.mode:
            continue
        with suppress(DescriptorError):
            _Trial(operand, form(target.major, other), None).match()
            yield other


@frozen
class _Trial:
    """One form tried on one operand."""

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
        return Match(target, divided, steps[target.leading][1] * 16, steps[target.stride][1] * 16, idle)

    def _divide(self, i: int) -> Layout:
        """Mode i split into (chunk, rest), each a single step where that is possible."""
        extent, chunk = size(self.operand, mode=[i]), self.target.chunk[i]
        if extent < chunk:
            chunk = extent  # an operand smaller than the piece: the hardware reads only the part it needs
        axis = self._axis(i)
        if extent % chunk:
            why = f"{axis.dimension} must be a multiple of {axis.counted(chunk)}, found {axis.counted(extent)}"
            raise self._failure((i,), f"an extent that is a multiple of {chunk}", f"extent {extent}", why)
        try:
            return plain(coalesce(logical_divide(self.operand[i], chunk), (1, 1)))
        except LayoutError as error:
            why = f"every {axis.counted(chunk)} of {axis.dimension} must lie alike, found a step that ends inside them"
            raise self._failure((i,), f"a first part of {chunk} pieces", str(self.operand[i]), why) from error

    def _single_step(self, divided: Layout, path: Path) -> tuple[int, int]:
        """Extent and stride of a submode, which must be one step repeated."""
        part = divided[path[0]][path[1]]
        if not isinstance(part.shape, int):
            raise self._broken(divided, path, "a single stride", str(part))
        stride: Any = part.stride  # a leaf, as the shape is one
        return part.shape, 0 if part.shape == 1 else stride

    def _broken(self, divided: Layout, path: Path, expected: str, found: str) -> NotCanonicalError:
        """Where the steps of a submode are not the one that the form has there."""
        axis, fixed = self._axis(path[0]), dict(self.target.fixed).get(path)
        part, many = divided[path[0]][path[1]], size(divided[path[0]][0]) if path[1] else 1
        at, step, offset = first_break(part, fixed)
        if offset == at * step:  # one step, but so many of them that only symbols tell
            why = f"{axis.dimension} must be a number of {axis.noun}s, found symbols; substitute them first"
            return self._failure(path, expected, found, why)
        field = next((name for name, place in self.target.steps if place == path), "")
        line = "lines without a swizzle" if self.target.mode is SwizzleMode.NONE else f"lines of {self.target.mode}"
        reason = f"as {line} have them" if fixed is not None else f"as {field} is one step for all"
        why = begins(axis, many, at, at * step, offset, reason)
        return self._failure(path, expected, found, why, self._way_out(path, at, offset))

    def _negative(self, path: Path, name: str, step: int) -> NotCanonicalError:
        """Parts that go down in memory, where the fields go up only."""
        axis, many = self._axis(path[0]), self.target.chunk[path[0]]
        why = (
            f"{axis.named(many, many)} of {axis.dimension} must not begin before {axis.named(0, many)}, as {name} is "
            f"never negative, found {-16 * step} bytes before"
        )
        return self._failure(path, f"a stride of at least 0 ({name})", f"stride {step}", why)

    def _way_out(self, path: Path, at: Any, offset: Any) -> str:
        """What to do about steps that most often come of padded rows, or of a slice across two atoms."""
        target, axis, span = self.target, self._axis(path[0]), self.target.mode.span_bytes
        crossing = f"{axis.dimension} crosses from one atom to the next: let a slice start at a multiple of"
        if path == (1, 1) and path in dict(target.fixed):
            reads = size(self.operand, mode=[1])
            if reads * UNIT_BYTES > span:
                return f"one instruction must read at most a line of {span} bytes along K, reads {reads * UNIT_BYTES}"
            near = at == 1 and isinstance(offset, int) and abs(offset * UNIT_BYTES) < span
            return "" if near else f"{crossing} {axis.counted(reads)}"
        if path[1] == 0 and at != 1:
            return f"{crossing} {axis.counted(target.chunk[path[0]])}"
        widths = sorted({mode.span_bytes for mode in SwizzleMode})
        if path == (1 - target.major.contiguous_mode, 0) and offset * UNIT_BYTES not in widths:
            distances = f"{', '.join(map(str, widths[:-1]))} or {widths[-1]}"
            return f"no mode has {axis.noun}s {offset * UNIT_BYTES} bytes apart, the hardware steps by {distances}"
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


#: What the two dimensions are called where it is not known whether the operand is A (MN is M) or B (MN is N).
DIMENSIONS = ("MN", "K")


def path_of(target: Form, field: str) -> Path:
    """Where the step of an offset stands in the form.

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
    """The step that an offset of the form is, whether it is read or not.

    Args:
        target: the form.
        field: ``"leading_byte_offset"`` or ``"stride_byte_offset"``.
        dimensions: what MN and K are called.

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
    """Whether the hardware reads the field for operands of this form.

    >>> from descriptors.smem.operands.forms import form
    >>> is_read(form("K", "128B"), "leading_byte_offset"), is_read(form("K", "none"), "leading_byte_offset")
    (False, True)
    """
    return field not in target.unread


def chunk_meaning(target: Form, dimensions: tuple[str, str] = DIMENSIONS) -> str:
    """The piece of an operand in which the hardware finds its way by itself.

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
    # An atom of 128B_BASE32B has 8 k or 4, by its maker; the piece has 4.
    atom = "a swizzle atom, " if target.mode.swizzle and target.rows == 8 else ""
    return f"{atom}{piece} along {dimensions[0]} by {target.rows} k"


def walked(major: Major, mode: SwizzleMode) -> Form:
    """The form by whose steps the hardware walks an operand: the canonical one wherever there is one.

    K-major rows with 32-byte atoms have no canonical form; the walk steps over them as over all K-major rows, only the
    permutation differs (``read_model``).

    >>> print(walked(Major.K, SwizzleMode.B128_BASE32B), walked(Major.K, SwizzleMode.NONE), sep="; ")
    K-major 128B ((8,m),(1,k)):((8,SBO),(-,1)); K-major none ((8,m),(1,k)):((1,SBO),(-,LBO))
    """
    lacking = major is Major.K and mode is SwizzleMode.B128_BASE32B
    return form(major, SwizzleMode.B128 if lacking else mode)
