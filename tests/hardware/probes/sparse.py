"""The sparse probe: what ``wgmma.mma_async.sp`` does with the metadata of each thread.

B is an identity of N = K columns, so that row m of D is row m of A with its zeros: where in K each stored element is.
Three questions are put to every type and selector. *Registers*: with the code 4 everywhere, four bits of one thread
become e; which row and which group of K moves? 1024 times, for every four bits of 128 threads. *Codes*: with one
element stored in a row, and one code everywhere, where does it go? Also for codes whose positions do not grow, which
PTX does not have. *Elements*: with A in registers, one element of one register of one thread stored, where does it go?
*Products*: random numbers and random codes, A in shared memory and in registers, and random bits in the threads that
the selector leaves out.

    python -m probes.sparse --out FOLDER
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from probes.build import build, sparse_instructions
from probes.cuda import Device
from probes.fragments import A_BYTES, image, packed, parser, record
from probes.instructions import TYPES, Instruction
from probes.runner import main_of

EVIDENCE = "sparse"
IMAGE_BYTES = A_BYTES + 64 * 64
#: Codes of two positions that grow, and of two that do not; those of tf32.
CODES, UNORDERED, CODES_OF_TWO = (0x4, 0x8, 0x9, 0xC, 0xD, 0xE), (0x1, 0x2, 0x3, 0x6, 0x7, 0xB), (0x4, 0xE)

#: What makes the D of cases (image, metadata) of images, registers of A and metadata: (cases, 64, N).
Issue: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def groups_of(one: Instruction) -> tuple[int, int]:
    """Elements of a group, zeros counted, and how many of them are stored.

    >>> groups_of(Instruction("tf32", 16, selector=0)), groups_of(Instruction("s8", 64, selector=0))
    ((2, 1), (4, 2))
    """
    return (2, 1) if one.element_bytes == 4 else (4, 2)


def matrix_of(d: np.ndarray, n: int) -> np.ndarray:
    """The accumulators of 128 threads, in the last two dimensions, as rows and columns."""
    t, v = np.meshgrid(np.arange(128), np.arange(n // 2), indexing="ij")
    made = np.zeros((*d.shape[:-2], 64, n), d.dtype)
    made[..., 16 * (t // 32) + t % 32 // 4 + 8 * (v // 2 % 2), 8 * (v // 4) + 2 * (t % 4) + v % 2] = d
    return made


def _identity(one: Instruction, a: np.ndarray) -> np.ndarray:
    return image(a, np.eye(one.n, one.k, dtype=int), one.dtype, IMAGE_BYTES)


def _without_registers(images: np.ndarray) -> np.ndarray:
    return np.zeros((len(images), 128, 4), np.uint32)


def registers(one: Instruction, issue: Issue) -> np.ndarray:
    """Row and first k of the group that every four bits of every thread say: (128, 8, 2); -1 of bits that are not read.

    Raises:
        RuntimeError: if four bits move elements of more than one group.
    """
    group, stored = groups_of(one)
    images = _identity(one, np.tile(np.arange(1, stored + 1), (64, one.k // group)))[None]
    metadata = np.full((1 + 128 * 8, 128), 0x44444444, np.uint32)
    for thread in range(128):
        for nibble in range(8):
            metadata[1 + 8 * thread + nibble, thread] ^= 0xA << 4 * nibble
    cases = np.stack([np.zeros(len(metadata), int), np.arange(len(metadata))], 1)
    d = issue(cases, images, _without_registers(images), metadata)
    found = np.full((128 * 8, 2), -1, np.int32)
    for index, changed in enumerate(d[1:] != d[0]):
        where = {(int(m), int(k) // group * group) for m, k in np.argwhere(changed)}
        if len(where) > 1:
            raise RuntimeError(f"sparse: four bits must move one group, found {sorted(where)[:4]}; {one.name}")
        if where:
            found[index] = where.pop()
    return found.reshape(128, 8, 2)


def codes(one: Instruction, issue: Issue, every: Iterable[int]) -> np.ndarray:
    """The k at which each stored element arrives with each code: (codes, K/2); -1 where that is none, or several."""
    images = np.stack([_identity(one, np.tile(row, (64, 1))) for row in np.eye(one.k // 2, dtype=int)])
    metadata = np.array([[code * 0x11111111] * 128 for code in every], np.uint32)
    cases = np.stack(np.meshgrid(np.arange(len(images)), np.arange(len(metadata))), -1).reshape(-1, 2)
    d = issue(cases, images, _without_registers(images), metadata).reshape(len(metadata), len(images), 64, -1)
    alike = (d == d[:, :, :1]).all((2, 3)) & (d[:, :, 0].sum(2) == 1) & (d[:, :, 0] >= 0).all(2)
    return np.where(alike, d[:, :, 0].argmax(2), -1).astype(np.int32)


def elements(one: Instruction, issue: Issue) -> np.ndarray:
    """Row and k of each value of A in registers, with the codes 4 and e everywhere: (2, 128, values, 2).

    Raises:
        RuntimeError: if a value arrives nowhere, or in several places.
    """
    values = 64 * one.k // 2 // 128
    alone = packed(np.eye(128 * values, dtype=int).reshape(-1, 128, values), one.dtype)
    images = np.repeat(_identity(one, np.zeros((64, one.k // 2), int))[None], len(alone), 0)
    metadata = np.array([[code * 0x11111111] * 128 for code in (CODES[0], CODES[-1])], np.uint32)
    cases = np.stack(np.meshgrid(np.arange(len(alone)), np.arange(2)), -1).reshape(-1, 2)
    d = issue(cases, images, alone, metadata)
    if (d.sum((1, 2)) != 1).any() or (d.max((1, 2)) != 1).any():
        raise RuntimeError(f"sparse: a value of A must arrive in one place, found otherwise; {one.name}")
    where = np.argwhere(d)[:, 1:]
    return where.reshape(2, 128, values, 2).astype(np.int32)


def random_metadata(one: Instruction, rng: np.random.Generator, count: int) -> np.ndarray:
    """Codes that there are, in every four bits of every thread."""
    legal = np.array(CODES_OF_TWO if groups_of(one)[1] == 1 else CODES, np.uint32)
    nibbles = legal[rng.integers(0, len(legal), (count, 128, 8))]
    return np.bitwise_or.reduce(nibbles << (4 * np.arange(8, dtype=np.uint32)), axis=2)


def products(one: Instruction, issue: Issue, count: int = 32) -> tuple[int, int]:
    """How many elements of random products there were, and how many are not what the rules say."""
    from descriptors.gemm.sparse_model import wgmma_selected
    from layoutalg import fragment

    rng = np.random.default_rng([one.k, one.selector or 0, one.a_in_registers])
    metadata = random_metadata(one, rng, count)
    read = metadata.copy()
    if one.element_bytes > 1:  # what is in the threads of the other selector is anything at all
        others = np.arange(128) % 4 // 2 != one.selector
        metadata[:, others] = rng.integers(0, 1 << 32, (count, int(others.sum())), dtype=np.uint32)
    a, b = rng.integers(0, 8, (count, 64, one.k // 2)), rng.integers(0, 8, (count, one.n, one.k))
    images = np.stack([image(x, y, one.dtype, IMAGE_BYTES) for x, y in zip(a, b, strict=True)])
    held = fragment(f"wgmma.sp.m64n8k{one.k}.A.{one.dtype}")
    places = np.array([held.element(t, v) for t in range(128) for v in range(held.values)])
    in_registers = packed(a[:, places[:, 0], places[:, 1]].reshape(count, 128, -1), one.dtype)
    d = issue(np.repeat(np.arange(count)[:, None], 2, 1), images, in_registers, metadata)
    wrong = 0
    for x, y, words, found in zip(a, b, read, d, strict=True):
        dense = np.zeros((64, one.k), np.int64)
        np.put_along_axis(dense, wgmma_selected(words, 8 * one.element_bytes, one.selector or 0), x, 1)
        wrong += int((dense @ y.T != found).sum())
    return d.size, wrong


def on_gpu(device: Device, module: Any, one: Instruction) -> Issue:
    """The instruction on the GPU."""

    def issue(cases: np.ndarray, images: np.ndarray, a: np.ndarray, metadata: np.ndarray) -> np.ndarray:
        kind = np.int32 if one.integer else np.float32
        out = device.buffer(len(cases) * 128 * one.accumulators * 4).fill(0xFF)
        buffers = [device.upload(x) for x in (cases.astype(np.int32), images, a, metadata)] + [out]
        module.kernel(f"sparse_{one.name}", IMAGE_BYTES).launch(min(len(cases), 2048), 128, *buffers, len(cases))
        device.synchronize()
        found = out.get(kind, (len(cases), 128, one.accumulators))
        for buffer in buffers:
            buffer.free()
        return matrix_of(found, one.n).astype(np.int64)

    return issue


def name_of(one: Instruction, what: str) -> str:
    """The name of a case.

    >>> name_of(Instruction("f16", 32, selector=1), "registers")
    'wgmma.sp.m64n32k32.f16 selector 1 registers'
    """
    return f"wgmma.sp.m64n{one.n}k{one.k}.{one.dtype} selector {one.selector} {what}"


def code_sets(one: Instruction) -> dict[str, tuple[int, ...]]:
    """The questions about codes: their names, and the codes."""
    if groups_of(one)[1] == 1:
        return {"codes": CODES_OF_TWO}
    return {"codes": CODES, "codes that do not grow": UNORDERED}


def every_instruction() -> list[Instruction]:
    """The instructions whose registers and codes are measured: A in shared memory."""
    return [one for dtype in TYPES for one in sparse_instructions(dtype) if not one.a_in_registers]


def measured(device: Device) -> Iterator[tuple[str, np.ndarray]]:
    """Every table by its name."""
    modules = {name: device.load(path) for name, path in build("sparse").items()}
    for one in every_instruction():
        issue = on_gpu(device, modules[f"sparse_{one.dtype}"], one)
        yield name_of(one, "registers"), registers(one, issue)
        for what, some in code_sets(one).items():
            yield name_of(one, what), codes(one, issue, some)
    for dtype in TYPES:
        for one in sparse_instructions(dtype):
            of = "A in registers" if one.a_in_registers else "A in shared memory"
            issue = on_gpu(device, modules[f"sparse_{dtype}"], one)
            if one.a_in_registers:
                yield name_of(one, "elements"), elements(one, issue)
            yield name_of(one, f"products, {of}"), np.array(products(one, issue), np.int32)


def by_the_rules(name: str) -> np.ndarray:
    """What the library says of a table that :func:`measured` should find.

    >>> by_the_rules("wgmma.sp.m64n32k32.f16 selector 1 registers")[2, :2].tolist()
    [[0, 0], [0, 4]]
    """
    from layoutalg import fragment

    called, _, selector, what = name.split(" ", 3)
    k, dtype = int(called.split(".")[2].split("k")[1]), called.split(".")[3]
    one = Instruction(dtype, k, selector=int(selector))
    group, stored = groups_of(one)
    if what.startswith("products"):
        return np.array([32 * 64 * one.n, 0], np.int32)
    if what == "registers":
        held = fragment(f"wgmma.sp.m64n8k{k}.E.{dtype}")
        each = held.values // 8
        table = np.array([[held.element(t, each * i) for i in range(8)] for t in range(128)], np.int32)
        if one.element_bytes > 1:
            table[np.arange(128) % 4 // 2 != one.selector] = -1
        return table
    asked = (CODES[0], CODES[-1]) if what == "elements" else code_sets(one)[what]
    j = np.arange(k // 2)
    rows = [group * (j // stored) + (code >> (3 if stored == 1 else 2 * (j % 2)) & 3) for code in asked]
    if what != "elements":
        return np.array(rows, np.int32)
    held = fragment(f"wgmma.sp.m64n8k{k}.A.{dtype}")
    places = np.array([[held.element(t, v) for v in range(held.values)] for t in range(128)], np.int32)
    return np.stack([np.stack([places[..., 0], at[places[..., 1]]], 2) for at in rows]).astype(np.int32)


def every_case() -> list[str]:
    """The names of all tables, in the order of :func:`measured`."""
    names = [name_of(one, what) for one in every_instruction() for what in ("registers", *code_sets(one))]
    for dtype in TYPES:
        for one in sparse_instructions(dtype):
            of = "A in registers" if one.a_in_registers else "A in shared memory"
            names += [name_of(one, what) for what in ("elements",) * one.a_in_registers + (f"products, {of}",)]
    return names


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    return record(device, options, EVIDENCE, dict(measured(device)), by_the_rules)


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(EVIDENCE, __doc__), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
