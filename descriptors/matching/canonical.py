"""The match of an operand's layout with a canonical form: LBO and SBO read off it, or the reason in rows and bytes.

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
from typing import Any

from descriptors.errors import DescriptorError, NotCanonicalError, brief
from descriptors.frozen import frozen
from descriptors.matching.forms import BASE, LEADING, STRIDE, Form, Path, form
from descriptors.matching.steps import UNIT_BYTES, Axis, axis_of, begins, first_break
from descriptors.operands.operand import ElementType, SwizzleMode
from descriptors.operands.swizzled import plain
from descriptors.text import tell
from layoutalg import ComposedLayout, Layout, LayoutError, coalesce, logical_divide, make_layout, size


@frozen
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


@frozen
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
