"""The worker's half of `descriptors.oracle.words`: one kernel that stores many descriptors, read back from its PTX.

The tile lies at address 0 of shared memory, so that the compiler folds every descriptor to a constant, and the stores
``st.global.b64 [base+8*i], WORD`` of the PTX are the answer.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

from layoutalg.oracle.service import Affine, read

__all__ = ["prepare"]

# Names of the DSL's element types. In kinds f8f6f4 and mxf8f6f4 the narrow types lie in containers of 16 elements and
# 16 bytes, laid out as an 8-bit type is.
TYPES = {
    "f16": "Float16",
    "bf16": "BFloat16",
    "tf32": "TFloat32",
    "e4m3": "Float8E4M3FN",
    "e5m2": "Float8E5M2",
    "e2m3": "Uint8",
    "e3m2": "Uint8",
    "e2m1": "Float4E2M1FN",
    "e2m1_unpacksmem": "Uint8",
    "s8": "Int8",
    "u8": "Uint8",
}
# The dialect's sm90 operation knows no integers, though `wgmma` does; a float of the same width is laid out the same.
SM90_TYPES = {"s8": "Float8E4M3FN", "u8": "Float8E4M3FN"}
SWIZZLES = {"none": (0, 4, 3), "32B": (1, 4, 3), "64B": (2, 4, 3), "128B": (3, 4, 3), "128B_BASE32B": (2, 5, 2)}
TARGETS = {"sm90": "sm_90a", "sm100": "sm_100a", "sm103": "sm_103a"}

STORE = re.compile(r"st\.global\.[bu]64\s+\[%rd\d+(?:\+(\d+))?\],\s*(-?\w+);")

# Pieces (MN, K) that the hardware knows by itself, in 16-byte units (PTX ISA 9.x, canonical layouts).
_MN_PIECES = {"none": (1, 8), "32B": (2, 8), "64B": (4, 8), "128B": (8, 8), "128B_BASE32B": (8, 4)}


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that answers chunks of requests, a compilation each."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    def work(chunks: list[Any], report: Callable[[str, object], None]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)  # the DSL leaves its PTX in the working directory
            for chunk in chunks:
                report("ok", _answers(chunk))
            os.chdir("/")

    return work


def _answers(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One answer a request; a refused compilation is halved until the culprit stands alone."""
    steps: list[dict[str, str]] = []
    try:
        words = _compile(requests, steps)
    except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to refuse
        if len(requests) > 1:
            middle = len(requests) // 2
            return _answers(requests[:middle]) + _answers(requests[middle:])
        text = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())[:300]
        known = steps[0] if steps else {}
        return [{"status": "rejected", "word": None, "steps": known, "text": f"{type(error).__name__}: {text}"}]
    return [
        {"status": "ok", "word": f"{word:#018x}", "steps": step, "text": ""}
        for word, step in zip(words, steps, strict=True)
    ]


def _compile(requests: list[dict[str, Any]], steps: list[dict[str, str]]) -> list[int]:
    """Compile one kernel for all requests and return their words; fills ``steps`` while tracing."""
    import cutlass
    from cutlass import cute

    def kernel(out: Any) -> None:
        for index, request in enumerate(requests):
            out[index] = _descriptor(request, steps)

    launched: Any = cute.kernel(kernel)

    def host(out: Any) -> None:
        launched(out).launch(grid=[1, 1, 1], block=[1, 1, 1])

    out = cute.runtime.make_fake_compact_tensor(cutlass.Int64, (len(requests),))
    options = f"--gpu-arch {TARGETS[requests[0]['arch']]} --keep-ptx"
    return _words(cute.compile(cute.jit(host), out, options=options).__ptx__, len(requests))


def _descriptor(request: dict[str, Any], steps: list[dict[str, str]]) -> Any:
    """The descriptor of one request, as the DSL's integer."""
    import cutlass
    from cutlass import cute
    from cutlass._mlir.dialects import cute_nvgpu
    from cutlass.cute.nvgpu import tcgen05

    term = read(request["layout"])
    if not isinstance(term, Affine):
        raise TypeError(f"the tile must be a layout without swizzle, found {request['layout']}")
    names = TYPES | SM90_TYPES if request["arch"] == "sm90" else TYPES
    dtype = getattr(cutlass, names[request["dtype"]])
    layout = cute.make_layout(term.shape, stride=term.stride)
    address = cute.make_ptr(dtype, cutlass.Int32(0), cute.AddressSpace.smem, assumed_align=1024)
    pointer = cute.recast_ptr(address, cute.make_swizzle(*SWIZZLES[request["swizzle"]]), dtype=dtype)
    parts = cute.zipped_divide(cute.make_tensor(pointer, layout), tuple(request["mma"]))
    steps.append(_steps(request, layout, parts.layout, dtype.width))
    major = request["major"].lower()
    if request["columns"] is not None:
        begin, line = (parts[(None, (0, column))] for column in request["columns"])
        descriptor = tcgen05.make_umma_smem_desc(begin.iterator, begin.layout, major, next_src=line.iterator)
    elif request["arch"] == "sm90":
        descriptor = cute_nvgpu.make_gmma_smem_desc(parts.iterator.value, parts.layout.type.attribute, major)
    else:
        descriptor = tcgen05.make_umma_smem_desc(parts.iterator, parts.layout, major)
    return tcgen05.smem_descriptor_to_int(descriptor)


def _steps(request: dict[str, Any], tile: Any, parts: Any, bits: int) -> dict[str, str]:
    """The intermediate layouts as text; a step the DSL refuses says so and leaves the word alone."""
    from cutlass import cute

    steps = {"tile": str(tile), "partitioned": str(parts)}
    piece = (8, 1) if request["major"] == "K" else _MN_PIECES[request["swizzle"]]
    try:
        recast = cute.recast_layout(128, bits, parts)
        steps["recast"] = str(recast)
        operand = cute.get(recast, mode=[0])
        # An operand narrower than the piece is a part of it; the DSL's division would round it up to a whole one.
        canonical_tiler = tuple(min(extent, cute.size(operand, mode=[k])) for k, extent in enumerate(piece))
        steps["canonical"] = str(cute.logical_divide(operand, canonical_tiler))
    except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to refuse
        refusal = f"rejected: {' '.join(str(error).split())[:200]}"
        steps.setdefault("recast", refusal)
        steps.setdefault("canonical", refusal)
    return steps


def _words(ptx: str, count: int) -> list[int]:
    """The stored constants, in order of their address."""
    stores = {int(offset or 0) // 8: int(word, 0) % 2**64 for offset, word in STORE.findall(ptx) if word[-1].isalnum()}
    if sorted(stores) != list(range(count)):
        raise ValueError(f"the PTX must store {count} constants, found {len(stores)}")
    return [stores[index] for index in range(count)]
