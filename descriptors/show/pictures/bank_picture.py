"""Draw lines of shared memory over 32 banks, before and after the swizzle, with the cost of one access of a warp.

A panel shows lines of 128 bytes over the banks, with frames around what is read, and the words of each bank as bars.

Invariant: the wavefronts of a phase are the largest number of words that a bank serves in it.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> [(view["wavefronts"], view["addresses"][:3]) for view in BanksPicture(d).record()["views"]]
[(8, (0, 128, 256)), (1, (0, 144, 288))]
>>> [(view.wavefronts, max(view.words)) for view in access_views(d)]
[(8, 8), (1, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.anatomy import Anatomy, Pair, swizzle_of
from descriptors.show.pictures.panels import Frame, border, hairs, operand_text, story, table
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.operand import LINE_BYTES
from descriptors.smem.operands.swizzled import parts, plain
from descriptors.text import counted, indices_text
from layoutalg import Access, Figure, Layout, Picture, Scene, access, accesses
from layoutalg.frozen import frozen

#: Banks of shared memory, and the bytes of a word.
BANKS, WORD_BYTES = 32, 4
#: The largest number of lines of shared memory that are drawn.
MOST_LINES = 32


@frozen
class Lanes:
    """The access of the lanes of a warp.

    Args:
        thread_values: layout from (threads, values) to an index into the tile; None for the 16-byte pieces of one
            chunk, one for each row across the contiguous dimension.
        access_bytes: bytes of one lane.
        number: index of the access, among those that the threads make.
    """

    thread_values: Layout | None = None
    access_bytes: int = 16
    number: int = 0


@frozen
class AccessView:
    """One access and the lines of shared memory that it touches.

    Args:
        swizzled: whether the tile is swizzled.
        access: the addresses, phases and wavefronts.
        phase: the lanes of the phase that is drawn, the first of the most expensive ones.
        wavefronts: wavefronts of that phase.
        access_bytes: bytes of one lane.
        names: a short name of what each lane of the phase reads.
        lines: the numbers of the lines from the first to the last that the phase touches.
        units: for each line, the index along the contiguous dimension of the piece in each 16 bytes, or None.
    """

    swizzled: bool
    access: Access
    phase: tuple[int, ...]
    wavefronts: int
    access_bytes: int
    names: tuple[str, ...]
    lines: tuple[int, ...]
    units: tuple[tuple[int | None, ...], ...]

    @property
    def addresses(self) -> tuple[int, ...]:
        """The byte address of each active lane of the phase."""
        return tuple(address for lane in self.phase if (address := self.access.addresses[lane]) is not None)

    @property
    def units_read(self) -> set[int]:
        """The numbers of the 16-byte units that the phase reads from."""
        return {address // 16 for address in self.addresses}

    @property
    def held(self) -> dict[int, int]:
        """The index of the piece in each 16-byte unit of the lines, by the number of the unit."""
        return {8 * line + i: unit for line, row in zip(self.lines, self.units, strict=True)
                for i, unit in enumerate(row) if unit is not None}  # fmt: skip

    @property
    def words(self) -> tuple[int, ...]:
        """The number of different words that each bank serves in the phase."""
        words = {
            word
            for address in self.addresses
            for word in range(address // WORD_BYTES, (address + self.access_bytes - 1) // WORD_BYTES + 1)
        }
        return tuple(sum(word % BANKS == bank for word in words) for bank in range(BANKS))


def access_views(
    d: Derivation, stage: int = 0, subtile: Pair = (0, 0), lanes: Lanes | None = None
) -> tuple[AccessView, ...]:
    """Return the access to the tile without and with its swizzle, or one view if there is no swizzle.

    Raises:
        DescriptorError: if elements are smaller than a byte and a thread-value layout is given, or there is no such
            access.
        LayoutError: as ``layoutalg.accesses``.
    """
    a, lanes = Anatomy(d, stage), lanes or Lanes()
    orders_drawn = (False, True) if swizzle_of(d) is not None else (False,)
    warps = [_warp_access(a, subtile, lanes, swizzled) for swizzled in orders_drawn]
    # Both views draw the phase that is most expensive in the first, so that they show the same lanes.
    worst = max(range(len(warps[0].phases)), key=lambda phase: warps[0].phase_wavefronts[phase])
    return tuple(
        _access_view(a, lanes, warp, swizzled, worst) for warp, swizzled in zip(warps, orders_drawn, strict=True)
    )


def _warp_access(a: Anatomy, subtile: Pair, lanes: Lanes, swizzled: bool) -> Access:
    d = a.derivation
    if lanes.thread_values is None:
        return access(_chunk(a, subtile, swizzled), 16)
    if d.element.storage_bits < 8:
        raise DescriptorError(f"banks: {d.element} elements are smaller than a byte, but threads read whole bytes")
    tile = d.smem_tile if swizzled else plain(d.smem_tile)
    width, element = lanes.access_bytes, d.element.storage_bits // 8
    warp_accesses = accesses(tile, lanes.thread_values, element, width)
    if not 0 <= lanes.number < len(warp_accesses):
        raise DescriptorError(
            f"banks: the warp makes no access {lanes.number}; supported: {indices_text(len(warp_accesses))}"
        )
    return warp_accesses[lanes.number]


def _chunk(a: Anatomy, subtile: Pair, swizzled: bool) -> list[int]:
    """Return the addresses of the first pieces of a chunk, one for each row across the contiguous dimension."""
    d, (u, v), (rows, columns) = a.derivation, a.unit, a.chunk_units
    inner, swizzle, offset = parts(d.partitioned)
    rest, bits = (*subtile, *a.stage_coordinate), d.element.storage_bits
    count = rows if d.major.contiguous_mode else columns
    addresses = []
    for i in range(count):
        element = (i * u, 0) if d.major.contiguous_mode else (0, i * v)
        place = inner((element, rest))
        assert isinstance(place, int)
        place += offset
        addresses.append((swizzle(place) if swizzle and swizzled else place) * bits // 8)
    return addresses


def _access_view(a: Anatomy, lanes: Lanes, access: Access, swizzled: bool, worst: int) -> AccessView:
    phase = access.phases[min(worst, len(access.phases) - 1)]
    width = lanes.access_bytes if lanes.thread_values is not None else 16
    addresses = [address for lane in phase if (address := access.addresses[lane]) is not None]
    first, last = min(addresses) // LINE_BYTES, (max(addresses) + width - 1) // LINE_BYTES
    if last - first >= MOST_LINES:
        raise DescriptorError(
            f"banks: the access spans {last - first + 1} lines of {LINE_BYTES} bytes between its lowest and its "
            f"highest address, but at most {MOST_LINES} are drawn; use another access"
        )
    lines = range(first, last + 1)
    holds = _holds(a, swizzled, lines)
    units = tuple(tuple(holds.get(8 * line + unit) for unit in range(8)) for line in lines)
    mn, k = names(a.derivation)
    across = mn if a.derivation.major.contiguous_mode else k
    words = [f"{across.lower()} {lane}" if lanes.thread_values is None else f"t{lane}" for lane in phase]
    cost = access.phase_wavefronts[access.phases.index(phase)]
    return AccessView(swizzled, access, phase, cost, width, tuple(words), tuple(lines), units)


def _holds(a: Anatomy, swizzled: bool, lines: Sequence[int]) -> dict[int, int]:
    """Return the index along the contiguous dimension of the piece in each 16-byte unit, by the number of the unit."""
    along = a.derivation.major.contiguous_mode
    low, high = lines[0] * LINE_BYTES, (lines[-1] + 1) * LINE_BYTES
    return {
        address // 16: (i, j)[along]
        for i, row in enumerate(a.pieces(swizzled=swizzled))
        for j, address in enumerate(row)
        if low <= address < high
    }


#: Width of a panel of 32 banks, its left margin, and the gap between two panels.
WIDE, LEFT, GAP = 384, 62, 78


@frozen
class BanksPicture(Picture):
    """The picture of one access over the banks.

    Args:
        derivation: the tile.
        stage: the stage of the tile.
        subtile: the subtile whose first chunk is read, if no thread-value layout is given.
        lanes: the access.
        title: a title that replaces the default one.
    """

    derivation: Derivation
    stage: int = 0
    subtile: Pair = (0, 0)
    lanes: Lanes = Lanes()
    title: str = ""

    def views(self) -> tuple[AccessView, ...]:
        """Return the access without and with the swizzle."""
        return access_views(self.derivation, self.stage, self.subtile, self.lanes)

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        return {"kind": "banks", "views": [_record(view) for view in self.views()]}

    def scene(self) -> Scene:
        """Draw a panel for each view: lines of 128 bytes, and below them the words that each bank serves."""
        views, figure = self.views(), Figure()
        title, sentences = self._title(views), self._sentences(views)
        top = figure.heading(0, 0, title, sentences, room=LEFT + len(views) * (WIDE + GAP) - GAP)
        most = max(max(view.words) for view in views)
        foot = 0.0
        for number, view in enumerate(views):
            left = LEFT + number * (WIDE + GAP)
            words = _name(self.derivation, view), _verdict(view)
            foot = max(foot, bank_panel(figure, view, left, most, words, top))
        figure.legend(LEFT, foot + 22, self._legend(views), figure.ROOM - LEFT)
        return figure.scene(title, f"{sentences} {' '.join(_verdict(view) for view in views)}")

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the lines as tables of 16-byte units, four banks each."""
        views = self.views()
        lines = [self._title(views), self._sentences(views)]
        for view in views:
            cells = [
                [_unit(unit, 8 * line + i in view.units_read) for i, unit in enumerate(row)]
                for line, row in zip(view.lines, view.units, strict=True)
            ]
            roles = [[None if unit is None else Figure.kind(unit) for unit in row] for row in view.units]
            left = [f"0x{line * LINE_BYTES:03x}" for line in view.lines]
            lines += ["", f"{_name(self.derivation, view)}: {counted(view.wavefronts, 'wavefront')}"]
            lines += table(cells, roles, left=left, top=[f"b{4 * i}" for i in range(8)], color=color)
            lines.append(f"   words per bank: {' '.join(map(str, view.words))}")
        return story(lines, width)

    def _title(self, views: tuple[AccessView, ...]) -> str:
        if self.title:
            return self.title
        costs = [view.wavefronts for view in views]
        if self.lanes.thread_values is not None:
            lanes = sum(address is not None for address in views[0].access.addresses)
            part = "One access" if len(views[0].access.phases) == 1 else "A phase of an access"
            return f"{part} of {lanes} lanes: {_costs(costs)}"
        return f"The same {len(views[0].addresses)} rows of 16 bytes, read at once: {_costs(costs)}"

    def _sentences(self, views: tuple[AccessView, ...]) -> str:
        d = self.derivation
        along = names(d)[d.major.contiguous_mode]
        sentences = (
            f"{operand_text(d)}. A line is {LINE_BYTES} bytes of shared memory, a column one of {BANKS} banks of "
            f"{WORD_BYTES} bytes. A number and its color are the index of the 16 bytes along {along}; frames mark what "
            "is read."
        )
        if len(views[0].access.phases) > 1:
            phases, costs = len(views[0].access.phases), [view.access.wavefronts for view in views]
            sentences += f" The picture shows one of {phases} phases; the whole access takes {_costs(costs)}."
        return sentences

    def _legend(self, views: tuple[AccessView, ...]) -> list[tuple[str, str]]:
        """Return the legend. Pieces that are not read are faint, as in the panels."""
        looks = {(unit % 8, number in view.units_read) for view in views for number, unit in view.held.items()}
        entries = [(Figure.kind(unit) if read else f"faint:{Figure.kind(unit)}", f"piece {unit}" + ", read" * read)
                   for unit, read in sorted(looks, key=lambda look: (not look[1], look[0]))]  # fmt: skip
        return [*entries, ("tile", "read")]


def _name(d: Derivation, view: AccessView) -> str:
    return f"{d.swizzle} swizzle" if view.swizzled else "No swizzle"


def _costs(costs: list[int]) -> str:
    """Return the wavefronts of all views as text."""
    first, *others = costs
    return " or ".join([counted(first, "wavefront"), *map(str, others)])


def _verdict(view: AccessView) -> str:
    """Describe the bars in a sentence."""
    busy = [bank for bank, words in enumerate(view.words) if words]
    most = max(view.words)
    if most == 1:
        return (f"{len(busy)} banks serve one word each" if len(busy) < BANKS else "Every bank serves one word") + (
            ": all in one wavefront."
        )
    worst = [bank for bank in busy if view.words[bank] == most]
    idle = BANKS - len(busy)
    rest = f", {idle} are idle" if idle else ""
    verb = "serves" if len(worst) == 1 else "serve"
    return f"{_ranges(worst)} {verb} {most} words one after the other{rest}."


def _ranges(banks: list[int]) -> str:
    """Return bank numbers as text, with ranges for consecutive ones.

    >>> _ranges([0, 1, 2, 3, 8])
    'Banks 0\u20133 and 8'
    """
    runs: list[list[int]] = []
    for bank in banks:
        if runs and bank == runs[-1][-1] + 1:
            runs[-1].append(bank)
        else:
            runs.append([bank])
    if len(runs) > 4:
        return f"{len(banks)} banks"
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}\u2013{run[-1]}" for run in runs]
    return ("Bank " if len(banks) == 1 else "Banks ") + " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _record(view: AccessView) -> dict[str, Any]:
    return {
        "swizzled": view.swizzled,
        "addresses": view.addresses,
        "access_bytes": view.access_bytes,
        "wavefronts": view.wavefronts,
        "words": view.words,
        "lines": [line * LINE_BYTES for line in view.lines],
        "units": view.units,
    }


def _unit(unit: int | None, is_read: bool) -> str:
    return "." if unit is None else f"[{unit}]" if is_read else f"{unit} "


def bank_panel(figure: Figure, view: AccessView, x: float, most: int, words: tuple[str, str], y: float) -> float:
    """Draw the panel of a view, and return its lower edge.

    Args:
        figure: the figure to draw on.
        view: the access.
        x: the left edge of the lines.
        most: the number of words of the longest possible bar.
        words: the heading, and the sentence below the panel.
        y: the baseline of the heading.
    """
    role = "good" if view.wavefronts <= 1 else "bad"
    figure.text(x, y + 14, words[0], "ink", 15, bold=True)
    figure.text(x + WIDE, y + 14, counted(view.wavefronts, "wavefront"), role, 15, "end", bold=True)
    count = len(view.lines)
    frame = Frame(x, y + 56, WIDE, count * (26 if count <= 10 else 18), count, BANKS)
    figure.text(x - 10, y + 48, "bank", "muted", 10.5, "end", mono=True)
    banks = [(x + (4 * i + 0.5) * WIDE / BANKS, y + 48, str(4 * i)) for i in range(8)]
    figure.texts(banks, "muted", 10.5, "middle", mono=True)
    _lines(figure, view, frame)
    top, tall = frame.y + frame.height + 30, min(96, max(24, 12 * most))
    _bars(figure, view, (x, top, WIDE, tall), most, role)
    return figure.paragraph(x, top + tall + 24, words[1], WIDE)


def _lines(figure: Figure, view: AccessView, frame: Frame) -> None:
    """Draw the 16-byte units of the lines. Units that are read are strong and framed, the others are faint."""
    units = Frame(*frame.box, frame.rows, 8)
    wide, high = units.step
    marked = [[8 * line + i in view.units_read for i in range(8)] for line in view.lines]
    for strong, opacity in ((False, Figure.FAINT), (True, 1.0)):
        roles = [
            [
                Figure.kind(unit) if unit is not None and mark is strong else None
                for unit, mark in zip(*row, strict=True)
            ]
            for row in zip(view.units, marked, strict=True)
        ]
        figure.cells(frame.x, frame.y, wide, high, roles, opacity)
    hairs(figure, frame)
    border(figure, units, "chunk", 1, 8, outer=False)
    figure.border(*frame.box, "tile", line=1.6)
    middles = [frame.y + (i + 0.5) * high + 4 for i in range(frame.rows)]
    left = [(frame.x - 10, y, f"0x{line * LINE_BYTES:03x}") for y, line in zip(middles, view.lines, strict=True)]
    figure.texts(left, "muted", 10.5, "end", mono=True)
    quiet = [
        (frame.x + (j + 0.5) * wide, middles[i], str(unit))
        for i, row in enumerate(view.units)
        for j, unit in enumerate(row)
        if unit is not None and not marked[i][j]
    ]
    figure.texts(quiet, "muted", 11, "middle", mono=True)
    _frames(figure, view, frame)


def _frames(figure: Figure, view: AccessView, frame: Frame) -> None:
    """Draw a frame around what each lane reads, with its name inside if it fits."""
    wide, high = frame.step
    name_of: dict[int, str] = {}
    for lane, name in zip(view.phase, view.names, strict=True):
        address = view.access.addresses[lane]
        if address is not None:
            name_of.setdefault(address, name)
    texts = []
    for address in sorted(name_of):
        line, within = divmod(address, LINE_BYTES)
        x, y = frame.x + within / WORD_BYTES * wide, frame.y + (line - view.lines[0]) * high
        across = view.access_bytes / WORD_BYTES * wide
        figure.border(x, y, across, high, "tile", line=2)
        if figure.width_of(name_of[address], 11, bold=True) + 6 <= across:
            texts.append((x + across / 2, y + high / 2 + 4, name_of[address]))
    figure.texts(texts, "ink", 11, "middle", bold=True)


def _bars(figure: Figure, view: AccessView, box: tuple[float, float, float, float], most: int, role: str) -> None:
    """Draw the number of words that each bank serves, on a scale up to ``most``."""
    x, top, wide, tall = box
    marks = [1, most] if 1 < most < 4 else sorted({1, most // 2, most}) if most > 1 else [1]
    for value in marks:
        y = top + tall - tall * value / most
        figure.lines([(x, y, x + wide, y)], "hair", 0.8)
        if value in (1, most) or tall / most * (value - 1) >= 12:
            figure.text(x + wide + 8, y + 4, str(value), "muted", 10.5, mono=True)
    figure.bars(x, top, wide, tall, view.words, most, role)
    figure.text(x - 10, top + tall / 2 + 4, "words", "muted", 11, "end")
