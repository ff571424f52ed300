"""The table of formulas: every cell is what the derivation of numbers gives, for many tiles."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT

from descriptors import ChoiceError, derive
from descriptors.cli.command import main
from descriptors.cli.sweep import commands
from descriptors.smem.instructions import tables as shapes
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.sweep.formulas import LEGEND, FormulaRow, formulas, write_table

ROWS = formulas()


def name(row: FormulaRow) -> str:
    d = row.derivation
    return f"{d.major}-{d.swizzle}-{row.first}-{d.element}"


def evaluated(row: FormulaRow, formula: Any, extents: tuple[int, int]) -> int:
    """A formula as a reader of the page would: by Python, from its text, with the extents of a tile."""
    value = eval(str(row.in_extents(formula)), {}, {"MN": extents[0], "K": extents[1]})  # noqa: S307 - our own text
    assert value == int(value)
    return int(value)


@pytest.mark.parametrize("row", ROWS, ids=name)
@given(m=st.integers(1, 6), k=st.integers(1, 6))
@settings(max_examples=12, deadline=None)
def test_each_formula_is_what_the_derivation_of_numbers_gives(row: FormulaRow, m: int, k: int) -> None:
    d, extents = row.derivation, (row.unit[0] * m, row.unit[1] * k)
    numeric = derive(
        tile=extents, dtype=d.element, major=d.major, swizzle=d.swizzle, mma=d.mma, order=d.order, legality="off",
        verify=False, capacity=None,
    )  # fmt: skip
    assert evaluated(row, d.leading_byte_offset, extents) == numeric.descriptor.leading_byte_offset
    assert evaluated(row, d.stride_byte_offset, extents) == numeric.descriptor.stride_byte_offset
    assert d.dont_care == numeric.dont_care
    # The steps, fastest first, make the offsets of all subtiles.
    starts: dict[str, list[int]] = {"MN": [0], "K": [0]}
    for step in d.steps:
        extent, move = (evaluated(row, value, extents) for value in (step.extent, step.bytes))
        starts[step.dimension] = [old + i * move for i in range(extent) for old in starts[step.dimension]]
    table = tuple(tuple(mn + depth for depth in starts["K"]) for mn in starts["MN"])
    assert table == numeric.offsets_bytes()


def test_every_undisputed_operand_of_the_tables_has_its_rows() -> None:
    have = {(row.derivation.major, row.derivation.swizzle, row.derivation.element.storage_bits) for row in ROWS}
    for operand in shapes.OPERANDS:
        if operand.disputed:
            continue
        for dtype in operand.dtypes:
            if dtype in ELEMENT_TYPES:  # not b1, which has one bit
                bits = ELEMENT_TYPES[dtype].storage_bits
                assert {(operand.major, mode, bits) for mode in operand.swizzles} <= have
    assert len(ROWS) == len(set(map(name, ROWS))) == 2 * len(have)


def test_the_table_has_a_line_for_each_row_in_every_format() -> None:
    lines = write_table(ROWS).splitlines()
    assert lines[1 : len(ROWS) + 1] and tuple(lines[-len(LEGEND) :]) == LEGEND
    assert len(lines) == len(ROWS) + len(LEGEND) + 2
    assert len(write_table(ROWS, "markdown").splitlines()) == len(ROWS) + 2
    assert write_table(ROWS, "latex").count(r"\\") == len(ROWS) + 1
    assert len(json.loads(write_table(ROWS, "json"))) == len(ROWS)


def test_known_formulas() -> None:
    table = {name(row): row for row in ROWS}

    def offsets(key: str) -> tuple[str, str]:
        row = table[key]
        d = row.derivation
        return str(row.in_extents(d.leading_byte_offset)), str(row.in_extents(d.stride_byte_offset))

    assert offsets("K-128B-MN-bf16") == ("16", "1024")
    assert offsets("K-128B-K-bf16") == ("16", "16*K")
    assert offsets("K-none-MN-bf16") == ("16*MN", "128")
    assert offsets("MN-64B-K-bf16") == ("64*K", "512")
    assert offsets("MN-64B-MN-bf16") == ("512", "16*MN")


def test_names_of_two_letters_stay_one_name_in_latex() -> None:
    assert r"$16 \mathrm{MN}$" in write_table(ROWS[:1], "latex")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(
        ChoiceError, match="formulas: format is 'svg', which is not supported; supported: text, markdown, latex, json"
    ):
        write_table(format="svg")


def test_the_command_prints_the_table_and_selects_rows() -> None:
    command = commands[1]
    whole = CliRunner().invoke(command, [])
    assert whole.exit_code == 0
    assert whole.output == write_table() + "\n"
    some = CliRunner().invoke(command, ["--major", "mn", "--swizzle", "128B", "--bits", "16", "--format", "json"])
    assert [(row["major"], row["swizzle"], row["bits"]) for row in json.loads(some.output)["formulas"]] == [
        ("MN", "128B", 16)
    ] * 2


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_formulas.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_extents_of_a_formula_are_positive_integers() -> None:
    symbols = {symbol for row in ROWS for symbol in row.in_extents(row.derivation.stride_byte_offset).free_symbols}
    symbols |= {symbol for row in ROWS for symbol in row.in_extents(row.derivation.leading_byte_offset).free_symbols}
    assert {str(symbol) for symbol in symbols} == {"MN", "K"}
    assert all(symbol.is_integer and symbol.is_positive for symbol in symbols)


def test_every_row_is_proved_for_all_sizes_and_a_spoilt_one_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(row.is_proved() for row in ROWS)
    for row in ROWS:
        d = row.derivation
        for name in ("leading_byte_offset", "stride_byte_offset"):
            wrong = replace(d.match, **{name: getattr(d.match, name) + 16})
            spoilt = replace(row, derivation=replace(d, match=wrong))
            assert spoilt.is_proved() == (name in d.dont_care)
    assert main(["formulas", "--prove", "--bits", "16"]) == 0
    assert capsys.readouterr().out.endswith("any base that is a multiple of its alignment\n")
    assert main(["formulas", "--prove", "--bits", "16", "--format", "json"]) == 0
    assert all(row["proved"] for row in json.loads(capsys.readouterr().out)["proof"])


def test_a_row_that_does_not_hold_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FormulaRow, "is_proved", lambda row: row.first == "K")
    assert main(["formulas", "--prove", "--bits", "16", "--swizzle", "64B", "--major", "K"]) == 1
    assert capsys.readouterr().out.endswith("disproved: 1 of 2 rows: K 64B MN 16\n")
