"""Where threads meet: at a barrier of a CTA or of a cluster, and in a ``wgmma`` of the warps of a warpgroup.

Who comes tells what it knows; who goes on knows what all told.
Source: PTX ISA 9.1, barrier, barrier.cluster; Asynchronous Warpgroup Level Matrix Instructions.

Law: an operation of a warpgroup knows what each of its warps knew.

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
    """A barrier at which threads of a CTA, or of a cluster, meet: who came, who waits, and what they told.

    Args:
        cta: of which CTA; None for the cluster.
        target: how many threads meet there; None for all that live.
    """

    def __init__(self, cta: int | None, target: int | None) -> None:
        self.cta, self.target = cta, target
        self.came = self.phase = self.known = self.published = 0
        self.waiters: list[Fragment] = []

    def arrive(self, fragment: Fragment, known: int, published: int) -> None:
        """The threads of a fragment come, and tell what they can."""
        self.known |= known
        self.published |= published
        self.came += fragment.lane_count
        fragment.epoch = -1

    def leave(self, fragment: Fragment) -> None:
        """A fragment goes on, and knows what was told."""
        fragment.learn(self.known, self.published)

    def wait(self, fragment: Fragment, wait: Wait) -> bool:
        """A fragment waits for the phase to end; True, for it cannot go on."""
        fragment.blocked = wait
        self.waiters.append(fragment)
        return True


class Issue:
    """A ``wgmma``: one operation of several warps, which begins when the last of them has issued it.

    Args:
        bit: of its reads.
    """

    __slots__ = ("bit", "complete", "known", "published", "warps")

    def __init__(self, bit: int) -> None:
        self.bit, self.complete = bit, False
        self.warps = self.known = self.published = 0

    def add_warp(self, known: int, published: int) -> None:
        """One more warp issues it."""
        self.warps += 1
        self.known |= known
        self.published |= published


class Issues:
    """The ``wgmma`` of a cluster, by warpgroup and number, and by their bits."""

    def __init__(self) -> None:
        self._numbered: dict[tuple[int, int, int], Issue] = {}
        self._of_bit: dict[int, Issue] = {}

    def open(self, cta: int, warpgroup: int, number: int) -> Issue | None:
        """An operation that more warps are to issue; None where none is begun."""
        issue = self._numbered.get((cta, warpgroup, number))
        return None if issue is None or issue.complete else issue

    def begin(self, cta: int, warpgroup: int, number: int, bit: int) -> Issue:
        """An operation that its first warp issues."""
        issue = self._numbered[cta, warpgroup, number] = self._of_bit[bit] = Issue(bit)
        return issue

    def items(self) -> Iterator[tuple[tuple[int, int, int], Issue]]:
        """The operations, by CTA, warpgroup and number."""
        yield from self._numbered.items()

    def with_bits(self, bits: int) -> list[Issue]:
        """The operations of some accesses, which are theirs alone."""
        issues = []
        while bits:
            lowest = bits & -bits
            issues.append(self._of_bit[lowest.bit_length() - 1])
            bits ^= lowest
        return issues
