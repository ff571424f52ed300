"""Rendezvous of threads: at a barrier of a CTA or a cluster, and in a ``wgmma`` of the warps of a warpgroup.

A thread that arrives signals the accesses that it knows to be complete. A thread that continues knows all of them.

Source: PTX ISA 9.1, barrier, barrier.cluster; Asynchronous Warpgroup Level Matrix Instructions.

Invariant: an operation of a warpgroup knows the accesses that each of its warps knew.

>>> issue = Issue(bit=7)
>>> for known in (1, 2, 4, 8):
...     issue.add_warp(known, published=0)
>>> issue.warps, issue.known
(4, 15)
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.check.execution.fragment import Fragment, Wait


class Rendezvous:
    """A barrier of a CTA or a cluster: the threads that arrived, those that wait, and the accesses that were signaled.

    Args:
        cta: rank of the CTA; None for the cluster.
        target: number of threads that must arrive; None for all that have not ended.
    """

    def __init__(self, cta: int | None, target: int | None) -> None:
        self.cta, self.target = cta, target
        self.came = self.phase = self.known = self.published = 0
        self.waiters: list[Fragment] = []

    def arrive(self, fragment: Fragment, known: int, published: int) -> None:
        """Add the threads of a fragment, and the accesses that they signal."""
        self.known |= known
        self.published |= published
        self.came += fragment.lane_count
        fragment.epoch = -1

    def leave(self, fragment: Fragment) -> None:
        """Let a fragment continue with the knowledge of the accesses that were signaled."""
        fragment.learn(self.known, self.published)

    def wait(self, fragment: Fragment, wait: Wait) -> bool:
        """Let a fragment wait for the end of the phase; return True, because it cannot continue."""
        fragment.blocked = wait
        self.waiters.append(fragment)
        return True


class Issue:
    """A ``wgmma``: one operation of several warps, which begins when the last warp has issued it.

    Args:
        bit: bit of its reads.
    """

    __slots__ = ("bit", "complete", "known", "published", "warps")

    def __init__(self, bit: int) -> None:
        self.bit, self.complete = bit, False
        self.warps = self.known = self.published = 0

    def add_warp(self, known: int, published: int) -> None:
        """Record that one more warp issues the operation."""
        self.warps += 1
        self.known |= known
        self.published |= published


class Issues:
    """The ``wgmma`` operations of a cluster, by warpgroup and number, and by bit."""

    def __init__(self) -> None:
        self._numbered: dict[tuple[int, int, int], Issue] = {}
        self._of_bit: dict[int, Issue] = {}

    def open(self, cta: int, warpgroup: int, number: int) -> Issue | None:
        """Return an operation that other warps have issued and that lacks warps; None if there is none."""
        issue = self._numbered.get((cta, warpgroup, number))
        return None if issue is None or issue.complete else issue

    def begin(self, cta: int, warpgroup: int, number: int, bit: int) -> Issue:
        """Add an operation that its first warp issues."""
        issue = self._numbered[cta, warpgroup, number] = self._of_bit[bit] = Issue(bit)
        return issue

    def items(self) -> Iterator[tuple[tuple[int, int, int], Issue]]:
        """Yield the operations with CTA, warpgroup and number."""
        yield from self._numbered.items()

    def with_bits(self, bits: int) -> list[Issue]:
        """Return the operations of some accesses, which must all belong to ``wgmma`` operations."""
        issues = []
        while bits:
            lowest = bits & -bits
            issues.append(self._of_bit[lowest.bit_length() - 1])
            bits ^= lowest
        return issues
