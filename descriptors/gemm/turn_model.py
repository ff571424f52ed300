"""Model of double-buffered accumulators: one writer and several readers, in every order that their waits allow.

The model judges the barriers of a plan, so it shares no code with the planner. Each program is a sequence of
operations::

    ("wait", barrier, parity)          continues after the phase of that parity; a new barrier passes parity 1
    ("write", tile, begin, end)        issued by the writer; it completes at any time later
    ("commit", barrier)                arrives when all writes issued before are complete
    ("read", tile, begin, end)         a reader loads these columns of a tile into registers
    ("arrive", barrier)

A column may be written when every reader has read its contents, and read when it has the complete tile. The model
visits every reachable state once, so the result does not depend on timing.

Source: PTX ISA 9.1, mbarrier (phases, test_wait by parity); tcgen05.commit, which arrives after all issued operations.

Invariant: a writer that does not wait until its columns were read is a race.

>>> reader = (("wait", "done", 0), ("read", 0, 0, 8), ("arrive", "free"), ("wait", "done", 1), ("read", 1, 0, 8))
>>> writer = (("write", 0, 0, 8), ("commit", "done"), ("wait", "free", 0), ("write", 1, 0, 8), ("commit", "done"))
>>> explored(writer, (reader, reader), {"free": 2})[1]
''
>>> explored(writer[:2] + writer[3:], (reader, reader), {"free": 2})[1]
'tile 1 is multiplied into column 0 before every warp has read tile 0 there'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

Operation = tuple[str | int, ...]


class _Piece(NamedTuple):
    """Columns between two bounds: the tile in them, whether it is complete, and the readers that have read it."""

    tile: int
    whole: bool
    readers: frozenset[int]


class _State(NamedTuple):
    """A state: next operation of each program, issued operations, phase and count of each barrier, and columns."""

    writer: int
    issued: tuple[Operation, ...]
    readers: tuple[int, ...]
    barriers: tuple[tuple[int, int], ...]
    pieces: tuple[_Piece, ...]


class _RaceError(Exception):
    """Raised for a race; the message describes it."""


def explored(
    writer: Sequence[Operation], readers: Sequence[Sequence[Operation]], arrivals: Mapping[str, int]
) -> tuple[int, str]:
    """Return the number of states, and the first fault: a race, or a wait that never ends; "" if there is none.

    Args:
        writer: the operations of the warp that multiplies.
        readers: the operations of each warp that reads accumulators.
        arrivals: number of arrivals in a phase of each barrier; 1 for barriers that it does not contain.
    """
    model = _Model(writer, readers, arrivals)
    first = model.beginning()
    visited, waiting = {first}, [first]
    while waiting:
        state, moved = waiting.pop(), False
        try:
            for after in model.following(state):
                moved = True
                if after not in visited:
                    visited.add(after)
                    waiting.append(after)
        except _RaceError as race:
            return len(visited), str(race)
        if not moved and not model.ended(state):
            return len(visited), model.stuck(state)
    return len(visited), ""


class _Model:
    """The programs, and the transitions between states."""

    def __init__(
        self, writer: Sequence[Operation], readers: Sequence[Sequence[Operation]], arrivals: Mapping[str, int]
    ) -> None:
        self.writer, self.readers = tuple(writer), [tuple(reader) for reader in readers]
        operations = [operation for program in (self.writer, *self.readers) for operation in program]
        named = [operation for operation in operations if operation[0] in ("wait", "commit", "arrive")]
        self.names = sorted({str(operation[1]) for operation in named})
        self.counts = [arrivals.get(name, 1) for name in self.names]
        accesses = [operation for operation in operations if operation[0] in ("write", "read")]
        self.bounds = sorted({int(bound) for operation in accesses for bound in operation[2:4]})

    def beginning(self) -> _State:
        """Return the initial state."""
        nothing = _Piece(-1, True, frozenset(range(len(self.readers))))
        fresh = tuple((0, count) for count in self.counts)
        return _State(0, (), (0,) * len(self.readers), fresh, (nothing,) * (len(self.bounds) - 1))

    def ended(self, state: _State) -> bool:
        """Check that all programs have ended and all issued operations are complete."""
        readers_done = all(
            position == len(program) for position, program in zip(state.readers, self.readers, strict=True)
        )
        return state.writer == len(self.writer) and not state.issued and readers_done

    def stuck(self, state: _State) -> str:
        """Describe a wait that never ends."""
        programs = [(self.writer, state.writer, "the multiplying warp")]
        programs += [
            (operation, position, "a reading warp")
            for operation, position in zip(self.readers, state.readers, strict=True)
        ]
        reader_name, operation = next(
            (name, program[position]) for program, position, name in programs if position < len(program)
        )
        return f"{reader_name} waits for {operation[1]}, parity {operation[2]}, and nothing ends that"

    def following(self, state: _State) -> Iterator[_State]:
        """Yield every possible next state."""
        if state.issued:
            yield self._done(state)
        if state.writer < len(self.writer):
            yield from self._written(state, self.writer[state.writer])
        for index, position in enumerate(state.readers):
            if position < len(self.readers[index]):
                yield from self._read(state, index, self.readers[index][position])

    def _done(self, state: _State) -> _State:
        """Return the state after the oldest issued operation completes."""
        operation, left = state.issued[0], state._replace(issued=state.issued[1:])
        if operation[0] == "commit":
            return left._replace(barriers=self._arrived(left, str(operation[1])))
        pieces = list(left.pieces)
        for piece_index in self._within(operation):
            pieces[piece_index] = pieces[piece_index]._replace(whole=True)
        return left._replace(pieces=tuple(pieces))

    def _written(self, state: _State, operation: Operation) -> Iterator[_State]:
        """Yield the state after the writer's next operation, if it can execute."""
        following = state._replace(writer=state.writer + 1)
        if operation[0] == "wait":
            if self._over(state, operation):
                yield following
            return
        pieces = list(state.pieces)
        for piece_index in self._within(operation) if operation[0] == "write" else ():
            piece = pieces[piece_index]
            if len(piece.readers) < len(self.readers):
                place = f"column {self.bounds[piece_index]} before every warp has read tile {piece.tile} there"
                raise _RaceError(f"tile {operation[1]} is multiplied into {place}")
            pieces[piece_index] = _Piece(int(operation[1]), False, frozenset())
        yield following._replace(issued=(*state.issued, operation), pieces=tuple(pieces))

    def _read(self, state: _State, index: int, operation: Operation) -> Iterator[_State]:
        """Yield the state after the next operation of a reader, if it can execute."""
        places = list(state.readers)
        places[index] += 1
        following = state._replace(readers=tuple(places))
        if operation[0] == "wait":
            if self._over(state, operation):
                yield following
        elif operation[0] == "arrive":
            yield following._replace(barriers=self._arrived(state, str(operation[1])))
        else:
            pieces = list(state.pieces)
            for piece_index in self._within(operation):
                piece = pieces[piece_index]
                if piece.tile != operation[1] or not piece.whole:
                    state_text = f"tile {piece.tile} is {'there' if piece.whole else 'being multiplied'}"
                    raise _RaceError(
                        f"column {self.bounds[piece_index]} is read for tile {operation[1]} while {state_text}"
                    )
                pieces[piece_index] = piece._replace(readers=piece.readers | {index})
            yield following._replace(pieces=tuple(pieces))

    def _within(self, operation: Operation) -> Iterator[int]:
        """Return the indices of the pieces in a range of columns."""
        begin, end = int(operation[2]), int(operation[3])
        return (i for i, bound in enumerate(self.bounds[:-1]) if begin <= bound < end)

    def _over(self, state: _State, operation: Operation) -> bool:
        """Check that the phase for which an operation waits is complete."""
        phase, _ = state.barriers[self.names.index(str(operation[1]))]
        return phase != operation[2]

    def _arrived(self, state: _State, name: str) -> tuple[tuple[int, int], ...]:
        """Return the barriers after an arrival."""
        barriers, barrier_index = list(state.barriers), self.names.index(name)
        phase, left = barriers[barrier_index]
        barriers[barrier_index] = (phase, left - 1) if left > 1 else (phase ^ 1, self.counts[barrier_index])
        return tuple(barriers)
