"""Constants folded out of code: against an interpreter of the same few instructions, and through branches."""

from __future__ import annotations

import random

import pytest
from seeds import seed_of_this_run

from descriptors.check.constant_folding import fold
from descriptors.check.known_bits import Known
from descriptors.check.ptx_module import parse

LOW = 0xFFFFFFFF


def value(body: str, name: str = "%x", variables: dict[str, int] | None = None) -> Known:
    """What is known of a register at the instruction ``st.use``."""
    function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
    index = next(i for i, one in enumerate(function.code) if one.opcode == "st.use")
    return fold(function, variables or {}, [index])[index][name]


@pytest.mark.parametrize("case", range(30))
def test_straight_code_of_constants_is_computed(case: int) -> None:
    draw = random.Random(seed_of_this_run() + case)
    code, held = ["mov.b32 %r0, 1;"], {"%r0": 1}
    for step in range(1, 12):
        a, n, name = draw.choice(list(held)), draw.randrange(1, 31), f"%r{step}"
        text, made = draw.choice(
            [
                (f"add.s32 {name}, {a}, {n}", held[a] + n),
                (f"sub.s32 {name}, {n}, {a}", n - held[a]),
                (f"shl.b32 {name}, {a}, {n}", held[a] << n),
                (f"shr.u32 {name}, {a}, {n}", held[a] >> n),
                (f"or.b32 {name}, {a}, {n}", held[a] | n),
                (f"xor.b32 {name}, {a}, -{n}", held[a] ^ -n),
                (f"mul.lo.s32 {name}, {a}, {n}", held[a] * n),
                (f"mad.lo.s32 {name}, {a}, {n}, {a}", held[a] * n + held[a]),
                (f"bfe.u32 {name}, {a}, 2, {n}", held[a] >> 2 & ((1 << n) - 1)),
                (f"not.b32 {name}, {a}", ~held[a]),
            ]
        )
        code.append(text + ";")
        held[name] = made & LOW
    assert value(" ".join([*code, f"st.use {name};"]), name).constant(32) == held[name], code


def test_a_word_is_put_together_from_halves() -> None:
    body = "mov.b32 %lo, 7; mov.b32 %hi, 1073758272; mov.b64 %x, {%lo, %hi}; st.use %x;"
    assert value(body).constant(64) == 1073758272 << 32 | 7


def test_a_start_address_that_is_not_known_leaves_the_rest_known() -> None:
    body = "mov.b32 %s, smem; shr.u32 %a, %s, 4; and.b32 %b, %a, 16383; cvt.u64.u32 %d, %b; "
    body += "or.b64 %x, %d, 0x4000004000010000; st.use %x;"
    found = value(body, variables={"smem": 1024})
    assert found.mask & ~0x3FFF == (1 << 64) - 1 - 0x3FFF and found.value == 0x4000004000010000
    assert found.mask & 0x3F == 0x3F  # the variable is aligned


def test_two_definitions_agree_or_are_not_known() -> None:
    both = "@%p bra A; mov.b32 %x, {one}; bra B; A: mov.b32 %x, {two}; B: st.use %x;"
    assert value(both.format(one=5, two=5)).constant(32) == 5
    assert value(both.format(one=5, two=7)).constant(32) is None


def test_the_last_definition_of_a_block_counts() -> None:
    assert value("mov.b32 %x, 5; mov.b32 %x, 7; st.use %x;").constant(32) == 7


def test_a_guarded_definition_is_one_of_two() -> None:
    assert value("mov.b32 %x, 5; @%p mov.b32 %x, 7; st.use %x;").constant(32) is None


def test_a_loop_counter_is_not_known_and_what_it_leaves_alone_is() -> None:
    body = "mov.b32 %x, 0; mov.b32 %y, 3; L: add.s32 %x, %x, 1; st.use %x, %y; @%p bra L; ret;"
    assert value(body).constant(32) is None
    assert value(body, "%y").constant(32) == 3


def test_what_alloc_wrote_is_an_address_of_tensor_memory() -> None:
    body = "mov.b32 %s, smem; {alloc} ld.shared.b32 %t, [%s+16]; shr.u32 %x, %t, 26; st.use %x;"
    alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s+16], 32;"
    assert value(body.format(alloc=alloc), variables={"smem": 16}).constant(32) == 0
    assert value(body.format(alloc=""), variables={"smem": 16}).constant(32) is None


def test_what_is_not_understood_is_not_known() -> None:
    assert value("mov.b32 %x, 5; prmt.b32.rc8 %x, %x, %x, 1; st.use %x;").constant(32) is None
    assert value("st.use %x;").mask == 0
