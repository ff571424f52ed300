"""What the probes' command lines share: open the GPU, or say in one line why not."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from probes.build import build
from probes.cuda import NO_DEVICE, Device, NoHopperError


def main_of(
    parser: argparse.ArgumentParser,
    run: Callable[[Device, argparse.Namespace], int],
    arguments: Iterable[str] | None = None,
) -> int:
    """Run a probe on GPU 0.

    Returns:
        the probe's exit status; 3 where there is no Hopper GPU; 2 where the kernels cannot be built.
    """
    options = parser.parse_args(None if arguments is None else list(arguments))
    try:
        device = Device()
    except NoHopperError as error:
        print(f"{parser.prog}: a Hopper GPU is needed, found none: {error}", file=sys.stderr)
        return NO_DEVICE
    try:
        return run(device, options)
    except RuntimeError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def shared_window(device: Device) -> tuple[int, int]:
    """First and last-plus-one address of a block's dynamic shared memory, in the address space of descriptors.

    Raises:
        RuntimeError: if it does not begin where the other probes take it to: at 0x400, after the system's part.
    """
    out = device.buffer(16)
    kernel = device.load(build("base")["base"]).kernel("shared_base", device.shared_bytes)
    kernel.launch(1, 32, out)
    device.synchronize()
    base = int(out.get(np.uint32, (1,))[0])
    if base != 0x400:
        raise RuntimeError(f"dynamic shared memory must begin at 0x400, found {base:#x}")
    return base, base + device.shared_bytes


def cases_of(name: str | None, default: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    """The cases that ``MODULE:FUNCTION`` yields, or the default ones.

    Raises:
        RuntimeError: if there is no such function.
    """
    if name is None:
        return default()
    module, _, function = name.partition(":")
    try:
        made: Iterable[Any] = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError) as error:
        raise RuntimeError(f"--cases must be MODULE:FUNCTION, found {name}: {error}") from error
    return made


def digest(addresses: np.ndarray) -> int:
    """64 bits that stand for an address map: BLAKE2b of its little-endian uint32, row by row."""
    data = np.ascontiguousarray(addresses, dtype="<u4").tobytes()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write evidence: a key a line, and each row of a list on a line of its own."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text = "[\n" + ",\n".join("  " + json.dumps(row) for row in value) + "\n ]"
        else:
            text = json.dumps(value)
        lines.append(f" {json.dumps(key)}: {text}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
