"""Words of tiles put to z3 and cvc5: right ones, whatever their don't-care bits, and spoilt ones, turned back.

Nothing of the proof takes part: the statement is written from the definitions, a solver decides it. Beside each *unsat*
stands a *sat* under the same premises, so that none holds of nothing.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from derived import K_128, MN_64
from seeds import seed_of_this_run
from strict import kinds

from descriptors import DescriptorError, claim, derive, diff, plain, read_addresses, verify
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.solver import Answer, ask, element_of
from descriptors.smem.claims.terms import BITS, either
from descriptors.smem.claims.walk_terms import Operand, fields, walk
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.proof.read_model import read_rows
from layoutalg.frozen import replace

#: Explicit layouts, slices of larger tiles, tiles with stages, copies, and operands whose 48 bytes of K cross atoms.
NAMED: list[dict[str, Any]] = [
    K_128,
    MN_64,
    {**K_128, "swizzle": "none", "tile": (128, 64, 3)},
    {**K_128, "dtype": "e2m1", "mma": (64, 64), "tile": (64, 256, 2), "swizzle": "64B"},
    {**K_128, "dtype": "e2m3", "mma": (64, 32), "swizzle": "32B", "tile": (64, 64)},
    {**MN_64, "dtype": "tf32", "swizzle": "128B_BASE32B", "mma": (64, 8), "tile": (128, 64)},
    {"tile": (256, 768), "dtype": "e2m1", "major": "K", "swizzle": "128B", "mma": (128, 96), "arch": "sm103"},
    {
        "tile": (128, 768, 2),
        "dtype": "e2m1",
        "major": "K",
        "swizzle": "128B",
        "mma": (128, 96),
        "arch": "sm103",
        "order": (1, 0, 2),
    },
    {"tile": (128, 64), "dtype": "u8", "major": "K", "swizzle": "none", "cp": "128x256b"},
    {"layout": "S<3,4,3> o 0 o ((128,16),1,4,6):((64,1),0,16,8192)", "dtype": "bf16", "unit": "cute"},
    {"layout": "S<3,3,3> o 0 o (64,(16,4)):(64,(1,16))", "dtype": "bf16", "mma": (64, 16)},
    {"layout": "((8,12),(8,8)):((8,512),(1,64))", "dtype": "f16", "mma": (96, 16)},
    {"layout": "(8,(8,2)):(8,(1,64))", "dtype": "bf16", "mma": (8, 16)},
    {"layout": "S<3,3,3> o 32 o (64,32):(64,1)", "dtype": "bf16", "mma": (64, 16)},  # a slice, 64 bytes in
    {"layout": "(1,64):(64,1)", "dtype": "bf16", "mma": (1, 16), "legality": "off"},
]


@cache
def derivations() -> tuple[Derivation, ...]:
    """The named ones, and tiles of kinds drawn from the strict lattice."""
    named = [derive(**{"legality": "off", "verify": False, **one}) for one in NAMED]
    rng, drawn = random.Random(f"{seed_of_this_run()} claims"), list[Derivation]()
    every = list(kinds())
    while len(drawn) < 12:
        kind = rng.choice(every)
        (mn, k), stages = kind.mma, rng.choice([(), (2,), (3,)])
        tile = (mn * rng.randint(1, 3), k * rng.choice([1, 2, 4, 8]), *stages)
        order = rng.choice([(0, 1), (1, 0)]) + (2,) * len(stages)
        try:
            drawn.append(
                derive(tile, kind.dtype, kind.major, kind.swizzle, kind.mma, order, kind.arch, operand=kind.operand)
            )
        except DescriptorError:
            continue
    return (*named, *drawn)


def spoilt(d: Derivation, rng: random.Random) -> Derivation:
    """The same with one field that is read one step up or down."""
    one, unit = d.descriptor, rng.choice([16, -16])
    names = [n for n in ("stride_byte_offset", "leading_byte_offset", "start_address") if n not in d.dont_care]
    name = rng.choice(names)
    value = getattr(one, name) + unit
    return replace(d, descriptor=replace(one, **{name: value if value >= 0 else 16}))


def test_every_right_word_is_right_and_every_spoilt_one_is_shown_by_an_element(solver: str) -> None:
    rng = random.Random(f"{seed_of_this_run()} spoilt")
    for d in derivations():
        (question,) = claim(d).questions
        assert ask(question, solver).outcome == "unsat", d.headline
        assert ask(question.premises_alone, solver).outcome == "sat", d.headline
        wrong = spoilt(d, rng)
        answer = ask(claim(wrong).questions[0], solver)
        assert (answer.outcome == "unsat") is verify(wrong).ok, wrong.headline
        if answer.outcome == "sat":
            shown(wrong, answer)


def shown(d: Derivation, answer: Answer) -> None:
    """The element that a solver names is read from elsewhere, as the read model and the layout say."""
    if max(answer.values["stored"], answer.values["(read word r c)"]) >= 1 << 19 or d.crossing is not None:
        return  # read beyond the window; or no word at all
    found, values = element_of(answer, d.element.name), answer.values
    read = read_addresses(
        values["word"], d.arch, dtype=d.element, major=d.major, shape=d.mma, in_bits=found.unit == "bit"
    )
    where = tuple(x * part + y for x, part, y in zip((values["i"], values["j"]), d.mma, found.coordinate, strict=True))
    stages = tuple(values[f"s{x}"] for x in range(len(plain(d.smem_tile)) - 2))
    place = (d.smem_tile(*where, *stages)) * (4 if found.unit == "bit" else d.element.storage_bits // 8)
    place += values["base"] * (8 if found.unit == "bit" else 1)  # a multiple of the pattern
    assert found.expected == place
    assert found.found == read[found.coordinate] != place


def test_the_mask_is_of_bits_that_change_nothing_and_of_all_of_them(solver: str) -> None:
    """A claim is of every value of the don't-care bits; with one more bit of a field it fails."""
    for arguments in (K_128, {**K_128, "swizzle": "32B"}, MN_64, {**K_128, "swizzle": "none"}):
        d = derive(**arguments, arch="sm90")
        (question,), mask = claim(d).questions, d.dont_care_mask()
        for bit in (17, 33, 49, 50, 51, 62):
            wider = question.premises.replace(f"#x{mask:016x}", f"#x{mask | 1 << bit:016x}")
            outcome = ask(question._replace(premises=wider), solver).outcome
            assert (outcome == "unsat") is bool(mask >> bit & 1), (d.headline, bit)


def test_a_base_off_the_pattern_is_read_with_its_base_offset_and_not_without(solver: str) -> None:
    for arguments in (K_128, MN_64):
        d = derive(**arguments)
        (question,) = claim(d, base=0x1080).questions
        assert ask(question, solver).outcome == "unsat"
        without = question.premises.replace(
            "(bvshl ((_ zero_extend 61) ((_ extract 9 7) base)) (_ bv49 64))", "#x" + "0" * 16
        )
        assert without != question.premises
        assert ask(question._replace(premises=without), solver).outcome == "sat"


@pytest.mark.parametrize("wrong", [False, True])
def test_a_word_of_a_kernel_is_compared_with_its_layout_wherever_they_are(solver: str, wrong: bool) -> None:
    tile = "S<3,3,3> o 0 o (64,16):(64,1)"
    found = diff(1 << 62 | (32 if wrong else 64) << 32 | 0x84, tile, "sm90", dtype="bf16", major="K")
    answer = ask(claim(found).questions[0], solver)
    assert answer.outcome == ("unsat" if found.ok else "sat")
    at_a_start = diff(0x4008004000000004, tile, "sm90", dtype="bf16", major="K", base=0)
    assert at_a_start.ok and ask(claim(at_a_start).questions[0], solver).outcome == "unsat"


def test_a_tile_that_fills_the_window_fits_at_one_address_alone(solver: str) -> None:
    """2**18 bytes: the premises are met, at address 0 and nowhere else."""
    d = derive((1024, 128), "bf16", "K", "128B", (64, 16), capacity=None, verify=False)
    (question,) = claim(d).questions
    assert ask(question, solver).outcome == "unsat"
    assert ask(question.premises_alone, solver).outcome == "sat"
    elsewhere = question.premises_alone._replace(premises=question.premises + "\n(assert (not (= base (_ bv0 32))))")
    assert ask(elsewhere, solver).outcome == "unsat"
    larger = derive((2048, 128), "bf16", "K", "128B", (64, 16), capacity=None, verify=False)
    (question,) = claim(larger).questions
    assert [ask(one, solver).outcome for one in (question, question.premises_alone)] == ["unsat", "sat"]


def test_what_a_statement_reads_of_any_word_is_what_the_measured_model_reads(solver: str) -> None:
    """Words drawn at random, elements too: is one of them read from elsewhere than by ``read_rows``?"""
    rng = random.Random(f"{seed_of_this_run()} statement")
    for _ in range(24):
        arch, major = rng.choice(["sm90", "sm100"]), rng.choice(["K", "MN"])
        dtype, k = rng.choice([("bf16", 16), ("e4m3", 32), ("tf32", 8), ("e2m1", 64)])
        code = rng.choice([0, 1, 2, 3]) << 62 if arch == "sm90" else rng.choice([0, 1, 2, 4, 6]) << 61 | 1 << 46
        word = (
            code
            | rng.getrandbits(3) << 49
            | rng.getrandbits(14)
            | rng.getrandbits(14) << 16
            | rng.getrandbits(14) << 32
        )
        shape = rng.choice([64, 96, 136]), k
        rows = read_rows(word, arch, dtype=dtype, major=major, shape=shape, in_bits=dtype == "e2m1")
        one, scale = Operand(arch, dtype, major, shape), 4 if dtype == "e2m1" else 1
        where = [(rng.randrange(shape[0]), rng.randrange(k)) for _ in range(12)]
        wrong = [
            f"(not (= (read #x{word:016x} {BITS.number(r)} {BITS.number(c)}) {BITS.number(rows[r][c] // scale)}))"
            for r, c in where
        ]
        sorts = "(define-sort N () (_ BitVec 32))\n(define-sort Word () (_ BitVec 64))"
        statement = "\n".join([sorts, fields(one), walk(one)])
        assert ask(Question("read", "QF_BV", statement, either(wrong), ""), solver).outcome == "unsat", (hex(word), one)
        off = BITS.number(rows[where[0][0]][where[0][1]] // scale + 1)
        elsewhere = f"(= (read #x{word:016x} {BITS.number(where[0][0])} {BITS.number(where[0][1])}) {off})"
        assert ask(Question("read", "QF_BV", statement, elsewhere, ""), solver).outcome == "unsat"
