"""Derived words beside those of the CuTe DSL's compiler."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from descriptors import DescriptorError, derive, plain
from descriptors.oracle.words import WordRequest, descriptor_words
from descriptors.smem.derivation.derivation import Derivation
from descriptors.sweep.lattice import Lattice, Point


def request_of(d: Derivation) -> WordRequest:
    return WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)


def drawn(points: Lattice, number: int, chooser: random.Random) -> list[Derivation]:
    """Random derivations of a lattice; the points that have none are passed over."""
    found: list[Derivation] = []
    shapes = {dtype: list(points.shapes(dtype)) for dtype in points.dtypes}
    while len(found) < number:
        dtype = chooser.choice(points.dtypes)
        tile, mma = chooser.choice(shapes[dtype])
        order = chooser.choice([(0, 1), (1, 0)])
        point: Point = {
            "dtype": dtype,
            "tile": tile,
            "mma": mma,
            "order": (*order, 2)[: len(tile)],
            "arch": chooser.choice(points.archs),
            "major": chooser.choice(points.majors),
            "swizzle": chooser.choice(points.swizzles),
        }
        with suppress(DescriptorError):
            found.append(derive(**point, verify=False))
    return found


def disagreements(derived: Iterable[Derivation], exact: bool) -> tuple[list[str], Counter[str]]:
    """The derivations whose word is not the compiler's, and how the compiler answered."""
    derived = list(derived)
    answers = descriptor_words(map(request_of, derived), batch=128)
    wrong = []
    for d, answer in zip(derived, answers, strict=True):
        if answer.status == "rejected":
            continue  # no word to compare with; how many is for the caller to judge
        if answer.word is None:
            wrong.append(f"{answer.status}: {answer.text}; {request_of(d)}")
            continue
        care = ~0 if exact else ~d.dont_care_mask()
        if (answer.word ^ d.descriptor.encode()) & care:
            wrong.append(f"ours {d.descriptor.encode():#018x}, the compiler's {answer.word:#018x}; {request_of(d)}")
    return wrong, Counter(answer.status for answer in answers)
