"""The product probe: shared memory filled by given address maps, a whole product through given words, compared exactly.

A case is plain data: an instruction, and for each operand the absolute shared-memory address of every element, the word
of the first subtile and the advance in bytes to every other subtile. Where an operand has boxes, the copy engine brings
it instead of a plain copy. Integers are small enough for every sum to be exact. Each case is run twice more with A's
words made wrong, by 16 bytes in SBO and by another swizzle code: those must fail.

    python -m probes.gemm --out FOLDER [--cases MODULE:FUNCTION]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from probes.boxes import Boxes
from probes.build import build
from probes.cases import Case
from probes.cuda import Buffer, Device, Module, TensorMap, aligned_tensor_map, provenance, tensor_map
from probes.documented import gemm_cases
from probes.runner import cases_of, digest, main_of, shared_window, write_json

#: First shared-memory address that a case may use; below it lies the probe's barrier.
FIRST = 2048
#: One past the last address that a case may use: a wrong word reads some way beyond, within the block's part.
END = 0x400 + 232448 - 8192
EVIDENCE = "gemm"
CONTROLS = ("SBO + 16 bytes", "another swizzle code")


def integers(dtype: str, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Random integers that the type holds and whose products sum exactly in the accumulator."""
    low, high = {"u8": (0, 15), "b1": (0, 255), "s8": (-8, 8), "e4m3": (-2, 2), "e5m2": (-2, 2)}.get(dtype, (-8, 8))
    return random.integers(low, high, shape, endpoint=True)


def encode(dtype: str, values: np.ndarray) -> np.ndarray:
    """Integers as the bytes of the type: one more, last dimension."""
    if dtype == "f16":
        words = values.astype(np.float16).view(np.uint16)
    elif dtype in ("bf16", "tf32"):
        words = values.astype(np.float32).view(np.uint32)
        if dtype == "bf16":
            words = (words >> 16).astype(np.uint16)  # exact: the integers have at most 8 significant bits
    elif dtype in ("e4m3", "e5m2"):
        mantissa, bias = (3, 7) if dtype == "e4m3" else (2, 15)
        table = {0: 0}
        for value in (1, 2):
            table[value] = (bias + value - 1) << mantissa  # 1 and 2 are powers of two
            table[-value] = 0x80 | table[value]
        words = np.vectorize(table.__getitem__, otypes=[np.uint8])(values)
    else:
        words = values.astype(np.int8).view(np.uint8) if dtype == "s8" else values.astype(np.uint8)
    size = words.dtype.itemsize
    return np.ascontiguousarray(words).view(np.uint8).reshape(*values.shape, size)


class Batch:
    """Cases of one instruction, laid out for one launch: each with its wrong twins."""

    def __init__(self, cases: Sequence[Case], seed: int, *, control: bool) -> None:
        self.cases, self.random = cases, np.random.default_rng(seed)
        self.images: list[np.ndarray] = []
        self.arrays: list[tuple[np.ndarray, np.ndarray]] = []
        self.products: list[np.ndarray] = []
        self.variants = 3 if control else 1
        for case in cases:
            self._prepare(case)

    def _prepare(self, case: Case) -> None:
        dtype = case.instruction.dtype
        a, b = (integers(dtype, side.addresses.shape, self.random) for side in (case.a, case.b))
        last = max(int(case.a.addresses.max()), int(case.b.addresses.max())) + case.instruction.element_bytes
        first = min(int(case.a.addresses.min()), int(case.b.addresses.min()))
        if first < FIRST or last > END:
            raise RuntimeError(f"gemm: addresses must lie in [{FIRST:#x}, {END:#x}), found {first:#x} to {last:#x}")
        image = self.random.integers(0, 256, -(-last // 16) * 16 - FIRST, np.uint8)  # what no operand covers is noise
        stored = []
        for side, values, mn in ((case.a, a, case.instruction.a_mn), (case.b, b, case.instruction.b_mn)):
            words = encode(dtype, values)
            if side.boxes is None:
                for byte in range(words.shape[-1]):
                    image[side.addresses - FIRST + byte] = words[..., byte]
            stored.append(np.ascontiguousarray(words.swapaxes(0, 1) if mn else words))
        self.images.append(image)
        self.arrays.append((stored[0], stored[1]))
        if dtype == "b1":  # a byte is eight elements, and the product counts the bits that both have
            a, b = (np.unpackbits(values.astype(np.uint8), axis=1) for values in (a, b))
        self.products.append(a.astype(np.float64) @ b.astype(np.float64).T)

    def wrong_words(self, case: Case) -> list[np.ndarray]:
        """A's words, right and then wrong in each way of ``CONTROLS``."""
        word = case.a.word
        stride = (word >> 32 & 0x3FFF) + 1
        code = word >> 62
        twins = [word, word & ~(0x3FFF << 32) | (stride & 0x3FFF) << 32, word & ~(3 << 62) | ((code + 1) % 4) << 62]
        return [case.a.words(twin) for twin in twins[: self.variants]]

    def run(self, device: Device, module: Module) -> list[list[bool]]:
        """For each case: whether the product is right, with right words and with each kind of wrong ones."""
        one = self.cases[0].instruction
        kernel = module.kernel(f"gemm_{one.name}", device.shared_bytes)
        kept: list[Buffer] = []

        def put(array: np.ndarray) -> int:
            kept.append(device.upload(array))
            return int(kept[-1].pointer.value or 0)

        rows, outs, maps = [], [], []
        for case, image, arrays in zip(self.cases, self.images, self.arrays, strict=True):
            place, b_words = put(image), put(case.b.words())
            boxes = [side.boxes for side in (case.a, case.b)]
            places = [put(one_.table()) if one_ else 0 for one_ in boxes]
            counts = [len(one_.places) if one_ else 0 for one_ in boxes]
            ranks = [one_.rank if one_ else 0 for one_ in boxes]
            arriving = sum(one_.arriving for one_ in boxes if one_)
            maps.append([self._map(device, kept, one_, array) for one_, array in zip(boxes, arrays, strict=True)])
            for a_words in self.wrong_words(case):
                out = device.buffer(4 * case.a.addresses.shape[0] * case.b.addresses.shape[0]).fill(0xFF)
                kept.append(out)
                outs.append(out)
                (m, k), n = case.a.advance.shape, case.b.advance.shape[0]
                pointers = [put(a_words), b_words, m, n, k, out.pointer.value, *places, *counts, *ranks]
                rows.append([place, len(image), *pointers, arriving])
        table = np.array(rows, np.uint64)
        if any(side.boxes for case in self.cases for side in (case.a, case.b)):
            for number in range(len(rows)):  # a launch has two tensor maps: one case at a time
                kept.append(device.upload(table[number]))
                kernel.launch(1, 128, kept[-1], *maps[number // self.variants])
                device.synchronize()
        else:
            kept.append(device.upload(table))
            kernel.launch(len(rows), 128, kept[-1], aligned_tensor_map(), aligned_tensor_map())
        device.synchronize()
        verdicts = self._compare(outs, np.int32 if one.integer else np.float32)
        for buffer in kept:
            buffer.free()
        return verdicts

    def _map(self, device: Device, kept: list[Buffer], boxes: Boxes | None, array: np.ndarray) -> TensorMap:
        if boxes is None:
            return aligned_tensor_map()
        kept.append(device.upload(array))
        return tensor_map(device, kept[-1], boxes)

    def _compare(self, outs: Sequence[Buffer], dtype: Any) -> list[list[bool]]:
        verdicts = []
        for number, want in enumerate(self.products):
            own = outs[number * self.variants : (number + 1) * self.variants]
            verdicts.append([bool((out.get(dtype, want.shape) == want).all()) for out in own])
        return verdicts


def batches(cases: Iterable[Case], most_bytes: int = 1 << 28) -> Iterator[list[Case]]:
    """Cases grouped by instruction, in batches of bounded size."""
    ordered = sorted(cases, key=lambda case: case.instruction.name)
    for _, group in groupby(ordered, key=lambda case: case.instruction.name):
        batch: list[Case] = []
        used = 0
        for case in group:
            used += 200_000 + 16 * case.a.addresses.shape[0] * case.b.addresses.shape[0]
            batch.append(case)
            if used > most_bytes:
                yield batch
                batch, used = [], 0
        if batch:
            yield batch


class Tally:
    """Verdicts, counted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.copied = self.elements = 0
        self.wrong: list[str] = []
        self.blind: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.keys: list[list[int]] = []

    def add(self, case: Case, right: bool, controls: Sequence[bool]) -> None:
        """Count a case: its product, and whether wrong words gave the right product too."""
        one = case.instruction
        self.counts[f"{one.dtype} {'MN' if one.a_mn else 'K'}/{'MN' if one.b_mn else 'K'}"] += 1
        self.copied += case.a.boxes is not None or case.b.boxes is not None
        self.elements += case.a.addresses.size + case.b.addresses.size
        self.wrong += [] if right else [case.name]
        self.blind += [f"{case.name}: {what}" for what, passed in zip(CONTROLS, controls, strict=False) if passed]
        self.rows.append({"name": case.name, "instruction": one.name, **(case.facts or {})})
        self.keys.append([case.a.word, digest(case.a.addresses), case.b.word, digest(case.b.addresses)])

    def summary(self, *, control: bool) -> dict[str, Any]:
        """Counts, fit to read."""
        return {
            "products": len(self.rows),
            "operand_elements": self.elements,
            "products_of_operands_brought_by_the_copy_engine": self.copied,
            "by_type_and_majors": dict(self.counts),
            "wrong_products": self.wrong,
            "controls": list(CONTROLS) if control else [],
            "controls_run": len(self.rows) * len(CONTROLS) if control else 0,
            "controls_that_passed": self.blind,
        }


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    shared_window(device)  # the fixed addresses of the cases are right only if it begins where they say
    modules: dict[str, Module] = {}
    tally = Tally()
    for number, batch in enumerate(batches(cases_of(options.cases, gemm_cases))):
        dtype = batch[0].instruction.dtype
        if dtype not in modules:
            modules[dtype] = device.load(build(f"gemm_{dtype}")[f"gemm_{dtype}"])
        verdicts = Batch(batch, number, control=options.control).run(device, modules[dtype])
        for case, (right, *controls) in zip(batch, verdicts, strict=True):
            tally.add(case, right, controls)
    facts: dict[str, Any] = {**provenance(device, " ".join(["scripts/probe_wgmma gemm", *sys.argv[1:]]))}
    facts |= tally.summary(control=options.control)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / f"{options.name}.json", facts)
    rows, keys = np.array(json.dumps(tally.rows)), np.array(tally.keys, np.uint64)
    np.savez_compressed(out / f"{options.name}.npz", rows=rows, keys=keys)
    print(f"{facts['products']} products on {device.name}: {len(tally.wrong)} wrong;", end=" ")
    print(f"{len(tally.blind)} of {facts['controls_run']} controls passed", *tally.wrong[:8], *tally.blind[:8])
    return 1 if tally.wrong or tally.blind else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma gemm", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--name", default=EVIDENCE, help="name of the evidence file")
    made.add_argument("--cases", help="MODULE:FUNCTION that yields the cases; default: plain ones of the probe's own")
    made.add_argument("--no-control", dest="control", action="store_false", help="leave out the wrong words")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
