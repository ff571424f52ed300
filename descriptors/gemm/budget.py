"""What a plan takes of shared memory, stage by stage, and what limits the stages.

Law: as many stages as fit do fit, and one more does not.

>>> room = budget((("A", 16384), ("B", 16384)), 4)
>>> room.most_stages, budget(room.parts, room.most_stages).used <= room.capacity
(7, True)
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_integer
from descriptors.gemm.plan_request import MOST_STAGES
from descriptors.smem.words.descriptor import SMEM_BYTES
from descriptors.text import counted
from layoutalg.frozen import frozen, replace

#: Bytes of the two barriers of a stage, full and empty: an mbarrier object is 8 bytes (PTX ISA 9.1, mbarrier object).
BARRIER_BYTES = 16
#: Bytes beside the stages on sm100: the barrier of the accumulators, and the address that ``tcgen05.alloc`` writes.
EXTRA_BYTES = 16
#: More where sets of accumulators are used in turn, for each: a barrier that says that it is free, and its own.
SET_BYTES = 16
#: Stages that are planned where nobody says how many: more hide no latency.
USUAL_STAGES = 8


@frozen
class Budget:
    """Shared memory of a CTA.

    Args:
        parts: what a stage holds, and its bytes; the barriers not among them.
        stages: how many are kept.
        extra: bytes beside the stages.
        capacity: bytes that there are.
        barrier_bytes: of the barriers of a stage; none where threads copy.
        pieces: bytes beside the stages that hold pieces of C.
    """

    parts: tuple[tuple[str, int], ...]
    stages: int
    extra: int
    capacity: int
    barrier_bytes: int = BARRIER_BYTES
    pieces: int = 0

    @property
    def stage_bytes(self) -> int:
        """Bytes of a stage, with its barriers."""
        return sum(size for _, size in self.parts) + self.barrier_bytes

    @property
    def used(self) -> int:
        """Bytes of all stages and what stands beside them."""
        return self.stages * self.stage_bytes + self.extra

    @property
    def most_stages(self) -> int:
        """Stages that fit."""
        return (self.capacity - self.extra) // self.stage_bytes

    @property
    def limit(self) -> str:
        """What limits the stages, in words.

        >>> budget((("A", 16384), ("B", 16384)), 7).limit
        'shared memory: an 8th stage needs 29824 bytes more than the 232448 there are'
        """
        more = (self.most_stages + 1) * self.stage_bytes + self.extra - self.capacity
        number = self.most_stages + 1
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
) -> Budget:
    """The shared memory of so many stages.

    Args:
        parts: what a stage holds, and its bytes.
        stages: how many; as many as fit, at most the usual, if left out.
        extra: bytes beside them.
        capacity: bytes that there are.
        barrier_bytes: of the barriers of a stage.
        usual: stages beyond which none is planned unless somebody says so.
        most: bytes that there may be, of the architecture.
        pieces: bytes among those beside the stages that hold pieces of C.

    Raises:
        DescriptorError: if they do not fit; it says what to reduce, and by how much.

    >>> budget((("A", 16384), ("B", 16384)), 8)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: plan: 8 stages must fit 232448 bytes of shared memory, need 262272, 29824 too
    many; a stage is A 16384, B 16384, barriers 16; give --stages 7 or fewer
    """
    limit = as_integer(capacity, "plan: shared memory", minimum=1024, maximum=most)
    count = 1 if stages is None else as_integer(stages, "plan: stages", minimum=1, maximum=MOST_STAGES)
    room = Budget(parts, count, extra, limit, barrier_bytes, pieces)
    if room.used > limit:
        each = ", ".join(f"{name} {size}" for name, size in (*parts, ("barriers", barrier_bytes)) if size)
        fewer = f"give --stages {room.most_stages} or fewer" if room.most_stages else "give a tile of less M, N or K"
        beside = f", beside them C through shared memory {pieces}" if pieces else ""
        raise DescriptorError(
            f"plan: {counted(count, 'stage')} must fit {limit} bytes of shared memory, need {room.used}, "
            f"{room.used - limit} too many; a stage is {each}{beside}; {fewer}"
        )
    return room if stages is not None else replace(room, stages=min(room.most_stages, usual))
