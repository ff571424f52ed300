"""The driver's verdict on drawn arguments of a tensor map, and the 128 bytes that it makes of those that it takes.

Tiled maps and im2col maps; most calls are sound but for an argument or two on the edge of what is allowed. A call is
plain data under the names of ``cuda.h``'s arguments; what it asks for need not make sense, and no map is ever used.

    python -m probes.tensor_maps --out FOLDER [--seed N] [--calls N]
"""

from __future__ import annotations

import argparse
import ctypes as ct
import json
import lzma
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from probes.cuda import Buffer, CudaError, Device, aligned_tensor_map, provenance
from probes.runner import main_of

#: Bits of an element by the code of its type (cuda.h, CUtensorMapDataType).
BITS = (8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6)
#: Bytes of a row that a swizzle spans, by its code (cuda.h, CUtensorMapSwizzle).
SPANS = (256, 32, 64, 128, 128, 128, 128)
#: Where the corners of an im2col box may lie, by the rank (CUDA Driver API, cuTensorMapEncodeIm2col).
CORNERS = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}
EVIDENCE = "tensor_maps"

Call = dict[str, Any]


def drawn(random: Random, kind: str, base: int) -> Call:
    """Arguments of a map, ``"tiled"`` or ``"im2col"``, over memory that begins at ``base``."""
    wild = random.choice((0, 0, 0.03, 0.08))

    def mostly(usual: Callable[[], Any], edges: tuple[Any, ...]) -> Any:
        return random.choice(edges) if random.random() < wild else usual()

    data_type = mostly(lambda: random.randrange(13), (13, 14, 15, 16))
    bits = BITS[min(data_type, 15)]
    interleave = random.choice((0, 0, 0, 0, 1, 2)) if random.random() >= wild else 3
    ranks = (3, 3, 4, 5) if kind == "im2col" or interleave else (1, 2, 2, 3, 3, 4, 5)
    rank = mostly(lambda: random.choice(ranks), (0, 1, 2, 5, 6))
    align = 32 if interleave == 2 else 16
    address = base + align * random.randrange(64) + mostly(lambda: 0, (1, 8, 16))
    swizzle = mostly(lambda: random.randrange(4), (4, 5, 6, 7))
    span = SPANS[min(swizzle, 6)]
    extents = [mostly(lambda: int(2 ** random.uniform(0, random.choice((6, 12, 17)))), _EXTENTS) for _ in range(rank)]
    strides, covered = [], (extents[0] if rank else 1) * bits // 8
    for extent in extents[1:]:
        stride = -(-covered // align) * align + align * random.choice((0, 0, 1, 5))
        stride = mostly(lambda at=stride: at, (stride + 8, stride + 16, 0, (1 << 40) - 32, 1 << 40))
        strides.append(stride)
        covered = min(max(stride, 1) * extent, 1 << 40)
    call: Call = {
        "kind": kind,
        "type": data_type,
        "rank": rank,
        "address": mostly(lambda: address, (0, 1 << 48, (1 << 57) - 16, 1 << 57, (1 << 64) - 16)),
        "dim": extents,
        "strides": strides,
        "element_strides": [mostly(lambda: random.choice((1, 1, 1, 1, 2, 3, 8)), (0, 4, 7, 9, 16)) for _ in extents],
        "interleave": interleave,
        "swizzle": swizzle,
        "l2": mostly(lambda: random.randrange(4), (4, 5)),
        "oob": mostly(lambda: 0 if data_type < 6 else random.randrange(2), (0, 1, 2)),
    }
    inner = max(1, 16 * random.randint(1, span // 16) * 8 // bits)
    if kind == "tiled":
        top = random.choice((4, 16, 64, 256))
        box = [mostly(lambda: inner, (0, 1, 2, 255, 256, 257))]
        box += [mostly(lambda: random.randint(1, top), (0, 1, 255, 256, 257)) for _ in extents[1:]]
        return call | {"box": box[:rank]}
    low, high = CORNERS.get(rank, (-16, 15))
    corners = [mostly(lambda: random.randint(-5, 5), (low, low - 1, high, high + 1, 0)) for _ in 2 * extents[2:]]
    return call | {
        "lower": corners[::2],
        "upper": corners[1::2],
        "channels": mostly(lambda: inner, (0, 1, 255, 256, 257)),
        "pixels": mostly(lambda: random.randint(1, 256), (0, 1, 512, 1024, 1025)),
    }


_EXTENTS = (0, 1, 1 << 31, (1 << 31) + 1, 1 << 32, (1 << 32) + 1)


def changed(base: int) -> Iterator[Call]:
    """A sound map with one thing changed at a time: how each of the driver's limits was found."""
    sound: Call = {
        "kind": "tiled",
        "type": 9,
        "rank": 3,
        "address": base,
        "dim": [256, 128, 64],
        "strides": [512, 65536],
        "element_strides": [1, 1, 1],
        "interleave": 0,
        "swizzle": 3,
        "l2": 0,
        "oob": 0,
        "box": [64, 8, 4],
    }
    for address in (0, 8, 16, 1 << 47, 1 << 56, (1 << 57) - 16, 1 << 57, 1 << 62, 1 << 63, (1 << 64) - 16):
        yield sound | {"address": address}
    for i in range(3):
        for extent in (0, 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 40):
            yield sound | {"dim": _with(sound["dim"], i, extent)}
        for step in range(12):
            yield sound | {"element_strides": _with(sound["element_strides"], i, step)}
            yield sound | {"element_strides": _with(sound["element_strides"], i, step), "interleave": 1}
        for extent in (0, 1, 2, 255, 256, 257, 512):
            yield sound | {"box": _with(sound["box"], i, extent)}
    for i in range(2):
        for stride in (0, 8, 16, 496, 512, 1 << 39, (1 << 40) - 16, 1 << 40, (1 << 40) + 16, 1 << 44):
            yield sound | {"strides": _with(sound["strides"], i, stride)}
    for rows in range(110, 118):  # 112 and more of sixteen times 128 bytes: how much one box may bring
        yield sound | {"box": [64, rows, 16]}
        yield sound | {"box": [64, 2 * rows, 8]}
    for rows in range(226, 230):
        yield sound | {"box": [64, rows, 8]}
    for data_type in range(18):
        for swizzle in range(8):
            for interleave in range(4):
                whole = {"dim": [1024, 128, 64], "strides": [8192, 1 << 20], "type": data_type, "swizzle": swizzle}
                yield sound | whole | {"interleave": interleave, "box": [128 * 8 // BITS[min(data_type, 15)], 4, 4]}
                yield sound | whole | {"interleave": interleave, "box": [128, 4, 4]}
        for fill in range(4):
            yield sound | {"type": data_type, "oob": fill, "box": [16, 4, 4], "swizzle": 0}
    for inner in range(1, 257):
        for swizzle in range(4):
            yield sound | {"type": 0, "dim": [512, 128, 64], "swizzle": swizzle, "box": [inner, 4, 4]}
    for promotion in range(6):
        yield sound | {"l2": promotion}


def _with(numbers: list[int], i: int, value: int) -> list[int]:
    return [*numbers[:i], value, *numbers[i + 1 :]]


def answer(device: Device, call: Call) -> tuple[int, bytes]:
    """The driver's result code, and the map that it wrote."""
    made = aligned_tensor_map()
    common = (_array(ct.c_uint64, call["dim"]), _array(ct.c_uint64, call["strides"]))
    steps = _array(ct.c_uint32, call["element_strides"])
    ways = tuple(call[name] for name in ("interleave", "swizzle", "l2", "oob"))
    head = (ct.byref(made), call["type"], ct.c_uint32(call["rank"]), ct.c_void_p(call["address"]), *common)
    try:
        if call["kind"] == "tiled":
            device.call("cuTensorMapEncodeTiled", *head, _array(ct.c_uint32, call["box"]), steps, *ways)
        else:
            corners = (_array(ct.c_int, call["lower"]), _array(ct.c_int, call["upper"]))
            counts = (ct.c_uint32(call["channels"]), ct.c_uint32(call["pixels"]))
            device.call("cuTensorMapEncodeIm2col", *head, *corners, *counts, steps, *ways)
    except CudaError as error:
        return error.code, b""
    return 0, bytes(made)


def _array(kind: Any, numbers: list[int]) -> Any:
    return (kind * max(len(numbers), 1))(*numbers)


def run(device: Device, options: argparse.Namespace) -> int:
    """Ask, write the answers, and say how many of each there were."""
    data: Buffer = device.buffer(1 << 20)
    base, random = int(data.pointer.value), Random(options.seed)
    calls = [drawn(random, kind, base) for kind in ("tiled", "tiled", "im2col") for _ in range(options.calls)]
    count: Counter[tuple[str, int]] = Counter()
    command = f"python -m probes.tensor_maps --seed {options.seed} --calls {options.calls}"
    lines = [json.dumps(provenance(device, command))]
    for call in (*calls, *changed(base)):
        code, written = answer(device, call)
        count[call["kind"], code] += 1
        made = {"bytes": written.hex()} if code == 0 else {}
        lines.append(json.dumps({**call, "result": code, **made}, separators=(",", ":")))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{EVIDENCE}.jsonl.xz").write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))
    for (kind, code), number in sorted(count.items()):
        print(f"{kind}: {number} calls answered {code}")
    return 0


def main() -> int:
    """The probe's command line."""
    parser = argparse.ArgumentParser(prog="probes.tensor_maps", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("build/evidence"), help="folder of the evidence")
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    parser.add_argument("--calls", type=int, default=2000, help="draws: twice as many tiled ones, as many im2col")
    return main_of(parser, run)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"probes.tensor_maps: {error}")
