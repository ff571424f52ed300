"""The canonical forms, and the match of an operand's layout with one of them.

Counted in 16-byte units (one coordinate a 16-byte piece, after a recast to 128 bits) an instruction's operand must be a
grid of pieces or atoms with two free steps, and the descriptor holds those two steps: the leading byte offset (LBO) and
the stride byte offset (SBO). In this unit the forms no longer depend on the element type. W is the swizzled row in
16-byte units (2, 4 or 8)::

    K-major, none            ((8,m),(1,k)):((1,SBO),(-,LBO))     K-major, swizzled    ((8,m),(1,k)):((W,SBO),(-,1))
    MN-major, none           ((1,m),(8,k)):((-,SBO),(1,LBO))     MN-major, swizzled   ((W,m),(8,k)):((1,LBO),(W,SBO))
    MN-major, 128B_BASE32B   ((8,m),(4,k)):((1,LBO),(8,SBO))

Mind that LBO and SBO change places between MN-major "none" and MN-major swizzled.
Source: PTX ISA 9.2, section 9.7.17.3.3 (canonical layouts); CUTLASS ``include/cute/atom/mma_traits_sm100.hpp``
(make_umma_desc, whose comment has the last form's K step as 4, where its code demands 8); article "Blackwell MMA SMEM
Descriptor", sections 3.5.4 and 4.5.4.

Law: the two free steps of a form are the two offsets, each in its place, whatever they are.

>>> grid = [(lbo, sbo) for lbo in range(32, 40) for sbo in range(64, 72)]
>>> found = [match_form(Layout(((8, 4), (1, 2)), ((1, sbo), (0, lbo))), form("K", "none")) for lbo, sbo in grid]
>>> found += [match_form(Layout(((4, 2), (8, 2)), ((1, lbo), (4, sbo))), form("MN", "64B")) for lbo, sbo in grid]
>>> [(one.leading_byte_offset // 16, one.stride_byte_offset // 16) for one in found] == 2 * grid
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from descriptors.errors import DescriptorError, NotCanonicalError, brief
from descriptors.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    SwizzleName,
    as_major,
    as_swizzle_mode,
)
from descriptors.operands.steps import UNIT_BYTES, Axis, axis_of, begins, first_break
from descriptors.operands.swizzled import plain
from descriptors.text import tell
from layoutalg import ComposedLayout, Layout, LayoutError, coalesce, logical_divide, make_layout, size

#: Where a step of the form stands: (mode, submode) of the divided layout.
Path = tuple[int, int]

LEADING = "leading_byte_offset"
STRIDE = "stride_byte_offset"

#: The field that says where the swizzle pattern starts: without a swizzle nothing depends on it, and Triton writes it
#: all the same.
BASE = "base_offset"


@dataclass(frozen=True, slots=True)
class Form:
    """A canonical form, in 16-byte units.

    Args:
        major: the contiguous dimension.
        mode: the swizzle mode.
        chunk: extents (MN, K) of the piece that the hardware knows by itself.
        fixed: steps that the form prescribes, by path.
        leading: path of the step that the leading byte offset holds.
        stride: path of the step that the stride byte offset holds.
        unread: fields that the hardware does not read for this form.

    >>> print(form(Major.MN, SwizzleMode.B64))
    MN-major 64B ((4,m),(8,k)):((1,LBO),(4,SBO))
    """

    major: Major
    mode: SwizzleMode
    chunk: tuple[int, int]
    fixed: tuple[tuple[Path, int], ...]
    leading: Path
    stride: Path
    unread: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[tuple[str, Path], tuple[str, Path]]:
        """The two offsets, by the names of their fields, and where the step stands that each of them holds."""
        return (LEADING, self.leading), (STRIDE, self.stride)

    @property
    def rows(self) -> int:
        """Rows of a group, across the contiguous dimension: what the hardware walks before a step is taken.

        >>> form("K", "128B").rows, form("MN", "128B_BASE32B").rows
        (8, 4)
        """
        return self.chunk[1 - self.major.contiguous_mode]

    def __str__(self) -> str:
        letters = {path: str(step) for path, step in self.fixed}
        letters.setdefault(self.leading, "LBO")
        letters.setdefault(self.stride, "SBO")
        steps = ",".join(f"({letters.get((i, 0), '-')},{letters[i, 1]})" for i in (0, 1))
        shape = f"(({self.chunk[0]},m),({self.chunk[1]},k))"
        return f"{self.major}-major {self.mode} {shape}:({steps})"


def form(major: Major | MajorName, mode: SwizzleMode | SwizzleName) -> Form:
    """The canonical form of a major and a swizzle mode.

    Raises:
        DescriptorError: for K-major 128B_BASE32B, which has none.

    >>> print(form(Major.K, SwizzleMode.B128))
    K-major 128B ((8,m),(1,k)):((8,SBO),(-,1))
    """
    major, mode = as_major(major), as_swizzle_mode(mode)
    width = mode.span_bytes // 16
    swizzled = mode is not SwizzleMode.NONE
    if major is Major.K:
        if mode is SwizzleMode.B128_BASE32B:
            raise DescriptorError(f"canonical: a K-major operand must have another swizzle, found {mode}")
        # LBO is the step to the next 16 bytes of a row. Inside a swizzled row that is 1 by the pattern itself: PTX
        # calls the field unused, and an H200 ignores it; CUTLASS writes the 1.
        across: tuple[tuple[Path, int], ...] = (((1, 1), 1),) if swizzled else ()
        unread = (LEADING,) if swizzled else (BASE,)
        return Form(major, mode, (8, 1), (((0, 0), width), *across), leading=(1, 1), stride=(0, 1), unread=unread)
    rows = 4 if mode is SwizzleMode.B128_BASE32B else 8
    if not swizzled:
        return Form(major, mode, (1, rows), (((1, 0), 1),), leading=(1, 1), stride=(0, 1), unread=(BASE,))
    return Form(major, mode, (width, rows), (((0, 0), 1), ((1, 0), width)), leading=(0, 1), stride=(1, 1))


@dataclass(frozen=True, slots=True)
class Match:
    """An operand's layout in canonical form.

    Args:
        form: the form it has.
        layout: ``((chunk, rest), (chunk, rest))`` of the operand, in 16-byte units.
        leading_byte_offset: in bytes.
        stride_byte_offset: in bytes.
        idle: fields whose step is never taken because its mode has extent 1; they hold 0, as CUTLASS writes them.
    """

    form: Form
    layout: Layout
    leading_byte_offset: int
    stride_byte_offset: int
    idle: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.form}: LBO {self.leading_byte_offset}, SBO {self.stride_byte_offset}"

    def __str__(self) -> str:
        return tell(self)

    @property
    def dont_care(self) -> tuple[str, ...]:
        """The fields that change nothing: not read for this form, or of a step that is never taken."""
        return tuple(name for name in (LEADING, STRIDE, BASE) if name in self.idle or name in self.form.unread)


def match_form(operand: Layout, wanted: Form, element: ElementType | None = None) -> Match:
    """Bring an operand into a canonical form, and read the two offsets off it.

    Law: the canonical layout maps the operand's coordinates to the same offsets, and each step that the form
    prescribes is there; hence LBO and SBO rebuild the operand's layout exactly.

    Args:
        operand: modes (MN, K), in 16-byte units.
        wanted: the form.
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
            f"canonical: an operand must be a plain layout of two modes (MN,K), found {_shown(operand)}"
        )
    try:
        return _Trial(operand, wanted, element).match()
    except NotCanonicalError as error:
        fits = tuple(f"{wanted.major}-major {other}" for other in _fitting(operand, wanted))
        raise error.fitting(fits) from None


def _fitting(operand: Layout, wanted: Form) -> Iterator[SwizzleMode]:
    """The other swizzle modes whose form the operand has."""
    for other in SwizzleMode:
        if other is wanted.mode:
            continue
        with suppress(DescriptorError):
            _Trial(operand, form(wanted.major, other), None).match()
            yield other


@dataclass(frozen=True, slots=True)
class _Trial:
    """One form tried on one operand."""

    operand: Layout
    wanted: Form
    element: ElementType | None

    def match(self) -> Match:
        wanted, divided = self.wanted, plain(make_layout(self._divide(0), self._divide(1)))
        steps: dict[Path, tuple[int, int]] = {}
        for path in ((0, 0), (0, 1), (1, 0), (1, 1)):
            steps[path] = self._single_step(divided, path)
        for path, expected in wanted.fixed:
            extent, found = steps[path]
            if extent > 1 and found != expected:
                raise self._broken(divided, path, f"stride {expected}", f"stride {found}")
        idle = tuple(name for name, path in wanted.steps if steps[path][0] == 1)
        for name, path in wanted.steps:
            if steps[path][1] < 0:
                raise self._negative(path, name, steps[path][1])
        return Match(wanted, divided, steps[wanted.leading][1] * 16, steps[wanted.stride][1] * 16, idle)

    def _divide(self, i: int) -> Layout:
        """Mode i split into (chunk, rest), each a single step where that is possible."""
        extent, chunk = size(self.operand, mode=[i]), self.wanted.chunk[i]
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
        axis, fixed = self._axis(path[0]), dict(self.wanted.fixed).get(path)
        part, many = divided[path[0]][path[1]], size(divided[path[0]][0]) if path[1] else 1
        at, step, offset = first_break(part, fixed)
        if offset == at * step:  # one step, but so many of them that only symbols tell
            why = f"{axis.dimension} must be a number of {axis.noun}s, found symbols; substitute them first"
            return self._failure(path, expected, found, why)
        field = next((name for name, taken in self.wanted.steps if taken == path), "")
        line = "lines without a swizzle" if self.wanted.mode is SwizzleMode.NONE else f"lines of {self.wanted.mode}"
        reason = f"as {line} have them" if fixed is not None else f"as {field} is one step for all"
        why = begins(axis, many, at, at * step, offset, reason)
        return self._failure(path, expected, found, why, self._way_out(path, at, offset))

    def _negative(self, path: Path, name: str, step: int) -> NotCanonicalError:
        """Parts that go down in memory, where the fields go up only."""
        axis, many = self._axis(path[0]), self.wanted.chunk[path[0]]
        why = (
            f"{axis.named(many, many)} of {axis.dimension} must not begin before {axis.named(0, many)}, as {name} is "
            f"never negative, found {-16 * step} bytes before"
        )
        return self._failure(path, f"a stride of at least 0 ({name})", f"stride {step}", why)

    def _way_out(self, path: Path, at: Any, offset: Any) -> str:
        """What to do about steps that most often come of padded rows, or of a slice across two atoms."""
        wanted, axis, span = self.wanted, self._axis(path[0]), self.wanted.mode.span_bytes
        crossing = f"{axis.dimension} crosses from one atom to the next: let a slice start at a multiple of"
        if path == (1, 1) and path in dict(wanted.fixed):
            reads = size(self.operand, mode=[1])
            if reads * UNIT_BYTES > span:
                return f"one instruction must read at most a line of {span} bytes along K, reads {reads * UNIT_BYTES}"
            near = at == 1 and isinstance(offset, int) and abs(offset * UNIT_BYTES) < span
            return "" if near else f"{crossing} {axis.counted(reads)}"
        if path[1] == 0 and at != 1:
            return f"{crossing} {axis.counted(wanted.chunk[path[0]])}"
        widths = sorted({mode.span_bytes for mode in SwizzleMode})
        if path == (1 - wanted.major.contiguous_mode, 0) and offset * UNIT_BYTES not in widths:
            known = f"{', '.join(map(str, widths[:-1]))} or {widths[-1]}"
            return f"no mode has {axis.noun}s {offset * UNIT_BYTES} bytes apart, the hardware steps by {known}"
        return ""

    def _axis(self, i: int) -> Axis:
        return axis_of(i, self.wanted.major, self.element)

    def _failure(
        self, mode: tuple[int, ...], expected: str, found: str, why: str, way_out: str = ""
    ) -> NotCanonicalError:
        return NotCanonicalError(
            form=str(self.wanted), mode=mode, expected=expected, found=found, layout=str(self.operand), why=why,
            way_out=way_out,
        )  # fmt: skip


def _shown(operand: object) -> str:
    return str(operand) if isinstance(operand, (Layout, ComposedLayout)) else brief(operand)
