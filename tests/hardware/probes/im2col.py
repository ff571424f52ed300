"""The im2col probe: single copies, byte for byte beside the model of im2col copies and of where they land.

Maps are those of drawn convolutions, at any output pixel, tap and channel; and those of convolutions by shifts, whose
dimensions are C, W, N and H, plain ones from places before the first image on, and views. The 128 bytes of a map are
written here, by our own encoding. What the box does not fill must keep its poison. Each is held against a control too:
the model with another corner, or another stride, where that differs.

    python -m probes.im2col --out FOLDER [--number 200] [--seed 1]
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from descriptors import DescriptorError, convolution, shift_convolution, shift_views
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.smem.tma.convolution import activation_map
from descriptors.smem.tma.copy_model import im2col_coordinates, landing_bits
from descriptors.smem.tma.map_notation import arguments_text
from descriptors.smem.words.tensor_map import Im2colWindow, TensorMap
from descriptors.tmem.shift_copies import RowCopies
from layoutalg.frozen import replace
from probes.build import build
from probes.cuda import Device, Kernel, aligned_tensor_map, provenance
from probes.runner import main_of, write_json

EVIDENCE = "im2col"
POISON, OWN, ROOM = 0xA5, 1024, 64 * 1024
_BF16 = ELEMENT_TYPES["bf16"]


def drawn(number: int, seed: int) -> list[tuple[TensorMap, tuple[int, ...]]]:
    """Maps, each with coordinates c, w, h, n and offsets along w and h; by turns of a convolution and of shifts.

    >>> [place for _, place in drawn(4, 1)] == [place for _, place in drawn(4, 1)]
    True
    """
    chooser, found = random.Random(seed), list[tuple[TensorMap, tuple[int, ...]]]()
    while len(found) < number:
        try:
            found.append((_of_pixels, _of_rows)[len(found) % 2](chooser))
        except DescriptorError:
            continue
    return found


def _of_pixels(chooser: random.Random) -> tuple[TensorMap, tuple[int, ...]]:
    one = convolution(
        [chooser.randint(1, 4), chooser.randint(4, 30), chooser.randint(4, 30), 8 * chooser.randint(1, 12)],
        [8, chooser.randint(1, 5), chooser.randint(1, 5)],
        stride=[chooser.randint(1, 8) for _ in range(2)],
        dilation=[chooser.randint(1, 4) for _ in range(2)],
        padding=[chooser.choice((0, 1, 2, 7)) for _ in range(2)],
    )
    swizzle = chooser.randrange(4)
    channels = 8 * chooser.randint(1, (8, 2, 4, 8)[swizzle])
    made = activation_map(one, _BF16, channels, chooser.choice((1, 8, 64, 128, 200, 256)), swizzle)
    tap = chooser.randrange(one.taps[0] * one.taps[1])
    pixel = chooser.randrange(one.pixels + 40)  # a ragged tile may begin beyond the last
    return made, (8 * chooser.randint(0, one.channels // 8), *one.start(pixel), *one.offsets(tap))


def _of_rows(chooser: random.Random) -> tuple[TensorMap, tuple[int, ...]]:
    images, height, width = chooser.randint(1, 12), chooser.randint(3, 9), chooser.randint(9, 40)
    channels, s = 16 * chooser.randint(1, 3), chooser.choice((1, 3, 5))
    if chooser.random() < 0.5:
        one = shift_convolution(images, height, width, channels, 16, (3, s), (1, s // 2)).problem
    else:
        made = shift_views(
            (images, height, width, channels), (16, 3, s), stride=(1, chooser.randint(1, 4)),
            dilation=(1, chooser.choice((1, 2))), padding=(1, chooser.randint(0, 5)),
        )  # fmt: skip
        one = chooser.choice(made.parts).problem
    copies, refresh = RowCopies(one), chooser.random() < 0.3
    swizzle, places = (SwizzleMode.B128, 1) if refresh else (SwizzleMode.B32, 128)
    place = chooser.randrange(-one.padding[1], one.places + one.padding[1])
    w, n, h = copies.start(place, chooser.randrange(height))
    tensor = copies.tensor_map(_BF16, 16, places, swizzle)
    return tensor, (16 * chooser.randrange(channels // 16), w, n, h, 0, 0)


def expected(
    one: TensorMap, place: tuple[int, ...], memory: np.ndarray, strides: tuple[int, ...] | None = None
) -> np.ndarray:
    """Shared memory after a copy, by the models.

    Args:
        one: the map.
        place: coordinates c, w, h, n and offsets along w and h.
        memory: elements of global memory, from the tensor on.
        strides: of all dimensions but the first, in bytes, if they are not the map's.
    """
    window, (c, *start, right, down) = one.box, place
    assert isinstance(window, Im2colWindow)
    pixels = im2col_coordinates(
        one.extents[1:-1], window.lower, window.upper, one.element_strides[1:-1], np.array([start]), window.pixels
    )[0] + np.array([right, down, 0])
    at = [np.repeat(pixels[:, i], window.channels) for i in (2, 1, 0)]
    at.append(np.tile(c + np.arange(window.channels), window.pixels))
    inside, element = np.ones(len(at[0]), dtype=bool), np.zeros(len(at[0]), dtype=np.int64)
    steps = (2, *(one.strides if strides is None else strides))
    for index, extent, step in zip(at, one.extents[::-1], steps[::-1], strict=True):
        inside &= (index >= 0) & (index < extent)
        element += index * (step // 2)
    landed = landing_bits((window.channels, window.pixels), [0], bits=16, swizzle=one.swizzle)[0] // 16
    shared = np.full(ROOM // 2, POISON | POISON << 8, np.uint16)
    shared[landed] = np.where(inside, memory[np.where(inside, element, 0)], 0)
    return shared


def controls(one: TensorMap) -> list[TensorMap]:
    """The same map with another corner, and with another stride."""
    window = one.box
    assert isinstance(window, Im2colWindow)
    corner = replace(window, upper=(window.upper[0] + 1, window.upper[1]))
    steps = one.element_strides
    return [replace(one, box=corner), replace(one, element_strides=(1, steps[1] + 1, *steps[2:]))]


def copied(device: Device, kernel: Kernel, one: TensorMap, place: tuple[int, ...], memory: np.ndarray) -> np.ndarray:
    """Shared memory after a copy, on the GPU."""
    data, out, made = device.upload(memory), device.buffer(ROOM), aligned_tensor_map()
    words = replace(one, address=int(data.pointer.value)).encode()
    for i in range(16):
        made.words[i] = words >> 64 * i & (1 << 64) - 1
    kernel.launch(1, 256, made, *place, one.transaction_bytes, out, ROOM)
    device.synchronize()
    found = out.get(np.uint16, (ROOM // 2,))
    for buffer in (data, out):
        buffer.free()
    return found


def memory_of(one: TensorMap, seed: int) -> np.ndarray:
    """Random elements, none of them 0, as many as the tensor has."""
    return np.random.default_rng(seed).integers(1, 1 << 16, one.extents[::-1], np.uint16).ravel()


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if a byte is not where the model has it."""
    kernel = device.load(build("im2col")["im2col"]).kernel("im2col_and_dump", OWN + ROOM)
    rows: list[dict[str, Any]] = []
    for number, (one, place) in enumerate(drawn(options.number, options.seed)):
        memory = memory_of(one, options.seed + number)
        found, wanted = copied(device, kernel, one, place, memory), expected(one, place, memory)
        others = [expected(other, place, memory) for other in controls(one)]
        differ = [other for other in others if (other != wanted).any()]
        row = {"map": arguments_text(one), "place": list(place), "differing": int((found != wanted).sum())}
        row |= {"controls": len(differ), "controls_that_passed": sum(int((found == other).all()) for other in differ)}
        rows.append(row)
        if row["differing"] or row["controls_that_passed"]:
            print(row)
    right = sum(not row["differing"] for row in rows)
    print(
        f"{right} of {len(rows)} im2col copies land as the model says, {sum(row['controls'] for row in rows)} controls"
    )
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    facts = provenance(device, " ".join(["scripts/probe_wgmma im2col", *sys.argv[1:]]))
    write_json(folder / f"{EVIDENCE}.json", {**facts, "seed": options.seed, "cases": rows})
    return int(right < len(rows) or any(row["controls_that_passed"] for row in rows))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma im2col", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--number", type=int, default=200, help="copies that are drawn")
    made.add_argument("--seed", type=int, default=1, help="which ones")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line's exit status."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
