"""Registers that may differ between threads: what makes them so, what passes it on, what ends it."""

from __future__ import annotations

import pytest

from descriptors.check.ptx.ptx_module import parse
from descriptors.check.serialization import varying


def of(body: str) -> set[str]:
    return varying(parse(f".version 8.8\n.entry k() {{ {body} ret; }}").functions[0])


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("mov.u32 a, %tid.x;", {"a"}),
        ("mov.u32 a, %tid.y; add.u32 b, a, 1; setp.eq.u32 p, b, c;", {"a", "b", "p"}),
        ("mov.u32 a, %laneid; ld.shared.u32 b, [a]; ld.shared.u32 c, [d+4];", {"a", "b"}),
        ("mov.u32 a, %ctaid.x; mov.u32 b, %nctaid.x; ld.param.u32 c, [n];", set()),
        ("elect.sync _|p, -1; selp.b32 a, 1, 0, p;", {"_", "p", "a"}),
        ("atom.global.add.u32 a, [b], 1;", {"a"}),
        ("mov.u32 a, %tid.x; shfl.sync.idx.b32 b, a, 0, 31, -1; vote.sync.any.pred p, q, -1;", {"a"}),
        ("mov.u32 a, %tid.x; shfl.sync.bfly.b32 b, a, 1, 31, -1;", {"a", "b"}),
        ("mov.u32 a, %tid.x; setp.eq.u32 p, a, 0; @p mov.u32 c, 1; mov.u32 d, c;", {"a", "p", "c", "d"}),
    ],
)
def test_what_comes_from_a_threads_number_is_varying(body: str, wanted: set[str]) -> None:
    assert of(body) == wanted


def test_a_loop_passes_it_on_whatever_stands_first() -> None:
    assert of("L: add.u32 b, b, a; mov.u32 a, %tid.x; bra L;") == {"a", "b"}
