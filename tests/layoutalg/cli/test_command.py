"""The command `layoutalg`: answers on standard output, one line for bad input, exit status 0, 1 or 2."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from each import each
from places import ROOT
from programs import NEEDS_FULL, NEEDS_POSIX
from refusals import refusal

import layoutalg as la
from descriptors.cli import main as descriptors_main
from layoutalg.cli.command import COMMANDS, main
from layoutalg.notation.expression import OPERATIONS, operations


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_eval_prints_the_value_in_cute_notation(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "eval", "zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))")
    assert (status, err) == (0, "")
    assert out == f"{la.zipped_divide(la.Layout(((8, 16), (64, 2)), ((64, 512), (1, 8192))), (64, 16))}\n"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (
            "(4,(2,1)):(1,(4,0))",
            {"kind": "layout", "text": "(4,(2,1)):(1,(4,0))", "shape": [4, [2, 1]], "stride": [1, [4, 0]], "size": 8},
        ),
        ("S<3,4,3>", {"kind": "swizzle", "text": "S<3,4,3>", "bits": 3, "base": 4, "shift": 3}),
        ("size(4:1)", {"kind": "int", "text": "4", "value": 4}),
        ("is_congruent(4, 5)", {"kind": "bool", "text": "True", "value": True}),
        ("leading_dim((4,8),(8,2))", {"kind": "none", "text": "None", "value": None}),
        (
            "make_identity_layout((4,8))",
            {"kind": "layout", "text": "(4,8):(1@0,1@1)", "shape": [4, 8], "stride": ["1@0", "1@1"], "size": 32},
        ),
    ],
)
def test_eval_json_holds_the_parts(
    capsys: pytest.CaptureFixture[str], expression: str, value: dict[str, object]
) -> None:
    status, out, _ = run(capsys, "eval", "--json", expression)
    assert (status, json.loads(out)) == (0, {"schema": 1, **value})


def test_eval_json_of_a_swizzled_slice_and_its_offset(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "eval", "slice_and_offset((_,1), (4,8):(8,1))", "--json")
    assert status == 0
    assert [item["text"] for item in json.loads(out)["items"]] == ["(4):(8)", "1"]


def test_json_of_a_composed_layout_holds_its_three_parts(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(run(capsys, "eval", "--json", "S<3,4,3> o 8 o (8,64):(64,1)")[1])
    assert data["outer"]["kind"] == "swizzle"
    assert data["offset"] == 8
    assert data["inner"]["shape"] == [8, 64]


def test_an_expression_may_begin_with_a_minus_sign(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "eval", "-4")[:2] == (0, "-4\n")


@pytest.mark.parametrize("arguments", [("eval",), ("show",), ("same", "4:1"), ("banks",), ("f2",), ("linear",)])
def test_what_begins_with_a_minus_sign_is_read_as_an_expression(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    status, _, err = run(capsys, *arguments, "-(4:1)")
    assert status == 2
    assert "no such option" not in err


def test_show_draws_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "show", "(2,2):(2,1)")
    assert (status, err) == (0, "")
    assert out == "(2,2):(2,1)\n\n[1]    0 1\n[0]  +----\n  0  | 0 1\n  1  | 2 3\n"


def test_show_draws_what_an_expression_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "show", "blocked_product((2,2):(2,1), (2,2):(1,2))")[0] == 0


def test_show_json_holds_every_offset(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(run(capsys, "show", "--json", "(2,(2,2)):(4,(1,2))")[1])
    assert data["offsets"] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert json.loads(run(capsys, "show", "--json", "3:2")[1])["offsets"] == [0, 2, 4]
    assert json.loads(run(capsys, "show", "--json", "(2):(1@0)")[1])["offsets"] == [[0], [1]]


def test_show_cuts_and_says_so_and_all_draws_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert "shown: 64 of 128 rows" in run(capsys, "show", "(128,4):(4,1)")[1]
    assert "shown" not in run(capsys, "show", "--all", "(128,4):(4,1)")[1]
    assert (
        "shown: 2 of 128 rows, 3 of 4 columns"
        in run(capsys, "show", "(128,4):(4,1)", "--rows", "2", "--columns", "3")[1]
    )


def test_color_is_for_terminals_or_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in run(capsys, "show", "4:1")[1]
    assert "\x1b" in run(capsys, "show", "4:1", "--color")[1]


def test_same_compares_functions_and_exits_with_1_where_they_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "same", "(4,8):(1,4)", "coalesce((4,8):(1,4))") == (0, "same\n", "")
    assert run(capsys, "same", "(4,8):(1,4)", "(4,8):(8,1)") == (1, "differ at index 1: 1 and 8\n", "")
    assert run(capsys, "same", "4:1", "8:1")[:2] == (1, "sizes differ: 4 and 8\n")
    assert run(capsys, "same", "(4,8)", "(4,9)")[0] == 1


def test_ops_lists_every_operation_and_explains_one(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "ops")
    assert status == 0
    assert {line.split()[0] for line in out.splitlines() if line.startswith("  ")} == set(operations())
    assert all(len(line.split()) > 2 for line in out.splitlines() if line.startswith("  "))
    explained = run(capsys, "ops", "coalesce")[1]
    assert explained.startswith("coalesce(layout, target_profile=None)\n")
    assert set(json.loads(run(capsys, "ops", "--json")[1])["operations"]) == set(operations())


def test_help_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((), ("--help",), ("-h",), ("eval", "--help"), ("show", "--help")):
        status, out, err = run(capsys, *arguments)
        assert (status, err) == (0, "")
        assert "Usage: layoutalg" in out
    assert run(capsys, "--version")[1].startswith("layoutalg ")


BAD = [
    ("frobnicate",),
    ("eval",),
    ("eval", ""),
    ("eval", "4:1", "4:1"),
    ("eval", "((("),
    ("eval", "nosuch(4:1)"),
    ("eval", "(4,8):1"),
    ("eval", "((4,8):(8,1))(4,0)"),
    ("eval", "zipped_divide((10,8):(8,1), (3,4))"),
    ("eval", "9" * 400 + ":1"),
    ("eval", "(" * 100_000),
    ("eval", "coalesce(4:1,\n profile=\n1)"),
    ("eval", "\udcff"),
    ("eval", "4:1 é"),
    ("show", "S<3,4,3>"),
    ("show", "17"),
    ("show", "--rows", "0", "4:1"),
    ("show", "--rows", "x", "4:1"),
    ("show", "--all", "4294967296:1"),
    ("same", "4294967296:1", "(2,2147483648):(1,1)"),
    ("ops", "nosuch"),
]


@each("arguments", BAD, ids=lambda arguments: " ".join(arguments)[:40].encode("ascii", "replace").decode())
def test_bad_input_is_one_line_on_standard_error_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("layoutalg")
    assert refusal(err)
    assert len(err) < 500
    assert "Traceback" not in err


def test_a_refusal_of_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "show", "--json", "4294967296:1")
    assert (status, err, out.count("\n")) == (2, "", 1)
    error = json.loads(out)["error"]
    assert (error["type"], error["message"].partition(":")[0]) == ("LayoutError", "show")


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "layoutalg", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_the_process_reads_standard_input_and_returns_the_status() -> None:
    assert process("eval", "-", input="size((4,8))\n").stdout == "32\n"
    assert process("same", "4:1", "4:2").returncode == 1
    assert process("eval", "(4,8):1").returncode == 2


def test_lines_are_answered_each_and_a_bad_one_is_told_with_its_number(tmp_path: Path) -> None:
    lines = "(4,8):(8,1)\n\n# a comment\n(4,8:1\nsize((4,8))\ncomposition((6,2):(1,7), (3,2):(2,3))\n"
    path = tmp_path / "expressions.txt"
    path.write_text(lines)
    for done in (process("eval", "--file", str(path)), process("eval", "-", input=lines)):
        assert (done.returncode, done.stdout) == (2, "(4,8):(8,1)\n32\n")
        numbers = [line.partition(": error: ")[0] for line in done.stderr.splitlines() if ": error: " in line]
        assert numbers == ["layoutalg eval: line 4", "layoutalg eval: line 6"]
    records = [json.loads(line) for line in process("eval", "-", "--json", input=lines).stdout.splitlines()]
    assert [(one["line"], "error" in one) for one in records] == [(1, False), (4, True), (5, False), (6, True)]
    assert process("eval", "-", input="4:1\n4:2").returncode == 0


def test_a_file_is_no_expression_and_the_message_says_what_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.txt").write_text("4:1")
    monkeypatch.chdir(tmp_path)
    for arguments, message in (
        (["e.txt"], "; use --file e.txt to evaluate its lines"),
        (["--file", "missing"], "--file cannot read missing: No such file"),
        (["--file", str(tmp_path)], "Is a directory"),
        ([], "give one of EXPRESSION, - (lines of standard input) and --file"),
        (["4:1", "--file", "e.txt"], "give one of EXPRESSION"),
        (["-", "--check"], "--check needs one EXPRESSION"),
    ):
        status, out, err = run(capsys, "eval", *arguments)
        assert (status, out, message in refusal(err)) == (2, "", True), err


@pytest.mark.parametrize(
    ("command", "what"), [("eval", "a line"), ("show", "standard input"), ("draw", "standard input")]
)
def test_an_input_without_end_is_refused_before_it_is_read_whole(command: str, what: str) -> None:
    ended = process(command, "-", input="(4,8):(8,1) " * 900_000)
    assert ended.returncode == 2 and ended.stdout == ""
    assert refusal(ended.stderr) == f"{what} has more than 1048576 characters"


@NEEDS_POSIX
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = f"{sys.executable} -m layoutalg show --all '(4096,64):(64,1)' | head -n 1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "(4096,64):(64,1)\n", "")


@NEEDS_FULL
def test_a_full_disk_is_told_in_one_line() -> None:
    command = f"{sys.executable} -m layoutalg show '(64,64):(64,1)' > /dev/full"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert refusal(ended.stderr)


def test_shell_completion_is_offered() -> None:
    import os

    ended = process(env={**os.environ, "_LAYOUTALG_COMPLETE": "bash_source"})
    assert "layoutalg_completion" in ended.stdout


def test_banks_counts_wavefronts_with_and_without_a_swizzle(capsys: pytest.CaptureFixture[str]) -> None:
    access = ["--access", "(32,8):(1,64)", "--element-bytes", "2", "--bytes", "16", "--store"]
    assert main(["banks", "(64,64):(64,1)", *access]) == 0
    assert "32 wavefronts, 28 of them for bank conflicts" in capsys.readouterr().out
    assert main(["banks", "S<3,3,3> o 0 o (64,64):(64,1)", *access, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["wavefronts"], data["conflicts"]) == (4, 0)
    assert main(["banks", "S<3,3,3>", *access]) == 2
    assert refusal(capsys.readouterr().err)


def test_find_swizzle_names_the_hardware_s_own_mode(capsys: pytest.CaptureFixture[str]) -> None:
    access = ["--access", "(8,8):(1,8)", "--element-bytes", "2", "--bytes", "16"]
    assert main(["find-swizzle", "(8,64):(64,1)", *access]) == 0
    assert (
        capsys.readouterr().out
        == "S<3,4,3> on byte addresses; S<3,3,3> on elements of 2 bytes; this is the 128B swizzle\n"
    )
    assert main(["find-swizzle", "(8,64):(64,0)", *access]) == 2
    assert refusal(capsys.readouterr().err)
    assert main(["find-swizzle", "(8,64):(64,0)", *access, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "LayoutError"


def test_names_of_dimensions_are_printable(capsys: pytest.CaptureFixture[str]) -> None:
    """They stand in the answer as they are, where an escape would reach the terminal."""
    for option in (["--in", "lane,register\x1b[2J"], ["--in", "lane,register", "--out", "dim0\x1b=4,dim1=4"]):
        assert main(["linear", "((2,2),(2,2)):((2,8),(1,4))", *option]) == 2
        streams = capsys.readouterr()
        assert streams.out == "" and "is not a list of printable names" in streams.err and "\x1b" not in streams.err


def test_f2_and_linear_show_the_matrix_and_the_bases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["f2", "(4,8):(8,1)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "columns": [8, 16, 1, 2, 4], "rows": 5, "rank": 5}
    assert main(["f2", "(4,2):(3,16)"]) == 2
    assert refusal(capsys.readouterr().err)
    tile = ["linear", "((2,2),(2,2)):((2,8),(1,4))", "--in", "lane,register", "--out", "dim0=4,dim1=4"]
    assert main(tile) == 0
    assert "lane=1 -> (2, 0)" in capsys.readouterr().out
    assert main([*tile[:4], "lane=x"]) == 2


def test_same_proves_layouts_with_symbols_for_all_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["same", "(8,m):(1,8)", "8*m:1"]) == 0
    assert main(["same", "(8,m):(1,8)", "(8,m):(1,4*m)"]) == 1
    assert "for m = 3 at index 8 the offsets are 8 and 12" in capsys.readouterr().out


def test_f2_prints_the_matrix_and_how_often_an_offset_is_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "f2", "(2,4):(4,1)") == (
        0,
        ". 1 .\n. . 1\n1 . .\n3 bits of the offset from 3 bits of the index, lowest first; rank 3: injective\n",
        "",
    )
    assert run(capsys, "f2", "(2,4):(0,1)")[1].splitlines() == [
        ". 1 .",
        ". . 1",
        "2 bits of the offset from 3 bits of the index, lowest first; rank 2: each offset is reached 2 times",
    ]
    assert "rank 1: each offset is reached 16 times" in run(capsys, "f2", "(2,16):(1,0)")[1]


def test_banks_lists_each_access_phase_by_phase(capsys: pytest.CaptureFixture[str]) -> None:
    # 8 lanes of a phase read 16 bytes of one row each, 128 bytes apart: all of them the same four banks.
    status, out, _ = run(
        capsys, "banks", "(64,64):(64,1)", "--access", "(64,2):(1,64)", "--element-bytes", "2", "--bytes", "4"
    )
    assert (status, out.splitlines()[0]) == (
        0,
        "2 load accesses of a warp: 64 wavefronts, 62 of them for bank conflicts",
    )
    assert out.splitlines()[1:] == ["  warp 0, value 0: 32 = 32", "  warp 1, value 0: 32 = 32"]
    sixteen = ["--access", "(32,8):(1,64)", "--element-bytes", "2", "--bytes", "16", "--store"]
    assert run(capsys, "banks", "(64,64):(64,1)", *sixteen)[1].splitlines() == [
        "1 store access of a warp: 32 wavefronts, 28 of them for bank conflicts",
        "  warp 0, value 0: 8 + 8 + 8 + 8 = 32",
    ]


@pytest.mark.parametrize("values", [63, 64, 65, 100])
def test_banks_lists_64_accesses_and_counts_the_others(values: int, capsys: pytest.CaptureFixture[str]) -> None:
    layout, access = f"(32,{values}):(1,32)", f"(32,{values}):(1,32)"
    out = run(capsys, "banks", layout, "--access", access, "--element-bytes", "4")[1].splitlines()
    assert out[0] == f"{values} load accesses of a warp: {values} wavefronts, 0 of them for bank conflicts"
    listed = [line for line in out[1:] if line.startswith("  warp ")]
    assert listed == [f"  warp 0, value {i}: 1 = 1" for i in range(min(values, 64))]
    assert out[1 + len(listed) :] == ([f"  ... and {values - 64} more (--json lists all)"] if values > 64 else [])
    data = json.loads(run(capsys, "banks", layout, "--access", access, "--element-bytes", "4", "--json")[1])
    assert len(data["accesses"]) == values


def test_ops_puts_all_summaries_into_one_column(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, "ops")[1].splitlines()
    summaries = json.loads(run(capsys, "ops", "--json")[1])["operations"]
    width = max(map(len, operations()))
    listed = [line for line in lines if line.startswith(" ")]
    assert [line[2 : 2 + width].rstrip() for line in listed] == [
        name for names in OPERATIONS.values() for name in names
    ]
    assert all(line[2 + width : 4 + width] == "  " for line in listed)
    assert [line[4 + width :] for line in listed] == [summaries[line.split()[0]] for line in listed]
    assert [line for line in lines if not line.startswith(" ")] == list(OPERATIONS)
    assert not any("`" in text or ":class:" in text for text in summaries.values())


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from layoutalg.cli import main; main(['--help']); "
        "loaded = {m for m in sys.modules if m.startswith('layoutalg.')}; "
        "sys.exit(sorted(loaded - {'layoutalg.cli', 'layoutalg.cli.command', 'layoutalg.cli.console', "
        "'layoutalg.errors', 'layoutalg.messages'}) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@each("name", COMMANDS)
def test_the_list_of_commands_and_each_commands_own_help_begin_with_the_same_verb(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usage, text = run(capsys, name, "--help")[1].split("\n\n")[:2]
    assert usage.startswith(f"Usage: layoutalg {name} ") and text.split()[0] == COMMANDS[name][1].split()[0]


def test_a_tiled_mma_whose_permutation_overlaps_is_refused_with_the_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    prints = json.loads((ROOT / "tests" / "vectors" / "tiled_prints.json").read_text(encoding="utf-8"))
    tiled = prints["dsl"]["mma"].replace("Permutation MNK: (_,_,_)", "Permutation MNK: (_,(8,2,8):(1,16,8),_)")
    assert main(["eval", tiled]) == 2
    refused = refusal(capsys.readouterr().err)
    assert "not injective: it maps two coordinates to offset 16; layout = (8,2,8):(1,16,8)" in refused


@each(
    ("program", "arguments", "way_out"),
    [
        (main, ["derive", "--tile", "128x64"], "use `descriptors derive --tile 128x64`"),
        (main, ["coalesce", "(4,8):(1,4)"], "use `layoutalg eval 'coalesce((4,8):(1,4))'`"),
        (main, ["coalesce"], "use `layoutalg ops coalesce`"),
        (main, ["(4,8):(1,4)"], "use `layoutalg eval '(4,8):(1,4)'`"),
        (descriptors_main, ["eval", "8:1"], "use `layoutalg eval 8:1`"),
        (descriptors_main, ["complement", "4:2", "24"], "use `layoutalg eval 'complement(4:2, 24)'`"),
    ],
)
def test_a_command_of_the_other_program_is_named_with_its_arguments(
    capsys: pytest.CaptureFixture[str], program: Callable[[list[str]], int], arguments: list[str], way_out: str
) -> None:
    assert program(arguments) == 2
    assert f"  help: {way_out}\n" in capsys.readouterr().err


def test_a_misspelled_command_gets_no_other_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evl", "8:1"]) == 2
    assert "did you mean eval?" in capsys.readouterr().err


def test_eval_explain_prints_the_value_and_its_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--explain", "coalesce((2,(1,6)):(1,(6,2)))"]) == 0
    assert capsys.readouterr().out == (
        "12:1\n\n"
        "coalesce((2,(1,6)):(1,(6,2))) = 12:1\n"
        "coalesce(A): the fewest modes for the same function of the index.\n"
        "1. Write the modes in a row.\n"
        "   (2,(1,6)):(1,(6,2)) = (2,1,6):(1,6,2)\n"
        "2. Drop the mode 1:6: its only coordinate is 0.\n"
        "   (2,1,6):(1,6,2) = (2,6):(1,2)\n"
        "3. Join 2:1 and 6:2: 2 * 1 = 2, so the second continues the first.\n"
        "   (2,6):(1,2) = 12:1\n"
    )


def test_eval_explain_prints_the_steps_of_a_refusal_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--explain", "composition((6,2):(1,7), (3,2):(2,3))"]) == 2
    out, err = capsys.readouterr()
    assert out.endswith("needed: 4 + 3 = 8, which is false\n")
    assert "a(4 + 3) = 8, but a(4) + a(3) = 7" in refusal(err)


def test_eval_explain_of_a_composed_layout_looks_for_the_layout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--explain", "(6,2):(1,7) o (3,2):(2,3)"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("(6,2):(1,7) o 0 o (3,2):(2,3)\n") and "needed: 4 + 3 = 8" in out


@each(
    ("source", "status", "holds"),
    [("complement(4:2, 24)", 0, True), ("complement((4,4):(1,3), 24)", 2, False)],
)
def test_eval_explain_json_has_the_steps_as_data(
    capsys: pytest.CaptureFixture[str], source: str, status: int, holds: bool
) -> None:
    assert main(["eval", "--explain", "--json", source]) == status
    answer = json.loads(capsys.readouterr().out)
    (step,) = answer["steps"]
    assert step["operation"] == "complement" and step["holds"] is holds and ("error" in answer) is not holds
    assert [below["holds"] for below in step["steps"]][-1] is holds


@each("options", [["--check", "8:1"], ["--file", "expressions.txt"]])
def test_eval_explain_is_for_one_expression_alone(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["eval", "--explain", *options]) == 2
    assert "--explain" in refusal(capsys.readouterr().err)
