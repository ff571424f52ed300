"""Operands that every kind of picture is tried on: both majors, all swizzles, types of 4 to 32 bits, stages, copies."""

from __future__ import annotations

from contextlib import suppress
from zlib import crc32

from descriptors import Derivation, TmaError, decode, derive, diff, picture, tma_plan, verify
from descriptors.show.pictures.kinds import KINDS
from descriptors.show.pictures.tile_picture import COLOURS
from layoutalg import Picture

OPERANDS: dict[str, Derivation] = {
    name: derive(tile, dtype, major, swizzle, verify=False, **more)  # type: ignore[arg-type]
    for name, (tile, dtype, major, swizzle, more) in {
        "K 128B": ((128, 128), "bf16", "K", "128B", {"mma": (64, 16)}),
        "MN 64B": ((128, 128), "bf16", "MN", "64B", {"mma": (64, 16)}),
        "MN none": ((128, 128), "bf16", "MN", "none", {"mma": (64, 16)}),
        "K none": ((128, 64), "e4m3", "K", "none", {"mma": (128, 32)}),
        "K 32B": ((256, 128), "e4m3", "K", "32B", {"mma": (128, 32)}),
        "four bits, stages": ((128, 256, 3), "e2m1", "K", "128B", {"mma": (128, 64)}),
        "sm90, stages": ((64, 256, 4), "bf16", "K", "64B", {"mma": (64, 16), "arch": "sm90"}),
        "32-byte pieces": ((64, 64), "tf32", "MN", "128B_BASE32B", {"mma": (64, 8), "legality": "off"}),
        "one subtile": ((64, 8), "tf32", "K", "32B", {"mma": (64, 8), "arch": "sm90"}),
        "a copy": ((128, 64), "u8", "K", "none", {"cp": "128x256b"}),
        "B, many rows": ((256, 64), "bf16", "MN", "128B", {"mma": (256, 16), "operand": "B"}),
        "many columns": ((64, 1024), "e4m3", "K", "128B", {"mma": (64, 32)}),
        "another order": ((128, 128, 2), "bf16", "MN", "128B", {"mma": (128, 16), "order": (1, 0, 2)}),
        "many atoms": ((256, 256), "bf16", "MN", "32B", {"mma": (64, 16)}),
    }.items()
}


def pictures(name: str) -> dict[str, Picture]:
    """All pictures that an operand has."""
    d = OPERANDS[name]
    word = d.word(0, 0)
    found = {kind: picture(d, kind) for kind in KINDS if kind != "boxes"}
    found |= {f"tile by {colour}": picture(d, "tile", colour=colour) for colour in COLOURS}
    grid = d.words(0, *_stage(d))
    found["last subtile"] = picture(d, "levels", subtile=(len(grid) - 1, len(grid[0]) - 1))
    found["proof"] = picture(verify(d))
    found["decoded"] = picture(decode(word, d.arch, dtype=d.element, major=d.major, shape=d.mma))
    compared = {"dtype": d.element, "major": d.major, "shape": d.mma}
    found["same"] = picture(diff(word, d.smem_tile, d.arch, **compared))  # type: ignore[arg-type]
    found["wrong"] = picture(diff(word ^ 16 << 32, d.smem_tile, d.arch, **compared))  # type: ignore[arg-type]
    with suppress(TmaError):
        found["boxes"] = picture(tma_plan(d, rank=2))
    return found


def _stage(d: Derivation) -> tuple[int, ...]:
    return (0,) if len(d.tile) > 2 else ()


def fingerprints(name: str) -> dict[str, str]:
    """Of each picture of an operand the size, and a checksum of what is drawn and one of what is told."""
    return {kind: _fingerprint(one) for kind, one in pictures(name).items()}


def _fingerprint(one: Picture) -> str:
    scene = one.scene()
    svg, text = (crc32(face.encode()) for face in (one.svg(), one.text(width=120)))
    return f"{scene.width:g}x{scene.height:g} {svg:08x} {text:08x}"
