"""The address of an element, in every form in which it is told."""

from __future__ import annotations

from derived import K_128, derivations
from hypothesis import given
from hypothesis import strategies as st

from descriptors import derive
from descriptors.show.explorer.inspector import inspect
from descriptors.show.stages.view import View
from descriptors.smem.derivation.derivation import Derivation


@given(d=derivations(), data=st.data())
def test_the_layout_the_formula_the_bits_and_the_read_model_agree(d: Derivation, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, d.tile[0] - 1)), data.draw(st.integers(0, d.tile[1] - 1))
    facts = inspect(View(d, cell))
    place = d.smem_tile(*cell, *(0 for _ in d.tile[2:]))
    assert facts["after"] == place * d.element.storage_bits // 8
    assert facts["reads"] == facts["after"], "the judge of every derivation says the same"
    turned = facts["before"] ^ facts["after"]
    assert all(facts["kinds"][17 - n] == "Z" for n in range(18) if turned >> n & 1), "only Z is changed"
    if "=" in facts["formula"]:
        formula, _, result = facts["formula"].partition(" = ")
        assert eval(formula) == int(result, 0) == facts["after"]  # noqa: S307  # the engine's own text
    assert facts["word"] in [f"0x{word:016x}" for word in leaves(d.words())]


def leaves(table: object) -> list[int]:
    return [one for row in table for one in leaves(row)] if isinstance(table, tuple) else [table]  # type: ignore[list-item]


def test_banks_and_lines_count_from_the_address_where_the_tile_lies() -> None:
    d = derive(**K_128)
    here, there = inspect(View(d, (0, 0))), inspect(View(d, (0, 0), base=1024 + 1024))
    assert (here["line"], there["line"], there["address"]) == (0, 16, 2048)
    other = inspect(View(d, (0, 16), banks=8))
    assert (other["bank"], other["line"]) == (0, 1)


def test_the_halves_of_a_byte_are_told_apart() -> None:
    d = derive((128, 256), "e2m1", "K", "128B", (128, 64))
    facts = [dict(inspect(View(d, (0, k)))["facts"])["after the swizzle"] for k in (0, 1)]
    assert facts == ["byte 0 = 0x0, low half", "byte 0 = 0x0, high half"]


def test_a_stage_is_said() -> None:
    d = derive((128, 64, 4), "bf16", "K", "128B", (64, 16))
    facts = inspect(View(d, (3, 5), stage=2))
    assert facts["after"] == 2 * d.smem_tile(3, 5, 2)
    assert dict(facts["facts"])["element"].endswith("stage 2")
