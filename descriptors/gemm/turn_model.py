"""The model of accumulators in turn: a writer and readers run in every order that their waits allow.

The judge of who waits for whom, so it shares no code with what plans it. Each runs its operations one after the other::

    ("wait", barrier, parity)          goes on once the phase of that parity is over; a new barrier answers parity 1
    ("write", tile, begin, end)        the writer issues it; when it is done, nobody knows
    ("commit", barrier)                arrives there once all writes issued before are done
    ("read", tile, begin, end)         a reader has these columns of a tile in registers
    ("arrive", barrier)

A column may be written anew once every reader has read what is in it, and read while it holds all of that tile. From
the beginning on every next state is visited once, so that nothing is left to the time that anything takes.
Source: PTX ISA 9.1, mbarrier (phases, test_wait by parity); tcgen05.commit, whose arrival follows all that was issued.

Law: one set of columns without a barrier of its own is a race, whatever the writer waits for.

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
    """Columns between two bounds: which tile is in them, whether all of it, and who has read it."""

    tile: int
    whole: bool
    readers: frozenset[int]


class _State(NamedTuple):
    writer: int
    issued: tuple[Operation, ...]
    readers: tuple[int, ...]
    barriers: tuple[tuple[int, int], ...]
    pieces: tuple[_Piece, ...]


class _RaceError(Exception):
    """What a race is called."""


def explored(
    writer: Sequence[Operation], readers: Sequence[Sequence[Operation]], arrivals: Mapping[str, int]
) -> tuple[int, str]:
    """How many states there are, and the first fault that is met: a race, or a wait that nothing ends; "" if none.

    Args:
        writer: what the warp that multiplies does.
        readers: what each warp does that reads accumulators.
        arrivals: how many each barrier counts in a phase; 1 of those that are not in it.
    """
    model = _Model(writer, readers, arrivals)
    first = model.beginning()
    seen, waiting = {first}, [first]
    while waiting:
        state, moved = waiting.pop(), False
        try:
            for after in model.following(state):
                moved = True
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        except _RaceError as race:
            return len(seen), str(race)
        if not moved and not model.ended(state):
            return len(seen), model.stuck(state)
    return len(seen), ""


class _Model:
    """The programs, and how a state goes on."""

    def __init__(
        self, writer: Sequence[Operation], readers: Sequence[Sequence[Operation]], arrivals: Mapping[str, int]
    ) -> None:
        self.writer, self.readers = tuple(writer), [tuple(one) for one in readers]
        everything = [one for program in (self.writer, *self.readers) for one in program]
        self.names = sorted({str(one[1]) for one in everything if one[0] in ("wait", "commit", "arrive")})
        self.counts = [arrivals.get(name, 1) for name in self.names]
        self.bounds = sorted({int(at) for one in everything if one[0] in ("write", "read") for at in one[2:4]})

    def beginning(self) -> _State:
        nothing = _Piece(-1, True, frozenset(range(len(self.readers))))
        fresh = tuple((0, count) for count in self.counts)
        return _State(0, (), (0,) * len(self.readers), fresh, (nothing,) * (len(self.bounds) - 1))

    def ended(self, state: _State) -> bool:
        readers_done = all(at == len(one) for at, one in zip(state.readers, self.readers, strict=True))
        return state.writer == len(self.writer) and not state.issued and readers_done

    def stuck(self, state: _State) -> str:
        """What is waited for and never comes."""
        programs = [(self.writer, state.writer, "the multiplying warp")]
        programs += [(one, at, "a reading warp") for one, at in zip(self.readers, state.readers, strict=True)]
        who, one = next((name, program[at]) for program, at, name in programs if at < len(program))
        return f"{who} waits for {one[1]}, parity {one[2]}, and nothing ends that"

    def following(self, state: _State) -> Iterator[_State]:
        """Every state that may come next."""
        if state.issued:
            yield self._done(state)
        if state.writer < len(self.writer):
            yield from self._written(state, self.writer[state.writer])
        for index, at in enumerate(state.readers):
            if at < len(self.readers[index]):
                yield from self._read(state, index, self.readers[index][at])

    def _done(self, state: _State) -> _State:
        """The oldest that was issued is over."""
        one, left = state.issued[0], state._replace(issued=state.issued[1:])
        if one[0] == "commit":
            return left._replace(barriers=self._arrived(left, str(one[1])))
        pieces = list(left.pieces)
        for at in self._within(one):
            pieces[at] = pieces[at]._replace(whole=True)
        return left._replace(pieces=tuple(pieces))

    def _written(self, state: _State, one: Operation) -> Iterator[_State]:
        following = state._replace(writer=state.writer + 1)
        if one[0] == "wait":
            if self._over(state, one):
                yield following
            return
        pieces = list(state.pieces)
        for at in self._within(one) if one[0] == "write" else ():
            held = pieces[at]
            if len(held.readers) < len(self.readers):
                where = f"column {self.bounds[at]} before every warp has read tile {held.tile} there"
                raise _RaceError(f"tile {one[1]} is multiplied into {where}")
            pieces[at] = _Piece(int(one[1]), False, frozenset())
        yield following._replace(issued=(*state.issued, one), pieces=tuple(pieces))

    def _read(self, state: _State, index: int, one: Operation) -> Iterator[_State]:
        places = list(state.readers)
        places[index] += 1
        following = state._replace(readers=tuple(places))
        if one[0] == "wait":
            if self._over(state, one):
                yield following
        elif one[0] == "arrive":
            yield following._replace(barriers=self._arrived(state, str(one[1])))
        else:
            pieces = list(state.pieces)
            for at in self._within(one):
                held = pieces[at]
                if held.tile != one[1] or not held.whole:
                    lies = f"tile {held.tile} is {'there' if held.whole else 'being multiplied'}"
                    raise _RaceError(f"column {self.bounds[at]} is read for tile {one[1]} while {lies}")
                pieces[at] = held._replace(readers=held.readers | {index})
            yield following._replace(pieces=tuple(pieces))

    def _within(self, one: Operation) -> Iterator[int]:
        """The pieces of a range of columns."""
        begin, end = int(one[2]), int(one[3])
        return (i for i, at in enumerate(self.bounds[:-1]) if begin <= at < end)

    def _over(self, state: _State, one: Operation) -> bool:
        phase, _ = state.barriers[self.names.index(str(one[1]))]
        return phase != one[2]

    def _arrived(self, state: _State, name: str) -> tuple[tuple[int, int], ...]:
        barriers, at = list(state.barriers), self.names.index(name)
        phase, left = barriers[at]
        barriers[at] = (phase, left - 1) if left > 1 else (phase ^ 1, self.counts[at])
        return tuple(barriers)
