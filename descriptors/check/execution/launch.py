"""The launch of a kernel, the special registers of its threads, and where memory is in the address space.

Source: PTX ISA 9.1, Special Registers; State Spaces; mapa. The generic addresses of parameters and local memory are
chosen by this project. They are far from shared memory, which begins at 0; the rank of a CTA is in the bits above its
addresses.

Invariant: the coordinates of the threads of a CTA count up with x as the fastest digit.

>>> launch = Launch((4, 2, 8), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
>>> x, y, z = (special_register(f"%tid.{axis}", launch, 0, 1, tuple(range(32))) for axis in "xyz")
>>> [a + 4 * (b + 2 * c) for a, b, c in zip(x, y, z)] == list(range(32, 64))
True
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from descriptors.check.execution.lanes import Value, join_lanes
from descriptors.text import extents_text

#: Threads of a warp.
WARP = 32
#: Bit position of the CTA's rank in a shared-memory address.
RANK = 24
#: Generic address at which the local memory of a thread begins.
LOCAL = 1 << 40
#: Generic address at which parameters begin.
PARAMETERS = 1 << 42
#: Address of the first pointer in parameters, and distance between pointers: far from shared memory.
_POINTERS, _APART = 1 << 44, 1 << 36
#: Number of hashes of parameter names, and of pointers per parameter: PTX allows 32,764 bytes of parameters.
_NAMES, _SLOTS = 1 << 15, 1 << 12
#: Largest number of bytes of shared memory per CTA.
_SHARED = 227 << 10
_FULL = 0xFFFFFFFF


class Launch(NamedTuple):
    """A launch of a kernel.

    Args:
        threads: threads per CTA, along x, y, z.
        cluster: CTAs per cluster, along x, y, z; they are the first CTAs of the grid.
        grid: CTAs of the grid, along x, y, z.
        size: value of a 32-bit parameter that is not in ``scalars``.
        scalars: values of scalar parameters, by name and offset.
        variables: addresses of shared variables.
        sizes: inferred bytes of copies, by tensor map; None for the run that infers them.
        choices: which way branches go that depend on floating-point parameters, by instruction.
        boxes: known bytes of copies, by tensor map.
        sources: start addresses of bulk tensor stores, as the first run saw them.
        content: whether 32-bit integers in global memory are assumed to be multiples of ``size``.
        box_rows: bytes of the first extent of each known box, by tensor map.
        box_types: element type of each known box, by tensor map.
    """

    threads: tuple[int, int, int]
    cluster: tuple[int, int, int]
    grid: tuple[int, int, int]
    size: int
    scalars: Mapping[tuple[str, int], int]
    variables: Mapping[str, int]
    sizes: Mapping[object, int] | None
    choices: Mapping[int, bool]
    boxes: Mapping[Any, int] = {}
    sources: frozenset[int] = frozenset()
    content: bool = False
    box_rows: Mapping[Any, int] = {}
    box_types: Mapping[Any, str] = {}

    def bytes_of(self, box: object) -> int | None:
        """Return the bytes of a copy, known or inferred; None if they are neither."""
        known = self.boxes.get(box)
        return known if known is not None else (self.sizes or {}).get(box)


def launch_text(launch: Launch) -> str:
    """Describe the threads and CTAs of a launch.

    >>> launch_text(Launch((384, 1, 1), (2, 1, 1), (2, 1, 1), 0, {}, {}, {}, {}))
    '384 threads, a cluster of 2x1x1'
    """
    ctas = "one CTA" if prod(launch.cluster) == 1 else f"a cluster of {extents_text(launch.cluster)}"
    return f"{prod(launch.threads)} threads, {ctas}"


def of_cta(address: int, rank: int) -> int:
    """Return the same shared-memory address in the CTA of a rank.

    >>> hex(of_cta(0x2000010, 1))
    '0x1000010'
    """
    return address & ~(0xFF << RANK) | rank << RANK


def multicast(address: int, mask: int | None, ctas: int) -> list[int]:
    """Return a shared-memory address in each CTA of a mask; without a mask, the address itself.

    >>> [hex(address) for address in multicast(0x10, 0b1010, 4)], multicast(0x10, None, 4)
    (['0x1000010', '0x3000010'], [16])
    """
    return [address] if mask is None else [of_cta(address, rank) for rank in range(ctas) if mask >> rank & 1]


def pointer(name: str, offset: int) -> int:
    """Return the address that is assumed for a pointer in a parameter.

    Pointers of one kernel get different addresses, so that accesses through them are not taken for accesses of the same
    bytes. Names that differ only in a number of up to three digits, as compilers write them, have different hashes.

    Args:
        name: name of the parameter.
        offset: offset of the pointer in the parameter, in bytes.
    """
    number = 0
    for letter in name:
        number = (31 * number + ord(letter)) % _NAMES
    return _POINTERS + (number * _SLOTS + offset // 8) * _APART


def address_text(address: int, launch: Launch) -> str:
    """Return a shared-memory address as a variable and an offset.

    >>> launch = Launch((32, 1, 1), (2, 1, 1), (2, 1, 1), 0, {}, {"ring": 64}, {}, {})
    >>> address_text(of_cta(72, 1), launch)
    '[ring+8] of CTA 1'
    """
    rank, offset = address >> RANK, address & ((1 << RANK) - 1)
    candidates = [(start, name) for name, start in launch.variables.items() if start <= offset]
    start, name = max(candidates, default=(0, "shared"))
    cta = f" of CTA {rank}" if launch.cluster != (1, 1, 1) else ""
    return f"[{name}+{offset - start}]{cta}" if offset - start else f"[{name}]{cta}"


def special_register(name: str, launch: Launch, cta: int, warp: int, lanes: tuple[int, ...]) -> Value | None:
    """Return the value of a special register in some lanes of a warp; None if the run does not know it.

    Args:
        name: the name with its ``%`` and its axis.
        launch: how the kernel was launched.
        cta: rank of the CTA in the cluster.
        warp: number of the warp.
        lanes: numbers of the lanes.

    >>> launch = Launch((64, 1, 1), (2, 1, 1), (2, 1, 1), 0, {}, {}, {}, {})
    >>> special_register("%lanemask_lt", launch, 1, 0, (0, 1, 2)), special_register("%clock", launch, 1, 0, (0,))
    ((0, 1, 3), None)
    """
    stem, _, axis = name[1:].partition(".")
    place = "xyz".find(axis) if axis else 0
    if stem == "tid":
        return join_lanes([_coordinates(warp * WARP + lane, launch.threads)[place] for lane in lanes])
    if stem == "laneid":
        return join_lanes(lanes)
    if stem.startswith("lanemask_"):
        return join_lanes([_lane_mask(stem[9:], lane) for lane in lanes])
    return _uniform_registers(launch, cta, warp, place).get(stem)


def _uniform_registers(launch: Launch, cta: int, warp: int, place: int) -> dict[str, int]:
    """Return the special registers that all lanes of a warp share, along an axis."""
    (x, y, z), rank = launch.cluster, _coordinates(cta, launch.cluster)[place]
    return {
        "ntid": launch.threads[place],
        "nctaid": launch.grid[place],
        "warpid": warp,
        "ctaid": rank,
        "cluster_ctaid": rank,
        "cluster_ctarank": cta,
        "cluster_nctarank": x * y * z,
        "cluster_nctaid": launch.cluster[place],
        "clusterid": 0,
        "nclusterid": max(1, launch.grid[place] // launch.cluster[place]),
        "is_explicit_cluster": 1,
        "smid": cta,
        "nwarpid": -(-launch.threads[0] * launch.threads[1] * launch.threads[2] // WARP),
        "gridid": 0,
        "total_smem_size": _SHARED,
        "dynamic_smem_size": _SHARED,
    }


def _coordinates(number: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    width, height, _ = extents
    return number % width, number // width % height, number // (width * height)


def _lane_mask(relation: str, lane: int) -> int:
    below = (1 << lane) - 1
    masks = {"eq": 1 << lane, "lt": below, "le": below | 1 << lane, "gt": _FULL & ~(below | 1 << lane)}
    return masks.get(relation, _FULL & ~below)
