"""Derivations to prove: right ones of every type, major, swizzle and order, and spoilt ones, one thing changed."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from derived import INSTRUCTION_K, unproved

from descriptors import DescriptorError
from descriptors.smem.derivation.advance import numbers
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.addresses import fetched_rows, stored_rows
from layoutalg import ComposedLayout, Layout, Swizzle, size

#: Where a tile stores its elements, which stays the same however its words are spoilt.
stored_once = lru_cache(maxsize=16)(stored_rows)


class Handed(Derivation):
    """A derivation that hands out other words than its own."""

    __slots__ = ("handed",)
    handed: Any

    def words(self, base: int = 0, stage: Any = None) -> Any:
        """The words that it was given, for whatever base they are."""
        return self.handed


def handing_out(d: Derivation, words: Any) -> Derivation:
    """The same derivation but for the words that it hands out."""
    made = object.__new__(Handed)
    for field in dataclasses.fields(d):
        object.__setattr__(made, field.name, getattr(d, field.name))
    object.__setattr__(made, "handed", words)
    return made


def is_wrong(d: Derivation, at: tuple[int, ...], base: int = 0) -> bool:
    """Whether the enumerating sides place one element differently."""
    subtile = tuple(x // part for x, part in zip(at, (*d.mma, *(1 for _ in at[2:])), strict=True))
    number, below = 0, 1
    for x, mode in reversed(list(zip(subtile, d.advance, strict=True))):
        number, below = number + x * below, below * size(mode)
    word = list(numbers(d.words(base)))[number]
    (read,) = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)
    stored = stored_once(d.smem_tile, d.element, base=base, pattern_start=base)
    for index in at:
        stored = stored[index]
    return bool(stored != read[at[0] % d.mma[0]][at[1] % d.mma[1]])


MODES = [mode for mode in SwizzleMode if mode is not SwizzleMode.B128_BASE32B]


#: The most elements of a tile: every one of them is compared.
_MOST = 1 << 13


def right(rng: random.Random) -> Derivation:
    """A derivation of a small tile, as ``derive`` makes it; its extents are powers of two, or not."""
    while True:
        element = rng.choice(sorted(ELEMENT_TYPES.values(), key=str))
        major, arch = rng.choice([*Major]), rng.choice(["sm90", "sm100"])
        mode = rng.choice([*MODES, SwizzleMode.B128_BASE32B] if major is Major.MN and arch == "sm100" else MODES)
        span, depth = mode.span_bytes * 8 // element.storage_bits, INSTRUCTION_K[element.storage_bits]
        rows = rng.choice([8, 16, 24, 64])
        if major is Major.K:
            mma, tile = (rows, depth), (rows * rng.randint(1, 3), max(span, depth) * rng.randint(1, 3))
        else:
            mma = (max(rows, element.per_16_bytes), depth)
            tile = (max(span, mma[0]) * rng.randint(1, 3), depth * rng.randint(1, 3))
        stages = rng.choice([(), (), (2,), (3,)])
        order = [*rng.sample(range(2), 2), *[2] * len(stages)]
        try:
            made = unproved(
                tile=tile + stages, dtype=element, major=major, swizzle=mode, mma=mma, order=order, arch=arch
            )
        except DescriptorError:
            continue  # too large, or stacked so that no single step leads on
        if size(made.smem_tile) <= _MOST:
            return made


def spoilt(rng: random.Random, d: Derivation, count: int) -> Iterator[Derivation]:
    """The same with one thing changed that its proof looks at; most are wrong, some differ in what nobody reads."""
    for _ in range(count):
        try:
            changed = rng.choice(_CHANGES)(rng, d)
            changed.descriptor.encode()
        except (DescriptorError, ValueError):
            continue  # no field, or no layout, holds that
        yield changed


def _field(rng: random.Random, d: Derivation) -> Derivation:
    name = rng.choice(["leading_byte_offset", "stride_byte_offset", "start_address"])
    old = getattr(d.descriptor, name)
    new = rng.choice([old * 2, old // 32 * 16, old + 16, old + 128, 16 * rng.randrange(256), 1024 * rng.randrange(8)])
    return dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, **{name: new}))


def _mode(rng: random.Random, d: Derivation) -> Derivation:
    return dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, swizzle=rng.choice(MODES)))


def _advance(rng: random.Random, d: Derivation) -> Derivation:
    assert isinstance(d.advance, Layout)
    return dataclasses.replace(d, advance=_changed(rng, d.advance, 1))


def _tile(rng: random.Random, d: Derivation) -> Derivation:
    """Another stride, another swizzle, another offset of the tile; rarely the swizzle taken into the strides."""
    rows, swizzle, offset = parts(d.smem_tile)
    what = rng.randrange(3)
    if what == 0:
        rows = _changed(rng, rows, rng.choice([1, d.element.per_16_bytes]))
    elif what == 1:
        swizzle = Swizzle(rng.randint(0, 3), rng.randint(2, 5), rng.randint(2, 4))
    else:
        offset += rng.choice([1, d.element.per_16_bytes, 64])
    return dataclasses.replace(d, smem_tile=ComposedLayout(swizzle or Swizzle(0, 4, 3), offset, rows))


def _changed(rng: random.Random, layout: Layout, unit: int) -> Layout:
    """The same shape with one stride changed, or two that change places."""
    strides = list(_leaves(layout.stride))
    i, j = rng.randrange(len(strides)), rng.randrange(len(strides))
    if rng.random() < 0.4:
        strides[i], strides[j] = strides[j], strides[i]
    else:
        strides[i] = rng.choice([strides[i] * 2, strides[i] // 2, strides[i] + unit, unit * rng.randrange(64)])
    left = iter(strides)
    return Layout(layout.shape, _nested(layout.stride, lambda: next(left)))


def _leaves(nested: Any) -> Iterator[int]:
    for one in nested if isinstance(nested, tuple) else ():
        yield from _leaves(one)
    if not isinstance(nested, tuple):
        yield nested


def _nested(like: Any, take: Callable[[], int]) -> Any:
    return tuple(_nested(one, take) for one in like) if isinstance(like, tuple) else take()


_CHANGES = [_field, _field, _mode, _advance, _tile, _tile]
