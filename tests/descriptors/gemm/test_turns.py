"""Two sets of accumulators in turn: their columns, their order, and what is found where somebody does not wait."""

from __future__ import annotations

import random
from typing import Any

import pytest
from each import each
from seeds import seeds_of

from descriptors import DescriptorError, check_events, plan, record, tell
from descriptors.gemm.accumulators import TensorColumns, tensor_columns
from descriptors.gemm.plan_request import main_loop
from descriptors.gemm.schedule import events, order
from descriptors.gemm.turn_model import Operation, explored
from descriptors.gemm.turns import free_barriers, multiplier, prove_turns, reader
from descriptors.tmem.readout import readout
from layoutalg.frozen import replace

OWN = {"instruction": "m128n128k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 2}
SHARED = {"instruction": "m128n256k64", "dtype": "e2m1", "tile": (128, 256, 256), "kind": "mxf4nvf4", "stages": 2}
PLANS: list[dict[str, Any]] = [
    OWN,
    SHARED,
    SHARED | {"instruction": "m256n256k64", "tile": (256, 256, 256), "cta_group": 2},
    OWN | {"instruction": "m64n64k16", "tile": (128, 128, 64), "arch": "sm100"},
    OWN | {"instruction": "m128n128k16", "tile": (384, 128, 32)},  # 384 columns of 512, shared with the other 384
    {"instruction": "m128n256k64", "dtype": "bf16", "tile": (128, 256, 128), "sparse": True, "stages": 2}
    | {"instruction": "m128n256k32"},
]


def held(asked: dict[str, Any]) -> TensorColumns:
    rest = {name: value for name, value in asked.items() if name not in ("instruction", "dtype", "stages")}
    return tensor_columns(main_loop(asked["instruction"], asked["dtype"], **rest), 2)


@each("asked", PLANS, ids=lambda one: f"{one['instruction']} {one['tile']}")
def test_sets_are_proved_and_told(asked: dict[str, Any]) -> None:
    made = plan(**asked, accumulators=2)
    proof = made.verify(seed=2)
    assert proof.ok and proof.turns is not None and proof.turns.ok
    assert [leg.name for leg in proof.chain.legs][-2:] == ["D of set 0", "D of set 1"]  # type: ignore[union-attr]
    assert check_events(events(made)).ok
    assert "2 sets in turn" in tell(made) and record(made)["accumulators"]["sets"]
    assert made.budget.used == plan(**asked, verify=False).budget.used + 24


def test_columns_are_shared_where_there_are_too_few_and_nowhere_else() -> None:
    """N 256 twice leaves nothing for the scale factors: 4 columns for 32 rows of each block of four."""
    assert held(OWN).shared == range(0) and held(OWN).step == 128
    factors = (128 // 32 + 256 // 32) * 4
    assert held(SHARED).step == 256 - factors and len(held(SHARED).shared) == factors
    whole = held(SHARED).plan
    assert whole.used == whole.allocate == 512
    assert free_barriers(held(SHARED)) == 1 and free_barriers(held(OWN)) == 2
    for number in (0, 1):  # shared columns first, each load once
        one, (loads, first) = held(SHARED).of(number), held(SHARED).reads(number)
        columns = [one.firsts[0] + load.column for _, load in loads]
        assert sorted(columns) == list(range(one.firsts[0], one.firsts[0] + 256, 32))
        assert {at for begin in columns[:first] for at in range(begin, begin + 32)} >= set(held(SHARED).shared)
        assert not {at for begin in columns[first:] for at in range(begin, begin + 32)} & set(held(SHARED).shared)


@each("step", [128, 127, 96, 32, 1])
def test_the_order_follows_from_the_columns_whatever_is_shared(step: int) -> None:
    made = replace(held(OWN), step=step)
    assert made.shared == range(step, 128) if step < 128 else not made.shared
    finer = replace(made, readout=readout(made.readout.fragment, "32x32b.x16"))
    assert prove_turns(finer).ok
    _, first = finer.reads(0)
    assert first == (8 if step == 128 else 8 - step // 16)


@each(
    ("asked", "rule"),
    [
        (OWN | {"instruction": "m64n128k16", "arch": "sm90"}, "accumulators 2 is not supported on sm90"),
        (OWN | {"instruction": "m128n256k16", "tile": (256, 256, 64)}, "the parts need 1024 columns, sm100 has 512"),
    ],
)
def test_what_has_no_two_sets_is_refused_with_a_way(asked: dict[str, Any], rule: str) -> None:
    with pytest.raises(DescriptorError, match=rule):
        plan(**asked, accumulators=2)


def test_the_order_waits_before_it_multiplies_and_frees_after_it_has_read() -> None:
    steps = [one.what for one in order(plan(**SHARED, accumulators=2, verify=False))]
    words = ("parity free", "x tcgen05.mma", "commit done[t mod 2]", "parity done[t mod 2]", "2 x tcgen05.ld",
             "wait::ld", "before_thread_sync", "arrive free", "6 x tcgen05.ld")  # fmt: skip
    positions = [next(i for i, one in enumerate(steps) if word in one) for word in words]
    assert positions == sorted(positions)
    apart = [one.what for one in order(plan(**OWN, accumulators=2, verify=False))]
    assert "mbarrier.try_wait.parity free[t mod 2]" in apart and "mbarrier.arrive free[t mod 2]" in apart


# Who waits for whom, spoilt -------------------------------------------------------------------------------------------

Programs = tuple[list[Operation], list[list[Operation]]]


def programs(asked: dict[str, Any], tiles: int = 6, warps: int = 2) -> Programs:
    one = held(asked)
    return list(multiplier(one, tiles)), [list(reader(one, tiles)) for _ in range(warps)]


def played(made: Programs, warps: int, rng: random.Random) -> str:
    """One order of what happens, drawn: cells are numbers, a tile is written column by column; "" if all is right."""
    (writer, readers), cells = made, dict[int, tuple[int, bool]]()
    phase, left = dict[str, int](), dict[str, int]()
    at, queue = [0] * (1 + len(readers)), list[Operation]()

    def arrive(name: str, count: int) -> None:
        left[name] = left.get(name, count) - 1
        if not left[name]:
            phase[name], left[name] = phase.get(name, 0) + 1, count

    while True:
        able = [-1] if queue else []
        for index, program in enumerate((writer, *readers)):
            if at[index] < len(program):
                kind, name, *rest = program[at[index]]
                if kind != "wait" or phase.get(str(name), 0) % 2 != rest[0]:
                    able.append(index)
        if not able:
            return "" if all(i == len(one) for i, one in zip(at, (writer, *readers), strict=True)) else "hangs"
        index = rng.choice(able)
        if index < 0:
            kind, name, *rest = queue.pop(0)
            if kind == "commit":
                arrive(str(name), 1)
            else:
                cells |= {column: (int(name), True) for column in range(*map(int, rest))}
            continue
        kind, name, *rest = (writer, *readers)[index][at[index]]
        at[index] += 1
        if kind in ("write", "commit"):
            queue.append((kind, name, *rest))
            if kind == "write":  # from now on the columns may change at any time
                cells |= {column: (int(name), False) for column in range(*map(int, rest))}
        elif kind == "arrive":
            arrive(str(name), warps)
        elif kind == "read" and any(cells.get(column) != (name, True) for column in range(*map(int, rest))):
            return "reads another tile"


def spoilt(made: Programs, rng: random.Random, frees: int) -> tuple[str, Programs]:
    """One thing changed, and what."""
    writer, readers = made
    kind = rng.choice(["no wait", "parity", "early", "no arrival", "other barrier" if frees == 1 else "no wait"])
    turn = rng.randrange(2, 5)
    waits = [i for i, one in enumerate(writer) if one[0] == "wait"]
    if kind == "no wait":
        del writer[waits[turn]]
    elif kind == "parity":
        writer[waits[turn]] = (*writer[waits[turn]][:2], 1 - int(writer[waits[turn]][2]))
    elif kind == "other barrier":  # as if each set had its own columns
        for i, index in enumerate(waits):
            writer[index] = ("wait", f"free{i % 2}", i // 2 % 2 ^ 1)
        for program in readers:
            for i, index in enumerate([i for i, one in enumerate(program) if one[0] == "arrive"]):
                program[index] = ("arrive", f"free{i % 2}")
    else:
        for program in readers:
            index = [i for i, one in enumerate(program) if one[0] == "arrive"][turn - 2]
            one = program.pop(index)
            if kind == "early":
                program.insert(max(i for i in range(index) if program[i][0] == "wait") + 1, one)
    return kind, (writer, readers)


@each("asked", [OWN, SHARED], ids=["own", "shared"])
@each("seed", seeds_of("turns of accumulators"))
def test_no_order_that_is_drawn_reads_another_tile_and_the_proof_says_so(seed: int, asked: dict[str, Any]) -> None:
    rng = random.Random(f"{seed}")
    assert {played(programs(asked), 2, rng) for _ in range(40)} == {""}
    assert prove_turns(held(asked)).ok


@each("number", range(10))
@each("seed", seeds_of("spoilt turns"))
def test_what_is_spoilt_is_found_by_the_proof_if_any_order_that_is_drawn_shows_it(seed: int, number: int) -> None:
    rng = random.Random(f"{seed} {number}")
    asked = rng.choice([OWN, SHARED])
    frees = free_barriers(held(asked))
    kind, made = spoilt(programs(asked), rng, frees)
    shown = {played(made, 2, rng) for _ in range(200)} - {""}
    arrivals = {f"free{index}": 2 for index in range(2)}
    first = explored(made[0], made[1], arrivals)[1]
    assert first, (kind, shown)
