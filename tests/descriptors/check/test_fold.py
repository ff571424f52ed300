"""Constants folded out of code: against an interpreter of the same few instructions, and through branches."""

from __future__ import annotations

import random

import pytest
from seeds import seed_of_this_run

from descriptors.check.ptx.constant_folding import fold, observed
from descriptors.check.ptx.known_bits import Known
from descriptors.check.ptx.ptx_module import parse

LOW = 0xFFFFFFFF


ALL = (1 << 64) - 1


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


def test_what_is_counted_from_a_register_that_counts_keeps_its_base() -> None:
    """A register that counts without an end, whose known bits go one a round."""
    body = (
        "shl.b32 %o, %q, 28; mov.u32 %a, 0; L: mov.u32 %s, %a; bra K; K: shl.b32 %t, %s, 10; bra J; "
        "J: add.s32 %u, %t, %o; bra M; M: add.s32 %v, %u, 2; mov.b64 %x, {%u, 7}; mov.b64 %y, {%v, 7}; bra N; "
        "N: tcgen05.mma %x, %y; add.s32 %b, %s, 1; mov.u32 %a, %b; @%p bra L; ret;"
    )
    function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
    (index,) = observed(function)
    found = fold(function, {}, [index])[index]
    assert found["%x"].base == found["%y"].base != ""
    assert found["%y"].offset - found["%x"].offset == 2


@pytest.mark.parametrize(
    ("body", "bits", "wanted"),
    [
        ("mov.b64 %a, 1; mul.lo.s64 %x, %a, 0x4000004000010000;", 64, 0x4000004000010000),
        ("mov.b32 %a, -2; mul.wide.s32 %x, %a, 16;", 64, -32 & ALL),
        ("mov.b32 %a, -2; mad.wide.s32 %x, %a, 16, 5;", 64, -27 & ALL),
        ("mov.b16 %a, -2; mul.wide.u16 %x, %a, %a;", 32, 0xFFFE * 0xFFFE),
        ("mov.b32 %a, 256; bfe.u32 %x, 0xff, %a, 4;", 32, None),
        ("mov.b32 %a, 260; bfe.u64 %x, 0xff0, 4, %a;", 64, None),
        ("mov.b32 %a, 4; bfe.u64 %x, 0xff0, %a, %a;", 64, 0xF),
        ("mov.b32 %a, -1; bfi.b32 %x, 0xff, 0, %a, 4;", 32, None),
        ("mov.b32 %a, 256; bfi.b32 %x, 0xff, 0, 4, %a;", 32, None),
        ("bfi.b32 %x, 0xff, 7, 255, 255;", 32, 7),
        ("bfe.s32 %x, 0xf80, 7, 5;", 32, LOW),
        ("bfe.s32 %x, 0x80000000, 200, 5;", 32, LOW),
        ("add.sat.s32 %x, 0x7fffffff, 1;", 32, None),
        ("mov.b32 %a, 0x3f800000; add.f32 %x, %a, %a;", 32, None),
        ("mov.f64 %x, 0f3F800000;", 64, None),
        ("mov.b32 %a, 7; cvt.rn.f32.u32 %x, %a;", 32, None),
        ("mov.b32 %a, 0xff; cvt.sat.s8.s32 %x, %a;", 32, None),
        (".reg .b32 %x; cvt.s8.s32 %x, 0x8f;", 64, 0xFFFFFF8F),
        (".reg .b64 %x; cvt.s8.s32 %x, 0x8f;", 64, -0x71 & ALL),
        (".reg .b32 %x; cvt.u8.s32 %x, 0x18f;", 64, 0x8F),
        ("div.s32 %x, -7, 2;", 32, -3 & LOW),
        ("rem.s32 %x, -7, 4;", 32, -3 & LOW),
        ("div.u32 %x, 7, 0;", 32, None),
        ("shf.l.wrap.b32 %x, 0x12345678, 0x9abcdef0, 36;", 32, 0xABCDEF01),
        ("shf.r.clamp.b32 %x, 0x12345678, 0x9abcdef0, 36;", 32, 0x9ABCDEF0),
        ("prmt.b32 %x, 0x44332211, 0x77665588, 0xc530;", 32, 0xFF554411),
        ("lop3.b32 %x, 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x80;", 32, 0xC000C000),
        ("bfi.b32 %x, 0xff, 0x1234567, 28, 8;", 32, 0xF1234567),
        ("mov.pred %p, -1; selp.b32 %x, 5, 7, !%p;", 32, 7),
        ("setp.lt.s32 %p|%q, -1, 1; selp.b32 %x, 5, 7, %q;", 32, 7),
        ("mov.b32 %a, 0x00050007; mov.b32 {%l, %h}, %a; mov.b32 %x, {%h, %l};", 32, 0x00070005),
    ],
)
def test_an_instruction_is_folded_as_its_whole_opcode_has_it_or_not_at_all(
    body: str, bits: int, wanted: int | None
) -> None:
    assert value(f"{body} st.use %x;").constant(bits) == wanted


@pytest.mark.parametrize(
    "body",
    [
        "call.uni (%x), some, (%y);",
        "call (%x), some;",
        "bar.red.popc.u32 %x, 0, %p;",
        "barrier.cta.red.popc.aligned.u32 %x, 0, %p;",
        "@%p mov.b32 %x, 7;",
        "@!%p add.s32 %x, %x, 1;",
        "somewhat.new.b32 %x, %y;",
        "ld.global.v2.b32 {%y, %x}, [%z];",
        "mov.b32 %x0, 0; setp.eq.s32 %x|%y, %z, 0;",
        "@%p call (%x), some;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%x, %y, %z, %w}, %a, %b, 0, 1, 1, 0, 0;",
    ],
)
def test_whatever_writes_a_register_takes_its_value_away(body: str) -> None:
    assert value(f"mov.b32 %x, 5; {body} st.use %x;").constant(32) is None


def test_a_guarded_definition_keeps_the_bits_that_both_have_and_names_both() -> None:
    found = value("mov.b32 %x, 5; @%p mov.b32 %x, 7; st.use %x;")
    assert found.values(32) == (5, 7) and found.value == 5 and found.mask == ALL - 2


def test_what_a_way_leaves_undefined_is_not_known() -> None:
    assert value("@%p bra L; mov.b32 %x, 5; L: st.use %x;").constant(32) is None
    assert value("@%p mov.b32 %x, 5; st.use %x;").constant(32) is None
    assert value("L: st.use %x; mov.b32 %x, 5; bra L;").constant(32) is None


def test_a_block_hides_its_own_registers_alone() -> None:
    inner = ".reg .b32 %x<9>; mov.b32 %x5, 1; {{ .reg .b32 %x<{}>; mov.b32 %x5, 2; }} mov.b32 %y, %x5; st.use %y;"
    assert value(inner.format(6), "%y").constant(32) == 1
    assert value(inner.format(5), "%y").constant(32) == 2


def test_two_words_are_two_words_in_every_way_on() -> None:
    body = "selp.b64 %w, 0x4000004000010000, 0x4000002000010000, %p; add.s64 %x, %w, 2; st.use %x;"
    found = value(body)
    assert found.values(64) == (0x4000002000010002, 0x4000004000010002)
    assert found.mask == ALL ^ (0x60 << 32) and found.value == 0x4000000000010002


def test_a_choice_goes_through_what_hangs_on_it() -> None:
    body = "selp.b32 %a, 1, 2, %p; selp.b32 %b, 10, 20, %p; add.s32 %c, %a, 1; mul.lo.s32 %x, %a, %c; st.use %x;"
    assert value(body).values(32) == (2, 6)


def test_what_another_thread_has_may_be_another_choice() -> None:
    body = "selp.b32 %a, 1, 2, %p; shfl.sync.idx.b32 %b, %a, 0, 31, -1; sub.s32 %x, %a, %b; st.use %x;"
    assert value(body).values(32) == (0, 1, LOW)


def test_a_function_that_begins_in_a_loop_begins_with_nothing() -> None:
    body = "L: add.s32 %y, %x, 0; mov.b32 %x, 5; @%p mov.b32 %x, 5; st.use %y; @%q bra L;"
    assert value(body, "%y").constant(32) is None


def test_a_phase_and_a_stage_are_known_by_their_values() -> None:
    loop = "mov.b32 %s, 0; mov.b32 %f, 0; L: st.use %s, %f, %o; add.s32 %t, %s, 1; setp.eq.s32 %p, %t, 3; "
    loop += "selp.b32 %s, 0, %t, %p; selp.b32 %g, 1, 0, %p; xor.b32 %f, %f, %g; shl.b32 %o, %s, 10; @%q bra L;"
    assert value(loop, "%s").values(32) == (0, 1, 2)
    assert value(loop, "%f").values(32) == (0, 1)
    assert value(f"mov.b32 %o, 0; {loop}", "%o").values(32) == (0, 1024, 2048)


def test_a_stage_in_the_low_half_leaves_the_high_half_of_a_word_known() -> None:
    body = "mov.b32 %s, smem; shr.u32 %a, %s, 4; and.b32 %b, %a, 16383; or.b32 %lo, %b, 65536; shl.b32 %k, %stage, 10; "
    body += "add.s32 %lo, %lo, %k; mov.b32 %hi, 0x40004040; mov.b64 %x, {%lo, %hi}; st.use %x;"
    found = value(body, variables={"smem": 1024})
    assert found.mask >> 32 == LOW and found.value >> 32 == 0x40004040
    assert found.mask & 0x3F == 0x3F and not found.value & 0x3F
    again = value(body.replace("st.use", "mov.b64 {%l, %h}, %x; add.s32 %m, %l, 2; mov.b64 %x, {%m, %h}; st.use"))
    assert again.mask >> 32 == LOW and again.value >> 32 == 0x40004040


def test_a_counter_without_an_end_keeps_its_low_bits() -> None:
    found = value("mov.b32 %x, 3; L: st.use %x; add.s32 %x, %x, 16; @%p bra L;")
    assert found.mask & 0x1F == 0xF and found.value == 3


def test_generic_addresses_have_bits_of_their_own() -> None:
    body = "mov.u64 %s, smem; cvta.shared.u64 %g, %s; add.s64 %g, %g, 64; {} st.use %x;"
    assert value(body.format("mov.b64 %x, %g;"), variables={"smem": 1024}).mask == 0
    back = value(body.format("cvta.to.shared.u64 %x, %g;"), variables={"smem": 1024})
    assert (back.base, back.offset, back.mask & 1023, back.value) == ("&smem", 64, 1023, 64)


def test_what_is_loaded_before_an_address_is_put_there_is_not_known() -> None:
    alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+16], 32;"
    body = f"L: ld.shared.b32 %t, [smem+16]; shr.u32 %x, %t, 26; st.use %x; {{}} {alloc} {{}} ret;"
    assert value(body.format("", ""), variables={"smem": 16}).constant(32) is None
    assert value(body.format("@%p bra M;", "M: @%q bra L;"), variables={"smem": 16}).constant(32) == 0


def test_a_store_to_the_place_of_an_address_takes_it_away() -> None:
    body = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+16], 32; {} ld.shared.b32 %t, [smem+16]; "
    body += "shr.u32 %x, %t, 26; st.use %x;"
    for store, wanted in (("", 0), ("st.shared.b64 [smem+12], %a;", None), ("st.shared.b32 [smem+20], %a;", 0)):
        assert value(body.format(store), variables={"smem": 16}).constant(32) == wanted


@pytest.mark.parametrize("many", [300, 3000])
def test_a_long_chain_and_many_branches_are_folded(many: int) -> None:
    chain = "".join(f"add.s32 %r{n + 1}, %r{n}, 1;" for n in range(many))
    assert value(f"mov.b32 %r0, 0; {chain} st.use %r{many};", f"%r{many}").constant(32) == many
    ways = "".join(f"@%p bra L{n}; mov.b32 %x, {n % 4}; L{n}:" for n in range(many))
    assert value(f"mov.b32 %x, 0; {ways} st.use %x;").values(32) == (0, 1, 2, 3)


@pytest.mark.parametrize("name", ["%x07", "%x007"])
def test_another_name_of_a_register_of_a_family_is_that_register(name: str) -> None:
    assert value(f"mov.b32 %x7, 5; mov.b32 {name}, 6; st.use %x7;", "%x7").constant(32) is None
    assert value(f"mov.b32 {name}, 6; st.use {name};", name).constant(32) is None
