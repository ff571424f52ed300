"""Where a plan keeps its data in shared memory, and how many stages fit.

One function places every region (``Budget.places``). The bytes that a plan uses, the largest number of stages and the
addresses in a program all come from it.

Law: as many stages as fit do fit, and one more does not.

>>> room = budget((("A", 16384), ("B", 16384)), 4)
>>> room.most_stages, budget(room.parts, room.most_stages).used <= room.capacity
(7, True)
"""

from __future__ import annotations

from descriptors.errors import Advice, DescriptorError, as_integer
from descriptors.gemm.plan_request import MOST_STAGES
from descriptors.smem.words.descriptor import SMEM_BYTES
from descriptors.text import counted
from layoutalg.frozen import frozen, replace

#: Bytes of the two barriers of a stage, full and empty: an mbarrier object is 8 bytes (PTX ISA 9.1, mbarrier object).
BARRIER_BYTES = 16
#: Bytes beside the stages on sm100: the address that ``tcgen05.alloc`` writes, and the barrier of the accumulators.
EXTRA_BYTES = 16
#: The same where two sets of accumulators are used in turn: the address, and two barriers for each set.
EXTRA_BYTES_OF_SETS = 40
#: Stages that are planned where nobody says how many: more hide no latency.
USUAL_STAGES = 8


@frozen
class Budget:
    """Shared memory of a CTA: both operands, the pieces of C, other parts of the stages, the barriers.

    Args:
        parts: names and bytes of what one stage holds, A and B first; without the barriers.
        stages: how many stages are kept.
        extra: bytes after the barriers of the stages.
        capacity: bytes that are available.
        barrier_bytes: bytes of the barriers of a stage; 0 where threads copy.
        pieces: bytes that hold pieces of C.
        alignment: what the addresses of A, of B and of what follows B are multiples of.
    """

    parts: tuple[tuple[str, int], ...]
    stages: int
    extra: int
    capacity: int
    barrier_bytes: int = BARRIER_BYTES
    pieces: int = 0
    alignment: int = 1

    @property
    def stage_bytes(self) -> int:
        """Bytes of a stage, with its barriers."""
        return sum(size for _, size in self.parts) + self.barrier_bytes

    def places(self, stages: int | None = None) -> dict[str, int]:
        """Return the address of each part, of the pieces of C (``"C"``) and the barriers, and the ``"end"`` of all.

        Args:
            stages: how many stages; those of the budget if left out.

        >>> Budget((("A", 1000), ("B", 24)), 2, 16, 232448, alignment=1024).places()
        {'A': 0, 'B': 2048, 'C': 3072, 'barriers': 3072, 'end': 3120}
        """
        count = self.stages if stages is None else stages
        parts = [(name, count * size) for name, size in self.parts]
        aligned = [*parts[:2], ("C", self.pieces)]
        places, end = dict[str, int](), 0
        for name, size in (*aligned, *parts[2:], ("barriers", count * self.barrier_bytes + self.extra)):
            if len(places) < len(aligned):
                end += -end % self.alignment
            places[name] = end
            end += size
        return places | {"end": end}

    @property
    def used(self) -> int:
        """The number of bytes from the first stage to the end of the last region."""
        return self.places()["end"]

    @property
    def most_stages(self) -> int:
        """The largest number of stages that fit."""
        count = (self.capacity - self.extra - self.pieces) // self.stage_bytes
        while count > 0 and self.places(count)["end"] > self.capacity:
            count -= 1
        return max(0, count)

    @property
    def limit(self) -> str:
        """What limits the stages, in words.

        >>> budget((("A", 16384), ("B", 16384)), 7).limit
        'shared memory: an 8th stage needs 29824 bytes more than the 232448 there are'
        """
        number = self.most_stages + 1
        more = self.places(number)["end"] - self.capacity
        article = "an" if number in (8, 11, 18, *range(80, 90)) else "a"
        ends = {1: "st", 2: "nd", 3: "rd"} if number % 100 not in (11, 12, 13) else {}
        last = f"{article} {number}{ends.get(number % 10, 'th')} stage needs {more} bytes more than"
        return f"shared memory: {last} the {self.capacity} there are"


def budget(
    parts: tuple[tuple[str, int], ...],
    stages: int | None = None,
    *,
    extra: int = 0,
    capacity: int = SMEM_BYTES,
    barrier_bytes: int = BARRIER_BYTES,
    usual: int = USUAL_STAGES,
    most: int = SMEM_BYTES,
    pieces: int = 0,
    alignment: int = 1,
) -> Budget:
    """Return the shared memory of so many stages.

    Args:
        parts, extra, capacity, barrier_bytes, pieces, alignment: as ``Budget`` has them.
        stages: how many; as many as fit, at most ``usual``, if left out.
        usual: the largest number of stages that is chosen if ``stages`` is left out.
        most: the largest capacity that the architecture has.

    Raises:
        DescriptorError: if they do not fit; its ``advice`` is the number of stages that does.

    >>> budget((("A", 16384), ("B", 16384)), 8)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: plan: 8 stages need 262272 bytes of shared memory, 232448 are available; one
    stage is 32784 bytes (A 16384, B 16384, barriers 16)
    """
    limit = as_integer(capacity, "plan: shared memory", minimum=1024, maximum=most)
    count = 1 if stages is None else as_integer(stages, "plan: stages", minimum=1, maximum=MOST_STAGES)
    room = Budget(parts, count, extra, limit, barrier_bytes, pieces, alignment)
    if room.used > limit:
        each = ", ".join(f"{name} {size}" for name, size in (*parts, ("barriers", barrier_bytes)) if size)
        beside = f"; C through shared memory needs {pieces} bytes" if pieces else ""
        raise DescriptorError(
            f"plan: {counted(count, 'stage')} need{'s' * (count == 1)} {room.used} bytes of shared memory, {limit} are "
            f"available; one stage is {room.stage_bytes} bytes ({each}){beside}",
            proposals=[Advice({"stages": room.most_stages})] if room.most_stages else [],
        )
    return room if stages is not None else replace(room, stages=min(room.most_stages, usual))
