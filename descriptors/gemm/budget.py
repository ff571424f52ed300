"""Assign the shared memory of a plan, and compute how many stages fit.

One function places every region (``Budget.places``). The bytes that a plan uses, the largest number of stages and the
addresses in a program all come from it.

Invariant: ``most_stages`` stages fit, and one more does not.

>>> example = budget((("A", 16384), ("B", 16384)), 4)
>>> example.most_stages, budget(example.parts, example.most_stages).used <= example.capacity
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
#: Bytes after the stages on sm100: the address that ``tcgen05.alloc`` writes, and the barrier of the accumulators.
EXTRA_BYTES = 16
#: The same with two sets of accumulators: the address, and two barriers for each set.
EXTRA_BYTES_OF_SETS = 40
#: The default upper limit for the number of stages; more stages hide no additional latency.
USUAL_STAGES = 8


@frozen
class Budget:
    """The use of the shared memory of a CTA: both operands, pieces of C, other parts of the stages, and barriers.

    Args:
        parts: name and bytes of each part of one stage, A and B first, without the barriers.
        stages: number of stages.
        extra: bytes after the barriers of the stages.
        capacity: bytes that are available.
        barrier_bytes: bytes of the barriers of a stage; 0 if threads copy.
        pieces: bytes of the pieces of C.
        alignment: alignment of A, of B and of the region after B, in bytes.
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
        """Size of a stage with its barriers, in bytes."""
        return sum(size for _, size in self.parts) + self.barrier_bytes

    def places(self, stages: int | None = None) -> dict[str, int]:
        """Return the address of each part, of the pieces of C (``"C"``), and of the barriers, and the end (``"end"``).

        Args:
            stages: number of stages; by default that of the budget.

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
        """Number of bytes from the first stage to the end of the last region."""
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
        """The reason why one more stage than ``most_stages`` does not fit.

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
    """Return the use of shared memory for a number of stages, after checking that they fit.

    Args:
        parts, extra, capacity, barrier_bytes, pieces, alignment: as in ``Budget``.
        stages: number of stages; by default as many as fit, at most ``usual``.
        usual: the largest number of stages that is chosen by default.
        most: the largest shared memory of a CTA that the architecture supports, in bytes.

    Raises:
        DescriptorError: if the stages do not fit; a proposal has the number of stages that do.

    >>> budget((("A", 16384), ("B", 16384)), 8)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: plan: 8 stages need 262272 bytes of shared memory, 232448 are available; one
    stage is 32784 bytes (A 16384, B 16384, barriers 16)
    """
    limit = as_integer(capacity, "plan: shared memory", minimum=1024, maximum=most)
    count = 1 if stages is None else as_integer(stages, "plan: stages", minimum=1, maximum=MOST_STAGES)
    planned = Budget(parts, count, extra, limit, barrier_bytes, pieces, alignment)
    if planned.used > limit:
        sizes = ", ".join(f"{name} {size}" for name, size in (*parts, ("barriers", barrier_bytes)) if size)
        note = f"; C through shared memory needs {pieces} bytes" if pieces else ""
        raise DescriptorError(
            f"plan: {counted(count, 'stage')} need{'s' * (count == 1)} {planned.used} bytes of shared memory, {limit} "
            f"are available; one stage is {planned.stage_bytes} bytes ({sizes}){note}",
            proposals=[Advice({"stages": planned.most_stages})] if planned.most_stages else [],
        )
    return planned if stages is not None else replace(planned, stages=min(planned.most_stages, usual))
