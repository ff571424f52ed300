"""The command `descriptors`: the story of a derivation, its record as JSON, and one line for every mistake."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from each import each
from places import ROOT
from refusals import refusal

from descriptors import derive, plan
from descriptors.cli.command import COMMANDS, main

ARGUMENTS = ["--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--tile", "128x128", "--mma", "64x16"]


def changed(option: str, value: str) -> list[str]:
    at = ARGUMENTS.index(option) + 1
    return [*ARGUMENTS[:at], value, *ARGUMENTS[at + 1 :]]


def test_derive_tells_every_step_the_fields_the_word_and_the_advance_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *ARGUMENTS, "--steps"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for line in (
        "smem_tile    S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
        "partitioned  S<3,3,3> o 0 o ((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))",
        "recast       S<3,0,3> o 0 o ((64,2),(2,(4,2))):((8,1),(512,(2,1024)))",
        "canonical    ((8,8),(1,2)):((8,64),(0,1))",
        "advance      (2,(4,2)):(512,(2,1024))",
        "word  0x4000404000010000",
        "0     0    32    64    96  16384  16416  16448  16480",
        "1  8192  8224  8256  8288  24576  24608  24640  24672",
    ):
        assert line in captured.out
    assert re.search(r"stride_byte_offset +\[32,46\) +1024 bytes +64 x 16 bytes", captured.out)
    assert not re.search(r"[^\x20-\x7e\n]", captured.out)  # plain text: no colours, no box-drawing characters
    assert not [line for line in captured.out.splitlines() if line.rstrip() != line or len(line) > 150]


def test_the_word_comes_first_with_all_that_one_writes_into_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    options = [*changed("--tile", "128x64x3"), "--operand", "A"]
    assert main(["derive", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    d = derive((128, 64, 3), "bf16", "K", "128B", (64, 16), operand="A")
    word = int(lines[0].split()[1], 16)
    assert word == d.word(0, 0, 0)
    assert lines[1].split()[:3] == ["arch", "sm100", "(tcgen05),"] and "assumed, because no --arch is given" in lines[1]
    rows = {line[:10].strip(): line[12:] for line in lines}
    assert rows["LBO"].startswith("16 bytes, field 1: ") and rows["SBO"].startswith("1024 bytes, field 64: ")
    assert rows["swizzle"] == "128B, code 2" and rows["major"] == "K: bit 15 of idesc is 0"
    for name, at in (
        ("next K", lambda i: (0, i, 0)),
        ("next M", lambda i: (i, 0, 0)),
        ("next stage", lambda i: (0, 0, i)),
    ):
        added = [int(one) for one in re.findall(r"\d+", rows[name].partition(" to the word")[0])]
        assert [word + one for one in added] == [d.word(*at(i)) for i in range(len(added))] and len(added) > 1
    assert rows["alignment"].startswith("1024 bytes")
    assert lines[-3].startswith("proved: ") and "not measured on a Blackwell GPU" in lines[-3]
    assert lines[-1].startswith("more: --steps") and max(map(len, lines[:-3])) <= 80
    assert main(["derive", *options, "--steps"]) == 0
    assert capsys.readouterr().out.splitlines()[: len(lines) - 1] == lines[:-1]


def test_the_json_record_holds_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *ARGUMENTS, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    for step in ("atom", "smem_tile", "partitioned", "recast", "canonical", "advance"):
        assert record[step]["text"] == str(getattr(d, step))
    assert record["smem_tile"]["shape"] == [[8, 16], [64, 2]]
    assert record["smem_tile"]["stride"] == [[64, 512], [1, 8192]]
    assert record["smem_tile"]["swizzle"] == "S<3,3,3>"
    assert record["descriptor"]["word"] == "0x4000404000010000"
    assert record["descriptor"]["fields"]["stride_byte_offset"] == 1024
    assert record["descriptor"]["stored"]["stride_byte_offset"] == 64
    assert record["descriptor"]["dont_care"] == ["leading_byte_offset"]
    assert record["descriptor"]["dont_care_mask"] == "0x000000003fff0000"
    assert record["offsets_bytes"][1][4] == 24576


def test_order_arch_and_stages_are_taken_from_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    options = [*changed("--tile", "128x64x3"), "--order", "1,0,2", "--arch", "sm90", "--json"]
    assert main(["derive", *options]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["tile"], record["order"], record["arch"]) == ([128, 64, 3], [1, 0, 2], "sm90")
    assert len(record["offsets_bytes"][0][0]) == 3


def test_a_wide_advance_table_is_folded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *changed("--tile", "64x1024"), "--steps"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.lstrip().startswith("mn \\ k")]) == 4
    assert max(map(len, lines)) <= 150


@each(
    "arguments",
    [
        ["derive"],
        ["nothing"],
        ["derive", "--nothing"],
        ["derive", *ARGUMENTS, "extra"],
        ["derive", *changed("--dtype", "bf17")],
        ["derive", *changed("--major", "")],
        ["derive", *changed("--swizzle", "129")],
        ["derive", *changed("--tile", "128")],
        ["derive", *changed("--tile", "128x")],
        ["derive", *changed("--tile", "-128x128")],
        ["derive", *changed("--tile", "1e3x128")],
        ["derive", *changed("--tile", "9" * 400 + "x128")],
        ["derive", *changed("--tile", "9" * 5000 + "x128")],
        ["derive", *changed("--tile", "9999999999999999x9999999999999999")],
        ["derive", *changed("--tile", "128x100")],
        ["derive", *changed("--tile", "\u0661\u0662x128")],
        ["derive", *changed("--tile", "128\nx128")],
        ["derive", *changed("--mma", "64x16x1")],
        ["derive", *changed("--mma", "64x128")],
        ["derive", *changed("--mma", "0x16")],
        ["derive", *ARGUMENTS, "--order", "0"],
        ["derive", *ARGUMENTS, "--order", "a,b"],
        ["derive", *ARGUMENTS, "--order", "0,7"],
        ["derive", *ARGUMENTS, "--arch", "sm_120a"],
    ],
)
def test_a_mistake_is_one_line_on_standard_error_and_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("descriptors") and refusal(captured.err)
    assert len(captured.err) < 500


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["derive", "--help"]])
def test_help_is_given_with_an_example(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "Exit status" in (out := capsys.readouterr().out) or "descriptors derive --dtype bf16" in out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("descriptors derive --dtype e", "e4m3"),
        ("descriptors derive --major ", "MN"),
        ("descriptors derive --swizzle 128", "128B_BASE32B"),
        ("descriptors derive --arch sm", "sm90"),
    ],
)
def test_the_shell_can_complete_names(words: str, offered: str) -> None:
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_DESCRIPTORS_COMPLETE": "bash_complete"}
    code = "import sys; from descriptors.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )
    assert f"plain,{offered}" in done.stdout.split()


def test_the_version_is_told_installed_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("descriptors")


def test_the_command_runs_as_a_module_and_without_a_terminal() -> None:
    command = [sys.executable, "-m", "descriptors", "derive", *ARGUMENTS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0x4000404000010000" in done.stdout


def test_the_command_loads_no_heavy_library() -> None:
    code = (
        "import sys; from descriptors.cli import main; "
        f"main(['derive', *{ARGUMENTS!r}, '--no-verify']); "
        "sys.exit(sorted({'numpy', 'sympy', 'cutlass', 'rich'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_proof_is_told_and_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *ARGUMENTS, "--arch", "sm90"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:-1] == [
        "proved: 16384 elements in 16 subtiles, each walked (read model: measured on a Hopper GPU)",
        "   by theorem for every tile 64*m x 64*k, any base that is a multiple of 1024",
    ]
    assert main(["derive", *ARGUMENTS, "--no-verify"]) == 0
    assert "proved" not in capsys.readouterr().out
    assert main(["derive", *ARGUMENTS, "--json"]) == 0
    proof = json.loads(capsys.readouterr().out)["proof"]
    assert (proof["elements"], proof["family"], proof["base_multiple"]) == (16384, ["64*m", "64*k"], 1024)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--layout", "S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))", "--mma", "64x16"], "0x4000404000010000"),
        (["--layout", "S<3,4,3> o 0 o ((128,16),1,4,6):((64,1),0,16,8192)", "--unit", "cute"], "0x4000404000010000"),
        (["--layout", "(64,64):(64,1)", "--swizzle", "128B", "--mma", "64x16", "--operand", "B"], "rows along N"),
        (["--tile", "128x64", "--major", "K", "--swizzle", "128B", "--cp", "128x256b"], "tcgen05.cp.128x256b"),
        (
            ["--tile", "128x64", "--major", "K", "--swizzle", "128B", "--mma", "64x16", "--base", "0x1080"],
            "at address 4224",
        ),
        (
            ["--tile", "128x64x16", "--major", "K", "--swizzle", "128B", "--mma", "64x16", "--capacity", "262144"],
            "2048, 3072, 4096, 5120, ..., 15360 to the word, one for each stage",
        ),
        (
            ["--tile", "128x64", "--major", "K", "--swizzle", "128B", "--mma", "64x16", "--explain"],
            "SBO, the stride byte",
        ),
        (["--tile", "128x64", "--major", "K", "--swizzle", "128B", "--mma", "64x16", "--emit", "cuda"], "kSubtiles"),
        (
            ["--tile", "128x64", "--major", "K", "--swizzle", "128B", "--mma", "64x32", "--legality", "off"],
            "first 64x32 of",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_way_to_say_what_is_read(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "--dtype", "bf16", *options]) == 0
    captured = capsys.readouterr()
    assert words in captured.out
    assert captured.err == ""


@each(
    "options",
    [
        ["--layout", "S<3,4,3> o 0 o (64,64):(64,1)", "--mma", "64x16"],
        ["--layout", "(64,64", "--mma", "64x16"],
        ["--layout", "(64,64):(64,1)"],
        ["--layout", "(64,64):(64,1)", "--tile", "64x64", "--mma", "64x16"],
        ["--mma", "64x16"],
        [*ARGUMENTS[2:], "--base", "64"],
        [*ARGUMENTS[2:], "--base", "x"],
        [*ARGUMENTS[2:], "--base", "9" * 5000],
        [*ARGUMENTS[2:], "--base", "0x40000"],
        [*ARGUMENTS[2:], "--capacity", "some"],
        [*ARGUMENTS[2:], "--emit", "fortran"],
        [*ARGUMENTS[2:], "--emit", "cuda", "--json"],
        [*ARGUMENTS[2:], "--operand", "C"],
        [*ARGUMENTS[2:], "--unit", "bits"],
        [*ARGUMENTS[2:], "--legality", "loose"],
        [*ARGUMENTS[2:], "--cta-group", "3"],
        [*ARGUMENTS[2:], "--kind", "f32"],
        [*ARGUMENTS[2:], "--cp", "128x256b"],
    ],
    ids=" ".join,
)
def test_a_wrong_description_is_one_line_and_status_2(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "--dtype", "bf16", *options]) == 2
    captured = capsys.readouterr()
    if "--json" in options:
        assert (set(json.loads(captured.out)), captured.err) == ({"schema", "error"}, "")
        return
    assert captured.out == "" and refusal(captured.err)


def test_match_tells_the_form_or_the_mode_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "(64,16):(64,1)", "--dtype", "bf16", "--swizzle", "128B"]) == 0
    printed = capsys.readouterr().out
    assert "LBO        16 bytes  (changes nothing)" in printed
    assert "canonical  ((8,8),(1,2)):((8,64),(0,1))" in printed
    assert main(["match", "(64,16):(64,1)", "--dtype", "bf16", "--swizzle", "128B", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stride_byte_offset"] == 1024
    assert main(["match", "(64,16):(64,1)", "--dtype", "bf16", "--swizzle", "64B"]) == 2
    assert "mode (0,0) has stride 8, expected stride 4" in capsys.readouterr().err


@each("name", COMMANDS)
def test_every_command_of_the_table_is_there_and_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    usage, text = capsys.readouterr().out.split("\n\n")[:2]
    assert usage.startswith(f"Usage: descriptors {name} ") and text.split()[0] == COMMANDS[name][1].split()[0]


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from descriptors.cli import main; main(['--help']); "
        "loaded = {m for m in sys.modules if m.startswith('descriptors.cli.')}; "
        "light = {'descriptors.cli.command', 'descriptors.cli.terminal', 'descriptors.cli.values'}; "
        "sys.exit(sorted(loaded - light) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in COMMANDS)


@each("answer", [[], ["--json"], ["--explain"], ["--words"], ["--subtile", "0,0"]], ids=" ".join)
@each("proof_options", [[], ["--no-verify"]], ids=" ".join)
@each(
    ("base", "reason"),
    [
        ("8", "the base address 8 is not a multiple of 128 bytes"),
        ("0x40000", "ends at 294912, beyond the 232448 bytes of shared memory; the highest aligned base is 199680"),
        ("300000", "ends at 332768, beyond the 232448 bytes of shared memory"),
    ],
)
def test_an_address_that_no_tile_can_have_is_refused_before_anything_is_told(
    base: str, reason: str, proof_options: list[str], answer: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", *ARGUMENTS, "--base", base, *proof_options, *answer]) == 2
    captured = capsys.readouterr()
    if answer == ["--json"]:
        assert reason in json.loads(captured.out)["error"]["message"] and captured.err == ""
        return
    assert captured.out == "" and reason in refusal(captured.err)


def test_a_missing_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["idesc", "--m", "128", "--n", "256"]) == 2
    example = "descriptors idesc --a bf16 --m 128 --n 256 --b-major MN"
    sentence = f"--a is missing; use, for example, `{example}`; see `descriptors idesc --help`"
    assert refusal(capsys.readouterr().err) == sentence


def test_an_instruction_that_sm90_has_not_is_of_sm100_for_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    operand = "--dtype bf16 --major K --swizzle 128B --tile 128x64 --operand A".split()
    for name, arch in (("m64n128k16", "sm90"), ("m128n256k16", "sm100")):
        assert main(["derive", *operand, "--mma", name]) == 0
        assert f"), assumed, by the instruction {name}\n" in capsys.readouterr().out
        assert plan(name, "bf16", tile=(128, 256, 64), verify=False).asked.arch == arch


def test_a_sparse_instruction_is_taken_by_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    """wgmma.m64n128k32.sp of bf16 reads 64 x 16 of A, its zeros left out, and 128 x 32 of B."""
    tile = ["derive", "--dtype", "bf16", "--swizzle", "128B", "--major", "K", "--tile", "128x64", "--arch", "sm90"]
    for operand, reads in (("A", [64, 16]), ("B", [128, 32])):
        assert main([*tile, "--mma", "m64n128k32", "--sparse", "--operand", operand, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["mma"] == reads
    assert main([*tile, "--mma", "m64n128k32", "--sparse", "--operand", "A"]) == 0
    assert "note: A of a sparse instruction is stored without its zeros: 64x16 cover K 32;" in capsys.readouterr().out


@each("order", ["0,1", "1,0"])
def test_an_order_of_two_positions_leaves_the_stages_last(order: str, capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for text in (order, f"{order},2"):
        assert main(["derive", *changed("--tile", "128x64x4"), "--order", text]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_words_are_refused_for_the_reason_that_the_answer_without_them_warns_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [*changed("--tile", "1024x1024"), "--capacity", "none"]
    assert main(["derive", *arguments]) == 0
    (warning,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: "))
    assert main(["derive", *arguments, "--words"]) == 2
    assert refusal(capsys.readouterr().err) == warning.removeprefix("warning: ")


@each(
    "arguments",
    [
        ["derive", "--dtype", "e2m1", "--major", "K", "--swizzle", "128B", "--tile", "128x768", "--mma", "128x96"],
        ["idesc", "--a", "e2m1", "--kind", "mxf4", "--m", "256", "--n", "128", "--k", "96", "--cta-group", "2"],
        [
            "tmem", "block-scaled", "--a", "e2m1", "--kind", "mxf4nvf4", "--m", "256", "--n", "128", "--k", "768",
            "--cta-group", "2", "--step", "96",
        ],
        [
            "plan", "m256n64k96", "e2m1", "--tile", "256x64x768", "--cta-group", "2", "--stages", "2",
            "--scale-dtype", "ue4m3",
        ],
    ],
)  # fmt: skip
@each("legality", ["strict", "lenient"])
def test_k_96_is_refused_where_the_target_has_no_such_instruction(
    legality: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for arch in ("sm100", "sm110"):
        assert main([*arguments, "--arch", arch, "--legality", legality]) == 2
        refusal = capsys.readouterr().err
        assert (
            f"{arch} has no instruction with K 96, only sm_103a and sm_107a have" in refusal
            and "use --arch sm103" in refusal
        )
    assert main([*arguments, "--arch", "sm103", "--legality", legality]) == 0
